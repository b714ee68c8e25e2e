"""`emitter compile` and `emitter lint`: what vendors take of a schema."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

import pytest

from emitter.profiles import profile_names

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name"],
    "additionalProperties": False,
}
GIVEN = json.dumps(SCHEMA).encode()
DEEP = json.dumps(
    functools.reduce(lambda inner, _: {"type": "array", "items": inner}, range(11), {"type": "string"})
).encode()
OPEN = b'{"type": "object", "properties": {"any": {}}, "additionalProperties": false}'


def test_compile_prints_the_schema_and_its_losses(run: Run) -> None:
    """What goes on the wire, and what is reported and checked instead of being enforced."""
    ran = run(["compile", "--profile", "openai"], GIVEN)
    printed = json.loads(ran.out)

    assert ran.status == 0
    assert printed["schema"]["required"] == ["name", "tags"]
    assert printed["losses"] == [
        {"pointer": "/properties/name", "keyword": "minLength", "value": "1", "why": "unsupported"}
    ]


def test_lint_names_every_vendor_that_loses_something(run: Run) -> None:
    """As JSON, each finding has its vendor, its place, its rule and how to mend it."""
    rows = json.loads(run(["lint", "--json"], GIVEN).out)

    assert {"tier1", "openai", "anthropic"} <= {each["vendor"] for each in rows} <= {"tier1", *profile_names()}
    assert {"#/properties/name", "#/properties/tags"} <= {each["pointer"] for each in rows}
    assert all(each["fix"] for each in rows)


def test_lint_draws_a_table(run: Run) -> None:
    """For a person, a line for each finding."""
    ran = run(["lint"], OPEN)

    assert ran.status == 0
    assert all(any(row.startswith(name) for row in ran.out.splitlines()) for name in profile_names())
    assert "google" in ran.out


def test_lint_says_how_to_mend_each_kind_of_finding(run: Run) -> None:
    """What is lost, what stands in open values, what is silent and what was given up each has its own advice."""
    schema = {
        "type": "object",
        "properties": {
            "deep": json.loads(DEEP),
            "either": {"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object"}]},
        },
    }
    rows = json.loads(run(["lint", "--json"], json.dumps(schema).encode()).out)
    reported = {(each["rule"].split()[0], each["fix"]) for each in rows if each["vendor"] == "openai"}

    assert {"additionalProperties", "oneOf"} <= {rule for rule, _ in reported}
    assert len({fix for _, fix in reported}) >= 3


@pytest.mark.parametrize(("undeclared", "silent"), [("carry", "additional_properties"), ("close", "name")])
def test_compile_carries_or_closes_what_a_schema_is_silent_about(run: Run, undeclared: str, silent: str) -> None:
    """The caller chooses whether properties without a name can be said."""
    given = b'{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}'
    ran = run(["compile", "--profile", "openai", "--undeclared", undeclared], given)

    assert list(json.loads(ran.out)["schema"]["properties"])[-1] == silent


@pytest.mark.parametrize(
    ("arguments", "given", "reported"),
    [
        (["compile", "--profile", "openai"], b"{", "standard input is not JSON"),
        (["compile", "--profile", "openai"], b"[" * 100_000, "standard input is not JSON"),
        (["compile", "--profile", "acme"], GIVEN, "There is no profile 'acme'. Choose one of anthropic,"),
        (["compile", "--profile", "openai"], b"false", "emitter: no document can satisfy this schema"),
        (["compile", "--profile", "openai"], b"[]", "A JSON Schema must be an object or a boolean"),
        (["compile", "--profile", "openai"], b'{"type": "tuple"}', "/type: "),
        (
            ["compile", "--profile", "openai"],
            b'{"items": {"$ref": "#/gone"}}',
            "/items/$ref: does not exist in this document",
        ),
        (
            ["compile", "--profile", "openai", "--no-degrade"],
            DEEP,
            "too large for this provider: depth 12 of at most 10",
        ),
        (["compile", "--profile", "openai", "no-such-file"], b"", "no-such-file cannot be read"),
        (["lint"], b"", "standard input is not JSON"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: list[str], given: bytes, reported: str) -> None:
    """No traceback, and the exit status of bad usage."""
    ran = run(arguments, given)

    assert ran.status == 2
    assert reported in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""
