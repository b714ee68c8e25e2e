"""JSON in every style that is JSON, cut into pieces of every size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

_BLANKS = ("", "", "", " ", "\n", "\t", "\r\n", "  \n")
_SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FIRST_PRINTABLE = " "
_LAST_OF_PLANE = 0xFFFF


def written(value: Any, style: Random) -> str:
    """Return the value as JSON text, with blanks and escapes wherever the style has them."""
    match value:
        case dict():
            members = [f"{_text(name, style)}{_blank(style)}:{_spaced(each, style)}" for name, each in value.items()]
            return _joined(members, "{}", style)
        case list():
            return _joined([_spaced(each, style) for each in value], "[]", style)
        case str():
            return _text(value, style)
        case _:
            return json.dumps(value)


def cut(text: str, sizes: list[int]) -> list[str]:
    """Return the text in pieces of these sizes, again and again."""
    pieces, at = [], 0
    while at < len(text):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(text[at : at + size])
        at += size
    return pieces


def _blank(style: Random) -> str:
    return style.choice(_BLANKS)


def _spaced(value: Any, style: Random) -> str:
    return f"{_blank(style)}{written(value, style)}{_blank(style)}"


def _joined(members: list[str], brackets: str, style: Random) -> str:
    inside = ",".join(f"{_blank(style)}{each}{_blank(style)}" for each in members)
    return f"{brackets[0]}{inside or _blank(style)}{brackets[1]}"


def _text(value: str, style: Random) -> str:
    return f'"{"".join(_character(each, style) for each in value)}"'


def _character(character: str, style: Random) -> str:
    must = character in '"\\' or character < _FIRST_PRINTABLE
    way = style.choice(("plain", "short", "coded"))
    if way == "short" and character in _SHORT:
        return _SHORT[character]
    if way == "plain" and not must:
        return character
    return _coded(character, style) if way == "coded" or must else character


def _coded(character: str, style: Random) -> str:
    number = ord(character)
    numbers = [number]
    if number > _LAST_OF_PLANE:
        numbers = [0xD800 + ((number - 0x10000) >> 10), 0xDC00 + ((number - 0x10000) & 0x3FF)]
    return "".join(f"\\u{each:04{style.choice('xX')}}" for each in numbers)
