"""`emitter compile` and `emitter lint`: what vendors take of a schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from emitter.profile import names

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name"],
    "additionalProperties": False,
}
GIVEN = json.dumps(SCHEMA).encode()
OPEN = b'{"type": "object", "properties": {"any": {}}, "additionalProperties": false}'


def test_compile_prints_the_schema_and_its_losses(run: Run) -> None:
    """What goes on the wire, and what is told and checked instead of being enforced."""
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

    assert {"tier1", "openai", "anthropic"} <= {each["vendor"] for each in rows} <= {"tier1", *names()}
    assert {"#/properties/name", "#/properties/tags"} <= {each["pointer"] for each in rows}
    assert all(each["fix"] for each in rows)


def test_lint_draws_a_table(run: Run) -> None:
    """For a person, a line for each finding."""
    ran = run(["lint"], OPEN)

    assert ran.status == 0
    assert all(any(row.startswith(name) for row in ran.out.splitlines()) for name in names())
    assert "#/properties/any" in ran.out


@pytest.mark.parametrize(
    ("arguments", "given", "told"),
    [
        (["compile", "--profile", "openai"], b"{", "standard input is not JSON"),
        (["compile", "--profile", "openai"], b"[" * 100_000, "standard input is not JSON"),
        (["compile", "--profile", "acme"], GIVEN, "There is no profile 'acme'. There are anthropic,"),
        (["compile", "--profile", "openai"], OPEN, "/properties/any: "),
        (["compile", "--profile", "openai"], b"true", "#: the root must be an object schema"),
        (["compile", "--profile", "openai", "no-such-file"], b"", "no-such-file cannot be read"),
        (["lint"], b"", "standard input is not JSON"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: list[str], given: bytes, told: str) -> None:
    """No traceback, and the exit status of bad usage."""
    ran = run(arguments, given)

    assert ran.status == 2
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""
