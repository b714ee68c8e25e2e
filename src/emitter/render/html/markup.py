"""Elements by construction: whatever is no ``Markup`` is text, so no text of others can become an element.

Source: the HTML standard, sections 13.1.2 (elements) and 13.3 (what text has to escape).
"""

from __future__ import annotations

from html import escape
from typing import TypeAlias


class Markup(str):
    """HTML that was made here."""

    __slots__ = ()


Child: TypeAlias = str
Attribute: TypeAlias = str | bool

_VOID = frozenset({"br", "hr", "input", "link", "meta"})


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element; each child is text unless it is ``Markup``.

    An attribute's ``_`` stands for ``-`` and one at the end for nothing; one that is False or empty is left out, save
    ``lang``, which says by its emptiness that the language is unknown.
    """
    opening = f"<{name}{''.join(_attribute(*each) for each in attributes.items())}>"
    return Markup(opening if name in _VOID else f"{opening}{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Return the children one after the other."""
    return Markup("".join(each if isinstance(each, Markup) else escape(each) for each in children))


def said(name: str, text: str, /, *others: Child, **attributes: Attribute) -> Markup:
    """Return an element that holds text of others: in a language and a direction of its own, isolated from ours."""
    return element(name, text, *others, dir="auto", lang="", **attributes)


def _attribute(name: str, value: Attribute) -> str:
    word = name.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {word}" if value else ""
    return f' {word}="{escape(value)}"' if value or word == "lang" else ""
