"""Generated contents as servers, proxies and recorders really send them, and what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.messages import Fault, StopReason
from emitter.profiles import WireFormat
from tests.adapters.bodies import answer, google, shown

REPLIES: dict[str, tuple[Any, StopReason, str, tuple[Any, ...]]] = {
    "snake-case": (
        {
            "candidates": [{"content": {"parts": [{"text": "{}"}]}, "finish_reason": 1, "index": 0}],
            "usage_metadata": {"prompt_token_count": 7},
            "prompt_feedback": {"block_reason": 0},
        },
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "snake-case-blocked": ({"prompt_feedback": {"block_reason": "SAFETY"}}, StopReason.REFUSED, "", ()),
    "snake-case-call": (
        google({"function_call": {"name": "f", "args": {"n": 1}}, "text": None}),
        StopReason.COMPLETE,
        "",
        ({"n": 1},),
    ),
    "null-call": (google({"functionCall": None, "text": "{}"}), StopReason.COMPLETE, "{}", ()),
    "block-of-another-kind": (
        {**google({"text": "{}"}), "promptFeedback": {"blockReason": ["NEW"]}},
        StopReason.REFUSED,
        "",
        (),
    ),
    "blocked-beside-an-answer": (
        {**google({"text": "{}"}), "promptFeedback": {"blockReason": "SAFETY"}},
        StopReason.REFUSED,
        "",
        (),
    ),
    "second-candidate-blocked": (
        {"candidates": [*google({"text": "{}"})["candidates"], {"finishReason": "SAFETY"}]},
        StopReason.REFUSED,
        "",
        (),
    ),
    "unspecified-until-the-end": (
        [
            {"candidates": [{"content": {"parts": [{"text": "{"}]}, "finish_reason": 0}]},
            {"candidates": [{"content": {"parts": [{"text": "}"}]}, "finish_reason": 1}]},
        ],
        StopReason.COMPLETE,
        "{}",
        (),
    ),
    "blocked-at-the-end": (
        [google({"text": "{"}), google({"text": "}"}, finishReason="SAFETY")],
        StopReason.REFUSED,
        "{}",
        (),
    ),
    "envelope": ({"response": google({"text": "{}"})}, StopReason.COMPLETE, "{}", ()),
}


@pytest.mark.parametrize(("body", "stop", "words", "arguments"), REPLIES.values(), ids=REPLIES)
def test_an_odd_answer(body: Any, stop: StopReason, words: str, arguments: tuple[Any, ...]) -> None:
    """Each is read for what it is; no cut, refused or unknown one as complete."""
    assert shown(answer(WireFormat.GOOGLE, body)) == (stop, words, arguments)


CUT = {
    "never-specified": [{"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]}],
    "one-candidate-open": [{"candidates": [{"finishReason": "STOP"}, {"index": 1, "content": {}}]}],
    "nothing": [],
}


@pytest.mark.parametrize("body", CUT.values(), ids=CUT)
def test_a_stream_that_never_ended(body: Any) -> None:
    """Without its terminal event a stream is a fault."""
    assert isinstance(answer(WireFormat.GOOGLE, body), Fault)
