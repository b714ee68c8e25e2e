"""Where an envelope comes from, and what a host allows there. Values only.

Source: ai-envelope.md, "Envelope Contract", "Capability handshake integration" and "Trust boundary".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum

from emitter.accept.outcome import RefusalMode
from emitter.errors import InputError
from emitter.kinds.envelope import LONGEST_ID, Trust


class Strictness(str, Enum):
    """What a schema version below the advertised one leads to."""

    WARN = "warn"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a host allows, as it advertises it: how many envelopes a turn, repairs an envelope, questions a node."""

    envelopes_per_turn: int = 32
    schema_rounds: int = 3
    clarification_rounds: int = 5

    def __post_init__(self) -> None:
        wrong = [each.name for each in fields(self) if not _is_count(getattr(self, each.name))]
        if wrong:
            raise InputError(f"{wrong[0]} is {getattr(self, wrong[0])!r}; it must be a whole number, 0 or more.")


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Counters:
    """What was counted against the limits until now."""

    envelopes: int = 0
    schema: int = 0
    clarification: int = 0


NOTHING_COUNTED = Counters()


@dataclass(frozen=True, slots=True)
class EnvelopeContract:
    """The kinds that a node may emit, beside the universal four; None allows every kind that the host knows."""

    accepts: frozenset[str] | None = None
    refusal_mode: RefusalMode = RefusalMode.FAIL_NODE


ANYTHING = EnvelopeContract()


@dataclass(frozen=True, slots=True)
class Context:
    """The node that emitted, and what it worked from.

    ``inputs`` is the trust of all that the node consumed: one untrusted input taints, whatever the envelope
    says of itself. ``boundary`` is the trust where the envelope says nothing. ``approving`` says that an
    approval gate would advance on this envelope. ``counters`` are those before it.
    """

    run_id: str
    node_id: str
    contract: EnvelopeContract = ANYTHING
    inputs: Trust = Trust.TRUSTED
    boundary: Trust = Trust.TRUSTED
    approving: bool = False
    counters: Counters = NOTHING_COUNTED

    def __post_init__(self) -> None:
        for name, given in (("run_id", self.run_id), ("node_id", self.node_id)):
            if not given or len(given) > LONGEST_ID:
                raise InputError(f"{name} must have 1 to {LONGEST_ID} characters.")
