"""The streamed and the unary form of one answer are one answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.messages import Fault, FaultKind, ModelResponse
from emitter.profiles import WireFormat
from tests.adapters.bodies import answer, anthropic, bedrock, chat, google, interaction, output, responses, said
from tests.adapters.streams import STREAMS, Frame

if TYPE_CHECKING:
    from tests.adapters.streams import Cut

DOCUMENT = '{"decision": "bïnd · 決める 🙂", "why": "one\\nline", "n": [1, 2.5, null]}'

ANSWERS: dict[str, tuple[WireFormat, dict[str, Any]]] = {
    "responses-text": (
        WireFormat.OPENAI_RESPONSES,
        responses(
            {"type": "reasoning", "summary": []},
            said({"type": "output_text", "text": "thinking aloud"}, phase="commentary"),
            said({"type": "output_text", "text": DOCUMENT[:9]}, {"type": "output_text", "text": DOCUMENT[9:]}),
        ),
    ),
    "responses-call": (
        WireFormat.OPENAI_RESPONSES,
        responses({"type": "function_call", "name": "decide", "arguments": DOCUMENT}),
    ),
    "responses-cut": (
        WireFormat.OPENAI_RESPONSES,
        responses(
            said({"type": "output_text", "text": DOCUMENT[:20]}),
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        ),
    ),
    "responses-refused": (
        WireFormat.OPENAI_RESPONSES,
        responses(said({"type": "refusal", "refusal": "I cannot help with that."})),
    ),
    "responses-failed": (
        WireFormat.OPENAI_RESPONSES,
        responses(status="failed", error={"code": "rate_limit_exceeded", "message": "slow down"}),
    ),
    "chat-text": (WireFormat.OPENAI_CHAT, chat({"content": DOCUMENT})),
    "chat-cut": (WireFormat.OPENAI_CHAT, chat({"content": DOCUMENT[:20]}, finish_reason="length")),
    "chat-refused": (WireFormat.OPENAI_CHAT, chat({"content": None, "refusal": "No."})),
    "chat-filtered": (WireFormat.OPENAI_CHAT, chat({"content": DOCUMENT}, finish_reason="content_filter")),
    "chat-calls": (
        WireFormat.OPENAI_CHAT,
        chat(
            {"tool_calls": [{"id": f"call_{n}", "function": {"name": "f", "arguments": DOCUMENT}} for n in (1, 2)]},
            finish_reason="tool_calls",
        ),
    ),
    "chat-legacy-call": (
        WireFormat.OPENAI_CHAT,
        chat({"function_call": {"name": "f", "arguments": DOCUMENT}}, finish_reason="function_call"),
    ),
    "anthropic-text": (
        WireFormat.ANTHROPIC,
        anthropic(
            {"type": "text", "text": DOCUMENT[:9]},
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": DOCUMENT[9:]},
        ),
    ),
    "anthropic-call": (
        WireFormat.ANTHROPIC,
        anthropic(
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
            {"type": "tool_use", "id": "t", "name": "decide", "input": json.loads(DOCUMENT)},
            stop_reason="tool_use",
        ),
    ),
    "anthropic-refused": (
        WireFormat.ANTHROPIC,
        anthropic(stop_reason="refusal", stop_details={"type": "refusal", "category": "bio"}),
    ),
    "anthropic-cut": (WireFormat.ANTHROPIC, anthropic({"type": "text", "text": DOCUMENT}, stop_reason="max_tokens")),
    "google-text": (
        WireFormat.GOOGLE,
        google({"text": "hm", "thought": True}, {"text": DOCUMENT[:9]}, {"text": DOCUMENT[9:]}),
    ),
    "google-call": (WireFormat.GOOGLE, google({"functionCall": {"name": "decide", "args": json.loads(DOCUMENT)}})),
    "google-cut": (WireFormat.GOOGLE, google({"text": DOCUMENT}, finishReason="MAX_TOKENS")),
    "google-blocked": (
        WireFormat.GOOGLE,
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 7}},
    ),
    "bedrock-text": (
        WireFormat.BEDROCK_CONVERSE,
        bedrock(
            {"text": DOCUMENT[:9]}, {"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": DOCUMENT[9:]}
        ),
    ),
    "bedrock-call": (
        WireFormat.BEDROCK_CONVERSE,
        bedrock(
            {"toolUse": {"toolUseId": "t", "name": "decide", "input": json.loads(DOCUMENT)}}, stopReason="tool_use"
        ),
    ),
    "bedrock-cut": (WireFormat.BEDROCK_CONVERSE, bedrock({"text": DOCUMENT}, stopReason="max_tokens")),
    "bedrock-blocked": (
        WireFormat.BEDROCK_CONVERSE,
        bedrock({"text": "Sorry, no."}, stopReason="guardrail_intervened"),
    ),
    "interactions-text": (
        WireFormat.GEMINI_INTERACTIONS,
        interaction({"type": "thought", "signature": "s"}, output(DOCUMENT[:9]), output(DOCUMENT[9:])),
    ),
    "interactions-call": (
        WireFormat.GEMINI_INTERACTIONS,
        interaction(
            {"type": "function_call", "id": "c", "name": "decide", "arguments": json.loads(DOCUMENT)},
            status="requires_action",
        ),
    ),
    "interactions-cut": (WireFormat.GEMINI_INTERACTIONS, interaction(output(DOCUMENT), status="incomplete")),
    "interactions-blocked": (
        WireFormat.GEMINI_INTERACTIONS,
        interaction({**output("I"), "error": {"code": 3, "message": "Prohibited Use Policy"}}, status="failed"),
    ),
}

FRAMES = st.builds(
    Frame,
    eol=st.sampled_from(["\n", "\r\n", "\r"]),
    space=st.sampled_from(["", " "]),
    before=st.sampled_from(["", ":", ": a comment", "retry: 3000", "\ufeff:"]),
    between=st.sampled_from(["", ": keep-alive", "id: 7", "retry: 10"]),
    named=st.booleans(),
    split=st.booleans(),
    done=st.booleans(),
)


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    """Draw a way of cutting texts into deltas, empty ones among them."""
    sizes = draw(st.lists(st.integers(0, 7), min_size=1, max_size=6).filter(any))

    def cut(text: str) -> list[str]:
        pieces, at = [], 0
        while at < len(text):
            size = sizes[len(pieces) % len(sizes)]
            pieces.append(text[at : at + size])
            at += size
        return pieces

    return cut


@pytest.mark.parametrize("name", ANSWERS)
@settings()
@given(cut=cuts(), frame=FRAMES)
def test_a_stream_reads_as_its_unary_form(name: str, cut: Cut, frame: Frame) -> None:
    """Text, arguments, stop, refusal and usage agree, however the stream is cut and written down."""
    wire, body = ANSWERS[name]
    events = list(STREAMS[wire](body, cut))
    assert answer(wire, frame.write(events)) == answer(wire, body)


@pytest.mark.parametrize("name", [name for name in ANSWERS if name.startswith("google")])
@settings()
@given(cut=cuts())
def test_an_array_of_chunks_is_a_stream(name: str, cut: Cut) -> None:
    """Google streams a JSON array where no events are asked for."""
    wire, body = ANSWERS[name]
    chunks = [payload for _, payload in STREAMS[wire](body, cut)]
    assert answer(wire, chunks) == answer(wire, body)


@pytest.mark.parametrize("name", ANSWERS)
@settings()
@given(data=st.data(), cut=cuts())
def test_a_cut_stream_is_never_complete(name: str, data: st.DataObject, cut: Cut) -> None:
    """Whatever is missing at the end, what is left is no complete answer; before the stop it is a fault."""
    wire, body = ANSWERS[name]
    events = [
        event for event in STREAMS[wire](body, cut) if "usage" not in event[1] and "usageMetadata" not in event[1]
    ]
    stops = [at for at, (_, payload) in enumerate(events) if _ends(payload)]
    kept = data.draw(st.integers(0, stops[0] if stops else len(events)))
    found = answer(wire, Frame(done=data.draw(st.booleans())).write(events[:kept]))
    assert isinstance(found, Fault)
    assert found.kind is FaultKind.PROTOCOL


def _ends(payload: dict[str, Any]) -> bool:
    """Tell whether an event is the one that says how the answer stopped."""
    kinds = {f"response.{each}" for each in ("completed", "incomplete", "failed")}
    words = ('"finish_reason": "', '"finishReason"', '"blockReason"', '"stop_reason": "', '"stopReason"')
    if payload.get("event_type") == "interaction.completed" or "error" in (payload.get("step") or ()):
        return True
    return payload.get("type") in kinds or any(word in json.dumps(payload) for word in words)


@pytest.mark.parametrize("name", ANSWERS)
@settings()
@given(cut=cuts(), data=st.data())
def test_text_cut_anywhere_is_never_a_whole_other_answer(name: str, cut: Cut, data: st.DataObject) -> None:
    """Bytes that stop in the middle give a fault, or at the very end the answer itself."""
    wire, body = ANSWERS[name]
    written = Frame(done=False).write(list(STREAMS[wire](body, cut)))
    found = answer(wire, written[: data.draw(st.integers(0, len(written)))])
    whole = answer(wire, body)
    if isinstance(found, ModelResponse):
        assert isinstance(whole, ModelResponse)
        assert (found.stop, found.text, found.arguments) == (whole.stop, whole.text, whole.arguments)
