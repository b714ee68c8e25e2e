"""What a vendor does not take: bad schemas, bad budgets, bad keys, wrong addresses."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.messages import Fault, FaultKind, ModelResponse, StopReason, Usage
from emitter.profiles.model import WireFormat
from emitter.testing import Overloaded, Simulator, Text, simulator
from tests.testing.asking import (
    DOCUMENT,
    SCHEMA,
    Question,
    address,
    answer,
    both_forms,
    every_wire,
    headers,
    http,
    post,
)

OPEN = {**SCHEMA, "additionalProperties": True}
LONG = {**SCHEMA, "properties": {"vendor": {"type": "string", "minLength": 1}, "total": {"type": "integer"}}}
DANGLING = {**SCHEMA, "properties": {"vendor": {"$ref": "#/$defs/nobody"}, "total": {"type": "integer"}}}
MALFORMED = {**SCHEMA, "required": "vendor"}

REFUSED: list[tuple[WireFormat, Any, str]] = [
    (WireFormat.OPENAI_RESPONSES, OPEN, "'additionalProperties' is required to be supplied and to be false"),
    (WireFormat.OPENAI_RESPONSES, LONG, "In context=('properties', 'vendor'), 'minLength' is not permitted"),
    (WireFormat.OPENAI_CHAT, {"type": "array", "items": {"type": "string"}}, "got 'type: \"array\"'"),
    (WireFormat.OPENAI_CHAT, {**SCHEMA, "required": ["vendor"]}, "Missing 'total'"),
    (WireFormat.ANTHROPIC, OPEN, "'additionalProperties: true' is not supported"),
    (WireFormat.ANTHROPIC, LONG, "'minLength' is not supported"),
    (WireFormat.GOOGLE, DANGLING, "reference to undefined schema"),
    (WireFormat.GOOGLE, MALFORMED, "keyword malformed required"),
]


@pytest.mark.parametrize("tool", [False, True], ids=["format", "tool"])
@pytest.mark.parametrize(("wire", "schema", "said"), REFUSED, ids=lambda each: getattr(each, "value", None))
def test_a_schema_that_the_vendor_refuses(
    vendor: Simulator, wire: WireFormat, schema: Any, said: str, *, tool: bool
) -> None:
    """A breach of the vendor's published rules is its own 400, in its own manner, and is read as one."""
    asked = Question(schema=schema, tool=tool)

    response = post(vendor, wire, asked)
    fault = answer(vendor, wire, asked, streamed=True)

    assert response.status_code == 400
    assert said in response.json()["error"]["message"]
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.SCHEMA_REJECTED
    assert vendor.billed == Usage()


def test_a_refused_schema_names_its_place(vendor: Simulator) -> None:
    """OpenAI's error says which parameter is at fault."""
    error = post(vendor, WireFormat.OPENAI_RESPONSES, Question(schema=OPEN)).json()["error"]
    tool = post(vendor, WireFormat.OPENAI_CHAT, Question(schema=OPEN, tool=True)).json()["error"]

    assert (error["code"], error["param"]) == ("invalid_json_schema", "text.format.schema")
    assert (tool["code"], tool["param"]) == ("invalid_function_parameters", "tools[0].function.parameters")


@every_wire
def test_a_schema_need_not_be_checked(wire: WireFormat) -> None:
    """A vendor that checks nothing answers all the same."""
    with simulator(answers=Text(DOCUMENT), check_schemas=False) as lenient:
        assert isinstance(answer(lenient, wire, Question(schema=MALFORMED)), ModelResponse)


BUDGETS = [
    (WireFormat.OPENAI_RESPONSES, 15, "Expected a value >= 16, but got 15 instead"),
    (WireFormat.OPENAI_CHAT, 0, "Expected a value >= 1, but got 0 instead"),
    (WireFormat.ANTHROPIC, None, "max_tokens: Field required"),
    (WireFormat.ANTHROPIC, 0, "greater than or equal to 1"),
    (WireFormat.GOOGLE, 0, "must be positive"),
    (WireFormat.OPENAI_RESPONSES, 10**7, "integer above maximum value"),
    (WireFormat.OPENAI_CHAT, 10**7, "max_tokens is too large"),
    (WireFormat.ANTHROPIC, 10**7, "maximum allowed number of output tokens"),
    (WireFormat.GOOGLE, 10**7, "the supported range"),
]


