"""What really goes out, through the vendors' own SDKs."""

from __future__ import annotations

import json
import re
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from emitter.adapters import ADAPTERS
from emitter.adapters.clients import limit_client
from emitter.adapters.request_options import check_extra_body
from emitter.adapters.transport import HttpTransfer, post
from emitter.errors import InputError
from emitter.messages import ModelResponse, OutputMode
from emitter.profiles import WireFormat, load_profile
from tests.adapters.bodies import VENDORS, text
from tests.adapters.sending import SCHEMA, TIMEOUT, Line, request, saying, send

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

TALK = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "two"},
    {"role": "user", "content": "thrée"},
]
RESPONSES = {"model": "m-1", "instructions": "be brief", "input": TALK, "max_output_tokens": 64, "store": False}
CHAT = {
    "model": "m-1",
    "messages": [{"role": "system", "content": "be brief"}, *TALK],
    "max_completion_tokens": 64,
}
ANTHROPIC = {"model": "m-1", "system": "be brief", "messages": TALK, "max_tokens": 64}
GOOGLE = {
    "systemInstruction": {"parts": [{"text": "be brief"}], "role": "user"},
    "contents": [
        {"role": "user", "parts": [{"text": "one"}]},
        {"role": "model", "parts": [{"text": "two"}]},
        {"role": "user", "parts": [{"text": "thrée"}]},
    ],
}
BEDROCK = {
    "system": [{"text": "be brief"}],
    "messages": [{"role": turn["role"], "content": [{"text": turn["content"]}]} for turn in TALK],
    "inferenceConfig": {"maxTokens": 64},
}
INTERACTION = {
    "model": "m-1",
    "system_instruction": "be brief",
    "input": [
        {"type": kind, "content": [{"type": "text", "text": turn["content"]}]}
        for kind, turn in zip(("user_input", "model_output", "user_input"), TALK, strict=True)
    ],
    "generation_config": {"max_output_tokens": 64},
    "store": False,
}
AS_JSON = {"type": "text", "mime_type": "application/json"}
NAMED = {"name": "decide", "schema": SCHEMA, "strict": True}
FUNCTION = {"name": "decide", "parameters": SCHEMA, "strict": True}

