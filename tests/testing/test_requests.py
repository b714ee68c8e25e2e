"""What a vendor does not take: bad schemas, bad budgets, bad keys, wrong addresses."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.profile.model import WireName
from emitter.testing import Overloaded, Simulator, Text, simulator
from emitter.wire import Fault, FaultKind, Reply, Stop, Usage
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

REFUSED: list[tuple[WireName, Any, str]] = [
    (WireName.OPENAI_RESPONSES, OPEN, "'additionalProperties' is required to be supplied and to be false"),
    (WireName.OPENAI_RESPONSES, LONG, "In context=('properties', 'vendor'), 'minLength' is not permitted"),
    (WireName.OPENAI_CHAT, {"type": "array", "items": {"type": "string"}}, "got 'type: \"array\"'"),
    (WireName.OPENAI_CHAT, {**SCHEMA, "required": ["vendor"]}, "Missing 'total'"),
    (WireName.ANTHROPIC, OPEN, "'additionalProperties: true' is not supported"),
    (WireName.ANTHROPIC, LONG, "'minLength' is not supported"),
    (WireName.GOOGLE, DANGLING, "reference to undefined schema"),
    (WireName.GOOGLE, MALFORMED, "keyword malformed required"),
]


@pytest.mark.parametrize("tool", [False, True], ids=["format", "tool"])
@pytest.mark.parametrize(("wire", "schema", "said"), REFUSED, ids=lambda each: getattr(each, "value", None))
def test_a_schema_that_the_vendor_refuses(
    vendor: Simulator, wire: WireName, schema: Any, said: str, *, tool: bool
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
    error = post(vendor, WireName.OPENAI_RESPONSES, Question(schema=OPEN)).json()["error"]
    tool = post(vendor, WireName.OPENAI_CHAT, Question(schema=OPEN, tool=True)).json()["error"]

    assert (error["code"], error["param"]) == ("invalid_json_schema", "text.format.schema")
    assert (tool["code"], tool["param"]) == ("invalid_function_parameters", "tools[0].function.parameters")


@every_wire
def test_a_schema_need_not_be_checked(wire: WireName) -> None:
    """A vendor that checks nothing answers all the same."""
    with simulator(answers=Text(DOCUMENT), check_schemas=False) as lenient:
        assert isinstance(answer(lenient, wire, Question(schema=MALFORMED)), Reply)


BUDGETS = [
    (WireName.OPENAI_RESPONSES, 15, "Expected a value >= 16, but got 15 instead"),
    (WireName.OPENAI_CHAT, 0, "Expected a value >= 1, but got 0 instead"),
    (WireName.ANTHROPIC, None, "max_tokens: Field required"),
    (WireName.ANTHROPIC, 0, "greater than or equal to 1"),
    (WireName.GOOGLE, 0, "must be positive"),
    (WireName.OPENAI_RESPONSES, 10**7, "integer above maximum value"),
    (WireName.OPENAI_CHAT, 10**7, "max_tokens is too large"),
    (WireName.ANTHROPIC, 10**7, "maximum allowed number of output tokens"),
    (WireName.GOOGLE, 10**7, "the supported range"),
]


@pytest.mark.parametrize(("wire", "budget", "said"), BUDGETS)
def test_a_budget_that_the_vendor_refuses(vendor: Simulator, wire: WireName, budget: int | None, said: str) -> None:
    """Too small, too large or missing: the vendor's own 400."""
    response = post(vendor, wire, Question(budget=budget))

    assert response.status_code == 400
    assert said in response.json()["error"]["message"]


@every_wire
def test_a_missing_budget_is_none(vendor: Simulator, wire: WireName) -> None:
    """All vendors but Anthropic do without."""
    assert (post(vendor, wire, Question(budget=None)).status_code == 200) is (wire is not WireName.ANTHROPIC)


@both_forms
@every_wire
def test_no_such_model(vendor: Simulator, wire: WireName, *, streamed: bool) -> None:
    """One model is unknown to every vendor."""
    fault = answer(vendor, wire, Question(model="no-such-model"), streamed=streamed)

    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.NOT_FOUND


@every_wire
def test_a_bad_key(vendor: Simulator, wire: WireName) -> None:
    """One key is refused by every vendor, and uses up no script."""
    vendor.script(Overloaded())

    fault = answer(vendor, wire, Question(key="bad-key"))

    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.AUTHENTICATION
    assert vendor.calls[0].behaviour is None
    assert post(vendor, wire).status_code == 429


@every_wire
def test_a_prompt_beyond_the_context_window(vendor: Simulator, wire: WireName) -> None:
    """A prompt that the model's window cannot hold is an overflow without being told to be one."""
    found = answer(vendor, wire, Question(prompt="many words " * 800_000))

    assert isinstance(found, Reply)
    assert found.stop is Stop.OVERFLOWED


@every_wire
@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b'"x"', b"[" * 100_000, b"\xff\xfe", b"{}"])
def test_bodies_that_are_no_request(vendor: Simulator, wire: WireName, raw: bytes) -> None:
    """Whatever is sent is answered with the vendor's own 400."""
    response = http().post(address(vendor, wire, Question()), content=raw, headers=headers(wire, "a-key"))

    assert response.status_code == 400
    assert response.json()["error"]["message"]


@every_wire
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_other_methods_lead_nowhere(vendor: Simulator, wire: WireName, method: str) -> None:
    """Everything but a POST to a known path is the vendor's own 404."""
    response = http().request(method, address(vendor, wire, Question()), headers=headers(wire, "a-key"))

    assert response.status_code == 404
    if method != "HEAD":
        assert (response.json().get("type") == "error") is (wire is WireName.ANTHROPIC)
        assert ("status" in response.json()["error"]) is (wire is WireName.GOOGLE)


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

    assert post(vendor, WireName.OPENAI_CHAT, asked).status_code == 200
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
