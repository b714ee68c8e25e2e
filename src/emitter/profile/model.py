"""The form of a vendor profile: what each key of ``providers/*.toml`` means and which values it takes.

A profile holds facts, never code. Every table of facts names its ``source`` and the date on which it was
``verified``; a table without them does not load.
"""

from __future__ import annotations

from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field, field_validator

from emitter.profile.capabilities import Abilities
from emitter.profile.facts import Facts, Table
from emitter.profile.meanings import Faults, Stops
from emitter.profile.spending import Encoding, Thinker, Thinking
from emitter.profile.subset import Subset
from emitter.wire import OutputMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json


class WireName(str, Enum):
    """The request and response forms that adapters know."""

    OPENAI_RESPONSES = "openai-responses"
    OPENAI_CHAT = "openai-chat"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"


class Sdk(str, Enum):
    """Which vendor SDK sends the requests; also the name of the extra that installs it."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"


class Client(Facts):
    """How a client is made when the caller passes none.

    ``key_env`` lists the environment variables for the key, first set wins; with ``key_required = false`` a
    server without authentication is served. ``base_url_env`` beats ``base_url``. ``flavour`` is the SDK's
    client class without its ``Async`` prefix, ``api_version`` what Azure's client insists on.
    """

    sdk: Sdk
    flavour: str
    key_env: tuple[str, ...] = ()
    key_required: bool = True
    base_url: str | None = None
    base_url_env: str | None = None
    base_url_required: bool = False
    api_version: str | None = None


class Tokens(Facts):
    """The output budget on the wire.

    ``parameter`` is the body's key, ``minimum`` the least value the vendor takes.
    """

    parameter: str
    minimum: Annotated[int, Field(ge=1)] = 1


class Output(Facts):
    """The output modes the wire has, the preferred first.

    ``strict`` says whether a strict flag is sent, ``enforced`` whether a schema holds the model even without
    one; where neither is true the schema stands in the prompt too.
    ``options`` are merged into every request body of this wire. ``stream_usage`` says that a stream tells what it
    cost only when asked to.
    """

    modes: Annotated[tuple[OutputMode, ...], Field(min_length=1)]
    strict: bool = True
    enforced: bool = True
    stream_usage: bool = False
    options: dict[str, object] = Field(default_factory=dict)


class ModelLimits(Facts):
    """Limits of the models whose name matches ``match`` (shell pattern, case-sensitive).

    ``context`` and ``max_output`` are in tokens. ``modes`` narrows the wire's output modes for models that
    lack some of them, ``strict`` overrules the wire's flag where a model differs. ``elastic`` says that the
    window may be larger than ``context``, by an operator's or a caller's setting or because we do not know it:
    then no prompt is held against it.
    """

    match: str
    context: Annotated[int, Field(ge=1)]
    elastic: bool = False
    max_output: Annotated[int, Field(ge=1)]
    modes: Annotated[tuple[OutputMode, ...], Field(min_length=1)] | None = None
    strict: bool | None = None


class Wire(Table):
    """What is particular to one wire of the vendor."""

    tokens: Tokens
    thinking: Thinking | None = None
    output: Output
    stops: Stops


class Batches(Facts):
    """What the vendor's batch interface takes at once: so many ``requests``, and ``bytes`` in all."""

    requests: Annotated[int, Field(ge=1)]
    bytes: Annotated[int, Field(ge=1)]


class _Patterns(NamedTuple):
    """The shell patterns of each list of rows."""

    models: tuple[str, ...]
    thinkers: tuple[str, ...]
    encodings: tuple[str, ...]
    capabilities: tuple[str, ...]


@lru_cache(maxsize=1024)
def _first(model: str, patterns: tuple[str, ...]) -> int | None:
    """Return the place of the first pattern that ``model`` matches; an emission asks several times."""
    return next((place for place, each in enumerate(patterns) if fnmatchcase(model, each)), None)


