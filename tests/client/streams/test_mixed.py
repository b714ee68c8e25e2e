"""Answers in which something stands before the document: only the document is reported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Policy
from emitter.core.verdicts import OTHER_TOOL
from emitter.profiles import WireFormat
from emitter.streaming import FieldComplete, Restart
from tests.adapters.bodies import anthropic, bedrock, chat, google, interaction, output, responses, said, text
from tests.client.streams.vendor import WIRES, WORLDS, Answer, ask, streamed

if TYPE_CHECKING:
    from tests.client.streams.vendor import Told

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["query", "n"],
    "additionalProperties": False,
}
MEANT = {"query": "meant", "n": 7}
OTHER = {"query": "other", "n": 8}


def mixed(wire: str, *, words: bool) -> dict[str, Any]:
    """Return an answer that calls a tool that nobody offered, with a text beside it or without one."""
    text = json.dumps(MEANT)
    match wire:
        case "openai-chat":
            call = {"id": "c", "function": {"name": "delete", "arguments": json.dumps(OTHER)}}
            return chat({"content": text if words else None, "tool_calls": [call]}, finish_reason="tool_calls")
        case "openai-responses":
            call = {"type": "function_call", "name": "delete", "arguments": json.dumps(OTHER)}
            return responses(*([said({"type": "output_text", "text": text})] if words else []), call)
        case "anthropic":
            call = {"type": "tool_use", "id": "t", "name": "delete", "input": OTHER}
            return anthropic(*([{"type": "text", "text": text}] if words else []), call, stop_reason="tool_use")
        case "google":
            return google(*([{"text": text}] if words else []), {"functionCall": {"name": "delete", "args": OTHER}})
        case "bedrock-converse":
            call = {"toolUse": {"toolUseId": "t", "name": "delete", "input": OTHER}}
            return bedrock(*([{"text": text}] if words else []), call, stopReason="tool_use")
        case _:
            call = {"type": "function_call", "id": "c", "name": "delete", "arguments": OTHER}
            return interaction(*([output(text)] if words else []), call, status="requires_action")


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_call_beside_the_document_is_not_reported(wire: str, world: str) -> None:
    """A tool that was not offered has no say."""
    found = ask(wire, world, [streamed(wire, mixed(wire, words=True))], FORM, policy=Policy(max_attempts=1))

    assert found.result.value == MEANT
    assert fields(found) == MEANT


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_call_instead_of_the_document_is_corrected(wire: str, world: str) -> None:
    """The model is told that a call is no answer, in words that say nothing of it."""
    good = text(WireFormat(wire), json.dumps(MEANT))
    found = ask(wire, world, [streamed(wire, mixed(wire, words=False)), streamed(wire, good)], FORM)

    assert found.result.value == MEANT
    assert [attempt.verdict.value for attempt in found.attempts] == ["malformed", "complete"]
    assert found.attempts[0].violations == (OTHER_TOOL,)
    assert fields(found) == MEANT
    assert OTHER_TOOL.expected in json.dumps(found.vendor.seen[1])
    assert "delete" not in json.dumps(found.vendor.seen[1])


def fields(found: Told) -> dict[str, Any]:
    """Return what was reported since the last restart."""
    reported: dict[str, Any] = {}
    for each in found.reported:
        if isinstance(each, Restart):
            reported = {}
        if isinstance(each, FieldComplete):
            reported[each.pointer[1:]] = each.value
    return reported


SERVER_TOOL = anthropic(
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": OTHER},
    {"type": "text", "text": json.dumps(MEANT)},
)


@pytest.mark.parametrize("world", WORLDS)
def test_what_a_servers_own_tool_was_called_with_is_not_reported(world: str) -> None:
    """The vendor ran it itself."""
    found = ask("anthropic", world, [streamed("anthropic", SERVER_TOOL)], FORM, policy=Policy(max_attempts=1))

    assert found.result.value == MEANT
    assert fields(found) == MEANT


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_ends_with_another_document_is_sent_again(wire: str, world: str) -> None:
    """What was reported is taken back by a restart, whichever way the stream came to another document."""
    body, good = text(WireFormat(wire), json.dumps(OTHER)), text(WireFormat(wire), json.dumps(MEANT))
    foreign, script = streamed(wire, body), streamed(wire, good)
    later = [each for each in script.pieces if b"meant" in each or b"mean" in each or b"nt" in each]
    broken = Answer([*foreign.pieces[:-1], *later, foreign.pieces[-1]], headers=foreign.headers)
    found = ask(wire, world, [broken, script], FORM)

    assert found.result.value == MEANT
    assert fields(found) == MEANT
    assert [attempt.verdict.value for attempt in found.attempts] == ["faulted", "complete"]
