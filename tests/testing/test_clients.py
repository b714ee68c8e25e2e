"""The vendors' own SDKs against the simulator: what they parse, raise and count is what the vendor would give them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from google.genai import types

from emitter.testing import Cut, Refused, Simulator, Text, Thinking, simulator
from emitter.testing.plans import count_tokens
from tests.testing.asking import DOCUMENT, SCHEMA, TEXT

FORMAT: Any = {"type": "json_schema", "name": "bill", "schema": SCHEMA, "strict": True}
TURNS: Any = [{"role": "user", "content": "What is to be paid?"}]
RESPONSES: Any = {"model": "gpt-6-sol", "input": TURNS, "max_output_tokens": 400, "text": {"format": FORMAT}}
CHAT: Any = {
    "model": "gpt-6-sol",
    "messages": TURNS,
    "max_completion_tokens": 400,
    "response_format": {"type": "json_schema", "json_schema": {**FORMAT, "type": "json_schema"}},
}
MESSAGES: Any = {
    "model": "claude-sonnet-5-5",
    "messages": TURNS,
    "max_tokens": 400,
    "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
}
CONTENT: Any = {
    "model": "gemini-3.8-flash",
    "contents": "What is to be paid?",
    "config": {"max_output_tokens": 400, "response_mime_type": "application/json", "response_json_schema": SCHEMA},
}


def test_responses(vendor: Simulator) -> None:
    """``responses.create`` and ``responses.stream`` give the same response."""
    client = vendor.client("openai/gpt-6-sol")

    whole = client.responses.create(**RESPONSES)
    with client.responses.stream(**RESPONSES) as events:
        kinds = [each.type for each in events]
        streamed = events.get_final_response()

    assert whole.output_text == streamed.output_text == TEXT
    assert whole.usage == streamed.usage
    assert whole.usage.output_tokens == count_tokens(TEXT)
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert kinds.count("response.output_text.delta") == -(-len(TEXT) // 20)


def test_chat(vendor: Simulator) -> None:
    """``chat.completions.create`` and ``.stream`` give the same completion; usage is streamed only when asked for."""
    client = vendor.client("openai/gpt-6-sol")

    whole = client.chat.completions.create(**CHAT)
    with client.chat.completions.stream(**CHAT, stream_options={"include_usage": True}) as events:
        list(events)
        streamed = events.get_final_completion()
    bare = list(client.chat.completions.create(**CHAT, stream=True))

    assert whole.choices[0].message.content == streamed.choices[0].message.content == TEXT
    assert whole.usage == streamed.usage
    assert not any(each.usage for each in bare)
    assert bare[-1].choices[0].finish_reason == "stop"


def test_messages(vendor: Simulator) -> None:
    """``messages.create`` and ``messages.stream`` give the same message."""
    client = vendor.client("anthropic/claude-sonnet-5-5")

    whole = client.messages.create(**MESSAGES)
    with client.messages.stream(**MESSAGES) as events:
        streamed = events.get_final_message()

    assert whole.content[0].text == streamed.content[0].text == TEXT
    assert whole.usage.output_tokens == streamed.usage.output_tokens == count_tokens(TEXT)
    assert whole.usage.input_tokens == streamed.usage.input_tokens
    assert whole._request_id.startswith("req_")


def test_content(vendor: Simulator) -> None:
    """``generate_content`` and its stream give the same text and the same count."""
    client = vendor.client("google/gemini-3.8-flash")

    whole = client.models.generate_content(**CONTENT)
    chunks = list(client.models.generate_content_stream(**CONTENT))

    assert whole.text == "".join(each.text for each in chunks) == TEXT
    assert whole.usage_metadata == chunks[-1].usage_metadata
    assert chunks[-1].candidates[0].finish_reason is types.FinishReason.STOP
    assert [each.candidates[0].finish_reason for each in chunks[:-1]] == [None] * (len(chunks) - 1)


def test_asynchronous_clients() -> None:
    """Every asynchronous client is closed with the block."""

    async def ask() -> list[str]:
        async with simulator(answers=Text(DOCUMENT)) as vendor:
            of_openai, of_anthropic, of_google = (
                vendor.client(model, asynchronous=True)
                for model in ("openai/gpt-6-sol", "anthropic/claude-sonnet-5-5", "google/gemini-3.8-flash")
            )
            return [
                (await of_openai.responses.create(**RESPONSES)).output_text,
                (await of_anthropic.messages.create(**MESSAGES)).content[0].text,
                (await of_google.models.generate_content(**CONTENT)).text,
            ]

    assert asyncio.run(ask()) == [TEXT] * 3


def test_forced_tools(vendor: Simulator) -> None:
    """A forced function is called with the document, in each SDK's own form."""
    function = {"name": "pay", "parameters": SCHEMA, "strict": True}
    of_openai = vendor.client("openai/gpt-6-sol")
    response = of_openai.responses.create(
        model="gpt-6-sol", input=TURNS, tools=[{"type": "function", **function}], tool_choice="required"
    )
    completion = of_openai.chat.completions.create(
        model="gpt-6-sol", messages=TURNS, tools=[{"type": "function", "function": function}], tool_choice="required"
    )
    message = vendor.client("anthropic/claude-sonnet-5-5").messages.create(
        model="claude-sonnet-5-5",
        max_tokens=400,
        messages=TURNS,
        tools=[{"name": "pay", "input_schema": SCHEMA}],
        tool_choice={"type": "any"},
    )
    content = vendor.client("google/gemini-3.8-flash").models.generate_content(
        model="gemini-3.8-flash",
        contents="x",
        config={
            "tools": [{"function_declarations": [{"name": "pay", "parameters_json_schema": SCHEMA}]}],
            "tool_config": {"function_calling_config": {"mode": "ANY"}},
            "automatic_function_calling": {"disable": True},
        },
    )

    assert json.loads(response.output[0].arguments) == DOCUMENT
    assert json.loads(completion.choices[0].message.tool_calls[0].function.arguments) == DOCUMENT
    assert completion.choices[0].finish_reason == "tool_calls"
    assert (message.content[0].input, message.stop_reason) == (DOCUMENT, "tool_use")
    assert content.function_calls[0].args == DOCUMENT


