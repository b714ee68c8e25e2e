"""How the wire of an exchange is known."""

from __future__ import annotations

import pytest

from emitter.adapters import detect_wire, detect_wire_of_body
from emitter.profiles import WireFormat
from tests.adapters.bodies import text

R, C, A, G = WireFormat.OPENAI_RESPONSES, WireFormat.OPENAI_CHAT, WireFormat.ANTHROPIC, WireFormat.GOOGLE
B, N = WireFormat.BEDROCK_CONVERSE, WireFormat.GEMINI_INTERACTIONS

NAMES = {
    "responses": R,
    "responses.create": R,
    "openai-compat.responses": R,
    "azure-responses": R,
    "chat.completions": C,
    "chat.completions.create": C,
    "openai-compat.chat.completions": C,
    "chat_completions": C,
    "messages": A,
    "beta.messages": A,
    "messages.stream": A,
    "anthropic-on-vertex": A,
    "anthropic-on-bedrock": A,
    "generateContent": G,
    "streamGenerateContent": G,
    "models.generate_content": G,
    "generate_content_stream": G,
    "interactions": N,
    "interactions.create": N,
    "interactions.get": None,
    "embeddings": None,
    "completions": None,
    "messages.count_tokens": None,
    "messages.batches": None,
    "threads.messages": None,
    "countTokens": None,
    "batchGenerateContent": None,
    "responses.compact": None,
    "converse": B,
    "bedrock.converse_stream": B,
    "reconverse": None,
}
PATHS = {
    "/v1/responses": R,
    "/responses/": R,
    "/openai/v1/responses?api-version=1": R,
    "/v1/responses/resp_123": R,
    "/v1/responses/resp_123/cancel": R,
    "/v1/chat/completions": C,
    "/openai/deployments/d/chat/completions?api-version=1": C,
    "https://gateway.test/x/chat/completions": C,
    "/v1/messages": A,
    "/anthropic/v1/messages": A,
    "/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict": A,
    "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke": A,
    "/model/anthropic.claude-3/invoke-with-response-stream": A,
    "/v1beta/models/m:generateContent": G,
    "/v1beta/models/m:streamGenerateContent?alt=sse": G,
    "/v1internal:generateContent": G,
    "/v1/messages/count_tokens": None,
    "/v1/messages/batches": None,
    "/v1/threads/t/messages": None,
    "/v1/responses/resp_123/input_items": None,
    "/v1/responses/compact": None,
    "/v1/responses/input_tokens": None,
    "/v1/chat/completions/c/messages": None,
    "/v1/projects/p/locations/l/publishers/mistralai/models/m:rawPredict": None,
    "/model/amazon.nova/invoke": None,
    "/model/anthropic.claude-3/converse": B,
    "/model/us.amazon.nova-pro-v1%3A0/converse-stream": B,
    "/v1beta/interactions?alt=sse": N,
    "/v1beta/interactions/v1_1/cancel": None,
    "/v1beta/models/m:countTokens": None,
    "/v1beta/models/m:batchGenerateContent": None,
}


@pytest.mark.parametrize(("name", "wire"), NAMES.items(), ids=NAMES)
def test_by_name(name: str, wire: WireFormat | None) -> None:
    """The endpoint's name tells it; what only sounds alike is none of ours."""
    assert detect_wire(name, "") is wire


@pytest.mark.parametrize(("path", "wire"), PATHS.items(), ids=PATHS)
def test_by_path(path: str, wire: WireFormat | None) -> None:
    """Without a name, or with one that says nothing, the path tells it."""
    assert detect_wire("", path) is wire
    assert detect_wire("an-unknown-name", path) is wire


def test_a_name_beats_a_path() -> None:
    """Where both are known, the name is the more exact."""
    assert detect_wire("messages", "/v1/responses") is A


SHAPES = {
    "response-event": ([{"type": "response.created"}], R),
    "message-event": ([{"type": "ping"}, {"type": "message_start"}], A),
    "chunk": ([{"object": "chat.completion.chunk", "choices": []}], C),
    "google-array": ([{"candidates": []}], G),
    "google-blocked": ({"promptFeedback": {}}, G),
    "google-error": ({"error": {"code": 400, "status": "INVALID_ARGUMENT"}}, G),
    "anthropic-error": ({"type": "error", "error": {"type": "api_error"}}, A),
    "some-error": ({"error": {"message": "x"}}, None),
    "interaction": ({"object": "interaction", "status": "completed", "outputs": []}, N),
    "converse": ({"output": {"message": {}}, "stopReason": "end_turn"}, B),
    "nothing": ({}, None),
    "no-object": (7, None),
}


@pytest.mark.parametrize(("body", "wire"), SHAPES.values(), ids=SHAPES)
def test_by_shape(body: object, wire: WireFormat | None) -> None:
    """A body tells it only by what no other wire has."""
    assert detect_wire_of_body(body) is wire


@pytest.mark.parametrize("wire", WireFormat)
def test_a_plain_answer_has_its_wires_shape(wire: WireFormat) -> None:
    """Each wire's plainest answer is known again."""
    assert detect_wire_of_body(text(wire, "{}")) is wire
