"""The form of a vendor profile: what each key of ``providers/*.toml`` means and which values it takes.

A profile holds facts, never code. Every table of facts names its ``source`` and the date on which it was
``verified``; a table without them does not load.
"""

from __future__ import annotations

import datetime as dt
import re
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from emitter.wire import FaultKind, OutputMode, Stop


class Table(BaseModel):
    """A closed table: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Facts(Table):
    """A table of facts with its source."""

    source: Annotated[str, Field(min_length=1)]
    verified: dt.date


def _compiled(pattern: str | None) -> str | None:
    """Return ``pattern`` if it is a regular expression; pydantic makes a sentence of the ``ValueError``."""
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
    return pattern


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

    ``parameter`` is the body's key, ``minimum`` the least value the vendor takes, ``default`` the first
    budget in tokens when the caller names none.
    """

    parameter: str
    minimum: Annotated[int, Field(ge=1)] = 1
    default: Annotated[int, Field(ge=1)] = 4096


class Output(Facts):
    """The output modes the wire has, the preferred first.

    ``strict`` says whether a strict flag is sent, ``enforced`` whether a schema holds the model even without
    one; where neither is true the schema stands in the prompt too.
    ``options`` are merged into every request body of this wire.
    """

    modes: Annotated[tuple[OutputMode, ...], Field(min_length=1)]
    strict: bool = True
    enforced: bool = True
    options: dict[str, object] = {}


class Stops(Facts):
    """The total stop table: each raw reason and what it means.

    A raw reason may carry a detail after a colon (``incomplete:max_output_tokens``, ``block:SAFETY``); where
    the whole is not listed, its part before the colon is looked up. A reason that is not listed at all is
    ``unknown``.
    """

    reasons: dict[str, Stop]

    def meaning(self, raw: str) -> Stop:
        """Return what ``raw`` means; a reason that no row names fails closed."""
        for key in (raw, raw.partition(":")[0]):
            if key in self.reasons:
                return self.reasons[key]
        return Stop.UNKNOWN


class FaultRule(Table):
    """One row of a fault table: every condition given must hold.

    ``status`` is the HTTP status, ``code`` and ``type`` the fields of the error body (``status`` strings
    of Google count as ``type``), ``message`` a regular expression searched in the error message.
    """

    means: Stop | FaultKind
    status: int | None = None
    code: str | None = None
    type: str | None = None
    message: str | None = None

    @field_validator("message")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return _compiled(value)

    def fits(self, status: int | None, code: str, kind: str, message: str) -> bool:
        """Tell whether an error with these fields is meant."""
        return (
            self.status in (None, status)
            and self.code in (None, code)
            and self.type in (None, kind)
            and (self.message is None or re.search(self.message, message) is not None)
        )


class Faults(Facts):
    """The fault table: ``rules`` in order, then the plain meaning of the HTTP status.

    A key of ``statuses`` is a status (``"429"``) or a family (``"5xx"``).
    """

    rules: tuple[FaultRule, ...] = ()
    statuses: dict[Annotated[str, Field(pattern=r"^[1-5](\d\d|xx)$")], FaultKind] = {}

    def meaning(self, status: int | None, code: str, kind: str, message: str) -> Stop | FaultKind:
        """Return what the error means."""
        for rule in self.rules:
            if rule.fits(status, code, kind, message):
                return rule.means
        for key in (str(status), f"{str(status)[:1]}xx"):
            if key in self.statuses:
                return self.statuses[key]
        return FaultKind.SERVER


class Optionals(str, Enum):
    """How a property that may be absent is written in the vendor's subset."""

    NULLABLE = "nullable"
    """Required, and a union with null."""
    OMIT = "omit"
    """Left out of ``required``."""


class Limits(Facts):
    """Size limits of a schema; absent means that none is published.

    ``depth`` counts nested objects and arrays from the root, ``enum_values`` all members of all enums,
    ``characters`` property and definition names plus enum and const values, ``optional`` the properties
    left out of ``required``, ``unions`` the properties with ``anyOf`` or a type list.
    """

    depth: int | None = None
    properties: int | None = None
    enum_values: int | None = None
    characters: int | None = None
    optional: int | None = None
    unions: int | None = None


class Subset(Facts):
    """The vendor's strict JSON Schema subset.

    ``keywords`` are enforced when sent; ``formats`` are the string formats taken; ``min_items_max`` is the
    largest ``minItems`` taken where it is bounded; ``ordering`` is the keyword that fixes property order,
    where one exists. ``pattern_refuses`` is a regular expression: a ``pattern`` in which it is found uses
    syntax that the vendor does not take.
    """

    keywords: frozenset[str]
    formats: frozenset[str] = frozenset()
    optionals: Optionals
    closed_objects: bool = True
    ref_siblings: bool = False
    root_union: bool = False
    recursion: bool = False
    min_items_max: int | None = None
    ordering: str | None = None
    pattern_refuses: str | None = None
    limits: Limits

    @field_validator("pattern_refuses")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        return _compiled(value)


class ModelLimits(Facts):
    """Limits of the models whose name matches ``match`` (shell pattern, case-sensitive).

    ``context`` and ``max_output`` are in tokens. ``modes`` narrows the wire's output modes for models that
    lack some of them, ``strict`` overrules the wire's flag where a model differs.
    """

    match: str
    context: Annotated[int, Field(ge=1)]
    max_output: Annotated[int, Field(ge=1)]
    modes: Annotated[tuple[OutputMode, ...], Field(min_length=1)] | None = None
    strict: bool | None = None


class Wire(Table):
    """What is particular to one wire of the vendor."""

    tokens: Tokens
    output: Output
    stops: Stops


class Profile(Table):
    """One vendor: facts that adapters, compiler and judge read.

    ``provider`` is the id told in events. The first of ``wires`` is the default. ``models`` are tried in
    order; the last row must match everything and is the honest default for unknown models.
    """

    name: str
    title: str
    provider: str
    client: Client
    wires: Annotated[dict[WireName, Wire], Field(min_length=1)]
    subset: Subset
    faults: Faults
    models: Annotated[tuple[ModelLimits, ...], Field(min_length=1)]

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

    def limits(self, model: str) -> ModelLimits:
        """Return the limits of ``model``."""
        return next(row for row in self.models if fnmatchcase(model, row.match))

    def mode(self, wire: WireName, model: str) -> OutputMode:
        """Return the preferred output mode that both the wire and the model have."""
        modes = self.wires[wire].output.modes
        allowed = self.limits(model).modes
        return next((mode for mode in modes if allowed is None or mode in allowed), modes[-1])

    def holds(self, wire: WireName, model: str) -> bool:
        """Tell whether a schema that is sent holds ``model`` while it writes."""
        return self.strict(wire, model) or self.wires[wire].output.enforced

    def strict(self, wire: WireName, model: str) -> bool:
        """Tell whether a strict flag is sent for ``model``."""
        own = self.limits(model).strict
        return self.wires[wire].output.strict if own is None else own
