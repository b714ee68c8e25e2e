"""A binding moment as plain text: all eight slots, the recommended option marked in words, answered by a typed line.

Source: draft-morrison-binding-moment-envelope-00, sections 8.1 and 8.2. The model's text stands on lines of ours and
cannot start one; where it is wrapped, it goes on further in than any option begins.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.kinds import ClarificationRequest, Deliberation, ErrorReport
from emitter.render.layout import layout
from emitter.render.line import line
from emitter.render.typed import may_type, typed
from emitter.render.wrap import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.delivery import Fallback
    from emitter.render.layout import Choice, Layout
    from emitter.wire import Json

NARROWEST = 20
"""Cells; a narrower width is taken for this one."""
_FURTHER_IN = " " * 6


@dataclass(frozen=True, slots=True)
class PlainText:
    """The plain-text surface; ``width`` in cells, or None to leave the wrapping to whoever shows it."""

    width: int | None = None
    name: str = "text"

    def draw(self, moment: BindingMoment) -> str:
        """Return the decision as text, and how to answer it."""
        return f"{binding_moment(moment, self.width)}\n\n{_row(may_type(moment), self.width)}"

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return what a typed line says; raises ``ResolutionError``, and what it says names what can be typed."""
        return typed(moment, reply)


RENDERER = PlainText()


def binding_moment(moment: BindingMoment, width: int | None = None) -> str:
    """Return the decision as text, in rows of at most ``width`` cells where one is given."""
    return "\n".join(_row(each, width) for each in _moment_lines(layout(moment)))


def withheld(reason: Deliberation | ClarificationRequest | ErrorReport) -> str:
    """Return the agent's veto as text."""
    return "\n".join(_withheld_lines(reason))


def fallback(found: Fallback) -> str:
    """Return a tool's own payload as text: JSON on lines of ours, after the diagnostic if there is one."""
    told = [] if found.diagnostic is None else [line(found.diagnostic), ""]
    return "\n".join([*told, *_payload_lines(found.payload)])


def _payload_lines(payload: Json) -> Iterator[str]:
    try:
        document = json.dumps(payload, ensure_ascii=False, indent=2, default=repr)
    except (RecursionError, ValueError, TypeError):
        yield "(The tool's result is no JSON that can be shown.)"
        return
    for each in document.split("\n"):
        yield f"{' ' * (len(each) - len(each.lstrip(' ')))}{line(each)}"


def _row(text: str, width: int | None) -> str:
    """Return a line in rows; all but the first are further in than any option."""
    if width is None:
        return text
    inner = text.lstrip()
    room = max(width, NARROWEST) - len(_FURTHER_IN)
    return f"\n{_FURTHER_IN}".join([*_begun(text[: len(text) - len(inner)], inner, room)])


def _begun(indent: str, text: str, room: int) -> Iterator[str]:
    first, *others = wrapped(text, room) or [""]
    yield f"{indent}{first}"
    yield from others


def _moment_lines(shown: Layout) -> Iterator[str]:
    if shown.note is not None:
        yield from ("", f"(A note first: {shown.note})")
    yield from ("", shown.synopsis, "", "What it rests on")
    yield from (f"  - {each}" for each in shown.findings)
    yield from ("", "What to do")
    yield from (f"  - {each}" for each in shown.recommendations)
    yield from ("", shown.offer, "", shown.stem)
    for each in shown.choices:
        yield from _option_lines(each)
    yield from (f"  {each.key}. {each.label}" for each in shown.hatches)


def _option_lines(choice: Choice) -> Iterator[str]:
    mark = "" if choice.mark is None else f"  ({choice.mark})"
    warning = "" if choice.warning is None else f"  [careful: this option {choice.warning}]"
    yield f"  {choice.key}. {choice.label}{mark}{warning}"
    yield f"     {choice.reasoning}"


def _withheld_lines(reason: Deliberation | ClarificationRequest | ErrorReport) -> Iterator[str]:
    match reason:
        case Deliberation(state=state, missing=missing, permission=permission):
            yield from ("", "Not yet: the agent holds no position it can commit to.", "", line(state))
            yield from (f"  - missing: {line(each)}" for each in missing)
            yield from ("", line(permission))
        case ClarificationRequest(questions=questions):
            yield from ("", "The agent has questions first.")
            yield from (f"  - {line(each.question)}" for each in questions)
        case ErrorReport(code=code, message=message):
            yield from ("", f"The agent cannot do this ({line(code)}): {line(message)}")
