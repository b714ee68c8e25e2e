"""References of every draft: what they name, and what stands beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from emitter.errors import InputError
from emitter.schema import Uncompilable, compile_schema
from tests.schema.compile.forms import (
    ANYTHING,
    DRAFT4,
    DRAFT7,
    DRAFT2019,
    FURTHER,
    TEXT,
    WHOLE,
    array,
    closed,
    loose,
    refer,
    reported,
)
from tests.schema.compile.lens import (
    ALL,
    ANTHROPIC,
    AZURE,
    GOOGLE,
    OPEN,
    OPENAI,
    UNSUPPORTED,
    broken,
    holds_of_a_document,
    lens,
    row,
    table,
)

if TYPE_CHECKING:
    from tests.schema.compile.forms import Form
    from tests.schema.compile.lens import Lost


@table(
    row(
        "used-once",
        {**closed(a=refer("P")), "$defs": {"P": closed(x=WHOLE)}},
        [{"a": {"x": 1}}],
        (ALL, closed(a=closed(x=WHOLE))),
    ),
    row(
        "used-twice",
        {**closed(a=refer("P"), b=refer("P")), "$defs": {"P": closed(x=WHOLE)}},
        [{"a": {"x": 1}, "b": {"x": 2}}],
        (ALL, {**closed(a=refer("P"), b=refer("P")), "$defs": {"P": closed(x=WHOLE)}}),
    ),
    row(
        "definitions",
        {
            **DRAFT7,
            **closed(a={"$ref": "#/definitions/P"}, b={"$ref": "#/definitions/P"}),
            "definitions": {"P": closed(x=WHOLE)},
        },
        [{"a": {"x": 1}, "b": {"x": 2}}],
        (OPENAI, {**closed(a=refer("P"), b=refer("P")), "$defs": {"P": closed(x=WHOLE)}}),
    ),
    row(
        "anchor",
        {**closed(a={"$ref": "#p"}, b={"$ref": "#p"}), "$defs": {"P": {**closed(x=WHOLE), "$anchor": "p"}}},
        [{"a": {"x": 1}, "b": {"x": 2}}],
        (OPENAI, {**closed(a=refer("P"), b=refer("P")), "$defs": {"P": closed(x=WHOLE)}}),
    ),
    row(
        "id",
        {
            **closed(a={"$ref": "p"}, b={"$ref": "https://a.example/p"}),
            "$id": "https://a.example/root",
            "$defs": {"P": {**closed(x=WHOLE), "$id": "/p"}},
        },
        [{"a": {"x": 1}, "b": {"x": 2}}],
        (OPENAI, {**closed(a=refer("P"), b=refer("P")), "$defs": {"P": closed(x=WHOLE)}}),
    ),
    row(
        "id-is-a-base",
        {
            **closed(a={"$ref": "p"}),
            "$id": "https://a.example/root",
            "$defs": {"P": {**closed(x=refer("Q")), "$id": "/p", "$defs": {"Q": WHOLE}}, "Q": TEXT},
        },
        [{"a": {"x": 1}}],
        (OPENAI, closed(a=closed(x=WHOLE))),
    ),
    row(
        "draft-4-id",
        {
            **DRAFT4,
            **closed(a={"$ref": "p"}),
            "id": "https://a.example/root",
            "definitions": {"P": {**closed(x=WHOLE), "id": "/p"}},
        },
        [{"a": {"x": 1}}],
        (OPENAI, closed(a=closed(x=WHOLE))),
    ),
    row(
        "draft-7-id-anchor",
        {**DRAFT7, **closed(a={"$ref": "#p"}), "definitions": {"P": {**closed(x=WHOLE), "$id": "#p"}}},
        [{"a": {"x": 1}}],
        (OPENAI, closed(a=closed(x=WHOLE))),
    ),
    row(
        "any-place",
        closed(a=closed(x=WHOLE), b={"$ref": "#/properties/a"}),
        [{"a": {"x": 1}, "b": {"x": 2}}],
        (OPENAI, closed(a=closed(x=WHOLE), b=closed(x=WHOLE))),
    ),
    row(
        "escaped",
        {**closed(a=refer("p~1q%20r~0")), "$defs": {"p/q r~": closed(x=WHOLE)}},
        [{"a": {"x": 1}}],
        (OPENAI, closed(a=closed(x=WHOLE))),
    ),
    row(
        "through-another",
        {**closed(a=refer("Q")), "$defs": {"Q": refer("P"), "P": closed(x=WHOLE)}},
        [{"a": {"x": 1}}],
        (OPENAI, closed(a=closed(x=WHOLE))),
    ),
    row("root", {"$ref": "#/$defs/P", "$defs": {"P": closed(x=WHOLE)}}, [{"x": 1}], (ALL, closed(x=WHOLE))),
    row(
        "dynamic",
        {**closed(a={"$dynamicRef": "#p"}), "$defs": {"P": {**closed(x=WHOLE), "$dynamicAnchor": "p"}}},
        [{"a": {"x": 1}}],
        (
            OPENAI,
            closed(a=reported(TEXT, ANYTHING, 'Must hold: $dynamicRef "#p".')),
            {
                ("/properties/a", "$dynamicRef", UNSUPPORTED),
                ("", "type", OPEN),
                ("", "properties", OPEN),
                ("", "required", OPEN),
                ("", "additionalProperties", OPEN),
                ("/$defs/P", "type", OPEN),
                ("/$defs/P", "properties", OPEN),
                ("/$defs/P", "required", OPEN),
                ("/$defs/P", "additionalProperties", OPEN),
                ("/$defs/P/properties/x", "type", OPEN),
            },
        ),
    ),
    row(
        "unreached-and-dangling",
        {**closed(a=TEXT), "$defs": {"P": refer("Q"), "Q": closed(x=WHOLE)}},
        [{"a": "x"}],
        (OPENAI, closed(a=TEXT)),
    ),
)
def test_what_a_reference_names(vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]) -> None:
    """A definition is found wherever a draft lets it stand, and referred to or repeated."""
    holds_of_a_document(vendor, schema, wire, losses, examples)


@table(
    row(
        "2020-12",
        {**closed(a={"$ref": "#/$defs/P", "minimum": 3}), "$defs": {"P": {"type": "integer", "maximum": 9}}},
        [{"a": 3}],
        ((OPENAI, GOOGLE), closed(a={"type": "integer", "minimum": 3, "maximum": 9})),
        (
            (ANTHROPIC, AZURE),
            closed(a=reported(WHOLE, "Must hold: minimum 3, maximum 9.")),
            {("/properties/a", "minimum", UNSUPPORTED), ("/$defs/P", "maximum", UNSUPPORTED)},
        ),
    ),
    row(
        "2019-09",
        {
            **DRAFT2019,
            **closed(a={"$ref": "#/$defs/P", "minimum": 3}),
            "$defs": {"P": {"type": "integer", "maximum": 9}},
        },
        [{"a": 3}],
        (OPENAI, closed(a={"type": "integer", "minimum": 3, "maximum": 9})),
    ),
    row(
        "draft-7",
        {
            **DRAFT7,
            **closed(a={"$ref": "#/definitions/P", "minimum": 3}),
            "definitions": {"P": {"type": "integer", "maximum": 9}},
        },
        [{"a": 1}],
        (OPENAI, closed(a={"type": "integer", "maximum": 9})),
    ),
    row(
        "draft-4",
        {
            **DRAFT4,
            **closed(a={"$ref": "#/definitions/P", "minimum": 3}),
            "definitions": {"P": {"type": "integer", "maximum": 9}},
        },
        [{"a": 1}],
        (OPENAI, closed(a={"type": "integer", "maximum": 9})),
    ),
    row(
        "description",
        {**closed(a={"$ref": "#/$defs/P", "description": "An a."}), "$defs": {"P": {"type": "integer", "maximum": 9}}},
        [{"a": 3}],
        (OPENAI, closed(a={"type": "integer", "maximum": 9, "description": "An a."})),
    ),
    row(
        "properties",
        {
            **closed(a={"$ref": "#/$defs/P", "properties": {"y": WHOLE}, "required": ["y"]}),
            "$defs": {"P": {"type": "object", "properties": {"x": WHOLE}}},
        },
        [{"a": {"y": 1}}, {"a": {"x": 2, "y": 1, "z": []}}],
        (
            OPENAI,
            closed(a=closed(y=WHOLE, x={"type": ["integer", "null"]}, additional_properties=reported(TEXT, FURTHER))),
        ),
    ),
)
def test_what_stands_beside_a_reference(
    vendor: str, schema: Any, wire: Form, losses: Lost, examples: list[Any]
) -> None:
    """It holds too, except in the drafts that ignore it."""
    holds_of_a_document(vendor, schema, wire, losses, examples)


def test_what_stands_beside_a_reference_is_ignored_in_all_of_too() -> None:
    """Draft 7 reads no keyword beside it, wherever it stands."""
    beside = {"allOf": [{"$ref": "#/definitions/P", "minimum": 3}, {"maximum": 9}]}
    compiled = lens({**DRAFT7, **closed(a=beside), "definitions": {"P": WHOLE}}, OPENAI, {"a": 1})

    assert compiled.schema == closed(a={"type": "integer", "maximum": 9})


COMMON = {"$defs": {"zip": {"$anchor": "z", "type": "string", "pattern": "^[0-9]{5}$"}}}
ADDRESS = {
    "$id": "https://x.test/address",
    "type": "object",
    "properties": {"zip": {"$ref": "common#/$defs/zip"}, "next": {"$ref": "#"}},
    "required": ["zip"],
    "additionalProperties": False,
}
SUPPLIED = {"https://x.test/address": ADDRESS, "https://x.test/common": COMMON}
OUTSIDE = {**closed(a={"$ref": "address"}, z={"$ref": "https://x.test/common#z"}), "$id": "https://x.test/root"}


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize("form", ["mapping", "registry"])
def test_schemas_outside_the_document_are_supplied(form: str, vendor: str) -> None:
    """By URI, relative ones, anchors and references among them included."""
    registry: Any = SUPPLIED
    if form == "registry":
        made: Any = Registry
        registry = made().with_resources((uri, DRAFT202012.create_resource(each)) for uri, each in SUPPLIED.items())
    compiled = compile_schema(OUTSIDE, vendor, registry=registry)
    assert broken(compiled, vendor) == []
    document = {"a": {"zip": "53111", "next": {"zip": "53113"}}, "z": "53115"}
    assert compiled.validate(document) == ()
    assert compiled.decode(compiled.encode(document)) == document
    assert [each.pointer for each in compiled.validate({**document, "z": "x"})] == ["/z"]
    assert [each.pointer for each in compiled.validate({**document, "a": {"zip": "x"}})] == ["/a/zip"]


def test_what_is_not_supplied_is_refused() -> None:
    """The error names the place and the argument."""
    with pytest.raises(Uncompilable, match=r"/properties/z/\$ref.* registry="):
        compile_schema(OUTSIDE, OPENAI, registry={"https://x.test/address": {"type": "string"}})


def test_a_registry_that_fetches_is_not_asked() -> None:
    """Only what a registry holds already is supplied."""
    asked: list[str] = []

    def retrieve(uri: str) -> Any:
        asked.append(uri)
        return DRAFT202012.create_resource({"type": "string"})

    made: Any = Registry
    with pytest.raises(Uncompilable, match="outside this document"):
        compile_schema(OUTSIDE, OPENAI, registry=made(retrieve=retrieve))
    assert asked == []


def test_a_registry_that_is_none() -> None:
    """It is a mistake of the caller's."""
    with pytest.raises(InputError, match="registry must be a mapping"):
        compile_schema(OUTSIDE, OPENAI, registry=cast("Any", [ADDRESS]))


