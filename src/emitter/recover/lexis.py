"""The words of almost-JSON, as patterns. Each is possessive: none ever goes back over a character."""

from __future__ import annotations

import re
from typing import Final

_SPACE = r"[\s\ufeff\u180e\u200b\u2060]"
_COMMENT = r"//[^\n]*+|\#(?=[\s\#])[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
_NAME = r"(?!(?:True|False|None)\b)(?:[^\W\d]|\$)[\w$-]*+|\d++"
_LITERAL = r"(?:true|false|null|True|False|None)\b"


def _quoted(opening: str, closing: str) -> str:
    return rf"{opening}[^{closing}\\]*+(?:\\.[^{closing}\\]*+)*+{closing}"


# Between two letters a single quote is an apostrophe: nothing may follow a string so closely.
_SINGLE = r"'[^'\\]*+(?:(?:\\.|(?<=\w)'(?=\w))[^'\\]*+)*+'"

QUOTED: Final = {
    '"': re.compile(_quoted('"', '"'), re.DOTALL),
    "'": re.compile(_SINGLE, re.DOTALL),
    "\u201c": re.compile(_quoted("\u201c", "\u201d"), re.DOTALL),
    "\u2018": re.compile(_quoted("\u2018", "\u2019"), re.DOTALL),
}
"""A whole string, quotes included, by its opening quote."""

TRIPLE: Final = re.compile(r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"""', re.DOTALL)
"""A string as Python writes long ones."""

CLOSING_QUOTES: Final = frozenset("\"'\u201d\u2019")

REST: Final = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
"""From inside a double-quoted string to behind its next quote."""

BLANK: Final = re.compile(rf"(?:{_SPACE}++|{_COMMENT})*+")
"""White space and comments."""

NAME: Final = re.compile(_NAME)
"""A key that wants no quotes."""

# A number must end where it ends: "1_234", "1/3" and "2024-10-18" are not numbers with something behind.
_END = r"(?=[\s,\]}\ufeff\u180e\u200b\u2060]|//|/\*|\Z)"
NUMBER: Final = re.compile(rf"[+-]?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+{_END}")
"""A JSON number, perhaps with a plus; ``.5`` may have lost its first digits, and is not guessed at."""

LITERAL: Final = re.compile(rf"{_LITERAL}{_END}")
LITERALS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}

_SPACES = rf"{_SPACE}*+"
_REMARK = r"/[/*]|\#[\s\#]"
_STRING = "|".join(pattern.pattern for pattern in QUOTED.values())
_KEY = rf"(?:{_STRING}|{_NAME}){_SPACES}:"
_VALUE = rf"[\"'\u201c\u2018{{\[]|[-+.]?[0-9]|{_LITERAL}"

MEMBER: Final = re.compile(_KEY, re.DOTALL)
"""A key with its colon."""

AFTER_MEMBER: Final = re.compile(
    rf"{_SPACES}(?:[}}\]]|{_REMARK}|\Z|(?:(?<=\s)|(?=[\"'\u201c\u2018])){_KEY}"
    rf"|,{_SPACES}(?:[}}\]]|{_REMARK}|\Z|{_KEY}))",
    re.DOTALL,
)
"""What may stand behind a string that is the value of a member."""

AFTER_ELEMENT: Final = re.compile(
    rf"{_SPACES}(?:[}}\]]|{_REMARK}|\Z|(?<=\s)(?:{_VALUE})|,{_SPACES}(?:[}}\]]|{_REMARK}|\Z|{_VALUE}))"
)
"""What may stand behind a string that is an element of an array."""

OPENING: Final = re.compile(r'(?<=[\s(\[{<=/\u2013\u2014-])"(?=[^\s"])')
"""An unescaped quote inside a string that opens a quotation."""

CLOSING: Final = re.compile(r'(?<=[^\s"])"(?=[\s.,;!?)\]}>\u2026\u2013\u2014-])(?!\s*+:)')
"""An unescaped quote inside a string that closes a quotation."""

DOCUMENT: Final = re.compile(
    rf"\{{{_SPACES}(?:[\"'\u201c\u2018}}]|(?:{_NAME}){_SPACES}:|{_REMARK})|\[{_SPACES}(?:\]|{_VALUE}|{_REMARK})"
)
"""A bracket behind which a document may begin; any other bracket is a sign of the prose."""

MARK: Final = re.compile(r"`{3,}|[{}\[\]<\uff1c\u25c1\u27e8]|&lt;")
"""What the walk through the prose stops at."""
