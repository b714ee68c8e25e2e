r"""Texts that lost a backslash: found in documents and decisions, corrected once, and never more than a finding."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Withheld, emit, emit_binding_moment, stream
from emitter.core.control_characters import CONTROL_CHARACTER, MAX_FINDINGS, SourceTexts, find_control_characters
from emitter.findings import Severity
from emitter.schema import compile_schema
from emitter.testing import Text, simulator, write_decision
from tests.decisions.resolution.moments import moment
from tests.work import count_lines

if TYPE_CHECKING:
    from emitter.messages import Json

MODEL = "openai/gpt-6-sol"
OPEN: dict[str, Any] = {
    "type": "object",
    "properties": {"note": {"type": "string"}, "lines": {"type": "array", "items": {"type": "string"}}},
}
PATH, FORMULA = r"Install it in C:\temp\new\bin and C:\reports.", r"The value is \(\frac{1}{2} \times \nu\) at \rho."

FOUND: dict[str, tuple[Json, str, list[str]]] = {
    "form feed": ({"note": "\f" + "rac{1}{2}"}, "", ["/note"]),
    "backspace": ({"note": "C:\\ab\bin"}, "", ["/note"]),
    "null": ({"note": "a\0b"}, "", ["/note"]),
    "escape": ({"note": "\x1b[31m"}, "", ["/note"]),
    "tab of a path": ({"note": "C:\temp"}, PATH, ["/note"]),
    "line break of a path": ({"note": "C:\\temp\new"}, PATH, ["/note"]),
    "return of a path": ({"note": "C:\reports"}, PATH, ["/note"]),
    "tab of a formula": ({"note": "2 \times 3"}, FORMULA, ["/note"]),
    "line break of a formula": ({"note": "\nu"}, FORMULA, ["/note"]),
    "in a list": ({"lines": ["a", "\f", "b"]}, "", ["/lines/1"]),
    "twice in one text": ({"note": "\f\b"}, "", ["/note"]),
    "in a name": ({"\f" + "oo": "a"}, "", ["/*"]),
    "below an unknown name": ({"secret": {"\tx": "\f"}}, "", ["/*/*"]),
    "escaped source": ({"note": "C:\temp"}, json.dumps(PATH), ["/note"]),
    "path in a JSON text": ({"note": "C:\temp"}, 'It is {"path": "C:\\\\temp\\\\new"}.', ["/note"]),
    "path in quotation marks": ({"note": "C:\temp"}, r'Put it into "C:\temp\new", please.', ["/note"]),
    "source code": ({"note": 'print("a\nnext")'}, r'print("a\nnext")', ["/note"]),
}

PASSED: dict[str, tuple[Json, str]] = {
    "plain": ({"note": "a"}, PATH),
    "backslashes": ({"note": r"C:\temp\new \frac"}, PATH),
    "line breaks": ({"note": "a\nb\r\n\tc\n"}, PATH),
    "lines of another source": ({"note": "C:\temp"}, "Columns are separated by tabs."),
    "longer word in the source": ({"note": "a\ntemp"}, r"see \temperature"),
    "line break of a JSON text": ({"note": "a\nnew line"}, 'The record is {"id": 1, "note": "a\\nnew line"}.'),
    "tab of a JSON string": ({"note": "a\ttab"}, json.dumps("a\ttab")),
    "copied form feed": ({"note": "page 1\fpage 2"}, "page 1\fpage 2"),
    "copied form feed at the end": ({"note": "page 1\f"}, "page 1\fpage 2"),
    "deleted character": ({"note": "\x7f\x85"}, ""),
    "no text": ({"note": None, "lines": [1, True]}, PATH),
}


def found(document: Json, source: str, schema: Any) -> list[tuple[str, Severity]]:
    """Return the places and severities of the findings about a document."""
    findings = find_control_characters(document, SourceTexts([source]), compile_schema(schema, "openai"))
    assert {each.rule for each in findings} <= {CONTROL_CHARACTER}
    return [(each.pointer, each.severity) for each in findings]


@pytest.mark.parametrize(("document", "source", "places"), FOUND.values(), ids=FOUND)
def test_a_lost_backslash_is_found(document: Json, source: str, places: list[str]) -> None:
    """A control character that is not copied, and a tab or line break where a source has a backslash."""
    assert found(document, source, OPEN) == [(place, Severity.RETRY) for place in places]


@pytest.mark.parametrize(("document", "source"), PASSED.values(), ids=PASSED)
def test_other_texts_pass(document: Json, source: str) -> None:
    """Line breaks, real backslashes and what the source has as well."""
    assert found(document, source, OPEN) == []


@pytest.mark.parametrize(
    "schema",
    [{"type": "string", "pattern": "^\\f+$"}, {"enum": ["\f", "a"]}, {"const": "\f"}, {"maxLength": 1}],
    ids=["pattern", "enum", "const", "length"],
)
def test_a_character_that_the_schema_wants_asks_for_nothing(schema: Any) -> None:
    """A correction could only be wrong."""
    assert found("\f", "", schema) == [("", Severity.WARNING)]


def test_the_number_of_findings_is_bounded() -> None:
    """A correction has a constant size."""
    assert len(found({"lines": ["\f"] * 100}, "", OPEN)) == MAX_FINDINGS
    assert found("\f", "", {"type": "string"}) == [("", Severity.RETRY)]


@pytest.mark.parametrize("unit", ["\f", "\ntemp", "\t", r"\temp", "\\", "a\n"])
def test_linear(unit: str) -> None:
    """Four times the text takes four times the lines of Python."""
    short, long = (
        partial(found, {"lines": [unit * size, *[unit] * size]}, (r"\temp" + unit) * size, OPEN)
        for size in (250, 1_000)
    )
    lines = count_lines(short)
    count_lines(long, limit=5 * lines + 1_000)


FORM = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
LOST, KEPT = r'{"path": "C:\temp\new\bin"}', r'{"path": "C:\\temp\\new\\bin"}'


def _emit(client: Any) -> Any:
    return emit(FORM, PATH, model=MODEL, client=client)


def _stream(client: Any) -> Any:
    with stream(FORM, PATH, model=MODEL, client=client) as events:
        return events.result()


@pytest.mark.parametrize("answers", [[LOST, KEPT], [LOST, LOST]], ids=["corrected", "again"])
@pytest.mark.parametrize("emission", [_emit, _stream])
def test_an_emission_asks_once(emission: Any, answers: list[str]) -> None:
    """The correction names the place and what to write, and a text that comes again is delivered with a finding."""
    with simulator() as vendor:
        vendor.script(*map(Text, answers))
        result = emission(vendor.client(MODEL))
        asked = json.dumps(vendor.calls[1].body)

    assert len(vendor.calls) == 2
    assert "/path: control-character: " in asked
    assert asked.count("emp") == json.dumps(vendor.calls[0].body).count("emp")
    assert result.value == json.loads(answers[-1])
    assert [each.rule for each in result.findings] == [CONTROL_CHARACTER] * (answers[-1] == LOST)
    assert {each.severity for each in result.findings} <= {Severity.WARNING}


def test_a_decision_is_asked_once() -> None:
    """The finding names the place in the decision."""
    with simulator() as vendor:
        vendor.script(*[write_decision(moment("Release the payment into \folder."))] * 2)
        decision = emit_binding_moment("Should it be paid?", model=MODEL, client=vendor.client(MODEL))

    assert len(vendor.calls) == 2
    assert not isinstance(decision, Withheld)
    assert [(each.rule, each.pointer) for each in decision.findings if each.rule == CONTROL_CHARACTER] == [
        (CONTROL_CHARACTER, "/synopsis")
    ]
