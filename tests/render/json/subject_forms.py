"""The two forms as a person meets them: OpenWOP's surface and MCP's elicitation."""

from __future__ import annotations

from typing import Any

from emitter.render import a2ui, elicitation
from emitter.render.layout import HatchKind
from emitter.testing.surfaces import ShownOption
from tests.render.json import formats
from tests.render.json.reading import CLOSED
from tests.render.json.subject import JsonSubject

Document = Any
_CAREFUL = "Careful: "


class OpenwopSurfaceSubject(JsonSubject):
    """A host of OpenWOP: it shows components from top to bottom, and collects values under their ids."""

    renderer = a2ui.OPENWOP_RENDERER

    def faults(self, drawn: Document) -> list[str]:
        """Return what breaks the format."""
        return formats.openwop_surface(drawn)

    def text(self, drawn: Document) -> str:
        """Return what the components show."""
        return "\n".join(line for each in drawn["surface"]["components"] for line in _of_component(each))

    def option(self, drawn: Document, index: int) -> ShownOption:
        """Return the option's heading, and what stands beneath it."""
        lines = [line for each in drawn["surface"]["components"] for line in _of_component(each)]
        marked = f"Option {index + 1} (recommended)"
        start = next(at for at, each in enumerate(lines) if each in {marked, f"Option {index + 1}"})
        rest = lines[start + 3 : start + 4]
        own = [*lines[start : start + 3], *(each for each in rest if each.startswith(_CAREFUL))]
        return ShownOption("\n".join(own), own[2], own[0] == marked)

    def hatches(self, drawn: Document) -> set[HatchKind]:
        """Return the vetoes that can be chosen."""
        return {each for each in HatchKind if any(value.endswith(f"#{each.value}") for value in _values(drawn))}

    def select(self, drawn: Document, index: int) -> Any:
        """Choose an option, send the form."""
        found = [each for each in _values(drawn) if each.endswith(f"#option:{index}")]
        return self._collected(drawn, found[0] if found else f"{_values(drawn)[1].split('#')[0]}#option:{index}")

    def answer(self, drawn: Document, text: str) -> Any:
        """Choose the veto, write, send the form."""
        return self._veto(drawn, HatchKind.FREE_TEXT, text)

    def object(self, drawn: Document, text: str) -> Any:
        """Choose the veto, write or not, send the form."""
        return self._veto(drawn, HatchKind.DIALOGUE, text)

    def _veto(self, drawn: Document, kind: HatchKind, text: str) -> Any:
        choice = f"{_values(drawn)[1].split('#')[0]}#{kind.value}"
        return {**self._collected(drawn, choice), CLOSED[kind]: text}

    @staticmethod
    def _collected(drawn: Document, choice: str) -> Any:
        fields = [each for each in drawn["surface"]["components"] if each["component"] == "field.text"]
        return {"choice": choice, **{each["id"]: "" for each in fields}}


def _of_component(component: Any) -> list[str]:
    return [component[key] for key in ("text", "label") if key in component]


def _values(drawn: Document) -> list[str]:
    select = next(each for each in drawn["surface"]["components"] if each["component"] == "field.select")
    return [each["value"] for each in select["options"]]


class ElicitationSubject(JsonSubject):
    """A client of MCP that shows the message and a form, for a person who fills it in."""

    renderer = elicitation.RENDERER

    def faults(self, drawn: Document) -> list[str]:
        """Return what breaks the format."""
        return formats.elicitation(drawn)

    def text(self, drawn: Document) -> str:
        """Return the message and the titles of the form."""
        properties = drawn["requestedSchema"]["properties"]
        titles = [each["title"] for each in properties.values()]
        return "\n".join([drawn["message"], *titles, *(each["title"] for each in _entries(drawn))])

    def option(self, drawn: Document, index: int) -> ShownOption:
        """Return the title of the option's entry."""
        title = next(each["title"] for each in _entries(drawn) if each["const"] == f"option:{index}")
        return ShownOption(title, title, title.startswith(f"Option {index + 1} (recommended): "))

    def hatches(self, drawn: Document) -> set[HatchKind]:
        """Return the vetoes that can be chosen, and have a field."""
        entries = {each["const"] for each in _entries(drawn)}
        fields = drawn["requestedSchema"]["properties"]
        return {each for each in HatchKind if each.value in entries and CLOSED[each] in fields}

    def select(self, drawn: Document, index: int) -> Any:
        """Choose an option, accept the form."""
        return self._accepted(drawn, {"choice": f"option:{index}"})

    def answer(self, drawn: Document, text: str) -> Any:
        """Choose the veto, write, accept the form."""
        return self._accepted(drawn, {"choice": "free_text", "answer": text})

    def object(self, drawn: Document, text: str) -> Any:
        """Choose the veto, write or not, accept the form."""
        return self._accepted(drawn, {"choice": "dialogue", **({"objection": text} if text else {})})

    @staticmethod
    def _accepted(drawn: Document, content: Any) -> Any:
        """Return the result, with the digest that the caller of ``elicitation/create`` knows."""
        return {"action": "accept", "content": content, "digest": drawn["_meta"][elicitation.DIGEST_KEY]}


def _entries(drawn: Document) -> list[Any]:
    return list(drawn["requestedSchema"]["properties"]["choice"]["oneOf"])