@pytest.mark.parametrize(("wire", "budget", "said"), BUDGETS)
def test_a_budget_that_the_vendor_refuses(vendor: Simulator, wire: WireFormat, budget: int | None, said: str) -> None:
    """Too small, too large or missing: the vendor's own 400."""
    response = post(vendor, wire, Question(budget=budget))

    assert response.status_code == 400
    assert said in response.json()["error"]["message"]


@every_wire
def test_a_missing_budget_is_none(vendor: Simulator, wire: WireFormat) -> None:
    """All vendors but Anthropic do without."""
    assert (post(vendor, wire, Question(budget=None)).status_code == 200) is (wire is not WireFormat.ANTHROPIC)


@both_forms
@every_wire
def test_no_such_model(vendor: Simulator, wire: WireFormat, *, streamed: bool) -> None:
    """One model is unknown to every vendor."""
    fault = answer(vendor, wire, Question(model="no-such-model"), streamed=streamed)

    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.NOT_FOUND


@every_wire
def test_a_bad_key(vendor: Simulator, wire: WireFormat) -> None:
    """One key is refused by every vendor, and uses up no script."""
    vendor.script(Overloaded())

    fault = answer(vendor, wire, Question(key="bad-key"))

    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.AUTHENTICATION
    assert vendor.calls[0].behaviour is None
    assert post(vendor, wire).status_code == 429


@every_wire
def test_a_prompt_beyond_the_context_window(vendor: Simulator, wire: WireFormat) -> None:
    """A prompt that the model's window cannot hold is an overflow without being told to be one."""
    found = answer(vendor, wire, Question(prompt="many words " * 800_000))

    assert isinstance(found, ModelResponse)
    assert found.stop is StopReason.OVERFLOWED


@every_wire
@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"x"', b"[" * 100_000, b"\xff\xfe", b"{}"])
def test_bodies_that_are_no_request(vendor: Simulator, wire: WireFormat, raw: bytes) -> None:
    """Whatever is sent is answered with the vendor's own 400."""
    response = http().post(address(vendor, wire, Question()), content=raw, headers=headers(wire, "a-key"))

    assert response.status_code == 400
    assert response.json().get("error", response.json())["message"]


@every_wire
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_other_methods_lead_nowhere(vendor: Simulator, wire: WireFormat, method: str) -> None:
    """Everything but a POST to a known path is the vendor's own 404."""
    response = http().request(method, address(vendor, wire, Question()), headers=headers(wire, "a-key"))

    assert response.status_code == 404
    if method != "HEAD":
        assert (response.json().get("type") == "error") is (wire is WireFormat.ANTHROPIC)
        assert ("status" in response.json().get("error", ())) is (
            wire in (WireFormat.GOOGLE, WireFormat.GEMINI_INTERACTIONS)
        )


@pytest.mark.parametrize("path", ["/", "/v1/responses/resp_1/cancel", "/v1/messages/count_tokens", "/v1/embeddings"])
def test_other_paths_lead_nowhere(vendor: Simulator, path: str) -> None:
    """What is not simulated says so."""
    assert http().post(vendor.url + path, json={}).status_code == 404
    assert vendor.calls[0].wire is None


def test_azure_has_errors_of_its_own(vendor: Simulator) -> None:
    """The same request under Azure's address is held to Azure's lower limits, in Azure's words."""
    deep: Any = {"type": "string"}
    for _ in range(6):
        deep = {**SCHEMA, "properties": {"vendor": deep, "total": {"type": "integer"}}}
    asked = Question(schema=deep)

    assert post(vendor, WireFormat.OPENAI_CHAT, asked).status_code == 200
    azure = http().post(
        f"{vendor.url}/openai/deployments/gpt-6-sol/chat/completions?api-version=2024-10-21",
        json={
            "model": "gpt-6-sol",
            "messages": [{"role": "user", "content": "x"}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "bill", "schema": deep, "strict": True},
            },
        },
    )
    assert azure.status_code == 400
    assert "max nesting" in azure.json()["error"]["message"]
