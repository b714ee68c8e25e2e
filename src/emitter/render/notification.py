"""A binding moment as a notification: a title to scan, and an expanded view that holds every slot.

The title is the beginning of the synopsis; nothing can be resolved from it alone, since the actions belong to the
expanded view. The body is all ours: many notifiers read markup in a body. Texts of the expanded view are plain.

What comes back is ``{"id": …, "action": …, "text": …}``: the notification's id, which is the envelope's digest; the id
of the action; the words typed into a veto's field.

Source: draft-morrison-binding-moment-envelope-00, section 8.2 ("the synopsis as a notification title").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.render.layout import layout
from emitter.render.line import cells
from emitter.render.reply import CHOICE, FIELDS, Outcome, chosen, for_this, named
from emitter.render.wording import careful, press, titled
from emitter.render.wrap import wrapped
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Choice, Hatch, Layout
    from emitter.wire import Json

LONGEST_TITLE = 80
"""In cells: two lines on the narrowest notifier."""
_CUT = "\u2026"


@dataclass(frozen=True, slots=True)
class Notification:
    """The notification surface."""

    name: str = "notification"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return id, title, body, expanded view and actions."""
        shown = layout(moment)
        return {
            "id": shown.digest,
            "title": _title(shown.synopsis),
            "body": f"A decision with {len(shown.choices)} options is yours; recommended is {shown.recommended.key}. "
            "Open it to read and to answer.",
            "expanded": _expanded(shown),
            "actions": [*map(_choose, shown.choices), *map(_veto, shown.hatches)],
        }

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return what a notifier's reply says; raises ``ResolutionError``."""
        given = mapping(reply)
        for_this(moment, given.get("id"))
        action, text = given.get("action"), given.get("text")
        field = FIELDS.get(Outcome.DIALOGUE if action == Outcome.DIALOGUE.value else Outcome.FREE_TEXT)
        return chosen(moment, {CHOICE: action, field: text})


RENDERER = Notification()


def _title(synopsis: str) -> str:
    if cells(synopsis) <= LONGEST_TITLE:
        return synopsis
    return f"{wrapped(synopsis, LONGEST_TITLE - 1)[0]}{_CUT}"


def _expanded(shown: Layout) -> dict[str, Json]:
    return {
        "note": shown.note,
        "synopsis": shown.synopsis,
        "findings": list(shown.findings),
        "recommendations": list(shown.recommendations),
        "offer": shown.offer,
        "stem": shown.stem,
        "options": [_option(each) for each in shown.choices],
        "hatches": [{"kind": each.kind.value, "label": each.label, "asks": each.asks} for each in shown.hatches],
        "decision_class": shown.decision_class,
    }


def _option(choice: Choice) -> dict[str, Json]:
    return {
        "title": titled(choice),
        "reasoning": choice.reasoning,
        "recommended": choice.recommended,
        "warnings": list(careful(choice)),
    }


def _choose(choice: Choice) -> dict[str, Json]:
    return {"id": named(Outcome.SELECTED, choice.index), "title": press(choice)}


def _veto(hatch: Hatch) -> dict[str, Json]:
    return {"id": hatch.kind.value, "title": hatch.label, "asks": hatch.asks}
