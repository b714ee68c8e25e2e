"""An envelope on its way through the pipeline, and what the host holds against it. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from emitter.accept.catalogue import STANDARD, Catalogue
from emitter.accept.context import DEFAULT_LIMITS, Limits, Strictness, one_of
from emitter.errors import InputError
from emitter.redact import NO_SECRETS, Secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.accept.context import Context
    from emitter.events import Event, RunEvent
    from emitter.kinds.envelope import AIEnvelope
    from emitter.store.log import Entry
    from emitter.wire import Json

Handler: TypeAlias = "Callable[[AIEnvelope, Context], Iterable[Event]]"
"""What a host does with an accepted envelope of a kind: it returns the events that tell of it.

It is given the redacted envelope, and called once for each correlation id. Whoever has the same envelope waits for
it, so it should be short: long work starts from the events.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a host takes, and how.

    ``catalogue``: its kinds. ``secrets``: what is struck out of all that leaves it. ``handlers``: what it does
    with a kind, where that is not the default. ``envelopes`` is False for a host without ``host.aiEnvelope``,
    ``clarifications`` for one that cannot ask anybody.
    """

    catalogue: Catalogue = field(default_factory=lambda: STANDARD)
    limits: Limits = DEFAULT_LIMITS
    strictness: Strictness = Strictness.WARN
    secrets: Secrets = NO_SECRETS
    handlers: Mapping[str, Handler] = field(default_factory=dict[str, Handler])
    envelopes: bool = True
    clarifications: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "strictness", one_of(Strictness, "strictness", self.strictness))
        for name, kind in (("catalogue", Catalogue), ("limits", Limits), ("secrets", Secrets), ("handlers", Mapping)):
            if not isinstance(getattr(self, name), kind):
                hint = "Build it with Secrets.of({...})." if kind is Secrets else ""
                raise InputError(f"{name} must be of type {kind.__name__}.", hint=hint)
        if not all(map(callable, self.handlers.values())):
            raise InputError("handlers must be functions by kind.", hint="Write handlers={'vendor.acme.note': save}.")
        unknown = [each for each in self.handlers if each not in self.catalogue]
        if unknown:
            raise InputError(f"There is a handler of {unknown[0]!r}, which the catalogue does not hold.")


@dataclass(frozen=True, slots=True)
class World:
    """What the pipeline cannot know by itself: a fresh id, the time, what was accepted before."""

    mint: Callable[[], str]
    stamp: Callable[[], str]
    find: Callable[[str], Entry | None]


@dataclass(frozen=True, slots=True)
class Received:
    """What came in, before anything is known of it."""

    given: Json
    context: Context
    rules: Rules
    world: World


@dataclass(frozen=True, slots=True)
class Case:
    """An envelope whose shape holds.

    ``texts`` is every text in it. ``warnings`` say what was amiss and taken all the same. ``drift`` is the
    advertised schema version where the envelope's is lower. ``redactions`` counts the secrets struck out.
    """

    received: Received
    envelope: AIEnvelope
    texts: str
    warnings: tuple[str, ...] = ()
    drift: int | None = None
    redactions: int = 0

    @property
    def rules(self) -> Rules:
        """What the host takes."""
        return self.received.rules

    @property
    def context(self) -> Context:
        """Where the envelope comes from."""
        return self.received.context


@dataclass(frozen=True, slots=True)
class Routed:
    """A case that was handled: what is told of it, and the kind whose schema the model asked for."""

    case: Case
    told: tuple[Event, ...]
    requested: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A case as it is recorded."""

    routed: Routed
    events: tuple[RunEvent, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of the same envelope before."""

    entry: Entry
