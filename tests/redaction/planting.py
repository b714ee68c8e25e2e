"""Ways to write a secret into a text, and a judge who reads the text again, neither made of the library's code."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from binascii import Error, a2b_base64
from contextlib import suppress
from itertools import cycle
from operator import add
from typing import TYPE_CHECKING
from unicodedata import category
from urllib.parse import quote, quote_plus, unquote, unquote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Unicode's Prepended_Concatenation_Mark: signs that stand around digits."""
SHOWN = PREPENDED | set("\ufff9\ufffa\ufffb") | set(map(chr, range(0x13430, 0x13441)))
"""Format characters that are shown."""
OTHERS = (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0, *range(0xFFF0, 0xFFF9))
SELECTORS = (*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10))
UNSEEN = "".join(
    sorted(
        {each for each in map(chr, range(0x110000)) if category(each) == "Cf"} - SHOWN
        | set(map(chr, (*OTHERS, *SELECTORS, *range(0xE0000, 0xE1000))))
    )
)
"""Default_Ignorable_Code_Point, derived as Unicode's DerivedCoreProperties.txt says."""

TAGS = "".join(chr(0xE0000 + ord(each)) for each in "tag letters")


def units(text: str) -> Iterator[int]:
    """Yield the numbers of UTF-16, of which an astral character takes two."""
    data = text.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2))


def inside(text: str, *, plain: bool = False) -> str:
    """Return what stands between the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=not plain)[1:-1]


def mixed(text: str) -> str:
    """Return JSON in which every second character is escaped in full."""
    return "".join(
        inside(each, plain=True) if at % 2 else "".join(f"\\u{unit:04X}" for unit in units(each))
        for at, each in enumerate(text)
    )


def ends_open(text: str) -> str:
    """Return base64 without its padding."""
    return b64encode(text.encode()).decode().rstrip("=")


WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in JSON": inside,
    "in JSON as UTF-8": lambda text: inside(text, plain=True),
    "in JSON with escaped slashes": lambda text: inside(text).replace("/", "\\/"),
    "in JSON, each character escaped": lambda text: "".join(f"\\u{unit:04x}" for unit in units(text)),
    "in JSON, every second character escaped": mixed,
    "in JSON in JSON": lambda text: inside(inside(text)),
    "in JSON in JSON in JSON": lambda text: inside(inside(inside(text))),
    "in JSON in a whole document": lambda text: inside(json.dumps({"a": [text]})),
    "in a URL": quote,
    "in a URL, slashes too": lambda text: quote(text, safe=""),
    "in a URL, each byte": lambda text: "".join(f"%{each:02X}" for each in text.encode()),
    "in a URL, each byte in small letters": lambda text: "".join(f"%{each:02x}" for each in text.encode()),
    "in a URL, every second byte": lambda text: "".join(
        each if at % 2 and each.isascii() and each.isalnum() else "".join(f"%{byte:02x}" for byte in each.encode())
        for at, each in enumerate(text)
    ),
    "in a query": quote_plus,
    "in a URL in a URL": lambda text: quote(quote(text)),
    "in HTML": html.escape,
    "in HTML as numbers": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "in HTML as numbers of base 16": lambda text: "".join(f"&#x{ord(each):X};" for each in text),
    "in HTML in HTML": lambda text: html.escape(html.escape(text)),
    "in base64": lambda text: b64encode(text.encode()).decode(),
    "in base64 without padding": ends_open,
    "in base64 for URLs": lambda text: urlsafe_b64encode(text.encode()).decode(),
    "in base64 behind a byte": lambda text: b64encode(b"\xff" + text.encode() + b"\xff").decode(),
    "in base64 behind two bytes": lambda text: b64encode(b"u:" + text.encode() + b"!!").decode(),
    "in Python": repr,
    "in Python as ASCII": ascii,
    "in Python as bytes": lambda text: repr(text.encode()),
    "in JavaScript": lambda text: "".join(f"\\u{{{ord(each):x}}}" for each in text),
    "in JSON in a URL": lambda text: quote(inside(text)),
    "in a URL in JSON": lambda text: inside(quote_plus(text)),
    "in JSON in HTML": lambda text: html.escape(inside(text)),
    "in base64 in a URL": lambda text: quote(b64encode(text.encode()).decode(), safe=""),
    "in base64 in JSON": lambda text: inside(b64encode(text.encode()).decode()).replace("/", "\\/"),
    "with something unseen between": "\u200b".join,
    "with everything unseen between": lambda text: text[0] + "".join(map(add, cycle(UNSEEN), text[1:])),
    "with tag letters between": lambda text: text[0] + "".join(map(add, cycle(TAGS), text[1:])),
    "struck through": "\u0336".join,
    "in tag letters": lambda text: "".join(chr(0xE0000 + ord(each)) if each.isascii() else each for each in text),
    "with a soft hyphen": lambda text: f"{text[:2]}\xad{text[2:]}",
    "in halves of characters": lambda text: "".join(map(chr, units(text))),
}


TWICE = {name for name in WRITTEN if name.count(" in ") > 0 and len({*name.split()} & {"JSON", "URL", "HTML"}) > 1}
"""Ways that write over what was written in another way."""


def readings(text: str) -> Iterator[str]:
    """Yield what a reader may make of a text."""
    yield text
    yield unquote(text)
    yield unquote_plus(text)
    yield html.unescape(text)
    yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    yield re.sub("[\U000e0000-\U000e007f]", lambda tag: chr(ord(tag[0]) - 0xE0000), text)
    yield "".join(each for each in text if each not in UNSEEN and not "\u0300" <= each <= "\u036f")
    yield text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    with suppress(ValueError):
        yield json.loads(f'"{text}"')
    for run in re.findall(r"[\w+/-]{4,}", text, re.ASCII):
        yield from _decoded(run.replace("-", "+").replace("_", "/"))


def _decoded(run: str) -> Iterator[str]:
    for begin in range(4):
        size = (len(run) - begin) // 4 * 4
        try:
            yield a2b_base64(run[begin : begin + size]).decode("utf-8", "replace")
        except Error:
            continue


def shows(text: str, value: str) -> bool:
    """Tell whether a reader finds a value in a text."""
    return any(value in each for each in readings(text))
