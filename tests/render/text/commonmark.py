"""A page of Markdown as its reader sees it, read by markdown-it: CommonMark, with tables and strikethrough."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token

_READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@dataclass
class Entry:
    """An entry of a list: what its paragraphs show, and what stands there in strong type."""

    paragraphs: list[str] = field(default_factory=list)
    strong: list[str] = field(default_factory=list)


@lru_cache(maxsize=64)
def tokens(source: str) -> list[Token]:
    """Return every token, those within a line too."""
    return [inner for token in _READER.parse(source) for inner in (token, *(token.children or ()))]


def kinds(source: str) -> list[str]:
    """Return the kinds of all tokens, in order, plain text left out."""
    return [each.type for each in tokens(source) if each.type not in {"text", "inline", "text_special", "code_inline"}]


class Page:
    """What a page shows."""

    def __init__(self, source: str) -> None:
        self.lists: list[list[Entry]] = []
        self.numbered: list[Entry] = []
        lines: list[str] = []
        entry: Entry | None = None
        for token in tokens(source):
            if token.type in {"bullet_list_open", "ordered_list_open"}:
                self.lists.append([])
            elif token.type == "list_item_open":
                entry = Entry()
                self.lists[-1].append(entry)
                if token.info or token.markup == ".":
                    self.numbered.append(entry)
            elif token.type == "list_item_close":
                entry = None
            elif token.type == "inline":
                lines.append(_shown(token))
                if entry is not None:
                    entry.paragraphs.append(lines[-1])
                    entry.strong.extend(_strong(token))
        self.text = "\n".join(lines)


def _shown(token: Token) -> str:
    return "".join("\n" if "break" in each.type else each.content for each in token.children or ())


def _strong(token: Token) -> list[str]:
    found: list[str] = []
    inside = False
    for each in token.children or ():
        if each.type == "strong_open":
            inside = True
            found.append("")
        elif each.type == "strong_close":
            inside = False
        elif inside:
            found[-1] += each.content
    return found
