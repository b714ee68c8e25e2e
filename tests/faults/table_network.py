"""What may happen to an answer on its way, and what comes of it."""

from __future__ import annotations

from emitter import Policy
from emitter.testing import Thinking, TransmissionOutcome
from tests.faults.model import WHOLE, Lost
from tests.faults.row import Row

_COUNTED = "call FAULTED usage resent({fault}) call COMPLETE usage done"
ALMOST_ALL = 1_000_000
"""More bytes than any body has: the simulator holds back the last byte, of a stream the last event."""
PATIENCE = 8.0
"""Seconds after which a stalled call is given up: many times what the first bytes of all such cells take together."""

NETWORK: dict[str, Row] = {
    "dropped-before-headers": Row(
        (Lost(TransmissionOutcome.DISCONNECTED), WHOLE),
        _COUNTED.format(fault="connection"),
        waits="1",
        bill="unheard",
    ),
    "dropped-midway": Row(
        (Lost(TransmissionOutcome.DISCONNECTED, 300, midway=True), WHOLE),
        _COUNTED.format(fault="connection"),
        waits="1",
        bill="guessed",
        but={"streamed": {"bill": "counted"}},
    ),
    "dropped-midway-after-thinking": Row(
        (Lost(TransmissionOutcome.DISCONNECTED, 300, midway=True, of=Thinking(500, WHOLE)), WHOLE),
        _COUNTED.format(fault="connection"),
        waits="1",
        bill="guessed",
        but={"streamed": {"bill": "unseen"}},
    ),
    "dropped-before-the-last-event": Row(
        (Lost(TransmissionOutcome.DISCONNECTED, ALMOST_ALL), WHOLE),
        _COUNTED.format(fault="connection"),
        waits="1",
        bill="guessed",
        but={
            "streamed": {"bill": "counted"},
            "openai-chat streamed": {"bill": "exact"},
            "anthropic streamed": {"bill": "exact"},
            "gemini-interactions streamed": {"bill": "exact"},
        },
    ),
    "dropped-to-the-end": Row(
        (Lost(TransmissionOutcome.DISCONNECTED),) * 3,
        "call FAULTED usage resent(connection) " * 2 + "call FAULTED usage failed(provider_unavailable)",
        "Unreachable(provider_unavailable)",
        waits="1 2",
        bill="unheard",
        policy=Policy(max_faults=2),
    ),
}

SLOW: dict[str, Row] = {
    "stalled-before-headers": Row(
        (Lost(TransmissionOutcome.STALLED), WHOLE),
        _COUNTED.format(fault="timeout"),
        waits="1",
        bill="unheard",
        policy=Policy(timeout=PATIENCE),
    ),
    "stalled-midway": Row(
        (Lost(TransmissionOutcome.STALLED, 300, midway=True), WHOLE),
        _COUNTED.format(fault="timeout"),
        waits="1",
        bill="guessed",
        policy=Policy(timeout=PATIENCE),
        but={"streamed": {"bill": "counted"}},
    ),
    # all but the last event comes, which on three wires is after the vendor's own numbers
    "trickled-until-the-deadline": Row(
        (Lost(TransmissionOutcome.TRICKLED, ALMOST_ALL),),
        "call FAULTED usage resent(timeout) failed(deadline_exceeded)",
        "DeadlineReached(deadline_exceeded)",
        bill="guessed",
        policy=Policy(deadline=PATIENCE),
        but={
            "streamed": {"bill": "counted"},
            "openai-chat streamed": {"bill": "exact"},
            "anthropic streamed": {"bill": "exact"},
            "gemini-interactions streamed": {"bill": "exact"},
        },
    ),
}
"""The rows whose cells wait for real; all of them at once."""
