"""The stop tables are total: compared with the vendors' own literals, both ways."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from emitter import profiles as profile
from emitter.messages import StopReason
from emitter.profiles import WireFormat

openai_chat = pytest.importorskip("openai.types.chat.chat_completion")
openai_chunk = pytest.importorskip("openai.types.chat.chat_completion_chunk")
openai_response = pytest.importorskip("openai.types.responses.response")
openai_error = pytest.importorskip("openai.types.responses.response_error")
openai_status = pytest.importorskip("openai.types.responses.response_status")
anthropic_stop = pytest.importorskip("anthropic.types.stop_reason")
anthropic_beta_stop = pytest.importorskip("anthropic.types.beta.beta_stop_reason")
bedrock_model = (
    pytest.importorskip("botocore.loaders").create_loader().load_service_model("bedrock-runtime", "service-2")
)
google_interaction = pytest.importorskip("google.genai._gaos.types.interactions.interaction")
google_update = pytest.importorskip("google.genai._gaos.types.interactions.interactionstatusupdate")
google_types = pytest.importorskip("google.genai.types")

EMPTY = {""}
"""What an adapter presents where the vendor gave no reason."""
REFUSAL = {"refusal"}
"""What an adapter presents where the answer holds the vendor's refusal, whatever the reason says."""
OLD_CHAT = {"max_tokens"}
"""``finish_details.type`` of 2023."""
ALWAYS = EMPTY | REFUSAL | OLD_CHAT
UNLISTED: dict[tuple[str, WireFormat], set[str]] = {
    ("openai", WireFormat.OPENAI_RESPONSES): {"failed:insufficient_quota"},  # seen in an answer
}
"""Reasons that an API sends and its SDK does not list, or not yet. A comment says where each was found."""
NUMBERS = {str(number) for number in (*range(9), 11)}
"""Numbers of the protobuf enum that mean the same class on the Gemini API and on Vertex AI."""
PROVIDERS = Path(__file__).parents[2] / "providers"
COMPATIBLE = [
    name
    for name in profile.listed_profile_names()
    if name != "openai" and WireFormat.OPENAI_CHAT in profile.load_profile(name).wires
]
"""The vendors that take OpenAI's wire: a new one is here as soon as its file is."""


def own_reasons(name: str) -> set[str]:
    """Return what a compatible vendor's own file says beyond the literals of the openai package."""
    file = tomllib.loads((PROVIDERS / f"{name}.toml").read_text("utf-8"))
    return set(file.get("wires", {}).get("openai-chat", {}).get("stops", {}).get("reasons", {}))


def shared_reasons(name: str) -> set[str]:
    """Return what a vendor's file and those that it extends say beyond the literals of the openai package."""
    parent = tomllib.loads((PROVIDERS / f"{name}.toml").read_text("utf-8")).get("extends")
    return own_reasons(name) | (shared_reasons(parent) if parent else set())


def literals(annotation: Any) -> set[str]:
    """Return the strings of every ``Literal`` inside ``annotation``."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return set().union(*(literals(each) for each in get_args(annotation)))


def field(model: Any, name: str) -> set[str]:
    """Return the literals of one field of a model of the vendor's."""
    return literals(model.model_fields[name].annotation)


def chat() -> set[str]:
    """Return every finish reason of Chat Completions, whole or streamed."""
    return field(openai_chat.Choice, "finish_reason") | field(openai_chunk.Choice, "finish_reason")


def responses() -> set[str]:
    """Return every status of Responses, alone and with each detail it may carry."""
    return (
        literals(openai_status.ResponseStatus)
        | {f"incomplete:{reason}" for reason in field(openai_response.IncompleteDetails, "reason")}
        | {f"failed:{code}" for code in field(openai_error.ResponseError, "code")}
    )


def anthropic() -> set[str]:
    """Return every stop reason of Messages, beta included."""
    return literals(anthropic_stop.StopReason) | literals(anthropic_beta_stop.BetaStopReason)


def google() -> set[str]:
    """Return every finish reason, and every block reason as an adapter presents it."""
    return {each.value for each in google_types.FinishReason} | {
        f"block:{each.value}" for each in google_types.BlockedReason
    }


def interactions() -> set[str]:
    """Return every status of an interaction, whole or streamed."""
    return literals(google_interaction.InteractionStatus) | literals(google_update.InteractionStatusUpdateStatus)


def bedrock() -> set[str]:
    """Return every stop reason of Converse."""
    return set(bedrock_model["shapes"]["StopReason"]["enum"])


