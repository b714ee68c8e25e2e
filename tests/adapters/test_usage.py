"""Tokens that servers count in other places: every one that is billed is in the usage, the limits and the cost."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from emitter import Prices, profiles
from emitter.adapters.http_response import ResponseHead, StreamAccumulator, parse_response
from emitter.attempts import Verdict
from emitter.cli.model_answers import classify_exchange
from emitter.messages import ExpectedAnswer, ModelResponse, Usage
from emitter.policy import Policy
from tests.core import asks
from tests.core.driving import by_hand
from tests.traffic.recorded import exchanges

USAGES: dict[str, tuple[str, dict[str, Any], Usage]] = {
    "openai": (
        "openai-compatible",
        {
            "prompt_tokens": 32,
            "completion_tokens": 103,
            "total_tokens": 135,
            "prompt_tokens_details": {"cached_tokens": 16},
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        Usage(32, 103, cache_read=16, thinking=94),
    ),
    "xai": (
        "openai-compatible",
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        Usage(32, 103, thinking=94),
    ),
    "thinking-without-a-sum": (
        "openai-compatible",
        {"prompt_tokens": 32, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 94}},
        Usage(32, 103, thinking=94),
    ),
    "gemini-compatible": (
        "openai-compatible",
        {"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109},
        Usage(35, 74),
    ),
    "cache-beside-the-prompt": (
        "openai-compatible",
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 115,
            "prompt_tokens_details": {"cached_tokens": 100},
        },
        Usage(110, 5, cache_read=100),
    ),
    "cache-beside-without-a-sum": (
        "openai-compatible",
        {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 100}},
        Usage(110, 5, cache_read=100),
    ),
    "moonshot-cache": (
        "openai-compatible",
        {"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 45, "cached_tokens": 30},
        Usage(40, 5, cache_read=30),
    ),
    "deepseek-cache": (
        "deepseek",
        {
            "prompt_tokens": 40,
            "completion_tokens": 5,
            "total_tokens": 45,
            "prompt_cache_hit_tokens": 30,
            "prompt_cache_miss_tokens": 10,
        },
        Usage(40, 5, cache_read=30),
    ),
    "sum-alone": ("openai-compatible", {"total_tokens": 45}, Usage(0, 45, estimated=True)),
    "nulls": (
        "vllm",
        {"prompt_tokens": 40, "completion_tokens": None, "total_tokens": 45, "prompt_tokens_details": None},
        Usage(40, 5),
    ),
    "sum-too-small": (
        "openai-compatible",
        {"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 40},
        Usage(40, 5),
    ),
    "floats": (
        "openai-compatible",
        {"prompt_tokens": 40.0, "completion_tokens": 5.0, "total_tokens": 45.0},
        Usage(40, 5),
    ),
}


def read(name: str, usage: dict[str, Any]) -> ModelResponse:
    """Return the answer of a server with this usage."""
    loaded = profiles.load_profile(name)
    message = {"role": "assistant", "content": '{"kind": "answer", "count": "SECRETWORD"}'}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    wire = profiles.WireFormat.OPENAI_CHAT
    result = parse_response(loaded, wire, ResponseHead(200), json.dumps(body), expected=ExpectedAnswer())
    assert isinstance(result, ModelResponse)
    return result


@pytest.mark.parametrize("name", USAGES)
def test_every_token_is_counted(name: str) -> None:
    """Thinking is a part of the output, and the cache a part of the input."""
    profile, usage, expected = USAGES[name]
    assert read(profile, usage).usage == expected


@pytest.mark.parametrize("name", USAGES)
def test_limits_hold(name: str) -> None:
    """No dialect lets more calls through than their tokens allow, and the cost counts them all."""
    profile, usage, expected = USAGES[name]
    limit = 3 * expected.total + asks.INPUT + 100
    policy = Policy(max_attempts=16, max_total_tokens=limit, prices=Prices(1, 10))
    ran = by_hand([replace(read(profile, usage), request_id=None)] * 16, policy)

    # The last call may have more output than its budget: only the vendor can hold it back.
    assert ran.outcome.usage.total <= limit + expected.total
    assert len(ran.requests) < 16
    assert Verdict.VIOLATED in ran.verdicts
    assert policy.prices is not None
    cost = Decimal(expected.input - expected.cache_read + 10 * expected.output) / 1_000_000
    assert policy.prices.cost_of(expected) >= cost


PLACES: dict[str, list[dict[str, Any]]] = {
    "last-chunk": [{"usage": {"prompt_tokens": 40, "completion_tokens": 5, "total_tokens": 45}, "choices": []}],
    "groq": [{"x_groq": {"id": "x", "usage": {"prompt_tokens": 40, "completion_tokens": 5}}, "choices": []}],
    "moonshot": [{"choices": [{"index": 0, "delta": {}, "usage": {"prompt_tokens": 40, "completion_tokens": 5}}]}],
    "every-chunk": [
        {"usage": {"prompt_tokens": 40, "completion_tokens": 1}, "choices": []},
        {"usage": {"prompt_tokens": 40, "completion_tokens": 5}, "choices": []},
    ],
}


@pytest.mark.parametrize("name", PLACES)
def test_a_stream_may_state_its_usage_elsewhere(name: str) -> None:
    """In an extension, in the last choice, or in every chunk."""
    start = {"choices": [{"index": 0, "delta": {"content": "{}"}, "finish_reason": "stop"}]}
    loaded, wire = profiles.load_profile("openai-compatible"), profiles.WireFormat.OPENAI_CHAT
    stream = StreamAccumulator(loaded, wire, ExpectedAnswer())
    for event in (start, *PLACES[name]):
        stream.feed(f"data: {json.dumps(event)}\n\n".encode())
    stream.feed(b"data: [DONE]\n\n")
    assert stream.finish({}).usage == Usage(40, 5)


def test_limits_hold_on_every_recorded_usage() -> None:
    """What a vendor calls the total is never more than what is counted."""
    lost = {}
    for file, exchange in exchanges().items():
        usage = classify_exchange(exchange, file).usage
        totals = [*_totals(exchange["response"]["body"])]
        if usage is not None and totals and usage.total < totals[-1]:
            lost[file] = (usage, totals[-1])
    assert lost == {}


def _totals(body: Any) -> list[int]:
    """Return the sums that a body states, in order."""
    if isinstance(body, list):
        return [total for each in body for total in _totals(each)]
    if not isinstance(body, dict):
        return []
    usage = body.get("usage") or body.get("usageMetadata") or {}
    total = usage.get("total_tokens") or usage.get("totalTokenCount")
    inner = _totals(body.get("response")) if isinstance(body.get("response"), dict) else []
    return [*([total] if total else []), *inner]
