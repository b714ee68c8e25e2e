"""A client of A2UI as a person meets it: texts read as Markdown, a data model, and events that are resolved."""

from __future__ import annotations

from typing import Any

from emitter.render import a2ui
from emitter.render.layout import HatchKind
from emitter.testing.sample_moments import FEW_MOMENTS
from emitter.testing.surfaces import ShownOption
from tests.render.json import formats
from tests.render.json.reading import CLOSED, read_markdown
from tests.render.json.subject import JsonSubject

Document = Any


class A2uiSubject(JsonSubject):
    """A client of A2UI: it reads texts as Markdown, keeps the data model, and resolves an event's context."""

    renderer = a2ui.A2UI_RENDERER
    moments = FEW_MOMENTS  # every text is read by a reader of Markdown, which takes its time

    def faults(self, drawn: Document) -> list[str]:
        """Return what breaks the format."""
        return formats.a2ui(drawn)

    def text(self, drawn: Document) -> str:
        """Return what the tree shows, from the root on."""
        return "\n".join(self._of(_components(drawn), "root"))

    def option(self, drawn: Document, index: int) -> ShownOption:
        """Return the card of the option."""
        components = _components(drawn)
        lines = list(self._of(components, f"option-{index}-card"))
        return ShownOption("\n".join(lines), lines[2], lines[0] == f"Option {index + 1} (recommended)")

    def hatches(self, drawn: Document) -> set[HatchKind]:
        """Return the vetoes that have a button."""
        buttons = [each for each in _components(drawn).values() if each["component"] == "Button"]
        outcomes = {each["action"]["event"]["context"]["outcome"] for each in buttons}
        return {each for each in HatchKind if each.value in outcomes}

    def select(self, drawn: Document, index: int) -> Any:
        """Press the button of an option."""
        return _event(drawn, f"option-{index}", {}) or _event(drawn, "option-0", {}, index=index)

    def answer(self, drawn: Document, text: str) -> Any:
        """Write into the field, press the button."""
        return self._veto(drawn, HatchKind.FREE_TEXT, text)

    def object(self, drawn: Document, text: str) -> Any:
        """Write into the field or not, press the button."""
        return self._veto(drawn, HatchKind.DIALOGUE, text)

    def _veto(self, drawn: Document, kind: HatchKind, text: str) -> Any:
        field = CLOSED[kind]
        forged = {"outcome": kind.value, field: text}
        return _event(drawn, kind.value, {f"/{field}": text}) or _event(drawn, "option-0", {}, **forged)

    def _of(self, components: Any, name: str) -> list[str]:
        found = components[name]
        if found["component"] == "Text":
            return [read_markdown(found["text"])[0].strip()]
        inner = found.get("children") or [found[key] for key in ("child",) if key in found]
        own = [found["label"]] if "label" in found else []
        return own + [line for each in inner for line in self._of(components, each)]


def _components(drawn: Document) -> dict[str, Any]:
    messages = [each["updateComponents"]["components"] for each in drawn if "updateComponents" in each]
    return {each["id"]: each for components in messages for each in components}


def _event(drawn: Document, button: str, model: Any, **forged: Any) -> Any:
    """Return the message of a pressed button, None where there is none; bindings are resolved by the data model."""
    found = _components(drawn).get(button)
    if found is None:
        return None
    event = found["action"]["event"]
    context = {
        name: model[value["path"]] if isinstance(value, dict) else value for name, value in event["context"].items()
    }
    surface = drawn[0]["createSurface"]["surfaceId"]
    about = {"name": event["name"], "surfaceId": surface, "sourceComponentId": button}
    stamped = {**about, "timestamp": "2026-11-22T03:00:00Z", "context": {**context, **forged}}
    return {"version": "v0.9", "action": stamped}
