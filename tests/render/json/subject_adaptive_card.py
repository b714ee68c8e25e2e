"""A host of Adaptive Cards as a person meets it: it shows runs as they are, and merges inputs into data."""

from __future__ import annotations

from typing import Any

from emitter.render import adaptive_card
from emitter.render.layout import HatchKind
from emitter.testing.surfaces import ShownOption
from tests.render.json import formats
from tests.render.json.reading import CLOSED, read_markdown
from tests.render.json.subject import JsonSubject

Document = Any


class AdaptiveCardSubject(JsonSubject):
    """A host of Adaptive Cards: it shows runs as they are, merges inputs into data, and sends an invoke."""

    renderer = adaptive_card.RENDERER

    def faults(self, drawn: Document) -> list[str]:
        """Return what breaks the format."""
        return formats.adaptive_card(drawn)

    def text(self, drawn: Document) -> str:
        """Return what the body shows."""
        return "\n".join(map(_of_element, drawn["body"]))

    def option(self, drawn: Document, index: int) -> ShownOption:
        """Return the container of the option."""
        found = [each for each in drawn["body"] if each["type"] == "Container"][index]
        lines = list(map(_of_element, found["items"]))
        return ShownOption("\n".join(lines), lines[2], lines[0] == f"Option {index + 1} (recommended)")

    def hatches(self, drawn: Document) -> set[HatchKind]:
        """Return the vetoes that have a card with a field and a button."""
        return {HatchKind(each["card"]["actions"][0]["data"]["outcome"]) for each in _shown_cards(drawn)}

    def select(self, drawn: Document, index: int) -> Any:
        """Press the button of an option."""
        found = [_executed(each) for each in drawn["body"] if each["type"] == "Container"]
        return _invoke({**(found[index] if index < len(found) else found[0]), "index": index})

    def answer(self, drawn: Document, text: str) -> Any:
        """Open the card, write, send."""
        return self._veto(drawn, HatchKind.FREE_TEXT, text)

    def object(self, drawn: Document, text: str) -> Any:
        """Open the card, write or not, send."""
        return self._veto(drawn, HatchKind.DIALOGUE, text)

    def _veto(self, drawn: Document, kind: HatchKind, text: str) -> Any:
        for card in (each["card"] for each in _shown_cards(drawn)):
            action = card["actions"][0]
            if action["data"]["outcome"] == kind.value:
                return _invoke({**action["data"], card["body"][0]["id"]: text})
        data = _executed(next(each for each in drawn["body"] if each["type"] == "Container"))
        return _invoke({**data, "outcome": kind.value, CLOSED[kind]: text})


def _of_element(element: Any) -> str:
    if element["type"] == "TextBlock":
        return read_markdown(element["text"])[0].strip()
    if element["type"] == "RichTextBlock":
        return "".join(each["text"] for each in element["inlines"])
    if element["type"] == "Container":
        return "\n".join(map(_of_element, element["items"]))
    return "\n".join(each["title"] for each in element["actions"])


def _shown_cards(drawn: Document) -> list[Any]:
    sets = [each["actions"] for each in drawn["body"] if each["type"] == "ActionSet"]
    return [each for actions in sets for each in actions]


def _executed(container: Any) -> Any:
    return container["items"][-1]["actions"][0]["data"]


def _invoke(data: Any) -> Any:
    return {"action": {"type": "Action.Execute", "verb": "any", "data": data}, "trigger": "manual"}