def test_a_name_that_is_taken_stays() -> None:
    """What is supplied comes under a name of its own."""
    schema = {**closed(a={"$ref": "https://x.test/t"}, b={"$ref": "#/$defs/t"}), "$defs": {"t": WHOLE}}
    compiled = compile_schema(schema, OPENAI, registry={"https://x.test/t": TEXT})
    assert compiled.validate({"a": "x", "b": 1}) == ()
    assert compiled.schema == closed(a=TEXT, b=WHOLE)


THING = closed(c=TEXT)
ALIASES: dict[str, Any] = {
    "union-of-one": {"oneOf": [refer("b")]},
    "any-of-one": {"anyOf": [refer("b"), False]},
    "all-of-one": {"allOf": [refer("b")]},
    "reference": refer("b"),
    "described-reference": {**refer("b"), "description": "y"},
    "reference-with-a-rule": {"oneOf": [refer("b")], "not": {"required": ["z"]}},
    "two-steps": {"oneOf": [refer("c")]},
}


@pytest.mark.parametrize("vendor", ALL)
@pytest.mark.parametrize("alias", ALIASES.values(), ids=ALIASES)
def test_a_definition_that_is_only_a_reference_keeps_no_siblings(vendor: str, alias: Any) -> None:
    """A description beside a reference to it does not come to stand beside the reference that it is itself."""
    definitions = {"a": alias, "b": THING, "c": {"oneOf": [refer("b")], "title": "C"}}
    schema = {**closed(p={**refer("a"), "description": "x"}, q=refer("b"), r=refer("b")), "$defs": definitions}

    compiled = lens(schema, vendor, {each: {"c": "1"} for each in "pqr"})

    assert vendor == ANTHROPIC or "x" in str(compiled.schema["properties"]["p"]["description"])


