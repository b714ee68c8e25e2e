"""A page as its reader has it: parsed by the standard library's HTML parser, and its forms filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_VOID = {"br", "hr", "input", "link", "meta"}
_UNSEEN = {"head", "style", "script", "template"}


@dataclass
class Node:
    """An element: its name, its attributes, and what stands in it."""

    tag: str
    attributes: dict[str, str]
    parent: Node | None = None
    children: list[Node | str] = field(default_factory=list["Node | str"])

    def walk(self) -> Iterator[Node]:
        """Yield this element and all within it, in order."""
        yield self
        for each in self.children:
            if isinstance(each, Node):
                yield from each.walk()

    def all(self, tag: str, **attributes: str) -> list[Node]:
        """Return the elements within of this name that have these attributes."""
        return [each for each in self.walk() if each.tag == tag and attributes.items() <= each.attributes.items()]

    def one(self, tag: str, **attributes: str) -> Node:
        """Return the only such element."""
        (found,) = self.all(tag, **attributes)
        return found

    def named(self, name: str) -> Node:
        """Return the element with this id."""
        (found,) = [each for each in self.walk() if each.attributes.get("id") == name]
        return found

    def within(self, tag: str) -> Node:
        """Return the nearest element of this name around this one."""
        assert self.parent is not None
        return self.parent if self.parent.tag == tag else self.parent.within(tag)

    @property
    def text(self) -> str:
        """What can be read of it."""
        if self.tag in _UNSEEN:
            return ""
        return "".join(each if isinstance(each, str) else f" {each.text} " for each in self.children)

    @property
    def fields(self) -> dict[str, str]:
        """What a form sends before anything was filled in or pressed."""
        sent = {
            each.attributes["name"]: each.attributes.get("value", "")
            for each in self.all("input")
            if each.attributes.get("type") == "hidden" or "checked" in each.attributes
        }
        return sent | {each.attributes["name"]: "" for each in self.all("textarea")}


class _Reader(HTMLParser):
    """Builds the tree, and lets nothing pass that is not well nested."""

    def __init__(self) -> None:
        super().__init__()
        self.at = Node("document", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        made = Node(tag, {name: value or "" for name, value in attrs}, self.at)
        self.at.children.append(made)
        if tag not in _VOID:
            self.at = made

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.at.tag
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def parsed(page: str) -> Node:
    """Return the document's root element."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.at.tag == "document"
    return reader.at.one("html")
