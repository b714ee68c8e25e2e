"""String formats: how each is described to a model, and how it is checked.

A JSON Schema is held to the standard formats as the validator reads them. A Python type is held to pydantic's own
reading, which is wider: ``09:00:00`` is a time, whereas RFC 3339 demands an offset from UTC.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
import uuid
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pydantic
from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

OFFSET = "with its offset from UTC (Z or ±hh:mm) as you were given it"
"""What a time lacks that must have an offset. No example has one: a model would copy it."""

STANDARD = frozenset(
    {"date", "date-time", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"}
    | {"uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer"}
    | {"relative-json-pointer", "regex"}
)
"""The formats that the validator asserts by itself."""

WORDS = {
    "date-time": f'A date and time like "2026-01-31T09:30:00" {OFFSET}.',
    "time": f'A time like "09:30:00" {OFFSET}.',
    "iso-date-time": 'A date and time, as in "2026-01-31T09:30:00". Add an offset from UTC only if you were given one.',
    "iso-time": 'A time, as in "09:30:00". Add an offset from UTC only if you were given one.',
    "date-time-local": 'A date and time without an offset from UTC, as in "2026-01-31T09:30:00".',
    "time-local": 'A time without an offset from UTC, as in "09:30:00".',
    "duration": 'An ISO 8601 duration, as in "PT45M" for 45 minutes.',
    "decimal": 'Preferred to a number: the digits as text, as in "12.50".',
    "fraction": 'A fraction, as in "3/4".',
    "uuid1": "A UUID of version 1.",
    "uuid3": "A UUID of version 3.",
    "uuid4": "A UUID of version 4.",
    "uuid5": "A UUID of version 5.",
    "uuid6": "A UUID of version 6.",
    "uuid7": "A UUID of version 7.",
    "uuid8": "A UUID of version 8.",
    "ipvanyaddress": "An IPv4 or IPv6 address.",
    "ipvanyinterface": 'An IPv4 or IPv6 address with its prefix length, as in "192.0.2.5/24".',
    "ipvanynetwork": 'An IPv4 or IPv6 network, as in "192.0.2.0/24".',
    "ipv4interface": 'An IPv4 address with its prefix length, as in "192.0.2.5/24".',
    "ipv6interface": 'An IPv6 address with its prefix length, as in "2001:db8::5/64".',
    "ipv4network": 'An IPv4 network, as in "192.0.2.0/24".',
    "ipv6network": 'An IPv6 network, as in "2001:db8::/64".',
    "base64": "Encoded in Base64.",
    "base64url": "Encoded in Base64 with the URL-safe alphabet.",
    "byte": "Encoded in Base64.",
    "hex": "Bytes in hexadecimal digits.",
    "binary": "",
    "password": "",
    "path": "A file system path.",
    "file-path": "The path of an existing file.",
    "directory-path": "The path of an existing directory.",
    "zoneinfo": 'A time zone of the IANA database, as in "Europe/Berlin".',
    "multi-host-uri": 'A URI that may name several hosts, as in "redis://a:6379,b:6379/0".',
    "url": 'A URL, as in "https://example.com/page".',
    "int8": "A whole number of 8 bits.",
    "int16": "A whole number of 16 bits.",
    "int32": "A whole number of 32 bits.",
    "int64": "A whole number of 64 bits.",
    "uint8": "A whole number of 8 bits, not negative.",
    "uint16": "A whole number of 16 bits, not negative.",
    "uint32": "A whole number of 32 bits, not negative.",
    "uint64": "A whole number of 64 bits, not negative.",
    "float": "",
    "double": "",
}
"""What is said of a format; an empty text where there is nothing to add to the type."""

EXPLAINED = frozenset({"date-time", "time", "duration"})
"""Formats that are described even where the vendor enforces them: the name leaves open what is wanted."""


def words_of(name: str) -> str:
    """Return the sentence that describes a format, or one with its bare name."""
    return WORDS.get(name, f"Format: {name}.")


_READ_BY: dict[str, Any] = {
    "iso-date-time": dt.datetime,
    "iso-time": dt.time,
    "date-time-local": pydantic.NaiveDatetime,
    **{f"uuid{version}": getattr(pydantic, f"UUID{version}") for version in (1, 3, 4, 5, 6, 7, 8)},
    "ipvanyaddress": pydantic.IPvAnyAddress,
    "ipvanyinterface": pydantic.IPvAnyInterface,
    "ipvanynetwork": pydantic.IPvAnyNetwork,
    "ipv4interface": ipaddress.IPv4Interface,
    "ipv6interface": ipaddress.IPv6Interface,
    "ipv4network": ipaddress.IPv4Network,
    "ipv6network": ipaddress.IPv6Network,
    "base64": pydantic.Base64Bytes,
    "byte": pydantic.Base64Bytes,
    "base64url": pydantic.Base64UrlBytes,
    "multi-host-uri": pydantic.AnyUrl,
    "url": pydantic.AnyUrl,
}
_TYPED: dict[str, Any] = {
    "date-time": pydantic.AwareDatetime,
    "date": dt.date,
    "duration": dt.timedelta,
    "uuid": uuid.UUID,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "uri": pydantic.AnyUrl,
    **({"email": pydantic.EmailStr} if find_spec("email_validator") else {}),
}
"""Standard formats that pydantic reads more widely than the standards do."""


def _reads(kind: Any) -> Callable[[str], bool]:
    adapter = cache(lambda: TypeAdapter[Any](kind))  # built when a format is first met

    def check(text: str) -> bool:
        try:
            adapter().validate_python(text)
        except ValidationError:
            return False
        return True

    return check


def _raises_nothing(read: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            read(text)
        except (ValueError, ArithmeticError, re.error, RecursionError):
            return False
        return True

    return check


def _local_time(text: str) -> bool:
    return CHECKS["iso-time"](text) and TypeAdapter(dt.time).validate_python(text).tzinfo is None


CHECKS: dict[str, Callable[[str], bool]] = {
    **{name: _reads(kind) for name, kind in _READ_BY.items()},
    "time-local": _local_time,
    "hex": _raises_nothing(bytes.fromhex),
    "fraction": _raises_nothing(Fraction),
}
"""How formats are checked that the validator does not know."""

CHECKS_OF_TYPES = {
    **CHECKS,
    **{name: _reads(kind) for name, kind in _TYPED.items()},
    "regex": _raises_nothing(re.compile),
}
"""How a document is checked that pydantic is going to read."""

CHECKED = STANDARD | CHECKS.keys()
"""Formats that say which texts are valid; any other is a remark."""


_LOCAL = {"date-time": "date-time-local", "time": "time-local"}


def lacks_only_an_offset(name: str, text: object) -> bool:
    """Tell whether a text would be of the format, if only it had an offset from UTC."""
    return name in _LOCAL and isinstance(text, str) and CHECKS[_LOCAL[name]](text)
