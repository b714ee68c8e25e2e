"""The picker, held to the contract of every surface by its keys and its screen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pytest

from emitter.decisions import digest
from emitter.render.delivery import PlainResult, read_structured_content
from emitter.render.layout import HATCHES, HatchKind
from emitter.terminal.picker_state import MARGIN
from emitter.testing import surfaces
from emitter.testing.sample_moments import FEW_MOMENTS, HOSTILE_MOMENTS
from emitter.testing.surfaces import NotOffered, ShownOption, SurfaceContract
from tests.terminal.window import CTRL_C, ENTER, ESCAPE, Window, pasted
from tests.work import FULL

if TYPE_CHECKING:
    from emitter.decisions import Resolution, Unresolved
    from emitter.messages import Json
    from emitter.models import BindingMoment

COLUMNS = 90
HEIGHTS = (40, 250, 4000)
LAST_ROWS = 2
"""The rule, and the keys."""
MARK = "(recommended)"


@dataclass(frozen=True)
class Drawn:
    """What a person saw from top to bottom."""

    moment: BindingMoment
    rows: tuple[str, ...]

    def part(self, key: str) -> list[str]:
        """Return the texts of the rows from this key in the margin to the next one."""
        first = self.rows.index(next(each for each in self.rows if each.startswith(f"  {key}.")))
        rest = self.rows[first + 1 :]
        count = next((place for place, each in enumerate(rest) if each[:MARGIN].strip()), len(rest))
        return [each[MARGIN:] for each in (self.rows[first], *rest[:count])]


class PickerSubject:
    """A person at a window that is as high as the decision, who presses keys."""

    def __init__(self) -> None:
        self._drawings: dict[str, Drawn] = {}
        self._opened: dict[str, set[HatchKind]] = {}

    def draw(self, moment: BindingMoment) -> Drawn:
        """Look at all of it; what was seen once is remembered."""
        named = digest(moment)
        if named not in self._drawings:
            self._drawings[named] = Drawn(moment, _rows(moment))
        return self._drawings[named]

    def text(self, drawn: Drawn) -> str:
        """Return what stands beside the margin."""
        return "\n".join(each[MARGIN:] for each in drawn.rows)

    def option(self, drawn: Drawn, index: int) -> ShownOption:
        """Return the rows from the option's number on."""
        rows = drawn.part(str(index + 1))
        marked = any(each == MARK or each.endswith(f"  {MARK}") for each in rows)
        return ShownOption("\n".join(rows), "\n".join(rows), marked)

    def hatches(self, drawn: Drawn) -> set[HatchKind]:
        """Return the vetoes that their keys open; what was tried once is remembered."""
        named = digest(drawn.moment)
        if named not in self._opened:
            self._opened[named] = _opened(drawn.moment)
        return self._opened[named]

    def select(self, drawn: Drawn, index: int) -> Json:
        """Press the option's number, if there is one."""
        if f"  {index + 1}." not in {each[:MARGIN].rstrip() for each in drawn.rows}:
            raise NotOffered
        return [str(index + 1)]

    def answer(self, drawn: Drawn, text: str) -> Json:
        """Press the letter, and write."""
        return self._veto(drawn, HatchKind.FREE_TEXT, text)

    def object(self, drawn: Drawn, text: str) -> Json:
        """Press the letter, and write."""
        return self._veto(drawn, HatchKind.DIALOGUE, text)

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Press the keys, or paste what are none, and ENTER; leave, if that was no answer."""
        keys = reply if isinstance(reply, list) and all(isinstance(each, str) for each in reply) else None
        height = 8 if keys is None else len(self.draw(moment).rows) + LAST_ROWS + 1
        with Window(moment, COLUMNS, height) as window:
            if keys is None:
                keys = [pasted(reply if isinstance(reply, str) else json.dumps(reply))]
            window.press(*keys, ENTER)
            if window.open:
                window.press(CTRL_C)
            return window.answer()

    def deliver(self, result: Json) -> Drawn | PlainResult:
        """Look at the decision of a tool's result."""
        found = read_structured_content(result)
        return found if isinstance(found, PlainResult) else self.draw(found.moment)

    def _veto(self, drawn: Drawn, kind: HatchKind, text: str) -> Json:
        if kind not in self.hatches(drawn):
            raise NotOffered
        return [HATCHES[kind].key, text] if text else [HATCHES[kind].key]


def _rows(moment: BindingMoment) -> tuple[str, ...]:
    """Return all rows of the page, from a window in which they all stand."""
    for height in HEIGHTS:
        with Window(moment, COLUMNS, height) as window:
            *rows, _, keys = window.rows()
        if "[more below]" not in keys:
            break
    last = max(place for place, each in enumerate(rows) if each)
    return tuple(rows[: last + 1])


def _opened(moment: BindingMoment) -> set[HatchKind]:
    found: set[HatchKind] = set()
    with Window(moment, 40, 8) as window:
        for kind, hatch in HATCHES.items():
            if f"{hatch.prompt}:" in window.press(hatch.key).rows():
                found.add(kind)
            window.press(ESCAPE)
    return found


class TestPicker(SurfaceContract):
    """The picker; a key cannot name the decision it answers, there is only the one on the screen."""

    subject = PickerSubject()
    moments: ClassVar = {name: FEW_MOMENTS[name] for name in list(FEW_MOMENTS)[::7]}
    bound = False

    @pytest.fixture(autouse=True)
    def some_hostile_moments(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Try every third hostile text by default: the picker draws with what the other surfaces draw with."""
        if not FULL:
            some = dict(list(HOSTILE_MOMENTS.items())[::3])
            monkeypatch.setattr(surfaces, "HOSTILE_MOMENTS", some)
