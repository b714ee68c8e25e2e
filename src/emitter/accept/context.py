"""Where an envelope comes from, and what a host allows there. Values only.

Source: ai-envelope.md, "Envelope Contract", "Capability handshake integration" and "Trust boundary".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import TypeVar, cast

from emitter.accept.outcome import RefusalMode
from emitter.errors import InputError
from emitter.kinds.envelope import LONGEST_ID, Trust
from emitter.kinds.universal import UNIVERSAL

E = TypeVar("E", bound=Enum)


class Strictness(str, Enum):
    """What a schema version below the advertised one leads to."""

    WARN = "warn"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a host allows, as it advertises it: how many envelopes a turn, retries an envelope, questions a node.

    They bind the emissions that are given the host, too.
    """

    envelopes_per_turn: int = 32
    schema_rounds: int = 3
    clarification_rounds: int = 5

    def __post_init__(self) -> None:
        wrong = [each.name for each in fields(self) if not _is_count(getattr(self, each.name))]
        if wrong:
            raise InputError(f"{wrong[0]} is {getattr(self, wrong[0])!r}; it must be a whole number, 0 or more.")


def one_of(choices: type[E], name: str, given: object) -> E:
    """Return a setting that may be given by its word; raises ``InputError`` for all else: it must not fail open."""
    found = next((each for each in choices if given in (each, each.value)), None)
    if found is None:
        words = ", ".join(repr(each.value) for each in choices)
        raise InputError(f"{name} must be one of {words}.")
    return found


def kinds_of(given: object) -> frozenset[str]:
    """Return the kinds of a contract; raises ``InputError`` for what is no collection of texts."""
    listed = isinstance(given, Iterable) and not isinstance(given, (str, bytes))
    kinds = list(cast("Iterable[object]", given)) if listed else [None]
    if not all(isinstance(each, str) for each in kinds):
        raise InputError("accepts must be a set of kinds, or None for all that the host takes.")
    return frozenset(cast("list[str]", kinds))


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0


DEFAULT_LIMITS = Limits()

UNLIMITED = Limits(2**31, 2**31, 2**31)
"""What a host that advertises nothing allows."""


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

    def __post_init__(self) -> None:
        given: object = self.accepts
        if given is not None:
            object.__setattr__(self, "accepts", kinds_of(given))
        object.__setattr__(self, "refusal_mode", one_of(RefusalMode, "refusal_mode", self.refusal_mode))

    def allows(self, kind: str) -> bool:
        """Return whether the node may emit ``kind``; the universal four pass every contract."""
        return self.accepts is None or kind in self.accepts or kind in UNIVERSAL


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
            if given.__class__ is not str or not 0 < len(given) <= LONGEST_ID:
                raise InputError(f"{name} must be a text of 1 to {LONGEST_ID} characters.")
        for name in ("inputs", "boundary"):
            trust = getattr(self, name)
            if trust.__class__ is not Trust:
                object.__setattr__(self, name, one_of(Trust, name, trust))
        if self.approving.__class__ is not bool or self.contract.__class__ is not EnvelopeContract:
            raise InputError("approving must be True or False, and contract an EnvelopeContract.")
