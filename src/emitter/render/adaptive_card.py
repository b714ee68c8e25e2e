"""Adaptive Card 1.6: a button under each option, and a card with a field for each veto.

Source: draft-morrison-binding-moment-envelope-00, section 8; the schema of Adaptive Cards 1.6.0
(https://github.com/microsoft/AdaptiveCards, schemas/1.6.0) and Microsoft's Universal Action Model.

Texts of others stand in text runs, which take no Markdown. A template's ``${`` and a date's ``{{`` are read even there,
so a run never holds either: it ends between the two characters, where nobody sees it. The format knows no limit of
length; hosts have their own (Teams: some 80 kB), and refuse a card that is larger.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.render import markdown
from emitter.render.layout import HatchKind, layout
from emitter.render.reply import FIELDS, LONGEST_ANSWER, Outcome, answered, answering
from emitter.render.wording import careful, numbered, press
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Choice, Hatch, Layout
    from emitter.wire import Json

VERB = "emitter.binding_moment."
"""How the verb of every action begins; an outcome follows."""

_SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
_TEMPLATED = re.compile(r"(?<=[${])(?=\{)")
"""Between the characters that open a template, or a date."""


@dataclass(frozen=True, slots=True)
class AdaptiveCard:
    """The renderer.

    A host shows only the fallback text of a card of a later ``version`` than its own; nothing on these cards is later
    than 1.5, so a host of that version may be given that.
    """

    version: str = "1.6"
    name: str = "adaptive-card"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the card."""
        shown = layout(moment)
        return {
            "type": "AdaptiveCard",
            "$schema": _SCHEMA,
            "version": self.version,
            "fallbackText": _TEMPLATED.sub(" ", markdown.RENDERER.draw(moment)),
            "body": [*_briefing(shown), *(_option(shown.digest, each) for each in shown.choices), *_vetoes(shown)],
        }

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return what an ``Action.Execute`` or ``Action.Submit`` says.

        ``reply`` is the value of the invoke activity (``{"action": {"data": …}}``) or the data with its inputs alone.
        Raises ``BadResolution``, ``WrongDigest``, ``NoSuchOption`` or ``HatchClosed``.
        """
        given = mapping(reply)
        return answered(moment, mapping(given.get("action")).get("data", given))


RENDERER = AdaptiveCard()


def _briefing(shown: Layout) -> Iterator[Json]:
    if shown.note is not None:
        yield _text(f"A note first: {shown.note}", italic=True)
    yield _text(shown.synopsis, size="Large", weight="Bolder")
    yield _heading("What it rests on")
    yield from (_text(f"\N{BULLET} {each}") for each in shown.findings)
    yield _heading("What to do")
    yield from (_text(f"\N{BULLET} {each}") for each in shown.recommendations)
    yield _text(shown.offer, isSubtle=True)
    yield {**_text(shown.stem, size="Medium", weight="Bolder"), "separator": True}


def _option(digest: str, choice: Choice) -> Json:
    action = {
        **_action(press(choice), answering(digest, Outcome.SELECTED, choice.index)),
        "associatedInputs": "none",
        "style": "positive" if choice.recommended else "default",
    }
    return {
        "type": "Container",
        "separator": True,
        "style": "emphasis" if choice.recommended else "default",
        "items": [
            _heading(numbered(choice)),
            _text(choice.label, weight="Bolder"),
            _text(choice.reasoning),
            *(_text(each, color="Attention") for each in careful(choice)),
            {"type": "ActionSet", "actions": [action]},
        ],
    }


def _vetoes(shown: Layout) -> list[Json]:
    actions = [_veto(shown.digest, each) for each in shown.hatches]
    return [{"type": "ActionSet", "separator": True, "actions": actions}] if actions else []


def _veto(digest: str, hatch: Hatch) -> Json:
    outcome = Outcome(hatch.kind.value)
    required = {"isRequired": True, "errorMessage": "Write an answer, or choose an option."}
    field: dict[str, Json] = {
        "type": "Input.Text",
        "id": FIELDS[outcome],
        "label": hatch.asks,
        "isMultiline": True,
        "maxLength": LONGEST_ANSWER,
        **(required if hatch.kind is HatchKind.FREE_TEXT else {}),
    }
    card = {"type": "AdaptiveCard", "body": [field], "actions": [_action("Send", answering(digest, outcome))]}
    return {"type": "Action.ShowCard", "title": hatch.label, "card": card}


def _action(title: str, data: dict[str, Json]) -> dict[str, Json]:
    return {"type": "Action.Execute", "title": title, "verb": f"{VERB}{data['outcome']}", "data": data}


def _heading(text: str) -> Json:
    return {"type": "TextBlock", "text": text, "style": "heading", "weight": "Bolder", "wrap": True}


def _text(text: str, **style: Json) -> dict[str, Json]:
    runs = [{"type": "TextRun", "text": each, **style} for each in _TEMPLATED.split(text)]
    return {"type": "RichTextBlock", "inlines": runs}