def test_a_rule_beside_a_union_of_one_reference_is_lost_aloud() -> None:
    """It is a loss, and the model is told of it where the reference stands."""
    schema = {**closed(p=ALIASES["reference-with-a-rule"], q=refer("b"), r=refer("b")), "$defs": {"b": THING}}
    compiled = lens(schema, OPENAI)

    assert ("/properties/p", "not") in {(each.pointer, each.keyword) for each in compiled.losses}
    assert "not" in compiled.schema["properties"]["p"]["description"]


NAMES = (
    *("Page<User>", "Item[]", "A | B", "Map{k}", "a b", 'a"b', "a'b", "a`b", "a^b", "a\\b", "a/b", "a~b", "a~1b", "~"),
    *(
        "100%",
        "100%25",
        "a%20b",
        "%7B",
        "a#b",
        "a?b",
        "a&b=c",
        "a+b",
        "@x",
        "a:b",
        "Größe",
        "日本",
        "😀",
        "a\tb",
        "a\nb",
        "",
    ),
)
SPELLINGS = {
    "raw": lambda token: token,
    "encoded": quote,
    "fully-encoded": lambda token: quote(token, safe=""),
}


@pytest.mark.parametrize("keyword", ["$defs", "definitions"])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_reference_may_contain_any_character(name: str, spelling: str, keyword: str) -> None:
    """Generators write names into references as they are. All spellings lead to the definition."""
    token = SPELLINGS[spelling](name.replace("~", "~0").replace("/", "~1"))
    reference = {"$ref": f"#/{keyword}/{token}"}
    schema = {**loose("a", "b", a=reference, b=array(reference), c={"not": reference}), keyword: {name: closed(x=TEXT)}}

    for vendor in ALL:
        compiled = lens(schema, vendor, {"a": {"x": "y"}, "b": [{"x": "y"}], "c": 1})
        assert [each.pointer for each in compiled.validate({"a": {}, "b": []})] == ["/a"]
        assert compiled.validate({"a": {"x": "y"}, "b": [], "c": {"x": "y"}}) != ()
    assert compile_schema(schema, "plain").schema == schema


@pytest.mark.parametrize("name", ["no<thing>", "100%", "a/b"])
def test_a_reference_with_any_character_to_nothing_is_named(name: str) -> None:
    """The characters hide neither the place nor the cause."""
    with pytest.raises(Uncompilable, match="does not exist in this document") as refused:
        compile_schema(closed(a=array({"$ref": f"#/$defs/{name}"})), OPENAI)
    assert refused.value.pointer == "/properties/a/items/$ref"


def test_an_id_may_contain_any_character() -> None:
    """A reference to it has the same characters."""
    definition = {**closed(x=TEXT), "$id": "https://a.example/Page<User>"}
    schema = {**closed(a={"$ref": "Page<User>"}), "$id": "https://a.example/root", "$defs": {"P": definition}}

    lens(schema, OPENAI, {"a": {"x": "y"}})
