"""Examples: checked before anything is sent, and shown in the vendor's own form."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from pydantic import AliasPath, BaseModel, Field

from emitter import Example, InputError
from emitter.profiles import find_profile
from emitter.schema import compile_schema
from emitter.schema.python_types import resolve_schema
from emitter.testing.scenarios import SCENARIO_MODELS
from tests.forms.document.asking import (
    FORM,
    HELD,
    INVOICE,
    ODD,
    TASK,
    Invoice,
    ask,
    every_wire,
    every_world,
    said,
    system,
)
from tests.scenarios.test_tool_mode import ASKED as TOOL_MODELS

OPTIONAL: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "note": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@every_wire
@pytest.mark.parametrize("example", [INVOICE, HELD], ids=["instance", "json"])
def test_an_example_stands_in_the_system_prompt(wire: str, example: object) -> None:
    """An instance of the model or its JSON: the model is shown the same document."""
    asked = ask(wire, [said(HELD)], examples=[example])

    assert system(asked.bodies[0]).endswith(f"into your answer.\n\n{json.dumps(HELD)}")


def test_several_examples_stand_apart() -> None:
    """Each has a line of its own."""
    asked = ask("anthropic", [said(HELD)], FORM, examples=iter([HELD, {**HELD, "vendor": "Äcme"}]))

    assert f"{json.dumps(HELD)}\n\n{{" in asked.bodies[0]["system"]
    assert "Äcme" in asked.bodies[0]["system"]


def test_without_examples_nothing_is_said_of_them() -> None:
    """No empty heading."""
    assert "# Examples" not in ask("anthropic", [said(HELD)]).bodies[0]["system"]


@every_wire
def test_an_example_is_shown_as_the_vendor_writes_it(wire: str) -> None:
    """What the compiled schema makes of it is what the model must write, so that is what it sees."""
    profile, _ = find_profile(SCENARIO_MODELS[wire])
    encoded = compile_schema(OPTIONAL, profile).encode({"name": "a"})
    asked = ask(wire, [said(encoded)], OPTIONAL, examples=[{"name": "a"}])

    assert system(asked.bodies[0]).endswith(json.dumps(encoded))
    assert asked.value == {"name": "a"}


class Dated(Invoice):
    """An invoice with what JSON has no form for."""

    sent: dt.datetime


def test_an_instance_is_written_as_json_reads_it() -> None:
    """Dates and the like stand in the example as the model must write them."""
    sent = dt.datetime(2027, 1, 2, 3, 4, tzinfo=dt.UTC)
    example = Dated(vendor="Acme", total=1, due=dt.date(2027, 1, 31), sent=sent)
    written = {"vendor": "Acme", "total": 1, "due": "2027-01-31", "sent": "2027-01-02T03:04:00Z"}
    asked = ask("anthropic", [said(written)], Dated, examples=[example])

    assert asked.bodies[0]["system"].endswith(json.dumps(written))
    assert asked.value == example


def _odd(_: object) -> None:
    raise ZeroDivisionError(ODD)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "breaks the schema": ({"examples": [HELD, {**HELD, "total": -1}]}, "examples[1] is invalid: /total: "),
    "lacks a property": ({"examples": [{}]}, 'examples[0] is invalid: /: the property "due"'),
    "breaks a validator": ({"examples": [{**HELD, "vendor": ODD}]}, "examples[0] is invalid: /vendor: value_error"),
    "breaks a check": ({"examples": [HELD], "checks": [lambda _: "Never."]}, "is invalid: /: check: Never."),
    "a check raises": (
        {"examples": [HELD], "checks": [_odd]},
        "check _odd raised ZeroDivisionError on examples[0]",
    ),
    "is no JSON": ({"examples": [{1, 2}]}, "examples[0] is neither JSON nor a value of the schema's type"),
    "is another model": ({"examples": [object()]}, "examples[0] is neither JSON"),
    "no number": ({"examples": [float("nan")]}, "examples[0] is neither JSON"),
    "half a character": ({"examples": [{**HELD, "vendor": "\ud83d"}]}, "examples[0] is invalid"),
    "a pair that breaks the schema": (
        {"examples": [HELD, Example("x", {**HELD, "total": -1})]},
        "examples[1] is invalid: /total: ",
    ),
    "a pair that breaks a validator": (
        {"examples": [Example("x", {**HELD, "vendor": ODD})]},
        "examples[0] is invalid: /vendor: value_error",
    ),
    "a pair without an input": ({"examples": [Example(" ", HELD)]}, "examples[0] has an empty input"),
    "a tuple of both": ({"examples": [("x", HELD)]}, "Pass an input with its output as Example(input, output)."),
    "a tuple of an instance": (
        {"examples": [("x", INVOICE)]},
        "neither JSON nor a value of the schema's type. Pass an i",
    ),
    "a mapping of both": ({"examples": [{"input": "x", "output": HELD}]}, "Pass an input with its output as Example("),
    "one, not a list": ({"examples": HELD}, "examples must be a list. Put the documents"),
    "text": ({"examples": json.dumps(HELD)}, "examples must be a list."),
    "an instance": ({"examples": 5}, "examples must be a list."),
}


@pytest.mark.parametrize(("given", "reported"), BAD.values(), ids=BAD.keys())
def test_a_bad_example_is_reported_before_anything_is_sent(given: dict[str, Any], reported: str) -> None:
    """The sentence names its index, and the rule that it breaks."""
    with pytest.raises(InputError) as raised:
        ask("openai-chat", [], **given)

    assert reported in str(raised.value)


@pytest.mark.parametrize("schema", [Invoice, FORM], ids=["model", "schema"])
def test_an_example_is_no_ones_to_change(schema: object) -> None:
    """What the caller handed over stays as it was."""
    example = dict(HELD)
    ask("google", [said(HELD)], schema, examples=[example])

    assert example == HELD
    assert resolve_schema(schema).schema


class Aliased(BaseModel):
    """Read and written under different names."""

    amount: int = Field(validation_alias="total", serialization_alias="sum")


class Nesting(BaseModel):
    """Holds such a one, and a field that is read from inside another."""

    first: Aliased
    others: list[Aliased] = []
    city: str = Field(validation_alias=AliasPath("address", "city"))


@pytest.mark.parametrize("wire", ["openai-responses", "anthropic"])
def test_examples_have_the_names_that_documents_have(wire: str) -> None:
    """A value is shown under the names that it is read by, at every depth."""
    value = Nesting.model_validate({"first": {"total": 1}, "others": [{"total": 2}], "address": {"city": "Bonn"}})
    document = {"first": {"total": 1}, "others": [{"total": 2}], "city": "Bonn"}
    asked = ask(wire, [said(document)], Nesting, examples=[value])

    assert json.dumps(document) in system(asked.bodies[0])
    assert asked.value == value


BOLT = {"vendor": "Acme", "total": 7, "due": "2027-02-01"}
PAIR = Example("Acme wants 7 by the first of February.", BOLT)


def turns(body: Any) -> list[tuple[str, str]]:
    """Return the roles and texts of a request's messages, whatever the wire."""
    found = body.get("messages") or body.get("input") or body.get("contents")
    plain = [each for each in found if each.get("role") not in ("system", "developer")]
    return [(role_of(each), json.dumps(each, ensure_ascii=False)) for each in plain]


