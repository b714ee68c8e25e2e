"""Whatever pydantic reads can be asked for, objects or not, and comes back as what it is."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

import pytest
from typing_extensions import TypedDict

from emitter import Policy
from emitter.errors import Uncompilable
from emitter.events import SCHEMA_IGNORED, Level, LogAppended
from emitter.schema.compiler import UndeclaredProperties
from tests.forms.document.asking import HELD, INVOICE, Invoice, ask, every_wire, said, system


@dataclass
class Line:
    """One line of an invoice."""

    what: str
    each: int


class Note(TypedDict):
    """A note, as a plain dict."""

    text: str


VALUES: dict[str, tuple[object, Any, Any]] = {
    "dataclass": (Line, {"what": "box", "each": 6}, Line("box", 6)),
    "typed dict": (Note, {"text": "a"}, {"text": "a"}),
    "list": (list[int], [1, 2], [1, 2]),
    "union": (int | str, "a", "a"),
    "date": (dt.date, "2027-01-31", dt.date(2027, 1, 31)),
    "list of models": (list[Invoice], [HELD], [INVOICE]),
    "a schema without an object": ({"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
}


@every_wire
@pytest.mark.parametrize(("schema", "document", "value"), VALUES.values(), ids=VALUES.keys())
def test_any_type_can_be_asked_for(wire: str, schema: object, document: Any, value: Any) -> None:
    """What is no object is wrapped for the vendor, and unwrapped here; the envelope holds it as it is."""
    shown = ask(wire, [said({})], schema, examples=[document], policy=Policy(max_attempts=1))
    asked = ask(wire, [said(json.loads(_shown(shown.bodies[0])))], schema)

    assert asked.value == value
    assert type(asked.value) is type(value)
    assert asked.result.envelope.payload["document"] == document


LARGE = {
    "type": "object",
    "properties": {f"p{nth}": {"enum": [f"value {nth} {each}" for each in range(40)]} for nth in range(60)},
    "required": ["p0"],
    "additionalProperties": False,
}
DOCUMENT = {"p0": "value 0 1"}


@pytest.mark.parametrize("wire", ["openai-responses", "anthropic"])
def test_a_schema_too_large_for_the_vendor_is_reported_before_the_first_call(wire: str) -> None:
    """One warning, first; what the vendor no longer holds the model to is checked here all the same."""
    shown = ask(wire, [said({})], LARGE, examples=[DOCUMENT], policy=Policy(max_attempts=1))
    encoded = json.loads(_shown(shown.bodies[0]))
    asked = ask(wire, [said({**encoded, "p59": "none of them"}), said(encoded)], LARGE)
    logged = [each for each in asked.events if isinstance(each, LogAppended) and each.level is Level.WARN]
    warnings = [each for each in logged if each.message != SCHEMA_IGNORED]

    assert asked.value == DOCUMENT
    assert warnings == [asked.events[0]]
    assert "too large for the vendor" in warnings[0].message
    assert len(asked.bodies) == 2


def test_a_schema_too_large_may_be_refused_instead() -> None:
    """With ``degrade=False`` nothing is sent."""
    with pytest.raises(Uncompilable):
        ask("anthropic", [], LARGE, degrade=False)


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("schema", "undeclared", "names"),
    [
        (OPEN, "close", ["a"]),
        (OPEN, UndeclaredProperties.CLOSE, ["a"]),
        (Note, None, ["text"]),
    ],
    ids=["closed", "closed by the enum", "a type"],
)
def test_what_a_schema_does_not_declare_can_be_closed(schema: object, undeclared: Any, names: list[str]) -> None:
    """The vendor is then asked for the named properties alone; a type is closed by itself."""
    asked = ask("openai-chat", [said(dict.fromkeys(names, "x"))], schema, undeclared=undeclared)

    assert list(_sent(asked.bodies[0])) == names
    assert asked.value == dict.fromkeys(names, "x")


@pytest.mark.parametrize(("schema", "undeclared"), [(OPEN, None), (OPEN, "carry"), (Note, "carry")], ids=str)
def test_what_a_schema_does_not_declare_can_be_carried(schema: object, undeclared: Any) -> None:
    """The vendor is asked for one property more, in which the model may say it."""
    asked = ask("openai-chat", [said({})], schema, undeclared=undeclared, policy=Policy(max_attempts=1))

    assert len(_sent(asked.bodies[0])) == 2


def _sent(body: Any) -> Any:
    return body["response_format"]["json_schema"]["schema"]["properties"]


def _shown(body: Any) -> str:
    """Return the one example that stands in a request's system prompt, as the vendor writes it."""
    return system(body).rpartition("into your answer.\n\n")[2].strip()
