"""Read numbers and dates that come from outside: HTTP, query strings, files, stores, the command line.

Each function returns a value within bounds, or None. None of them raises: Python's own readers accept the digits of any
script, refuse more than 4,300 digits with ``ValueError``, round a large number to infinity, and raise ``OverflowError``
or ``OSError`` for a time beyond the calendar.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final, TypeGuard

MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exact."""
_MAX_LENGTH: Final = 64
_DIGITS: Final = re.compile(r"[0-9]+")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# A day from both ends of the calendar, so that a change of the time zone cannot leave it.
_FIRST_SECOND, _LAST_SECOND = -62135510400, 253402214400


def parse_int(text: object, *, maximum: int = MAX_INTEGER, minimum: int = 0) -> int | None:
    """Return the integer that ``text`` spells in ASCII digits, if it is from ``minimum`` to ``maximum``.

    It may have a sign if the minimum is negative.
    """
    if not _is_spelled(text, _INTEGER if minimum < 0 else _DIGITS):
        return None
    number = int(text)
    return number if minimum <= number <= maximum else None


def parse_float(text: object) -> float | None:
    """Return the finite number that ``text`` spells in ASCII digits, with or without a fraction and an exponent."""
    if not _is_spelled(text, _FLOAT):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def parse_date(text: object) -> datetime | None:
    """Return the time in UTC that ``text`` spells in ISO 8601. A time without a zone is in UTC."""
    if not _is_short(text):
        return None
    try:
        date = datetime.fromisoformat(text)
        return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def parse_http_date(text: object) -> datetime | None:
    """Return the time in UTC of an HTTP header (RFC 9110, section 5.6.7)."""
    if not _is_short(text):
        return None
    import email.utils  # noqa: PLC0415  it loads random and socket, and few responses have a date that counts

    try:
        date = email.utils.parsedate_to_datetime(text)
        return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def date_from_timestamp(seconds: object) -> datetime | None:
    """Return the time in UTC of a number of seconds since 1970. It can be shown in any time zone."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    return _EPOCH + timedelta(seconds=seconds) if _FIRST_SECOND <= seconds <= _LAST_SECOND else None


def _is_short(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and len(text) <= _MAX_LENGTH and text.isascii()


def _is_spelled(text: object, pattern: re.Pattern[str]) -> TypeGuard[str]:
    return _is_short(text) and pattern.fullmatch(text) is not None