@pytest.mark.parametrize(
    ("name", "wire", "vendors", "ours"),
    [
        ("openai", WireFormat.OPENAI_CHAT, chat, EMPTY | REFUSAL | OLD_CHAT),
        ("openai", WireFormat.OPENAI_RESPONSES, responses, EMPTY | REFUSAL),
        ("anthropic", WireFormat.ANTHROPIC, anthropic, EMPTY),
        ("google", WireFormat.GOOGLE, google, EMPTY | NUMBERS),
        ("bedrock", WireFormat.BEDROCK_CONVERSE, bedrock, EMPTY),
        ("google", WireFormat.GEMINI_INTERACTIONS, interactions, EMPTY),
        *((name, WireFormat.OPENAI_CHAT, chat, ALWAYS | shared_reasons(name)) for name in COMPATIBLE),
    ],
)
def test_a_stop_table_holds_the_sdks_literals_and_no_others(
    name: str, wire: WireFormat, vendors: Any, ours: set[str]
) -> None:
    """Every literal of the installed SDK has a row, and every row that is not ours is a literal."""
    rows = set(profile.load_profile(name).wires[wire].stops.reasons)
    known, ours = vendors(), ours | UNLISTED.get((name, wire), set())
    assert len(known) >= len(("stop", "length", "tool_calls", "content_filter", "function_call"))
    assert known - rows == set(), f"The SDK lists these: add them to the stops of {name}.toml."
    assert rows - known - ours == set(), "The SDK does not list these: if the API sends them, add them to UNLISTED."
    assert ours - rows == set(), f"These are expected in the stops of {name}.toml."


@pytest.mark.parametrize(
    ("name", "wire", "raw", "means"),
    [
        ("openai", WireFormat.OPENAI_CHAT, "stop", StopReason.COMPLETE),
        ("openai", WireFormat.OPENAI_CHAT, "length", StopReason.TRUNCATED),
        ("openai", WireFormat.OPENAI_CHAT, "content_filter", StopReason.REFUSED),
        ("openai", WireFormat.OPENAI_CHAT, "", StopReason.UNKNOWN),
        ("openai", WireFormat.OPENAI_RESPONSES, "completed", StopReason.COMPLETE),
        ("openai", WireFormat.OPENAI_RESPONSES, "incomplete:max_output_tokens", StopReason.TRUNCATED),
        ("openai", WireFormat.OPENAI_RESPONSES, "incomplete:content_filter", StopReason.REFUSED),
        ("openai", WireFormat.OPENAI_RESPONSES, "incomplete", StopReason.UNKNOWN),
        ("openai", WireFormat.OPENAI_RESPONSES, "incomplete:brand_new", StopReason.UNKNOWN),
        ("openai", WireFormat.OPENAI_RESPONSES, "failed:bio_policy", StopReason.REFUSED),
        ("openai", WireFormat.OPENAI_RESPONSES, "failed:brand_new", StopReason.FAULTED),
        ("openai", WireFormat.OPENAI_RESPONSES, "queued", StopReason.PAUSED),
        ("anthropic", WireFormat.ANTHROPIC, "end_turn", StopReason.COMPLETE),
        ("anthropic", WireFormat.ANTHROPIC, "max_tokens", StopReason.TRUNCATED),
        ("anthropic", WireFormat.ANTHROPIC, "model_context_window_exceeded", StopReason.OVERFLOWED),
        ("anthropic", WireFormat.ANTHROPIC, "refusal", StopReason.REFUSED),
        ("anthropic", WireFormat.ANTHROPIC, "compaction", StopReason.PAUSED),
        ("google", WireFormat.GOOGLE, "STOP", StopReason.COMPLETE),
        ("google", WireFormat.GOOGLE, "2", StopReason.TRUNCATED),
        ("google", WireFormat.GOOGLE, "MODEL_ARMOR", StopReason.REFUSED),
        ("google", WireFormat.GOOGLE, "9", StopReason.UNKNOWN),
        ("google", WireFormat.GOOGLE, "MALFORMED_FUNCTION_CALL", StopReason.UNKNOWN),
        ("google", WireFormat.GOOGLE, "block:BRAND_NEW", StopReason.REFUSED),
        ("bedrock", WireFormat.BEDROCK_CONVERSE, "guardrail_intervened", StopReason.REFUSED),
        ("bedrock", WireFormat.BEDROCK_CONVERSE, "model_context_window_exceeded", StopReason.OVERFLOWED),
        ("bedrock", WireFormat.BEDROCK_CONVERSE, "malformed_tool_use", StopReason.UNKNOWN),
        ("mistral", WireFormat.OPENAI_CHAT, "model_length", StopReason.OVERFLOWED),
        ("deepseek", WireFormat.OPENAI_CHAT, "insufficient_system_resource", StopReason.FAULTED),
        ("openrouter", WireFormat.OPENAI_CHAT, "error", StopReason.FAULTED),
        ("ollama", WireFormat.OPENAI_CHAT, "load", StopReason.UNKNOWN),
    ],
)
def test_a_raw_reason_has_its_meaning(name: str, wire: WireFormat, raw: str, means: StopReason) -> None:
    """The classes that decide about another call are pinned, one row each."""
    assert profile.load_profile(name).wires[wire].stops.lookup(raw) is means


@pytest.mark.parametrize("name", profile.profile_names())
def test_a_reason_that_no_table_knows_fails_closed(name: str) -> None:
    """A word of tomorrow is never a success."""
    for wire in profile.load_profile(name).wires.values():
        assert wire.stops.lookup("a_word_of_tomorrow") is StopReason.UNKNOWN
        assert wire.stops.lookup("") is StopReason.UNKNOWN
