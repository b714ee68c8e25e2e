"""Host configuration, the context of an envelope, and the values that pass between pipeline steps.

``HostConfig`` has the kinds, limits and secrets of a host; ``EnvelopeContext`` names the run and node of an envelope.
This module contains only values.

Source: ai-envelope.md, "Envelope Contract", "Capability handshake integration" and "Trust boundary".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from emitter.errors import InputError
from emitter.host.kinds import STANDARD, KindRegistry
from emitter.host.outcomes import RefusalMode
from emitter.messages import Trust
from emitter.models.envelope import MAX_ID_LENGTH
from emitter.models.standard_kinds import UNIVERSAL_SCHEMAS
from emitter.redaction import NO_SECRETS, Secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import Event
    from emitter.messages import Json
    from emitter.models.envelope import AIEnvelope
    from emitter.stores.protocol import Entry, Store

E = TypeVar("E", bound=Enum)


class Strictness(str, Enum):
    """The treatment of a schema version below the advertised one: a warning, or a refusal."""

    WARN = "warn"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class HostLimits:
    """The limits that a host advertises: envelopes per turn, retries per envelope, questions per node.

    They also bind the library's own emissions that use this host.
    """

    envelopes_per_turn: int = 32
    schema_rounds: int = 3
    clarification_rounds: int = 5

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise InputError(f"{limit.name} is {value!r}; it must be a whole number, 0 or more.")


def parse_choice(choices: type[E], name: str, value: object) -> E:
    """Return the member of ``choices`` for ``value``, a member or its value; raise ``InputError`` for others."""
    for choice in choices:
        if value in (choice, choice.value):
            return choice
    raise InputError(f"{name} must be one of {', '.join(repr(choice.value) for choice in choices)}.")


def parse_kinds(value: object) -> frozenset[str]:
    """Return the kinds of a contract as a set; raise ``InputError`` unless they are a collection of strings."""
    is_collection = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    kinds = list(cast("Iterable[object]", value)) if is_collection else [None]
    if not all(isinstance(kind, str) for kind in kinds):
        raise InputError("accepts must be a set of kinds, or None for every kind of the host.")
    return frozenset(cast("list[str]", kinds))


DEFAULT_LIMITS = HostLimits()
"""The limits that a host advertises by default."""
UNLIMITED = HostLimits(2**31, 2**31, 2**31)
"""The limits of a host that advertises none."""


@dataclass(frozen=True, slots=True)
class Counters:
    """The counts before an envelope that are compared with the limits."""

    envelopes: int = 0
    schema: int = 0
    clarification: int = 0


ZERO_COUNTS = Counters()


@dataclass(frozen=True, slots=True)
class EnvelopeContract:
    """The kinds that a node may emit, besides the universal four. None allows every kind of the host."""

    accepts: frozenset[str] | None = None
    refusal_mode: RefusalMode = RefusalMode.FAIL_NODE

    def __post_init__(self) -> None:
        if self.accepts is not None:
            object.__setattr__(self, "accepts", parse_kinds(self.accepts))
        object.__setattr__(self, "refusal_mode", parse_choice(RefusalMode, "refusal_mode", self.refusal_mode))

    def allows(self, kind: str) -> bool:
        """Return whether the node may emit ``kind``; every contract allows the universal four."""
        return self.accepts is None or kind in self.accepts or kind in UNIVERSAL_SCHEMAS


ANY_KIND = EnvelopeContract()


@dataclass(frozen=True, slots=True)
class EnvelopeContext:
    """The origin of an envelope: the node that emitted it and the trust of its inputs.

    Attributes:
        run_id: The run, up to 128 characters.
        node_id: The node, up to 128 characters.
        contract: The kinds that the node may emit.
        inputs: The trust of everything that the node read. One untrusted input makes the envelope untrusted,
            whatever the envelope states.
        boundary: The trust of an envelope that states none.
        approving: Whether an approval gate would advance on this envelope.
        counters: The counts before this envelope.
    """

    run_id: str
    node_id: str
    contract: EnvelopeContract = ANY_KIND
    inputs: Trust = Trust.TRUSTED
    boundary: Trust = Trust.TRUSTED
    approving: bool = False
    counters: Counters = ZERO_COUNTS

    def __post_init__(self) -> None:
        for name, value in (("run_id", self.run_id), ("node_id", self.node_id)):
            if value.__class__ is not str or not 0 < len(value) <= MAX_ID_LENGTH:
                raise InputError(f"{name} must be a string of 1 to {MAX_ID_LENGTH} characters.")
        for name in ("inputs", "boundary"):
            trust = getattr(self, name)
            if trust.__class__ is not Trust:
                object.__setattr__(self, name, parse_choice(Trust, name, trust))
        if self.approving.__class__ is not bool or self.contract.__class__ is not EnvelopeContract:
            raise InputError("approving must be True or False, and contract must be an EnvelopeContract.")


Handler: TypeAlias = "Callable[[AIEnvelope, EnvelopeContext], Iterable[Event]]"
"""A function that processes an accepted envelope of one kind and returns the events to record.

