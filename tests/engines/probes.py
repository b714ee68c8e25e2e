"""What each engine is asked: a rule, documents that it allows, and documents that it forbids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TEXTS = ("ab", 'a"b', "a\\b", "a\nb", "äöü", "日本語", "a\tb")
"""Texts that a rule for texts must not exclude by the way."""
UUID = "0b0c8a3e-5b1d-4a6e-9f3a-1c2d3e4f5a6b"
FORMATS: dict[str, tuple[tuple[str, ...], str]] = {
    "date": (("2027-01-31", "1999-12-01", "2028-02-29"), "31.1.2027"),
    "date-time": (("2027-01-31T09:30:00Z", "2027-01-31T09:30:00.123+02:00", "2027-01-31T23:59:59-11:30"), "2027-01-31"),
    "time": (("09:30:00Z", "23:59:59.5+01:00"), "9.30"),
    "uuid": ((UUID, UUID.upper()), "0b0c"),
    "duration": (("PT45M", "P1Y2M3DT4H5M6S", "P2W"), "45 minutes"),
    "email": (("jo@example.com", "jo.x+tag@mail.example-a.org"), "jo at example"),
    "hostname": (("example.com", "a", "a-b.example"), "-example-"),
    "ipv4": (("192.0.2.5", "10.0.0.1", "255.255.255.255"), "192.0.2"),
    "ipv6": (("2001:db8::5", "::1", "2001:db8:0:0:0:0:0:1"), "2001"),
    "uri": (("https://example.com/a?b=1#c", "mailto:jo@example.com", "urn:isbn:1"), "not a uri"),
    "json-pointer": (("/a/0", ""), "a/0"),
    "unknown-format": (("x",), ""),
}


@dataclass(frozen=True, slots=True)
class Probe:
    """The value of one property: a schema, values that it allows and values that it forbids."""

    schema: dict[str, Any]
    valid: tuple[Any, ...]
    invalid: tuple[Any, ...] = ()
    definitions: dict[str, Any] | None = None


def _text(valid: tuple[str, ...], invalid: tuple[str, ...], **rules: Any) -> Probe:
    return Probe({"type": "string", **rules}, valid, invalid)


def _pattern(pattern: str, valid: tuple[str, ...], invalid: tuple[str, ...], **rules: Any) -> Probe:
    return _text(valid, invalid, pattern=pattern, **rules)


def _numbers(kind: str, valid: tuple[Any, ...], invalid: tuple[Any, ...], **rules: Any) -> Probe:
    return Probe({"type": kind, **rules}, valid, invalid)


def _list(valid: tuple[Any, ...], invalid: tuple[Any, ...], **rules: Any) -> Probe:
    return Probe({"type": "array", "items": {"type": "integer"}, **rules}, valid, invalid)


def _object(valid: tuple[Any, ...], invalid: tuple[Any, ...], **rules: Any) -> Probe:
    return Probe({"type": "object", **rules}, valid, invalid)


_AB = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "additionalProperties": False}
_TREE = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "c": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    "required": ["n", "c"],
    "additionalProperties": False,
}

PROBES: dict[str, Probe] = {
    "type string": _text(TEXTS, (1,)),  # type: ignore[arg-type]
    "type integer": _numbers("integer", (0, -7, 123), (1.5, "1")),
    "type integer of 15 digits": _numbers("integer", (999_999_999_999_999,), ()),
    "type integer of 19 digits": _numbers("integer", (1_234_567_890_123_456_789,), ()),
    "type number": _numbers("number", (0, -1.5, 1e3), ("1",)),
    "type number 1e-7": Probe({"type": "number"}, (1e-7,)),
    "type boolean": Probe({"type": "boolean"}, (True, False), ("true", 1)),
    "type null": Probe({"type": "null"}, (None,), ("null",)),
    "type of several": Probe({"type": ["string", "null"]}, (*TEXTS, None), (1,)),
    "minLength": _text(("abc", "äöü", 'a"c', "a\\c", "a\nc"), ("ab",), minLength=3),
    "maxLength": _text(("abc", "", "äöü", 'a"c', "a\\c", "a\nc"), ("abcd",), maxLength=3),
    "maxLength 5000": _text(("abc", "x" * 5000), (), maxLength=5000),
    "pattern of plain characters": _pattern(
        "^[a-c]+-[0-9]{2}$",
        ("a-12", "abc-00"),
        ("d-12", "a-1", "xa-12"),
    ),
    "pattern of alternatives": _pattern("^(red|green|blue)$", ("red", "blue"), ("yellow", "redgreen")),
    "pattern of digits": _pattern(r"^\d{4}-\d\d$", ("2027-01",), ("202-01", "2027-a1")),
    "pattern of word characters": _pattern(r"^\w+$", ("ab_1", "A"), ("a b", "")),
    "pattern of escapes": _pattern(r"^a\.b\+c$", ("a.b+c",), ("axb+c", "a.bbc")),
    "pattern of a class with escapes": _pattern(r"^[a-z.\-]+$", ("a.b-c",), ("a+b", "")),
    "pattern of a class with digits": _pattern(r"^[\d.]+$", ("1.2",), ("a", "")),
    "pattern of optional groups": _pattern("^ab(-cd)?(ef)*$", ("ab", "ab-cd", "abefef"), ("a", "ab-c")),
    "pattern of a group without a name": _pattern("^(?:ab|cd)+$", ("ab", "abcd"), ("a", "abc")),
    "pattern of repetitions": _pattern("^[A-Z]{2,4}[0-9]{3}$", ("AB123", "ABCD123"), ("A123", "ABCDE123")),
    "pattern of a slash": _pattern("^a/b$", ("a/b",), ("ab",)),
    "pattern of a quote": _pattern('^a"b$', ('a"b',), ("ab",)),
    "pattern of a backslash": _pattern(r"^a\\b$", ("a\\b",), ("ab",)),
    "pattern of letters outside ASCII": _pattern("^[äöü]+$", ("äö",), ("a", "")),
    "pattern of alternatives without a group": _pattern("^a|b$", ("a", "ax", "xb"), ("xa", "bx")),
    "pattern of any characters": _pattern("^a.+z$", ("abz", "aäz", 'a"z', "a\\z"), ("bz", "az")),
    "pattern of other characters": _pattern("^[^x]+$", ("abc", 'a"c', "a\\c", "äö"), ("axc", "")),
    "pattern of spaces": _pattern(r"^a\s+b$", ("a b", "a  b", "a\tb"), ("ab",)),
    "pattern without anchors": _pattern("b", ("b", "abc", 'a"b', "a\nb"), ("ac", "")),
    "pattern with one anchor": _pattern("^a", ("a", "abc", 'a"b'), ("ba", "")),
    "pattern with lookahead": _pattern("^(?=.*[0-9])[a-z0-9]+$", ("a1", "1"), ("a", "A1")),
    "pattern with a length": _pattern("^[a-z]+$", ("abc",), ("ABC", "abcdef"), maxLength=4),
    **{
        f"format {name}": _text(valid[:1], (invalid,) if invalid else (), format=name)
        for name, (valid, invalid) in FORMATS.items()
    },
    **{
        f"format {name}, unusual values": _text(valid[1:], (), format=name)
        for name, (valid, _) in FORMATS.items()
        if valid[1:]
    },
    "format with a length": _text((), ("2027-01-31",), format="date", minLength=11),
    "minimum of integers": _numbers("integer", (3, 10, 999), (2, -5), minimum=3),
    "maximum of integers": _numbers("integer", (9, 0, -4), (10, 123), maximum=9),
    "exclusiveMinimum of integers": _numbers("integer", (4, 99), (3, 0), exclusiveMinimum=3),
    "exclusiveMaximum of integers": _numbers("integer", (8, -3), (9, 44), exclusiveMaximum=9),
    "bounds of integers": _numbers("integer", (-20, 0, 7, 130), (-21, 131), minimum=-20, maximum=130),
    "bounds of large integers": _numbers("integer", (2**40, 5), (2**53, -1), minimum=0, maximum=2**50),
    "minimum of numbers": _numbers("number", (3, 3.5, 100, 71.277265398), (2.9, -5), minimum=3),
    "maximum of numbers": _numbers("number", (9, 0.5, -4, 1.277265398), (9.1, 123), maximum=9),
    "exclusiveMinimum of numbers": _numbers("number", (0.5, 99, 71.277265398), (-1,), exclusiveMinimum=0),
    "bounds of fractions": _numbers("number", (0, 0.25, 1, 0.277265398), (1.5, -0.1), minimum=0, maximum=1),
    "bounds of integers or null": Probe({"type": ["integer", "null"], "minimum": 3, "maximum": 9}, (3, None), (2, 10)),
    "multipleOf of integers": _numbers("integer", (0, 5, 25), (3, 12), multipleOf=5),
    "multipleOf of numbers": _numbers("number", (0.5, 1.25), (0.3,), multipleOf=0.25),
    "minItems": _list(([1, 2], [1, 2, 3]), ([1], []), minItems=2),
    "maxItems": _list(([], [1], [1, 2]), ([1, 2, 3],), maxItems=2),
    "minItems and maxItems": _list(([1, 2], [1, 2, 3]), ([1], [1, 2, 3, 4]), minItems=2, maxItems=3),
    "maxItems 0": _list(([],), ([1],), maxItems=0),
    "maxItems 1500": _list(([], [1], [0] * 1500), ([0] * 1501,), maxItems=1500),
    "maxItems 5000": _list(([], [1], [0] * 5000), (), maxItems=5000),
    "minItems or null": Probe(
        {"anyOf": [{"type": "array", "items": {"type": "integer"}, "minItems": 1}, {"type": "null"}]},
        ([1], None),
        ([],),
    ),
    "items of objects, counted": Probe(
        {"type": "array", "items": {"type": "object", **_AB, "required": ["a", "b"]}, "minItems": 1, "maxItems": 2},
        ([{"a": 1, "b": 2}],),
        ([], [{"a": 1, "b": 2}] * 3, [{"a": 1}]),
    ),
    "uniqueItems": _list(([1, 2],), ([1, 1],), uniqueItems=True),
    "contains": _list(([1, 5],), ([1],), contains={"const": 5}),
    "prefixItems": Probe(
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False, "minItems": 2},
        ([1, "a"],),
        (["a", 1], [1], [1, "a", 2]),
    ),
    "enum": Probe({"enum": ["a", 'b"', "ä", 1, True, None]}, ("a", 'b"', "ä", 1, True, None), ("c", 2, False)),
    "enum of strings": Probe({"type": "string", "enum": ["a", 'b"', "ä"]}, ("a", 'b"', "ä"), ("c",)),
    "enum of integers": Probe({"type": "integer", "enum": [1, 20]}, (1, 20), (2, 120)),
    "enum of objects": Probe({"enum": [{"k": 1}, "x"]}, ({"k": 1}, "x"), ({"k": 2},)),
    "const": Probe({"const": "a"}, ("a",), ("b",)),
    "properties": _object(({"a": 1, "b": 2},), ({"a": 1}, {"a": 1, "b": 2, "c": 3}), **_AB, required=["a", "b"]),
    "properties, some optional": _object(({"a": 1, "b": 2}, {"a": 1}, {"b": 2}, {}), ({"c": 1},), **_AB),
    "additionalProperties": _object(({"x": 1, "y": 2}, {}), ({"x": "a"},), additionalProperties={"type": "integer"}),
    "patternProperties": _object(
        ({"x1": 1}, {}),
        ({"x1": "a"}, {"y": 1}),
        patternProperties={"^x": {"type": "integer"}},
        additionalProperties=False,
    ),
    "propertyNames": _object(
        ({"ab": 1},), ({"abcd": 1},), propertyNames={"enum": ["ab", "cd"]}, additionalProperties={"type": "integer"}
    ),
    "minProperties": _object(({"x": 1},), ({},), minProperties=1, additionalProperties={"type": "integer"}),
    "maxProperties": _object(
        ({"x": 1},), ({"x": 1, "y": 2},), maxProperties=1, additionalProperties={"type": "integer"}
    ),
    "recursion": Probe(
        {"$ref": "#/$defs/T"},
        ({"n": 1, "c": []}, {"n": 1, "c": [{"n": 2, "c": [{"n": 3, "c": [{"n": 4, "c": []}]}]}]}),
        ({"n": 1}, {"n": 1, "c": [{"n": 2}]}),
        {"T": _TREE},
    ),
    "recursion, counted": Probe(
        {"$ref": "#/$defs/T"},
        ({"n": 1, "c": [{"n": 2, "c": []}]},),
        ({"n": 1, "c": [{"n": 1, "c": []}] * 3},),
        {"T": {**_TREE, "properties": {**_TREE["properties"], "c": {**_TREE["properties"]["c"], "maxItems": 2}}}},  # type: ignore[dict-item]
    ),
    "$ref beside a description": Probe(
        {"$ref": "#/$defs/T", "description": "x"}, (1,), ("a",), {"T": {"type": "integer"}}
    ),
    "anyOf": Probe({"anyOf": [{"type": "integer"}, {"type": "string"}]}, (1, "a"), (True,)),
    "oneOf": Probe({"oneOf": [{"type": "integer"}, {"type": "string"}]}, (1, "a"), (True,)),
    "allOf": Probe({"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 9}]}, (3, 9), (2, 10)),
    "not": Probe({"type": "string", "not": {"const": "a"}}, ("b",), ("a",)),
    "if": Probe(
        {
            **_object((), (), **_AB).schema,
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"required": ["b"]},
        },
        ({"a": 1, "b": 2}, {"a": 2}),
        ({"a": 1},),
    ),
}
ROOT_REFERENCE = {
    "type": "object",
    "properties": {"v": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["v"],
    "additionalProperties": False,
}
ROOT_PROBE = "$ref to the root"


def whole(probe: Probe) -> dict[str, Any]:
    """Return the schema of an object with the probe's property."""
    schema = {"type": "object", "properties": {"v": probe.schema}, "required": ["v"], "additionalProperties": False}
    return schema if probe.definitions is None else {**schema, "$defs": probe.definitions}