def test_a_refusal(vendor: Simulator) -> None:
    """The refusal stands where the SDK's own types have it."""
    vendor.script(*[Refused("No.", "cyber")] * 3)

    response = vendor.client("openai/gpt-6-sol").responses.create(**RESPONSES)
    completion = vendor.client("openai/gpt-6-sol").chat.completions.create(**CHAT)
    message = vendor.client("anthropic/claude-sonnet-5-5").messages.create(**MESSAGES)

    assert response.output[0].content[0].refusal == "No."
    assert completion.choices[0].message.refusal == "No."
    assert (message.stop_reason, message.stop_details.category) == ("refusal", "cyber")


def test_thinking(vendor: Simulator) -> None:
    """Thinking has its own item, block or count, and is part of the output."""
    vendor.script(*[Thinking(40, answer=Text(DOCUMENT))] * 3)

    response = vendor.client("openai/gpt-6-sol").responses.create(**RESPONSES)
    message = vendor.client("anthropic/claude-sonnet-5-5").messages.create(**MESSAGES)
    content = vendor.client("google/gemini-3.8-flash").models.generate_content(**CONTENT)

    whole = 40 + count_tokens(TEXT)
    assert [each.type for each in response.output] == ["reasoning", "message"]
    assert (response.usage.output_tokens, response.usage.output_tokens_details.reasoning_tokens) == (whole, 40)
    assert [each.type for each in message.content] == ["thinking", "text"]
    assert message.usage.output_tokens == whole
    assert content.usage_metadata.thoughts_token_count == 40
    assert content.usage_metadata.candidates_token_count == count_tokens(TEXT)


def test_a_cut_answer(vendor: Simulator) -> None:
    """A cut answer says so in the SDK's own types."""
    vendor.script(*[Cut(at_tokens=4, answer=Text(DOCUMENT))] * 2)

    response = vendor.client("openai/gpt-6-sol").responses.create(**RESPONSES)
    content = vendor.client("google/gemini-3.8-flash").models.generate_content(**CONTENT)

    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert (response.usage.output_tokens, count_tokens(response.output_text)) == (4, 4)
    assert content.candidates[0].finish_reason is types.FinishReason.MAX_TOKENS


def test_azure(vendor: Simulator) -> None:
    """Azure's client finds its own paths, and is billed like the others."""
    client = vendor.client("azure-openai/gpt-6-sol")

    completion = client.chat.completions.create(**CHAT)

    assert completion.choices[0].message.content == TEXT
    assert vendor.calls[0].path.startswith("/openai/deployments/gpt-6-sol/chat/completions?api-version=")
    assert vendor.billed.output == count_tokens(TEXT)


def test_options_of_the_transport(vendor: Simulator) -> None:
    """Options of the HTTP client are the caller's: here a header that every request carries."""
    client = vendor.client("openai/gpt-6-sol", headers={"x-mine": "1"}, timeout=3.0)

    assert client.responses.create(**RESPONSES).output_text == TEXT
    assert client._client.headers["x-mine"] == "1"