class Profile(Table):
    """One vendor: facts that adapters, compiler and judge read.

    ``provider`` is the id told in events. The first of ``wires`` is the default. ``models`` are tried in
    order; the last row must match everything and is the honest default for unknown models. A model that no
    row of ``thinkers`` names does not think unless asked, one that no row of ``encodings`` names has a
    tokenizer that is not published. ``capabilities`` say what models provide that no other table tells.

    ``aliases`` are other names that the vendor has elsewhere. ``listed`` is false for what stands for no vendor.
    """

    name: str
    title: str
    provider: str
    client: Client
    wires: Annotated[dict[WireName, Wire], Field(min_length=1)]
    subset: Subset
    faults: Faults
    models: Annotated[tuple[ModelLimits, ...], Field(min_length=1)]
    thinkers: tuple[Thinker, ...] = ()
    encodings: tuple[Encoding, ...] = ()
    capabilities: tuple[Abilities, ...] = ()
    batches: Batches | None = None
    aliases: tuple[str, ...] = ()
    listed: bool = True

    @field_validator("models")
    @classmethod
    def _ends_in_default(cls, value: tuple[ModelLimits, ...]) -> tuple[ModelLimits, ...]:
        if value[-1].match != "*":
            raise ValueError('the last row must be the default, match = "*"')
        return value

    @cached_property
    def default_wire(self) -> WireName:
        """The wire used when the caller names none."""
        return next(iter(self.wires))

    @cached_property
    def _patterns(self) -> _Patterns:
        rows = (self.models, self.thinkers, self.encodings, self.capabilities)
        return _Patterns(*(tuple(row.match for row in each) for each in rows))

    def limits(self, model: str) -> ModelLimits:
        """Return the limits of ``model``."""
        return self.models[_first(model, self._patterns.models) or 0]

    def knows(self, model: str) -> bool:
        """Tell whether a row is about ``model``; where none but the default exists, the server sets its own limits."""
        return self.limits(model).match != "*" or len(self.models) == 1

    def encoding(self, model: str) -> str | None:
        """Return the name of the published encoding of ``model``; None where there is none."""
        found = _first(model, self._patterns.encodings)
        return None if found is None else self.encodings[found].encoding

    def thinking(self, wire: WireName, model: str, options: Mapping[str, Json]) -> int:
        """Return the tokens of the output budget to set aside for thinking, under the caller's ``options``."""
        facts = self.wires[wire].thinking
        found = _first(model, self._patterns.thinkers)
        unasked = None if found is None else self.thinkers[found].effort
        return 0 if facts is None else facts.allowance(options, unasked)

    def thinks(self, model: str) -> bool:
        """Tell whether ``model`` is known to think unasked; what is set aside for strangers makes no thinker."""
        found = _first(model, self._patterns.thinkers)
        row = None if found is None else self.thinkers[found]
        return row is not None and row.effort != "none" and row.match != "*"

    def stated(self, model: str) -> frozenset[str]:
        """Return what ``model`` provides beyond what other tables tell."""
        found = _first(model, self._patterns.capabilities)
        return frozenset() if found is None else self.capabilities[found].provides

    def modes(self, wire: WireName, model: str) -> tuple[OutputMode, ...]:
        """Return the output modes that both the wire and the model have, the preferred first."""
        allowed = self.limits(model).modes
        return tuple(mode for mode in self.wires[wire].output.modes if allowed is None or mode in allowed)

    def mode(self, wire: WireName, model: str) -> OutputMode:
        """Return the preferred output mode that both the wire and the model have."""
        return next(iter(self.modes(wire, model)), self.wires[wire].output.modes[-1])

    def holds(self, wire: WireName, model: str) -> bool:
        """Tell whether a schema that is sent holds ``model`` while it writes."""
        return self.strict(wire, model) or self.wires[wire].output.enforced

    def strict(self, wire: WireName, model: str) -> bool:
        """Tell whether a strict flag is sent for ``model``."""
        own = self.limits(model).strict
        return self.wires[wire].output.strict if own is None else own
