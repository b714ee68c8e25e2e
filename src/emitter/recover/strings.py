"""Read one string of almost-JSON: where it ends, and what it says."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from emitter.recover.lexis import CLOSING, OPENING, QUOTED, REST, TRIPLE
from emitter.recover.stuck import Flaw, StuckError

if TYPE_CHECKING:
    from re import Match, Pattern

_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)
_JSON_ESCAPES: Final = frozenset('"\\/bfnrtu')

# Escapes in no language a model writes JSON in: a forgotten backslash of a pattern or a formula. Those that
# Python or JavaScript know (\x, \a, \0), and those that Markdown knows (\_, \*, \$), could mean two things.
_TELLING_ESCAPES: Final = frozenset("\\bfnrtu")
_LITERAL_ESCAPES: Final = frozenset("cdeghijklmpqswyzABCDEFGHIJKLMOPQRSTVWXYZ()[]{}.?^|")

_LENIENT = json.JSONDecoder(strict=False)


def quoted(text: str, start: int, after: Pattern[str] | None = None) -> tuple[str, int]:
    """Return what the string at ``start`` says and where it ends.

    ``after`` is what may follow it. Where something else follows, its quote is taken for one that the model
    forgot to escape, if the quotes inside the string pair up as quotations do.

    :raises StuckError: when it does not end, or cannot be read without a guess.
    """
    long = TRIPLE.match(text, start) if after else None
    if long and after and after.match(text, long.end()):
        return _said(text[start + 3 : long.end() - 3], start), long.end()
    token = QUOTED[text[start]].match(text, start)
    if token is None:
        raise StuckError(Flaw.CUT, len(text))
    end = token.end()
    if text[start] == '"' and after is not None and not after.match(text, end):
        end = _quoting(text, end, after)
    return _said(text[start + 1 : end - 1], start), end


def _quoting(text: str, end: int, after: Pattern[str]) -> int:
    """Return where a string ends that holds unescaped quotations; ``end`` is behind the first of them."""
    shape, following = OPENING, CLOSING
    while True:
        if not shape.match(text, end - 1):
            raise StuckError(Flaw.BROKEN, end)
        shape, following = following, shape
        rest = REST.match(text, end)
        if rest is None:
            raise StuckError(Flaw.CUT, len(text))
        end = rest.end()
        if after.match(text, end):
            break
    if shape is not OPENING:
        raise StuckError(Flaw.BROKEN, end)
    return end


def _said(raw: str, at: int) -> str:
    """Decode the escapes of ``raw``; keep its raw line breaks as they are."""
    if "\0" in raw:
        raise StuckError(Flaw.BROKEN, at)
    if "\\" not in raw:
        return raw
    try:
        said: str = _LENIENT.decode(f'"{_ESCAPE.sub(_normal, raw)}"')
    except ValueError as error:
        raise StuckError(Flaw.BROKEN, at) from error
    # Next to a backslash that was forgotten, "\\n" may be a line break or the start of a name.
    escapes = {escape[1] for escape in _ESCAPE.finditer(raw)}
    if escapes & _LITERAL_ESCAPES and escapes & _TELLING_ESCAPES:
        raise StuckError(Flaw.BROKEN, at)
    return said


def _normal(escape: Match[str]) -> str:
    """Return the escape as JSON would write it.

    :raises ValueError: when it could mean two things.
    """
    char = escape[1]
    if char is None:
        return '\\"'
    if char in _JSON_ESCAPES:
        return escape[0]
    if char == "'":
        return char
    if char in _LITERAL_ESCAPES:
        return f"\\\\{char}"
    raise ValueError(char)
