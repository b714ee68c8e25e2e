"""A vendor to test against: a real HTTP server on loopback that speaks the four wires and does what it is told.

``with simulator(answers=Text({...})) as vendor`` runs it, ``vendor.client("openai/gpt-6-sol")`` is the vendor's
own SDK pointed at it, ``vendor.script(Overloaded(), Cut())`` says what goes wrong next. Needs the extra
``testing``.

Names are loaded when first used: pytest imports this package in every session, for its plugin.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.testing.answers import Cut as Cut
    from emitter.testing.answers import Decoded as Decoded
    from emitter.testing.answers import Empty as Empty
    from emitter.testing.answers import Fenced as Fenced
    from emitter.testing.answers import Filtered as Filtered
    from emitter.testing.answers import InProse as InProse
    from emitter.testing.answers import Malformed as Malformed
    from emitter.testing.answers import Paused as Paused
    from emitter.testing.answers import Refused as Refused
    from emitter.testing.answers import Text as Text
    from emitter.testing.answers import Thinking as Thinking
    from emitter.testing.answers import Twice as Twice
    from emitter.testing.answers import UnknownStop as UnknownStop
    from emitter.testing.answers import Violating as Violating
    from emitter.testing.answers import decided as decided
    from emitter.testing.asked import Asked as Asked
    from emitter.testing.draft import Behaviour as Behaviour
    from emitter.testing.draft import Delivery as Delivery
    from emitter.testing.draft import Draft as Draft
    from emitter.testing.draft import Ending as Ending
    from emitter.testing.draft import Failure as Failure
    from emitter.testing.draft import Raw as Raw
    from emitter.testing.draft import Trip as Trip
    from emitter.testing.draft import Trouble as Trouble
    from emitter.testing.faults import Dropped as Dropped
    from emitter.testing.faults import ErrorEvent as ErrorEvent
    from emitter.testing.faults import Failed as Failed
    from emitter.testing.faults import Forbidden as Forbidden
    from emitter.testing.faults import NotFound as NotFound
    from emitter.testing.faults import NotJson as NotJson
    from emitter.testing.faults import Overflowed as Overflowed
    from emitter.testing.faults import Overloaded as Overloaded
    from emitter.testing.faults import Quota as Quota
    from emitter.testing.faults import Stalled as Stalled
    from emitter.testing.faults import Trickled as Trickled
    from emitter.testing.faults import Unauthorized as Unauthorized
    from emitter.testing.faults import Unended as Unended
    from emitter.testing.ledger import Call as Call
    from emitter.testing.simulation import Simulator as Simulator
    from emitter.testing.simulation import simulator as simulator

_HOME = {
    "answers": (
        "Cut",
        "Decoded",
        "Empty",
        "Fenced",
        "Filtered",
        "InProse",
        "Malformed",
        "Paused",
        "Refused",
        "Text",
        "Thinking",
        "Twice",
        "UnknownStop",
        "Violating",
        "decided",
    ),
    "asked": ("Asked",),
    "draft": (
        "Behaviour",
        "Delivery",
        "Draft",
        "Ending",
        "Failure",
        "Raw",
        "Trip",
        "Trouble",
    ),
    "faults": (
        "Dropped",
        "ErrorEvent",
        "Failed",
        "Forbidden",
        "NotFound",
        "NotJson",
        "Overflowed",
        "Overloaded",
        "Quota",
        "Stalled",
        "Trickled",
        "Unauthorized",
        "Unended",
    ),
    "ledger": ("Call",),
    "simulation": (
        "Simulator",
        "simulator",
    ),
}
_MODULES = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name from the module that has it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
