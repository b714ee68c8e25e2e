"""Test against a simulated vendor: a real HTTP server on loopback that speaks the vendors' APIs.

``with simulator(answers=Text({...})) as vendor`` starts it, ``vendor.client("openai/gpt-6-sol")`` returns the
vendor's own SDK client connected to it, and ``vendor.script(Overloaded(), Cut())`` sets the next responses. Needs the
extra ``testing``.

Names are imported on first use, because pytest imports this package in every session for its plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.testing.behaviours import Cut as Cut
    from emitter.testing.behaviours import Decoded as Decoded
    from emitter.testing.behaviours import Dropped as Dropped
    from emitter.testing.behaviours import Empty as Empty
    from emitter.testing.behaviours import ErrorEvent as ErrorEvent
    from emitter.testing.behaviours import Failed as Failed
    from emitter.testing.behaviours import Fenced as Fenced
    from emitter.testing.behaviours import Filtered as Filtered
    from emitter.testing.behaviours import Forbidden as Forbidden
    from emitter.testing.behaviours import InProse as InProse
    from emitter.testing.behaviours import Malformed as Malformed
    from emitter.testing.behaviours import ModesRefused as ModesRefused
    from emitter.testing.behaviours import NotFound as NotFound
    from emitter.testing.behaviours import NotJson as NotJson
    from emitter.testing.behaviours import Overflowed as Overflowed
    from emitter.testing.behaviours import Overloaded as Overloaded
    from emitter.testing.behaviours import Paused as Paused
    from emitter.testing.behaviours import Quota as Quota
    from emitter.testing.behaviours import RateLimited as RateLimited
    from emitter.testing.behaviours import Refused as Refused
    from emitter.testing.behaviours import Stalled as Stalled
    from emitter.testing.behaviours import StreamsOnly as StreamsOnly
    from emitter.testing.behaviours import Text as Text
    from emitter.testing.behaviours import Thinking as Thinking
    from emitter.testing.behaviours import Trickled as Trickled
    from emitter.testing.behaviours import Twice as Twice
    from emitter.testing.behaviours import Unauthorized as Unauthorized
    from emitter.testing.behaviours import Unended as Unended
    from emitter.testing.behaviours import UnknownStop as UnknownStop
    from emitter.testing.behaviours import Violating as Violating
    from emitter.testing.behaviours import write_decision as write_decision
    from emitter.testing.cassettes import ClientFactory as ClientFactory
    from emitter.testing.cassettes import RecordingTransport as RecordingTransport
    from emitter.testing.cassettes import ReplayTransport as ReplayTransport
    from emitter.testing.dialects import VendorWords as VendorWords
    from emitter.testing.plans import Behaviour as Behaviour
    from emitter.testing.plans import EndReason as EndReason
    from emitter.testing.plans import ErrorKind as ErrorKind
    from emitter.testing.plans import PlannedError as PlannedError
    from emitter.testing.plans import PlannedResponse as PlannedResponse
    from emitter.testing.plans import RawResponse as RawResponse
    from emitter.testing.plans import ReceivedRequest as ReceivedRequest
    from emitter.testing.plans import Transmission as Transmission
    from emitter.testing.plans import TransmissionOutcome as TransmissionOutcome
    from emitter.testing.prompt_caches import PromptCaches as PromptCaches
    from emitter.testing.responses import SimulatedCall as SimulatedCall
    from emitter.testing.simulation import Simulator as Simulator
    from emitter.testing.simulation import simulator as simulator
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "behaviours": (
                "Cut Decoded Dropped Empty ErrorEvent Failed Fenced Filtered Forbidden InProse Malformed "
                "ModesRefused NotFound NotJson Overflowed Overloaded Paused Quota RateLimited Refused Stalled "
                "StreamsOnly Text Thinking Trickled Twice Unauthorized Unended UnknownStop Violating write_decision"
            ),
            "cassettes": "ClientFactory RecordingTransport ReplayTransport",
            "dialects": "VendorWords",
            "plans": (
                "Behaviour EndReason ErrorKind PlannedError PlannedResponse RawResponse ReceivedRequest "
                "Transmission TransmissionOutcome"
            ),
            "prompt_caches": "PromptCaches",
            "responses": "SimulatedCall",
            "simulation": "Simulator simulator",
        },
    )