It receives the redacted envelope and runs once per correlation id. Other threads and processes with the same
envelope wait for it, so keep it short and start long work from the events.
"""


@dataclass(frozen=True, slots=True)
class HostConfig:
    """The configuration of a host.

    Attributes:
        registry: The kinds.
        limits: The limits to advertise and enforce.
        strictness: The treatment of older schema versions.
        secrets: Values to remove from everything that leaves the host.
        handlers: Functions by kind that replace the default handling.
        accepts_envelopes: False for a host without ``host.aiEnvelope``.
        allows_clarifications: False for a host that cannot ask anyone.
    """

    registry: KindRegistry = field(default_factory=lambda: STANDARD)
    limits: HostLimits = DEFAULT_LIMITS
    strictness: Strictness = Strictness.WARN
    secrets: Secrets = NO_SECRETS
    handlers: Mapping[str, Handler] = field(default_factory=dict[str, Handler])
    accepts_envelopes: bool = True
    allows_clarifications: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "strictness", parse_choice(Strictness, "strictness", self.strictness))
        for name, expected in (
            ("registry", KindRegistry),
            ("limits", HostLimits),
            ("secrets", Secrets),
            ("handlers", Mapping),
        ):
            if not isinstance(getattr(self, name), expected):
                hint = "Build it with Secrets.of({...})." if expected is Secrets else ""
                raise InputError(f"{name} must be of type {expected.__name__}.", hint=hint)
        if not all(map(callable, self.handlers.values())):
            raise InputError("handlers must map kinds to functions.", hint="Write handlers={'vendor.acme.note': save}.")
        unknown = [kind for kind in self.handlers if kind not in self.registry]
        if unknown:
            raise InputError(f"handlers has a function for {unknown[0]!r}, but the registry has no such kind.")


@dataclass(frozen=True, slots=True)
class HostServices:
    """Ids, the time and the store, as the pipeline uses them."""

    new_id: Callable[[], str]
    now: Callable[[], str]
    store: Store | None


@dataclass(frozen=True, slots=True)
class ReceivedEnvelope:
    """A document on arrival, before any check."""

    document: Json
    context: EnvelopeContext
    config: HostConfig
    services: HostServices


@dataclass(frozen=True, slots=True)
class InFlightEnvelope:
    """An envelope on its way through the pipeline. Its shape is valid.

    ``joined_text`` is all of its text. ``warnings`` are problems that do not refuse it. ``drift`` is the advertised
    schema version if the envelope's is lower. ``redactions`` counts the secrets removed. Its handler adds ``events``
    and ``requested_kind``, the kind whose schema the model asked for.
    """

    received: ReceivedEnvelope
    envelope: AIEnvelope
    joined_text: str
    warnings: tuple[str, ...] = ()
    drift: int | None = None
    redactions: int = 0
    events: tuple[Event, ...] = ()
    requested_kind: str | None = None

    @property
    def config(self) -> HostConfig:
        """The configuration of the host."""
        return self.received.config

    @property
    def context(self) -> EnvelopeContext:
        """The origin of the envelope."""
        return self.received.context


@dataclass(frozen=True, slots=True)
class CachedOutcome:
    """The store entry of an envelope that was accepted before."""

    entry: Entry
