"""What a host shows of a text that it reads as Markdown."""

from __future__ import annotations

from html.parser import HTMLParser

from markdown_it import MarkdownIt

from emitter.render.layout import HatchKind

CLOSED = {HatchKind.FREE_TEXT: "answer", HatchKind.DIALOGUE: "objection"}
"""The field of each veto."""


class _Shown(HTMLParser):
    """The text of a page of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()

    def handle_data(self, data: str) -> None:
        """Keep what is shown."""
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002  the parser gives them
        """Keep which elements there are."""
        self.tags.add(tag)


def read_markdown(text: str) -> tuple[str, set[str]]:
    """Return what a CommonMark reader shows of a text, and the elements it makes of it."""
    shown = _Shown()
    shown.feed(MarkdownIt("gfm-like", {"linkify": False}).render(text))
    return shown.text, shown.tags
