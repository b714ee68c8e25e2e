"""Strict JSON, for what is hashed: a text that two readers could understand differently is refused.

Source: RFC 8259 and RFC 7493 (I-JSON); the reading rules of alter-canonical-jcs-v1 and EP-CANONICALIZATION-v1.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from emitter.decide.canonical import MAX_DEPTH, MAX_INTEGER, Members, Profile, conform
from emitter.errors import NotCanonical

if TYPE_CHECKING:
    from emitter.wire import Json

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_MAX_DIGITS: Final = 20


def parse(text: str | bytes, profile: Profile = Profile.ENVELOPE, names: frozenset[str] = frozenset()) -> Json:
    """Return the one value that the text holds; raises ``NotCanonical``.

    Refused are, beside what is no JSON: names that stand twice in an object, halves of surrogate pairs, bytes that are
    no UTF-8, a byte order mark, more than 64 nested containers, and the numbers that ``profile`` does not admit. The
    error tells the place as a byte of the text or as a pointer; ``names`` are the member names that it may tell.
    """
    document = _document(text)
    if isinstance(document, NotCanonical):
        raise document
    return conform(document, profile, names)


def _document(text: str | bytes) -> Json | NotCanonical:
    """Return the value with its objects as ``Members``, or why there is none.

    The decoders' own errors hold the whole text: they end here, so that none is anybody's cause or context.
    """
    try:
        text = text if isinstance(text, str) else text.decode()
        value, end = _DECODER.raw_decode(text, _after_blank(text, 0))
    except UnicodeDecodeError as error:
        return NotCanonical("", f"The text is no UTF-8 from byte {error.start} on.")
    except json.JSONDecodeError as error:
        return NotCanonical("", _no_json(error.doc, error.pos))
    except RecursionError:
        return NotCanonical("", f"Containers nest deeper than {MAX_DEPTH}.")
    end = _after_blank(text, end)
    if end != len(text):
        return NotCanonical("", f"Text stands behind the value, from byte {_byte(text, end)} on.")
    return value


def _no_json(text: str, at: int) -> str:
    if text.startswith("\ufeff"):
        return "A byte order mark stands before the value."
    return f"The text is no JSON from byte {_byte(text, at)} on."


def _after_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _byte(text: str, at: int) -> int:
    return len(text[:at].encode("utf-8", "surrogatepass"))


def _integer(digits: str) -> int:
    # Python refuses to convert thousands of digits; from twenty on all are out of range alike.
    return int(digits) if len(digits) < _MAX_DIGITS else MAX_INTEGER + 1


_DECODER: Final = json.JSONDecoder(object_pairs_hook=Members, parse_int=_integer)