BODIES: dict[str, tuple[str, WireFormat, OutputMode, dict[str, Any]]] = {
    "responses-schema": (
        "openai",
        WireFormat.OPENAI_RESPONSES,
        OutputMode.JSON_SCHEMA,
        {**RESPONSES, "text": {"format": {"type": "json_schema", **NAMED}}},
    ),
    "responses-object": (
        "openai",
        WireFormat.OPENAI_RESPONSES,
        OutputMode.JSON_OBJECT,
        {**RESPONSES, "text": {"format": {"type": "json_object"}}},
    ),
    "responses-text": ("openai", WireFormat.OPENAI_RESPONSES, OutputMode.TEXT, RESPONSES),
    "responses-tool": (
        "openai",
        WireFormat.OPENAI_RESPONSES,
        OutputMode.TOOL,
        {
            **RESPONSES,
            "tools": [{"type": "function", **FUNCTION}],
            "tool_choice": {"type": "function", "name": "decide"},
            "parallel_tool_calls": False,
        },
    ),
    "chat-schema": (
        "openai",
        WireFormat.OPENAI_CHAT,
        OutputMode.JSON_SCHEMA,
        {**CHAT, "response_format": {"type": "json_schema", "json_schema": NAMED}},
    ),
    "chat-object": (
        "openai",
        WireFormat.OPENAI_CHAT,
        OutputMode.JSON_OBJECT,
        {**CHAT, "response_format": {"type": "json_object"}},
    ),
    "chat-text": ("openai", WireFormat.OPENAI_CHAT, OutputMode.TEXT, CHAT),
    "chat-tool": (
        "openai",
        WireFormat.OPENAI_CHAT,
        OutputMode.TOOL,
        {
            **CHAT,
            "tools": [{"type": "function", "function": FUNCTION}],
            "tool_choice": {"type": "function", "function": {"name": "decide"}},
            "parallel_tool_calls": False,
        },
    ),
    "anthropic-schema": (
        "anthropic",
        WireFormat.ANTHROPIC,
        OutputMode.JSON_SCHEMA,
        {**ANTHROPIC, "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    ),
    "anthropic-object": ("anthropic", WireFormat.ANTHROPIC, OutputMode.JSON_OBJECT, ANTHROPIC),
    "anthropic-text": ("anthropic", WireFormat.ANTHROPIC, OutputMode.TEXT, ANTHROPIC),
    "anthropic-tool": (
        "anthropic",
        WireFormat.ANTHROPIC,
        OutputMode.TOOL,
        {
            **ANTHROPIC,
            "tools": [{"name": "decide", "input_schema": SCHEMA, "strict": True}],
            "tool_choice": {"type": "tool", "name": "decide", "disable_parallel_tool_use": True},
        },
    ),
    "google-schema": (
        "google",
        WireFormat.GOOGLE,
        OutputMode.JSON_SCHEMA,
        {
            **GOOGLE,
            "generationConfig": {
                "maxOutputTokens": 64,
                "responseMimeType": "application/json",
                "responseJsonSchema": SCHEMA,
            },
        },
    ),
    "google-object": (
        "google",
        WireFormat.GOOGLE,
        OutputMode.JSON_OBJECT,
        {**GOOGLE, "generationConfig": {"maxOutputTokens": 64, "responseMimeType": "application/json"}},
    ),
    "google-text": (
        "google",
        WireFormat.GOOGLE,
        OutputMode.TEXT,
        {**GOOGLE, "generationConfig": {"maxOutputTokens": 64}},
    ),
    "google-tool": (
        "google",
        WireFormat.GOOGLE,
        OutputMode.TOOL,
        {
            **GOOGLE,
            "generationConfig": {"maxOutputTokens": 64},
            "tools": [{"functionDeclarations": [{"name": "decide", "parameters_json_schema": SCHEMA}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["decide"]}},
        },
    ),
    "interactions-schema": (
        "google",
        WireFormat.GEMINI_INTERACTIONS,
        OutputMode.JSON_SCHEMA,
        {**INTERACTION, "response_format": {**AS_JSON, "schema": SCHEMA}},
    ),
    "interactions-object": (
        "google",
        WireFormat.GEMINI_INTERACTIONS,
        OutputMode.JSON_OBJECT,
        {**INTERACTION, "response_format": AS_JSON},
    ),
    "interactions-text": ("google", WireFormat.GEMINI_INTERACTIONS, OutputMode.TEXT, INTERACTION),
    "interactions-tool": (
        "google",
        WireFormat.GEMINI_INTERACTIONS,
        OutputMode.TOOL,
        {
            **INTERACTION,
            "generation_config": {
                "max_output_tokens": 64,
                "tool_choice": {"allowed_tools": {"mode": "any", "tools": ["decide"]}},
            },
            "tools": [{"type": "function", "name": "decide", "parameters": SCHEMA}],
        },
    ),
    "bedrock-schema": (
        "bedrock",
        WireFormat.BEDROCK_CONVERSE,
        OutputMode.JSON_SCHEMA,
        {
            **BEDROCK,
            "outputConfig": {
                "textFormat": {
                    "type": "json_schema",
                    "structure": {"jsonSchema": {"name": "decide", "schema": json.dumps(SCHEMA)}},
                }
            },
        },
    ),
    "bedrock-object": ("bedrock", WireFormat.BEDROCK_CONVERSE, OutputMode.JSON_OBJECT, BEDROCK),
    "bedrock-text": ("bedrock", WireFormat.BEDROCK_CONVERSE, OutputMode.TEXT, BEDROCK),
    "bedrock-tool": (
        "bedrock",
        WireFormat.BEDROCK_CONVERSE,
        OutputMode.TOOL,
        {
            **BEDROCK,
            "toolConfig": {
                "tools": [{"toolSpec": {"name": "decide", "inputSchema": {"json": SCHEMA}, "strict": True}}],
                "toolChoice": {"tool": {"name": "decide"}},
            },
        },
    ),
}

PATHS = {
    WireFormat.OPENAI_RESPONSES: ("/base/responses", "authorization", "Bearer key"),
    WireFormat.OPENAI_CHAT: ("/base/chat/completions", "authorization", "Bearer key"),
    WireFormat.ANTHROPIC: ("/base/v1/messages", "authorization", "Bearer key"),
    WireFormat.GOOGLE: ("/base/v1/models/m-1:generateContent", "x-goog-api-key", "key"),
    WireFormat.GEMINI_INTERACTIONS: ("/base/v1/interactions", "x-goog-api-key", "key"),
    WireFormat.BEDROCK_CONVERSE: ("/base/model/m-1/converse", "authorization", "AWS4-HMAC-SHA256 Credential=key/"),
}

WORLDS = pytest.mark.parametrize("world", ["sync", "async"])


@WORLDS
@pytest.mark.parametrize("name", BODIES)
def test_the_body_on_the_wire(name: str, world: str) -> None:
    """Each output mode is exactly this body, and the answer comes back through the same client."""
    vendor, wire, mode, expected = BODIES[name]
    server = saying(json.dumps(text(wire, '{"n": 1}')))
    found = send(Line(vendor, wire, world), server, request(mode))
    assert server.body == expected
    assert isinstance(found, ModelResponse)
    assert found.text == '{"n": 1}'


@WORLDS
@pytest.mark.parametrize("wire", PATHS)
def test_path_key_and_timeout(wire: WireFormat, world: str) -> None:
    """The SDK's own path and credentials are used, and the policy's timeout reaches the transport."""
    path, header, value = PATHS[wire]
    server = saying("{}")
    send(Line(VENDORS[wire], wire, world), server, request())
    [sent] = server.seen
    assert sent.url.path == path
    assert sent.headers[header].startswith(value)
    assert sent.extensions["timeout"] == dict.fromkeys(("connect", "read", "write", "pool"), TIMEOUT)


CORRECTIONS = {
    WireFormat.GOOGLE: {"role": "user", "parts": [{"text": "mend it"}]},
    WireFormat.BEDROCK_CONVERSE: {"role": "user", "content": [{"text": "mend it"}]},
    WireFormat.GEMINI_INTERACTIONS: {"type": "user_input", "content": [{"type": "text", "text": "mend it"}]},
}


@pytest.mark.parametrize("wire", PATHS)
def test_a_correction_is_the_last_user_turn(wire: WireFormat) -> None:
    """A schema retry adds one turn and changes nothing else."""
    first, again = saying("{}"), saying("{}")
    line = Line(VENDORS[wire], wire)
    send(line, first, request())
    send(line, again, request(correction="mend it"))
    turns = next(key for key in ("input", "messages", "contents") if key in first.body)
    assert again.body[turns] == [*first.body[turns], CORRECTIONS.get(wire, {"role": "user", "content": "mend it"})]
    assert {**again.body, turns: None} == {**first.body, turns: None}


OPTIONS: dict[WireFormat, tuple[dict[str, Any], tuple[str, ...], Any]] = {
    WireFormat.OPENAI_RESPONSES: ({"text": {"verbosity": "low"}}, ("text", "verbosity"), "low"),
    WireFormat.OPENAI_CHAT: ({"reasoning_effort": "low"}, ("reasoning_effort",), "low"),
    WireFormat.ANTHROPIC: ({"output_config": {"effort": "low"}}, ("output_config", "effort"), "low"),
    WireFormat.GOOGLE: ({"seed": 7}, ("generationConfig", "seed"), 7),
    WireFormat.GEMINI_INTERACTIONS: ({"generation_config": {"seed": 7}}, ("generation_config", "seed"), 7),
    WireFormat.BEDROCK_CONVERSE: ({"inferenceConfig": {"topP": 0.5}}, ("inferenceConfig", "topP"), 0.5),
}


@pytest.mark.parametrize("wire", OPTIONS)
def test_options_are_laid_over_the_body(wire: WireFormat) -> None:
    """The caller's options stand beside what we send, and leave the schema where it was."""
    options, path, value = OPTIONS[wire]
    plain, laid = saying("{}"), saying("{}")
    line = Line(VENDORS[wire], wire)
    send(line, plain, request())
    send(line, laid, request(options=options))
    found = laid.body
    inner = found
    for step in path[:-1]:
        inner = inner[step]
    assert inner.pop(path[-1]) == value
    assert found == plain.body


def keys(body: dict[str, Any]) -> set[str]:
    """Return what a body sets, as options would: an object's keys one by one, where it is open for others."""
    return {f"{key}.{inner}" for key, value in body.items() if isinstance(value, dict) for inner in value} | {
        key for key, value in body.items() if not isinstance(value, dict)
    }


@pytest.mark.parametrize("mode", OutputMode)
@pytest.mark.parametrize("wire", PATHS)
def test_options_may_set_nothing_that_the_library_sets(wire: WireFormat, mode: OutputMode) -> None:
    """Whatever a wire writes into a request, whole or for a stream, is listed as its own."""
    adapter = ADAPTERS[wire]
    facts = load_profile(VENDORS[wire]).wires[wire]
    encoded = adapter.encode(request(mode=mode), facts)
    written = encoded["config"] if wire is WireFormat.GOOGLE else adapter.with_stream(encoded, facts)

    for path in keys(written) - set(facts.output.options):
        whole, _, inner = path.partition(".")
        options: dict[str, Any] = {whole: {inner: 1} if inner else 1}
        with pytest.raises(InputError, match=f"extra_body= may not set {whole}"):
            check_extra_body(options, adapter.RESERVED_OPTIONS, require_json=True)
        with pytest.raises(InputError, match=f"extra_body= may not set {whole}"):
            check_extra_body({whole: 1}, adapter.RESERVED_OPTIONS, require_json=True)


REFUSED: dict[str, tuple[WireFormat, dict[str, Any], str]] = {
    "budget": (WireFormat.OPENAI_RESPONSES, {"max_output_tokens": 9}, "Set Policy(output_tokens=...)"),
    "form": (
        WireFormat.OPENAI_RESPONSES,
        {"text": {"format": {"type": "text"}}},
        "extra_body= may not set text.format.",
    ),
    "form-as-text": (WireFormat.OPENAI_RESPONSES, {"text": "plain"}, "extra_body= may not set text."),
    "old-budget": (WireFormat.OPENAI_CHAT, {"max_tokens": 9}, "Set Policy(output_tokens=...)"),
    "several": (WireFormat.OPENAI_CHAT, {"n": 2}, "An emission has one answer. Call emit_many()"),
    "several-candidates": (WireFormat.GOOGLE, {"candidateCount": 2}, "An emission has one answer. Call emit_many()"),
    "camel-case": (WireFormat.GOOGLE, {"maxOutputTokens": 9}, "extra_body= may not set maxOutputTokens. Set Policy("),
    "other-form": (WireFormat.GOOGLE, {"response_schema": {}}, "The schema of the emission sets it."),
    "headers": (WireFormat.OPENAI_CHAT, {"extra_headers": {"a": "b"}}, "Pass extra_headers=."),
    "body": (WireFormat.ANTHROPIC, {"extra_body": {"a": "b"}}, "Write its entries directly into extra_body=."),
    "timeout": (WireFormat.ANTHROPIC, {"timeout": 5}, "Set Policy(timeout=...)."),
    "tools": (
        WireFormat.BEDROCK_CONVERSE,
        {"toolConfig": {"tools": []}},
        "calls no tools. Call yours before it",
    ),
    "stream": (WireFormat.OPENAI_CHAT, {"stream": True}, "Call stream() or astream()."),
}


@pytest.mark.parametrize(("wire", "options", "reported"), REFUSED.values(), ids=REFUSED)
def test_what_to_use_instead_is_reported(wire: WireFormat, options: dict[str, Any], reported: str) -> None:
    """Other spellings and other names of the same thing are known, too."""
    with pytest.raises(InputError, match=re.escape(reported)):
        check_extra_body(options, ADAPTERS[wire].RESERVED_OPTIONS, require_json=True)


@pytest.mark.parametrize("wire", OPTIONS)
def test_what_the_vendor_alone_knows_may_be_set(wire: WireFormat) -> None:
    """Beside what the library sets, in the same object too."""
    check_extra_body(OPTIONS[wire][0], ADAPTERS[wire].RESERVED_OPTIONS, require_json=True)


@pytest.mark.parametrize("world", ["sync", "async"])
@pytest.mark.parametrize("wire", sorted(set(OPTIONS) - {WireFormat.BEDROCK_CONVERSE}))
def test_extra_headers_are_sent_with_the_others(wire: WireFormat, world: str) -> None:
    """Through every SDK, beside its credentials."""
    plain, headed = saying("{}"), saying("{}")
    send(Line(VENDORS[wire], wire, world), plain, request())
    send(Line(VENDORS[wire], wire, world), headed, request(headers={"X-Team": "legal"}))
    names = [set(vendor.seen[0].headers) for vendor in (plain, headed)]
    assert names[1] - names[0] == {"x-team"}
    assert headed.seen[0].headers["x-team"] == "legal"


ADDRESSES = ("http://one.test/v1", "http://two.test/api/v2/", "http://one.test/v1", "http://user@three.test")


@pytest.mark.parametrize("sdk", [openai.OpenAI, anthropic.Anthropic], ids=lambda sdk: str(sdk.__name__))
@pytest.mark.parametrize("is_one_client", [True, False], ids=["one client", "a client for each address"])
def test_a_request_goes_to_the_address_of_its_client(sdk: Any, *, is_one_client: bool) -> None:
    """Whole URLs are kept between requests."""
    expected = [str(client_of(sdk, address)._prepare_url("/messages")) for address in ADDRESSES]
    client, seen = client_of(sdk, ADDRESSES[0]), list[str]()
    for address in ADDRESSES:
        if is_one_client:
            client.base_url = address
        client = client if is_one_client else client_of(sdk, address)
        view = limit_client(client, HttpTransfer(1 << 20))
        post("/messages", view, {}, TIMEOUT)
        seen.append(str(view.transfer.request.url))
    assert seen == expected


def client_of(sdk: Any, address: str) -> Any:
    """Return a client of an address, which sends to a function."""
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json={})))
    return sdk(api_key="sk-test", base_url=address, http_client=http)


def test_boto3_takes_no_extra_headers() -> None:
    """The caller is told, and nothing is sent."""
    wire, vendor = WireFormat.BEDROCK_CONVERSE, saying("{}")
    with pytest.raises(InputError, match="cannot be sent through boto3"):
        send(Line(VENDORS[wire], wire), vendor, request(headers={"X-Team": "legal"}))
    assert vendor.seen == []


def test_options_that_googles_sdk_does_not_know_are_refused() -> None:
    """Its own error names the model that it reads them with, and nothing is sent."""
    line = Line(VENDORS[WireFormat.GOOGLE], WireFormat.GOOGLE)
    with pytest.raises(InputError, match="temprature: Extra inputs are not permitted"):
        send(line, saying("{}"), request(options={"temprature": 0}))
