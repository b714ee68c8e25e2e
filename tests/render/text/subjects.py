"""The surfaces of text, looked at as a person reads them."""

# ruff: noqa: ARG002  what is typed does not depend on the drawing

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from emitter.render import text_formats
from emitter.render.layout import HATCHES, HatchKind
from emitter.testing.surfaces import RendererSubject, ShownOption
from tests.render.text.commonmark import Page

if TYPE_CHECKING:
    from emitter.render import Renderer

MARKED = "(recommended)"


class TypedSubject(RendererSubject[Any]):
    """A surface that is answered by a typed line, whatever its drawings are."""

    bound: ClassVar[bool] = False

    def select(self, drawn: Any, index: int) -> str:
        """Type the option's number."""
        return f"{index + 1}\n"

    def answer(self, drawn: Any, text: str) -> str:
        """Type the letter, and the answer."""
        return f"a {text}\n"

    def object(self, drawn: Any, text: str) -> str:
        """Type the letter, and the objection."""
        return f"d: {text}\n"


class PlainSubject(TypedSubject):
    """Plain text: its rows are put together again where they were wrapped."""

    def __init__(self, width: int | None = None) -> None:
        self.renderer: Renderer[str] = text_formats.PlainText(width)

    def text(self, drawn: str) -> str:
        """Return the text, which hides nothing."""
        return re.sub("\n {6}", " ", drawn)

    def option(self, drawn: str, index: int) -> ShownOption:
        """Return the line that begins with the option's number, and the one beneath."""
        lines = self.text(drawn).split("\n")
        first = next(place for place, each in enumerate(lines) if each.startswith(f"  {index + 1}. "))
        own, _, warning = lines[first].partition("[careful: ")
        marked = own.rstrip().endswith(f" {MARKED}") and "claims to be recommended" not in warning
        return ShownOption(lines[first], lines[first + 1], marked)

    def hatches(self, drawn: str) -> set[HatchKind]:
        """Return the vetoes whose lines stand there."""
        lines = self.text(drawn).split("\n")
        return {kind for kind, each in HATCHES.items() if f"  {each.key}. {each.label}" in lines}


class MarkdownSubject(TypedSubject):
    """Markdown, as a reader of CommonMark shows it."""

    renderer = text_formats.MARKDOWN_RENDERER

    def text(self, drawn: str) -> str:
        """Return what the page shows."""
        return Page(drawn).text

    def option(self, drawn: str, index: int) -> ShownOption:
        """Return the entry of the numbered list."""
        entry = Page(drawn).numbered[index]
        label, *reasoning = entry.paragraphs
        return ShownOption(label, "".join(reasoning), MARKED in entry.strong)

    def hatches(self, drawn: str) -> set[HatchKind]:
        """Return the vetoes that stand in the last list, each with its letter."""
        entries = [" ".join(each.paragraphs) for each in Page(drawn).lists[-1]]
        return {kind for kind, each in HATCHES.items() if f"{each.key} {each.label}" in entries}


class NotificationSubject(RendererSubject[Any]):
    """A notifier: it shows title and body, opens the expanded view, and sends back an action's id."""

    renderer = text_formats.NOTIFICATION_RENDERER

    def text(self, drawn: Any) -> str:
        """Return title, body, every text of the expanded view and of the actions."""
        titles = [f"{each['title']} {each.get('asks', '')}" for each in drawn["actions"]]
        return "\n".join([drawn["title"], drawn["body"], *_texts(drawn["expanded"]), *titles])

    def option(self, drawn: Any, index: int) -> ShownOption:
        """Return the option of the expanded view."""
        option = drawn["expanded"]["options"][index]
        return ShownOption("\n".join(_texts(option)), option["reasoning"], option["recommended"])

    def hatches(self, drawn: Any) -> set[HatchKind]:
        """Return the vetoes that have an action."""
        ids = {each["id"] for each in drawn["actions"]}
        return {each for each in HatchKind if each.value in ids}

    def select(self, drawn: Any, index: int) -> Any:
        """Press the action of an option."""
        return {"id": drawn["id"], "action": f"option:{index}"}

    def answer(self, drawn: Any, text: str) -> Any:
        """Write into the field of the action, and send."""
        return {"id": drawn["id"], "action": "free_text", "text": text}

    def object(self, drawn: Any, text: str) -> Any:
        """Write into the field of the action, or not, and send."""
        return {"id": drawn["id"], "action": "dialogue", **({"text": text} if text else {})}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []
