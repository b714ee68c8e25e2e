"""Parse one JSON object or array with common spelling errors.

The parser accepts missing or trailing commas, other quotes, comments, Python constants, unescaped quotations and
backslashes, and lines that repeat the end of a string, in one pass with an explicit stack. It raises
``LenientParseError`` where a repair would be a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from emitter.strict_json import MAX_JSON_DEPTH, parse_finite_float, unescape_string

if TYPE_CHECKING:
    from re import Pattern

    from emitter.messages import Json

CLOSERS: Final = {"{": "}", "[": "]"}
_STRUCTURAL_SIGNS: Final = frozenset(':,"')


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A complete object or array.

    ``has_strings`` tells whether it contains a quoted string, including keys. ``comments`` is the text of its comments.
    """

    start: int
    end: int
    value: Json
    has_strings: bool
    has_duplicate_keys: bool
    comments: str = ""


class ParseFlaw(str, Enum):
    """The reason why a text cannot be parsed."""

    CUT_OFF = "cut"
    """A container is still open at the end of the text."""
    TOO_DEEP = "deep"
    """Containers nest too deeply, or a number is too large."""
    BROKEN = "broken"
    """A repair would be a guess."""
    FRAGMENT = "stray"
    """The document is part of something larger that is incomplete."""
    UNFINISHED_THINKING = "thinking"
    """A thinking block never ends, so the beginning of the answer is unknown."""


@dataclass(frozen=True, slots=True)
class UnparsedBracket:
    """A bracket whose document could not be parsed beyond ``stopped_at``, where ``expected_closers`` were open."""

    start: int
    stopped_at: int
    flaw: ParseFlaw
    has_strings: bool
    expected_closers: tuple[str, ...]


class _ValueKind(Enum):
    STRING = auto()
    SCALAR = auto()
    CONTAINER = auto()


@dataclass(slots=True)
class _OpenContainer:
    """An open container; ``key`` is the key of an object's next value."""

    container: dict[str, Json] | list[Json]
    closer: str
    key: str = ""


def parse_document(text: str, start: int) -> ParsedDocument | UnparsedBracket:
    """Parse the object or array whose bracket is at ``start``."""
    parser = _LenientParser(text, start)
    try:
        value = parser.parse()
    except LenientParseError as error:
        closers = tuple(container.closer for container in parser.open_containers)
        return UnparsedBracket(start, max(error.position, start + 1), error.flaw, parser.has_strings, closers)
    return ParsedDocument(
        start, parser.position, value, parser.has_strings, parser.has_duplicate_keys, "\n".join(parser.comments)
    )


