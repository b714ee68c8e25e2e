"""The recorded exchanges, altered: laws that must hold for exchanges nobody has recorded yet."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from typing import Any

import pytest

from emitter.adapters import detect_wire
from emitter.cli.model_answers import classify_exchange
from emitter.profiles import WireFormat
from tests.adapters.streams import STREAMS, Frame
from tests.traffic.recorded import exchanges, needed

pytestmark = needed

_STOP_KEYS = ("finish_reason", "stop_reason", "finishReason")
_TERMINAL = re.compile(
    r"finish_reason|stop_reason|finishReason|message_stop|(response|interaction)\.completed|blockReason"
)


@cache
def _complete() -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple(
        (file, exchange)
        for file, exchange in exchanges().items()
        if exchange["response"]["status"] == 200 and classify_exchange(exchange, file).verdict == "complete"
    )


def _with_body(exchange: dict[str, Any], body: object) -> dict[str, Any]:
    return {**exchange, "response": {**exchange["response"], "body": body}}


def _with_stop(exchange: dict[str, Any], word: str) -> dict[str, Any]:
    """Return the exchange with another stop word in every place."""
    body = exchange["response"]["body"]
    if not isinstance(body, str):
        return _with_body(exchange, _stopped(body, word))
    return _with_body(exchange, re.sub(r"(?m)^data: *(\{.*\})\r?$", lambda found: _line(found[1], word), body))


def _line(payload: str, word: str) -> str:
    return f"data: {json.dumps(_stopped(json.loads(payload), word))}"


def _stopped(value: Any, word: str) -> Any:
    if isinstance(value, list):
        return [_stopped(each, word) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _stopped(each, word) for key, each in value.items()}
    changed |= {key: word for key in _STOP_KEYS if isinstance(value.get(key), str | int)}
    has_status = value.get("object") in ("response", "interaction") or {"steps", "outputs"} & value.keys()
    return changed | ({"status": word} if has_status else {})


WORDS = {
    "made-up": ("no_such_reason", {"unknown"}),
    "shouted": ("END_TURN", {"unknown"}),
    "chat-cut": ("length", {"truncated", "unknown"}),
    "anthropic-cut": ("max_tokens", {"truncated", "unknown"}),
    "google-cut": ("MAX_TOKENS", {"truncated", "unknown"}),
    "filtered": ("content_filter", {"refused", "unknown"}),
    "response-cut": ("incomplete", {"truncated", "unknown"}),
    "response-failed": ("failed", {"faulted", "unknown"}),
}


@pytest.mark.parametrize("word", WORDS)
def test_with_another_stop_word_nothing_is_complete(word: str) -> None:
    """Every complete exchange stops being so: cut and refused by their words, unknown by any other."""
    said, allowed = WORDS[word]
    found = {file: classify_exchange(_with_stop(exchange, said), file).verdict for file, exchange in _complete()}
    assert set(found.values()) == allowed, {file for file, verdict in found.items() if verdict not in allowed}


def test_a_stream_without_its_end_is_faulted() -> None:
    """Every complete stream becomes a fault when the events that end it are missing."""
    streams = {file: each for file, each in _complete() if isinstance(each["response"]["body"], str)}
    assert streams
    for file, exchange in streams.items():
        lines = exchange["response"]["body"].splitlines(keepends=True)
        kept = "".join(line for line in lines if not (line.startswith("data:") and _ends(line)))
        assert classify_exchange(_with_body(exchange, kept), file).verdict == "faulted", file


def _ends(line: str) -> bool:
    loose = re.sub(r'"(finish_reason|stop_reason|finish_details)": ?null', "", line)
    return _TERMINAL.search(loose) is not None


def test_an_error_after_the_answer_is_no_answer() -> None:
    """A stream that was complete and then tells an error is not complete any more."""
    for file, exchange in _complete():
        body = exchange["response"]["body"]
        if isinstance(body, str):
            event = 'event: error\ndata: {"type": "error", "error": {"type": "x", "message": "broke off"}}\n\n'
            assert classify_exchange(_with_body(exchange, f"{body}\n\n{event}"), file).verdict == "faulted", file


def test_an_error_status_makes_any_answer_a_fault() -> None:
    """The body of a complete answer under an error's status is not believed."""
    for file, exchange in _complete():
        failed = {**exchange, "response": {**exchange["response"], "status": 503}}
        assert classify_exchange(failed, file).verdict == "faulted", file


def test_every_unary_answer_reads_the_same_as_a_stream() -> None:
    """A recorded body, turned into its vendor's events, is classified as before."""
    streamed = 0
    for file, exchange in exchanges().items():
        body, wire = exchange["response"]["body"], detect_wire(exchange["endpoint"], "")
        if wire is None or not isinstance(body, dict) or not _whole(wire, body):
            continue
        events = list(STREAMS[wire](copy.deepcopy(body), lambda text: re.findall(r"(?s).{1,5}", text)))
        assert classify_exchange(_with_body(exchange, Frame().write(events)), file) == classify_exchange(
            exchange, file
        ), file
        streamed += 1
    assert streamed > 500


def _whole(wire: WireFormat, body: dict[str, Any]) -> bool:
    """Tell whether an answer has come to its end: only then its stream has, too."""
    match wire:
        case WireFormat.OPENAI_RESPONSES:
            return body.get("status") in {"completed", "incomplete", "failed"}
        case WireFormat.OPENAI_CHAT:
            choices = body.get("choices") or []
            return bool(choices) and all(each.get("finish_reason") or each.get("finish_details") for each in choices)
        case WireFormat.ANTHROPIC:
            return bool(body.get("stop_reason"))
        case WireFormat.GEMINI_INTERACTIONS:
            return "steps" in body and body["status"] != "in_progress"
        case WireFormat.GOOGLE:
            candidates = body.get("candidates") or []
            return bool(candidates) and all(each.get("finishReason") for each in candidates)
