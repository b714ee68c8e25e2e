"""A surface that keeps the contract, made to be broken: a sheet of lines, options and vetoes, answered in JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from emitter.render.delivery import PlainResult, read_structured_content
from emitter.render.layout import HatchKind, build_layout
from emitter.render.replies import parse_button_reply
from emitter.testing.surfaces import ShownOption

if TYPE_CHECKING:
    from emitter.decisions import Resolution, Unresolved
    from emitter.models import BindingMoment
    from emitter.render.layout import OptionLayout


@dataclass(frozen=True)
class Sheet:
    """What is shown."""

    digest: str
    briefing: tuple[str, ...]
    options: tuple[ShownOption, ...]
    vetoes: frozenset[HatchKind]

    def with_option(self, index: int, **changes: Any) -> Sheet:
        """Return the sheet with another option."""
        options = [replace(each, **changes) if at == index else each for at, each in enumerate(self.options)]
        return replace(self, options=tuple(options))


class Honest:
    """Shows everything, and reads what was said."""

    def draw(self, moment: BindingMoment) -> Sheet:
        """Return the sheet."""
        shown = build_layout(moment)
        head = (shown.note or "", shown.synopsis, *shown.findings, *shown.recommendations, shown.offer, shown.stem)
        options = tuple(map(self.drawn_option, shown.choices))
        return Sheet(shown.digest, head, options, frozenset(each.kind for each in shown.hatches))

    def drawn_option(self, choice: OptionLayout) -> ShownOption:
        """Return an option as it stands on the sheet."""
        text = " ".join(filter(None, (choice.mark, choice.label, choice.warning)))
        return ShownOption(text, choice.reasoning, choice.recommended)

    def text(self, drawn: Sheet) -> str:
        """Return all lines."""
        return "\n".join([*drawn.briefing, *(f"{each.text}\n{each.reasoning}" for each in drawn.options)])

    def option(self, drawn: Sheet, index: int) -> ShownOption:
        """Return an option."""
        return drawn.options[index]

    def hatches(self, drawn: Sheet) -> set[HatchKind]:
        """Return the vetoes."""
        return set(drawn.vetoes)

    def select(self, drawn: Sheet, index: int) -> Any:
        """Return the reply of an option."""
        return {"digest": drawn.digest, "outcome": "selected", "index": index}

    def answer(self, drawn: Sheet, text: str) -> Any:
        """Return the reply of the answer-space hatch."""
        return {"digest": drawn.digest, "outcome": "free_text", "answer": text}

    def object(self, drawn: Sheet, text: str) -> Any:
        """Return the reply of the question-space hatch."""
        return {"digest": drawn.digest, "outcome": "dialogue", "objection": text}

    def read(self, moment: BindingMoment, reply: Any) -> Resolution | Unresolved:
        """Return what the reply says."""
        return parse_button_reply(moment, reply)

    def deliver(self, result: Any) -> Sheet | PlainResult:
        """Return the sheet, or the plain result."""
        found = read_structured_content(result)
        return found if isinstance(found, PlainResult) else self.draw(found.moment)