class _LenientParser:
    """The position in the text and the containers that are open there."""

    __slots__ = ("comments", "has_duplicate_keys", "has_strings", "last_kind", "open_containers", "position", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.position = start
        self.open_containers: list[_OpenContainer] = []
        self.last_kind = _ValueKind.CONTAINER
        self.has_strings = False
        self.has_duplicate_keys = False
        self.comments: list[str] = []

    def parse(self) -> Json:
        """Return the value of the document."""
        root = self.open_container(self.text[self.position])
        while self.open_containers:
            if self.parse_next() and self.open_containers:
                self.expect_comma()
        return root

    def parse_next(self) -> bool:
        """Parse a value or a bracket. Returns False after an opening bracket, which no comma follows."""
        frame = self.open_containers[-1]
        char = self.skip_blank()
        if char == frame.closer:
            self.position += 1
            self.open_containers.pop()
            self.last_kind = _ValueKind.CONTAINER
            return True
        if isinstance(frame.container, dict):
            frame.key = self.parse_key(char)
            char = self.skip_blank()
        if char in CLOSERS:
            self.add_value(frame, self.open_container(char))
            return False
        self.add_value(frame, self.parse_string(frame) if char in QUOTED_STRINGS else self.parse_scalar())
        return True

    def open_container(self, char: str) -> Json:
        """Enter a container and return it, still empty."""
        if len(self.open_containers) == MAX_JSON_DEPTH:
            raise LenientParseError(ParseFlaw.TOO_DEEP, self.position)
        self.position += 1
        frame = _OpenContainer({} if char == "{" else [], CLOSERS[char])
        self.open_containers.append(frame)
        return frame.container

    def add_value(self, frame: _OpenContainer, value: Json) -> None:
        """Add a value to its container."""
        if isinstance(frame.container, list):
            frame.container.append(value)
            return
        self.has_duplicate_keys = self.has_duplicate_keys or frame.key in frame.container
        frame.container[frame.key] = value

    def skip_blank(self) -> str:
        """Skip white space and comments and return the next character."""
        blank = BLANK.match(self.text, self.position)
        if blank and blank.end() > self.position:
            if comment := blank[0].strip():
                self.comments.append(comment)
            self.position = blank.end()
        if self.position == len(self.text) or self.text.startswith("/*", self.position):
            raise LenientParseError(ParseFlaw.CUT_OFF, len(self.text))
        return self.text[self.position]

    def parse_key(self, char: str) -> str:
        """Parse a key and its colon."""
        if char in QUOTED_STRINGS:
            self.has_strings = True
            start = self.position
            key, self.position = scan_string(self.text, start)
            raw = self.text[start + 1 : self.position - 1]
            if "\n" in raw and not _STRUCTURAL_SIGNS.isdisjoint(raw):
                raise LenientParseError(ParseFlaw.BROKEN, self.position)  # two keys that lost the quotes between them
            return self.expect_colon(key)
        if name := BARE_KEY.match(self.text, self.position):
            self.position = name.end()
            return self.expect_colon(name[0])
        raise LenientParseError(ParseFlaw.BROKEN, self.position)

    def expect_colon(self, key: str) -> str:
        """Skip the colon after ``key``, or the space if a quoted key lacks its colon."""
        end = self.position
        if self.skip_blank() == ":":
            self.position += 1
        elif end == self.position or self.text[end - 1] not in CLOSING_QUOTES:
            raise LenientParseError(ParseFlaw.BROKEN, self.position)
        return key

    def parse_string(self, frame: _OpenContainer) -> str:
        """Parse a quoted value."""
        self.has_strings = True
        after = AFTER_MEMBER if isinstance(frame.container, dict) else AFTER_ELEMENT
        value, self.position = scan_string(self.text, self.position, after)
        # A raw line break may mean a missing quote. Assuming a missing comma as well would be a guess.
        self.last_kind = _ValueKind.SCALAR if "\n" in value else _ValueKind.STRING
        return value

    def parse_scalar(self) -> Json:
        """Parse a number or a constant."""
        self.last_kind = _ValueKind.SCALAR
        try:
            token = scan_scalar(self.text, self.position)
        except ValueError as error:
            raise LenientParseError(ParseFlaw.TOO_DEEP, self.position) from error
        if token is None:
            raise LenientParseError(ParseFlaw.BROKEN, self.position)
        value, self.position = token
        return value

    def expect_comma(self) -> None:
        """Skip the comma after a value, or accept that it is missing."""
        end = self.position
        char = self.skip_blank()
        if char == ",":
            self.position += 1
        elif char not in "}]" and not self.is_comma_missing(self.text[end : self.position], char):
            raise LenientParseError(ParseFlaw.BROKEN, self.position)

    def is_comma_missing(self, gap: str, char: str) -> bool:
        """Return whether a comma is certainly missing in ``gap``, the space between a value and ``char``."""
        if isinstance(self.open_containers[-1].container, dict):
            is_next_key = (
                self.last_kind is not _ValueKind.SCALAR
                and char in QUOTED_STRINGS
                and self.text[self.position + 1 : self.position + 2].isalnum()
            )
            return (gap != "" or is_next_key) and MEMBER_KEY.match(self.text, self.position) is not None
        if not gap:
            return self.last_kind is _ValueKind.CONTAINER and char in CLOSERS
        # "1 234" may be one number, so two bare values must be on separate lines.
        return "\n" in gap or self.last_kind is not _ValueKind.SCALAR or char in QUOTED_STRINGS or char in CLOSERS


# In a text with a backslash that no JSON escape has, these are LaTeX commands and not a control character and a word.
# Short ones count only before a sign, because a line may begin with such a word.
_COMMANDS = (
    r"bar|begin|beta|big[lr]?|binom|bmod|boldsymbol|bullet|flat|forall|frac|nabla|nearrow|neg|neq|nmid|nolimits|notin"
    r"|rangle|rbrace|rceil|rfloor|rho|right|rightarrow|tan|tanh|tau|text(?:bf|it|rm)?|tfrac|theta|therefore|tilde|times"
    r"|triangle"
)
_ESCAPE = re.compile(
    rf"""
    \\(?:
      (?P<sign>["/])
    | (?P<escape>\\|u[0-9a-fA-F]{{4}})
    | (?P<command>(?:{_COMMANDS})(?![A-Za-z])|(?:nu|ne|ni|to|top)(?=[\\^_()$}}]))
    | (?P<control>[bfnrt])
    | (?P<apostrophe>')
    # Escapes that no language has: the backslash of a pattern, a path or a formula was not escaped. Other escapes of
    # Python or JavaScript (\x41, \a, \0) and of Markdown (\_, \*, \$) are ambiguous.
    | (?P<literal>[cdeghijklmpqswyzABCDEFGHIJKLMOPQRSTVWXYZ()\[\]{{}}.?^|,;:!]|[avNU](?=[A-Za-z])|[xu](?=[g-zG-Z]))
    | (?P<ambiguous>.|\Z)
    )
    | (?P<quote>")
    """,
    re.DOTALL | re.VERBOSE,
)
_SPELLINGS: Final = {"quote": '\\"', "apostrophe": "'"}


def scan_string(text: str, start: int, after: Pattern[str] | None = None) -> tuple[str, int]:
    """Return the value of the string at ``start`` and its end.

    Args:
        text: The answer.
        start: The position of the opening quote.
        after: The text that may follow the string. If something else follows, the quote counts as one that the model
            did not escape, provided that the quotes inside the string pair up.

    Raises:
        LenientParseError: The string does not end, or its value would be a guess.
    """
    triple_quoted = TRIPLE_QUOTED.match(text, start) if after else None
    if triple_quoted and after and after.match(text, triple_quoted.end()):
        return _unescape(text[start + 3 : triple_quoted.end() - 3], start), triple_quoted.end()
    token = QUOTED_STRINGS[text[start]].match(text, start)
    if token is None:
        raise LenientParseError(ParseFlaw.CUT_OFF, len(text))
    end = token.end()
    if text[start] != '"' or after is None or after.match(text, end):
        return _unescape(text[start + 1 : end - 1], start), end
    if repeats_end := _find_repeats_end(text, start, end, after):
        return _unescape(text[start + 1 : end - 1], start), repeats_end
    end = _find_string_end(text, start, end, after)
    return _unescape(text[start + 1 : end - 1], start), end


def _find_repeats_end(text: str, start: int, end: int, after: Pattern[str]) -> int | None:
    """Return the end of lines that repeat the end of the string before them, or None if something else follows."""
    token = text[start + 1 : end]
    while (repeat := _REPEATED_LINE.match(text, end)) and token.endswith(repeat[1]):
        end = repeat.end()
        if after.match(text, end):
            return end
    return None


def _find_string_end(text: str, start: int, end: int, after: Pattern[str]) -> int:
    """Return the end of a string with unescaped quotations; ``end`` is behind the first quote.

    A quotation that begins with a typographic quote, as in German, may end with a plain one.
    """
    expected, next_expected = QUOTATION_START, QUOTATION_END
    is_quoting = False
    while True:
        is_quoting = _is_quoting(text, start + 1, end - 1, is_quoting=is_quoting)
        if is_quoting:
            is_quoting = False
        elif expected.match(text, end - 1):
            expected, next_expected = next_expected, expected
        else:
            raise LenientParseError(ParseFlaw.BROKEN, end)
        start = end - 1
        rest = STRING_REST.match(text, end)
        if rest is None:
            raise LenientParseError(ParseFlaw.CUT_OFF, len(text))
        end = rest.end()
        if after.match(text, end):
            break
    if expected is not QUOTATION_START:
        raise LenientParseError(ParseFlaw.BROKEN, end)
    return end


def _is_quoting(text: str, start: int, end: int, *, is_quoting: bool) -> bool:
    """Return whether a typographic quotation is open at ``end``."""
    for quote in _TYPOGRAPHIC_QUOTE.finditer(text, start, end):
        # U+201C begins an English quotation and ends a German one.
        is_quoting = quote[0] == "\u201e" or (quote[0] == "\u201c" and not is_quoting)
    return is_quoting


def _unescape(raw: str, at: int) -> str:
    """Decode the escapes of ``raw`` and keep its raw line breaks."""
    if "\0" in raw:
        raise LenientParseError(ParseFlaw.BROKEN, at)
    if "\\" not in raw:
        return raw
    kinds = {escape.lastgroup for escape in _ESCAPE.finditer(raw)}
    is_literal = "literal" in kinds
    # After another unescaped backslash, "\\n" may be a line break or the start of a name.
    if "ambiguous" in kinds or (is_literal and not kinds.isdisjoint({"escape", "control"})):
        raise LenientParseError(ParseFlaw.BROKEN, at)
    literal_kinds = {"literal", "command"} if is_literal else {"literal"}
    return unescape_string(
        _ESCAPE.sub(
            lambda escape: (
                f"\\{escape[0]}"
                if escape.lastgroup in literal_kinds
                else _SPELLINGS.get(escape.lastgroup or "", escape[0])
            ),
            raw,
        )
    )


def scan_scalar(text: str, at: int) -> tuple[int | float | bool | None, int] | None:
    """Return the number or constant at ``at`` and its end; raise ``ValueError`` if a number is too large."""
    if token := LITERAL.match(text, at):
        return LITERALS[token[0]], token.end()
    if token := NUMBER.match(text, at):
        digits = token[0]
        is_integer = digits.lstrip("+-").isdecimal()
        return int(digits) if is_integer else parse_finite_float(digits), token.end()
    return None


# The quantifiers below are possessive (``*+``, ``++``): a text that does not match is not tried again at other lengths,
# so the time stays linear in hostile text.
_SPACE = r"[\s\ufeff\u180e\u200b\u2060]"
_COMMENT = r"//[^\n]*+|\#(?=[\s\#])[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
_NAME = r"(?!(?:True|False|None)\b)(?:[^\W\d]|\$)[\w$-]*+|\d++"
_LITERAL = r"(?:true|false|null|True|False|None)\b"


def _quoted_pattern(opening: str, closing: str) -> str:
    return rf"{opening}[^{closing}\\]*+(?:\\.[^{closing}\\]*+)*+{closing}"


# A single quote between two letters is an apostrophe, because no letter may follow a string directly.
_SINGLE = r"'[^'\\]*+(?:(?:\\.|(?<=\w)'(?=\w))[^'\\]*+)*+'"
QUOTED_STRINGS: Final = {
    '"': re.compile(_quoted_pattern('"', '"'), re.DOTALL),
    "'": re.compile(_SINGLE, re.DOTALL),
    "\u201c": re.compile(_quoted_pattern("\u201c", "\u201d"), re.DOTALL),
    "\u2018": re.compile(_quoted_pattern("\u2018", "\u2019"), re.DOTALL),
}
"""A complete string with its quotes, by opening quote."""
TRIPLE_QUOTED: Final = re.compile(r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"""', re.DOTALL)
"""A string in Python's triple quotes."""
CLOSING_QUOTES: Final = frozenset("\"'\u201d\u2019")
STRING_REST: Final = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
"""From inside a double-quoted string to the end of its next quote."""
_TYPOGRAPHIC_QUOTE: Final = re.compile("[\u201c-\u201e]")
_REPEATED_LINE: Final = re.compile(r'[ \t\r]*+\n\s*+([^"\\\n{}\[\]]{1,500}+")')
"""A line that ends a string, although the string before it is complete."""
BLANK: Final = re.compile(rf"(?:{_SPACE}++|{_COMMENT})*+")
"""White space and comments."""
BARE_KEY: Final = re.compile(_NAME)
"""A key without quotes."""
# A separator must follow a number: "1_234", "1/3" and "2024-10-18" are not numbers.
_NUMBER_END = r"(?=[\s,\]}\ufeff\u180e\u200b\u2060]|//|/\*|\Z)"
NUMBER: Final = re.compile(rf"[+-]?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+{_NUMBER_END}")
"""A JSON number with an optional plus; ``.5`` may have lost its first digits, so it does not match."""
LITERAL: Final = re.compile(rf"{_LITERAL}{_NUMBER_END}")
LITERALS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_SPACES = rf"{_SPACE}*+"
_COMMENT_START = r"/[/*]|\#[\s\#]"
# Strings in other quotes are short here: a hostile text may have quotes everywhere, and the end of each is sought.
_DOUBLE_QUOTED = QUOTED_STRINGS['"'].pattern
_STRING = (
    rf"{_DOUBLE_QUOTED}|'(?:[^'\\]|\\.|(?<=\w)'(?=\w)){{0,200}}+'"
    r"|\u201c(?:[^\u201d\\]|\\.){0,200}+\u201d|\u2018(?:[^\u2019\\]|\\.){0,200}+\u2019"
)
_KEY = rf"(?:{_STRING}|{_NAME}){_SPACES}:"
_VALUE = rf"[\"'\u201c\u2018{{\[]|[-+.]?[0-9]|{_LITERAL}"
MEMBER_KEY: Final = re.compile(_KEY, re.DOTALL)
"""A key with its colon."""
AFTER_MEMBER: Final = re.compile(
    rf"{_SPACES}(?:[}}\]]|{_COMMENT_START}|\Z|(?:(?<=\s)|(?=[\"'\u201c\u2018])){_KEY}"
    rf"|,{_SPACES}(?:[}}\]]|{_COMMENT_START}|\Z|{_KEY}))",
    re.DOTALL,
)
"""The text that may follow a string that is the value of a member."""
AFTER_ELEMENT: Final = re.compile(
    rf"{_SPACES}(?:[}}\]]|{_COMMENT_START}|\Z|(?<=\s)(?:{_VALUE})|,{_SPACES}(?:[}}\]]|{_COMMENT_START}|\Z|{_VALUE}))"
)
"""The text that may follow a string that is an element of an array."""
QUOTATION_START: Final = re.compile(r'(?<=[\s(\[{<=/\u2013\u2014-])"(?=[^\s"])')
"""An unescaped quote inside a string that opens a quotation."""
QUOTATION_END: Final = re.compile(r'(?<=[^\s"])"(?=[\s.,;!?)\]}>\u2026\u2013\u2014-])(?!\s*+:)')
"""An unescaped quote inside a string that closes a quotation."""
DOCUMENT_START: Final = re.compile(
    rf"\{{{_SPACES}(?:[\"'\u201c\u2018}}]|(?:{_NAME}){_SPACES}:|{_COMMENT_START})|\[{_SPACES}(?:\]|{_VALUE}|{_COMMENT_START})"
)
"""A bracket at which a document may begin; any other bracket belongs to the prose."""
PROSE_SIGN: Final = re.compile(r"`{3,}|[{}\[\]<\uff1c\u25c1\u27e8]|&lt;")
"""The signs at which the scan of the prose stops."""


class LenientParseError(Exception):
    """The parser met ``flaw`` at ``position``; ``parse_document`` handles it."""

    def __init__(self, flaw: ParseFlaw, at: int) -> None:
        super().__init__(flaw, at)
        self.flaw = flaw
        self.position = at