def role_of(message: dict[str, Any]) -> str:
    """Return a role in OpenAI's words."""
    role = message.get("role") or {"user_input": "user", "model_output": "assistant"}[message["type"]]
    return "assistant" if role == "model" else str(role)


@every_wire
@every_world
def test_a_pair_stands_in_the_turns_before_the_conversation(wire: str, world: str) -> None:
    """The input is a turn of the user and the output one of the assistant; a correction keeps them."""
    script = [said({**HELD, "total": -1}), said(HELD)]
    asked = ask(wire, script, world=world, examples=[PAIR, Example("From Acme: 12.", INVOICE), HELD])

    for body in asked.bodies:
        shown = turns(body)
        assert [role for role, _ in shown[:5]] == ["user", "assistant", "user", "assistant", "user"]
        assert PAIR.input in shown[0][1]
        assert json.dumps(json.dumps(BOLT))[1:-1] in shown[1][1]
        assert TASK in shown[4][1]
        assert "The first 4 messages are examples" in system(body)
        assert system(body).count(json.dumps(HELD)) == 1
    assert asked.value == INVOICE


@pytest.mark.parametrize("wire", TOOL_MODELS)
def test_a_model_that_calls_a_tool_reads_pairs_in_the_system_prompt(wire: str) -> None:
    """A turn in plain text would show it to answer without the tool."""
    script = [lambda vendor: vendor.called(HELD, 5, "Invoice")]
    asked = ask(wire, script, examples=[PAIR, HELD], model=TOOL_MODELS[wire])
    (body,) = asked.bodies

    assert asked.value == INVOICE
    assert len(turns(body)) == 1
    assert f"For this input:\n\n{PAIR.input}\n\nthis document is right:\n\n{json.dumps(BOLT)}" in system(body)
    assert "messages are examples" not in system(body)
