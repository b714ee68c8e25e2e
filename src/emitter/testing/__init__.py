"""A vendor to test against: a real HTTP server on loopback that speaks the four wires and does what it is told.

``with simulator(answers=Text({...})) as vendor`` runs it, ``vendor.client("openai/gpt-6-sol")`` is the vendor's
own SDK pointed at it, ``vendor.script(Overloaded(), Cut())`` says what goes wrong next. Needs the extra
``testing``.
"""

from __future__ import annotations

from emitter.testing.answers import (
    Cut,
    Decoded,
    Empty,
    Fenced,
    Filtered,
    InProse,
    Malformed,
    Paused,
    Refused,
    Text,
    Thinking,
    Twice,
    UnknownStop,
    Violating,
)
from emitter.testing.asked import Asked
from emitter.testing.draft import Behaviour, Delivery, Draft, Ending, Failure, Raw, Trip, Trouble
from emitter.testing.faults import (
    Dropped,
    ErrorEvent,
    Failed,
    NotFound,
    NotJson,
    Overflowed,
    Overloaded,
    Quota,
    Stalled,
    Trickled,
    Unauthorized,
    Unended,
)
from emitter.testing.ledger import Call
from emitter.testing.simulator import Simulator, simulator

__all__ = [
    "Asked",
    "Behaviour",
    "Call",
    "Cut",
    "Decoded",
    "Delivery",
    "Draft",
    "Dropped",
    "Empty",
    "Ending",
    "ErrorEvent",
    "Failed",
    "Failure",
    "Fenced",
    "Filtered",
    "InProse",
    "Malformed",
    "NotFound",
    "NotJson",
    "Overflowed",
    "Overloaded",
    "Paused",
    "Quota",
    "Raw",
    "Refused",
    "Simulator",
    "Stalled",
    "Text",
    "Thinking",
    "Trickled",
    "Trip",
    "Trouble",
    "Twice",
    "Unauthorized",
    "Unended",
    "UnknownStop",
    "Violating",
    "simulator",
]
