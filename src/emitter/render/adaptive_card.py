"""Draw a decision as an Adaptive Card 1.6, with a button for each option and a field for each veto.

Text of the model is put into text runs, which are not read as Markdown, and never contains the template openers ``${``
and ``{{``. Hosts limit a card's size (Teams: about 80 kB) and refuse larger cards.

Sources: draft-morrison-binding-moment-envelope-00, section 8; the schema of Adaptive Cards 1.6.0
(https://github.com/microsoft/AdaptiveCards) and Microsoft's Universal Action Model.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import TooLong
from emitter.messages import as_mapping
from emitter.render import text_formats
from emitter.render.layout import HatchKind, build_layout, button_label, fold_findings, option_heading
from emitter.render.replies import MAX_ANSWER_LENGTH, button_value, parse_button_reply, typing_instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.layout import Hatch, Layout, OptionLayout

VERB_PREFIX = "emitter.binding_moment."
"""The prefix of every action's verb. The outcome follows."""
_SCHEMA = "http://adaptivecards.io/schemas/adaptive-card.json"
_TEMPLATE_OPENING = re.compile(r"(?<=[${])(?=\{)")
"""Matches between the two characters that open a template or a date function."""


@dataclass(frozen=True, slots=True)
class AdaptiveCard:
    """The Adaptive Card renderer.

    Set ``version="1.5"`` for a host that does not support 1.6 and would show only the fallback text. The cards use
    nothing newer than 1.5. Set ``max_bytes`` for a host that refuses larger cards: a card then leaves out the middle of
    the longest findings, and its question says so, with ``elsewhere``, the sentence that says where to read them.
    """

    version: str = "1.6"
    max_bytes: int | None = None
    elsewhere: str = "Read them on the decision's page before you decide."
    name: str = "adaptive-card"

    def draw(self, moment: BindingMoment) -> dict[str, Json]:
        """Return the card.

        Raises:
            TooLong: The card has more than ``max_bytes`` without its findings.
        """
        layout = build_layout(moment)
        card = self._draw_layout(layout, moment)
        if self.max_bytes is None:
            return card
        room = self.max_bytes
        while room and _count_bytes(card) > self.max_bytes:
            room = room * 3 // 4
            card = self._draw_layout(fold_findings(layout, room, self.elsewhere), moment)
        if _count_bytes(card) > self.max_bytes:
            raise TooLong(f"The envelope does not fit into a card of {self.max_bytes:,} bytes.")
        return card

    def _draw_layout(self, layout: Layout, moment: BindingMoment) -> dict[str, Json]:
        fallback = f"{text_formats.format_markdown(layout)}\n\n{typing_instructions(moment)}"
        return {
            "type": "AdaptiveCard",
            "$schema": _SCHEMA,
            "version": self.version,
            "fallbackText": _TEMPLATE_OPENING.sub(" ", fallback),
            "body": [
                *_briefing(layout),
                *(_option_container(layout.digest, choice) for choice in layout.choices),
                *_veto_actions(layout),
            ],
        }

    def read(self, moment: BindingMoment, reply: Json) -> Resolution:
        """Return the resolution of an ``Action.Execute`` or ``Action.Submit``, or raise ``ResolutionError``."""
        members = as_mapping(reply)
        return parse_button_reply(moment, as_mapping(members.get("action")).get("data", members))


def _count_bytes(card: dict[str, Json]) -> int:
    return len(json.dumps(card).encode())


def _briefing(layout: Layout) -> Iterator[Json]:
    if layout.note is not None:
        yield _text_block(f"A note first: {layout.note}", italic=True)
    yield _text_block(layout.synopsis, size="Large", weight="Bolder")
    for section in layout.sections:
        yield _heading_block(section.heading)
        yield from (_text_block(f"\N{BULLET} {item}") for item in section.items)
    yield _text_block(layout.offer, isSubtle=True)
    yield {**_text_block(layout.stem, size="Medium", weight="Bolder"), "separator": True}


def _option_container(digest: str, choice: OptionLayout) -> Json:
    action = {
        **_execute_action(button_label(choice), button_value(digest, ResolutionOutcome.SELECTED, choice.index)),
        "associatedInputs": "none",
        "style": "positive" if choice.recommended else "default",
    }
    return {
        "type": "Container",
        "separator": True,
        "style": "emphasis" if choice.recommended else "default",
        "items": [
            _heading_block(option_heading(choice)),
            _text_block(choice.label, weight="Bolder"),
            _text_block(choice.reasoning),
            *(_text_block(warning, color="Attention") for warning in choice.warnings),
            {"type": "ActionSet", "actions": [action]},
        ],
    }


def _veto_actions(layout: Layout) -> list[Json]:
    actions = [_veto_card(layout.digest, hatch) for hatch in layout.hatches]
    return [{"type": "ActionSet", "separator": True, "actions": actions}] if actions else []


def _veto_card(digest: str, hatch: Hatch) -> Json:
    required = {"isRequired": True, "errorMessage": "Write an answer, or choose an option."}
    field: dict[str, Json] = {
        "type": "Input.Text",
        "id": hatch.field,
        "label": hatch.prompt,
        "isMultiline": True,
        "maxLength": MAX_ANSWER_LENGTH,
        **(required if hatch.kind is HatchKind.FREE_TEXT else {}),
    }
    card = {
        "type": "AdaptiveCard",
        "body": [field],
        "actions": [_execute_action("Send", button_value(digest, hatch.outcome))],
    }
    return {"type": "Action.ShowCard", "title": hatch.label, "card": card}


def _execute_action(title: str, data: dict[str, Json]) -> dict[str, Json]:
    return {"type": "Action.Execute", "title": title, "verb": f"{VERB_PREFIX}{data['outcome']}", "data": data}


def _heading_block(text: str) -> Json:
    return {"type": "TextBlock", "text": text, "style": "heading", "weight": "Bolder", "wrap": True}


def _text_block(text: str, **style: Json) -> dict[str, Json]:
    # Split between the two characters of a template opener, so that no host expands it.
    runs = [{"type": "TextRun", "text": part, **style} for part in _TEMPLATE_OPENING.split(text)]
    return {"type": "RichTextBlock", "inlines": runs}


RENDERER = AdaptiveCard()
