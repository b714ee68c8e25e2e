"""Start times of calls within a limit on requests and tokens per minute, which several processes share.

The generic cell rate algorithm: one time says when the next request may start, and another one when the next token may
be spent. A process that has five calls to make asks for five slots at once, and the shared state moves on by as much.
"""

from __future__ import annotations

from dataclasses import dataclass

_WINDOW = 60.5
"""Seconds of a minute, and half a second more, since calls do not all arrive equally late."""
_BURST = 50
"""A burst may have a fiftieth of the limit: 12 of 600 requests."""


@dataclass(frozen=True, slots=True)
class LimitState:
    """When the next request and the next token have their regular time, and the end of a pause. In seconds."""

    next_request: float = 0.0
    next_token: float = 0.0
    paused_until: float = 0.0


@dataclass(frozen=True, slots=True)
class SlotRequest:
    """The calls of a process that wait for a limit.

    Attributes:
        calls: How many calls to start.
        tokens: The tokens of all of them, and what earlier calls used beyond their expected tokens. May be negative.
        requests_per_minute: The limit on requests, or None.
        tokens_per_minute: The limit on tokens, or None.
        pause: Seconds for which the vendor wants no calls, or 0.
    """

    calls: int
    tokens: int = 0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Slots:
    """When calls may start: the first after ``delay`` seconds, and each further one ``interval`` seconds later."""

    delay: float
    interval: float


def take_slots(state: LimitState, request: SlotRequest, now: float) -> tuple[LimitState, Slots]:
    """Return the state after a request, and its slots."""
    paused_until = max(state.paused_until, now + request.pause) if request.pause > 0 else state.paused_until
    earliest, calls = max(now, paused_until), max(1, request.calls)
    next_request, *requests = _advance(state.next_request, request.calls, request.requests_per_minute, calls, earliest)
    next_token, *tokens = _advance(state.next_token, request.tokens, request.tokens_per_minute, calls, earliest)
    start, end = max(requests[0], tokens[0]), max(requests[1], tokens[1])
    interval = max(0.0, end - start) / max(1, calls - 1)
    return LimitState(next_request, next_token, paused_until), Slots(start - now, interval)


def _advance(regular: float, amount: int, limit: int | None, calls: int, earliest: float) -> tuple[float, float, float]:
    """Return the regular time after ``amount`` units, and when the first and the last of the calls may start.

    A burst and then regular units come to at most ``limit`` in any minute. So do calls of several units, up to a
    quarter of the limit; a larger one may exceed it once.
    """
    if limit is None:
        return regular, earliest, earliest
    burst = max(1, limit // _BURST)
    largest = min(max(1, amount // calls), max(1, limit // 4))
    interval = _WINDOW / (limit - burst - largest + 2)
    regular = max(regular, earliest)
    credit = (burst - 1) * interval
    after = max(regular + amount * interval, earliest)
    last = after - max(1, amount // calls) * interval
    return after, max(earliest, regular - credit), max(earliest, last - credit)
