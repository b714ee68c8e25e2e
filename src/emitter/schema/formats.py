"""String formats: descriptions for the model and checks for the answer.

A JSON Schema uses the standard formats. A Python type uses pydantic's wider reading: ``09:00:00`` is a valid time,
although RFC 3339 requires a UTC offset.
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

OFFSET_HINT = "with its offset from UTC (Z or ±hh:mm) as you were given it"
"""Tells the model which offset to add. There is no example, because a model would copy it."""
STANDARD_FORMATS = frozenset(
    {"date", "date-time", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"}
    | {"uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer"}
    | {"relative-json-pointer", "regex"}
)
"""The formats that jsonschema-rs checks itself."""
_UUID_VERSIONS = (1, 3, 4, 5, 6, 7, 8)
_INTEGER_BITS = (8, 16, 32, 64)
FORMAT_DESCRIPTIONS = {
    "date": "A date such as 2027-01-31.",
    "email": "An email address such as ada@example.com.",
    "idn-email": "An email address such as ada@example.com.",
    "hostname": "A host name such as www.example.com.",
    "idn-hostname": "A host name such as www.example.com.",
    "ipv4": "An IPv4 address such as 192.0.2.5.",
    "ipv6": "An IPv6 address such as 2001:db8::5.",
    "uri": "A URI such as https://example.com/page.",
    "iri": "A URI such as https://example.com/page.",
    "uri-reference": "A URI or a relative reference such as ../page.",
    "iri-reference": "A URI or a relative reference such as ../page.",
    "uri-template": "A URI template such as https://example.com/{id}.",
    "uuid": "A UUID such as 123e4567-e89b-42d3-a456-426614174000.",
    "json-pointer": "A JSON Pointer such as /items/0.",
    "relative-json-pointer": "A relative JSON Pointer such as 1/items.",
    "regex": "A regular expression such as ^[a-z]+$.",
    "date-time": f'A date and time like "2026-01-31T09:30:00" {OFFSET_HINT}.',
    "time": f'A time like "09:30:00" {OFFSET_HINT}.',
    "iso-date-time": 'A date and time, as in "2026-01-31T09:30:00". Add an offset from UTC only if you were given one.',
    "iso-time": 'A time, as in "09:30:00". Add an offset from UTC only if you were given one.',
    "date-time-local": 'A date and time without an offset from UTC, as in "2026-01-31T09:30:00".',
    "time-local": 'A time without an offset from UTC, as in "09:30:00".',
    "duration": 'An ISO 8601 duration, as in "PT45M" for 45 minutes.',
    "decimal": 'Preferred to a number: the digits as text, as in "12.50".',
    "fraction": 'A fraction, as in "3/4".',
    **{f"uuid{version}": f"A UUID of version {version}." for version in _UUID_VERSIONS},
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
    **{f"int{bits}": f"A whole number of {bits} bits." for bits in _INTEGER_BITS},
    **{f"uint{bits}": f"A whole number of {bits} bits, not negative." for bits in _INTEGER_BITS},
    "float": "",
    "double": "",
}
"""The description of each format, empty if the type is description enough."""
ALWAYS_DESCRIBED_FORMATS = frozenset({"date-time", "time", "duration"})
"""Formats that are described even if the provider enforces them, because the name alone is ambiguous."""


def describe_format(name: str) -> str:
    """Return a sentence that describes a format."""
    return FORMAT_DESCRIPTIONS.get(name, f"Format: {name}.")


_PYDANTIC_TYPES: dict[str, Any] = {
    "iso-date-time": dt.datetime,
    "iso-time": dt.time,
    "date-time-local": pydantic.NaiveDatetime,
    **{f"uuid{version}": getattr(pydantic, f"UUID{version}") for version in _UUID_VERSIONS},
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
_LENIENT_PYDANTIC_TYPES: dict[str, Any] = {
    "date-time": pydantic.AwareDatetime,
    "date": dt.date,
    "duration": dt.timedelta,
    "uuid": uuid.UUID,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "uri": pydantic.AnyUrl,
    # pydantic raises ImportError for the type if the package is missing.
    **({"email": pydantic.EmailStr} if find_spec("email_validator") else {}),
}
"""Standard formats that pydantic reads more widely than the standards."""


def _pydantic_check(kind: Any) -> Callable[[str], bool]:
    adapter = cache(lambda: TypeAdapter[Any](kind))  # built on first use

    def check(text: str) -> bool:
        try:
            adapter().validate_python(text)
        except ValidationError:
            return False
        return True

    return check


def _parses_with(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, ArithmeticError, re.error, RecursionError):
            return False
        return True

    return check


def _is_local_time(text: str) -> bool:
    return FORMAT_CHECKS["iso-time"](text) and TypeAdapter(dt.time).validate_python(text).tzinfo is None


FORMAT_CHECKS: dict[str, Callable[[str], bool]] = {
    **{name: _pydantic_check(kind) for name, kind in _PYDANTIC_TYPES.items()},
    "time-local": _is_local_time,
    "hex": _parses_with(bytes.fromhex),
    "fraction": _parses_with(Fraction),
}
"""Checks of formats that jsonschema-rs does not know."""
PYDANTIC_FORMAT_CHECKS = {
    **FORMAT_CHECKS,
    **{name: _pydantic_check(kind) for name, kind in _LENIENT_PYDANTIC_TYPES.items()},
    "regex": _parses_with(re.compile),
}
"""Checks for documents that pydantic parses."""
CHECKED_FORMATS = STANDARD_FORMATS | FORMAT_CHECKS.keys()
"""Formats that are validated. All others only describe."""
