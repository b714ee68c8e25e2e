"""The pydantic model of a provider profile.

A profile holds facts, never code. Every table of facts names its ``source`` and the date on which it was
``verified``.
"""

from __future__ import annotations

from decimal import Decimal
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypedDict, TypeVar

from pydantic import BeforeValidator, Field, JsonValue, ValidationError, field_validator, model_validator

from emitter.errors import BadProfile
from emitter.messages import OutputMode
from emitter.profiles.packaged import is_profile, merge_profile, packaged_toml, profile_names, read_toml
from emitter.profiles.tables import (
    FaultTable,
    LimitName,
    MediaSource,
    ModelCapabilities,
    ModelMedia,
    ModelParameters,
    ProfileTable,
    PromptCaching,
    RateLimitHeaders,
    ReasoningModel,
    RequestParameter,
    RequestParameters,
    SchemaSubset,
    SourcedTable,
    StopReasonTable,
    ThinkingBudget,
    TokenEncoding,
    UsageFields,
    WireMedia,
)

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable
    from typing import Unpack

    from pydantic_core import ErrorDetails

    from emitter.messages import Json, Medium
    from emitter.profiles.custom import Origin
    from emitter.profiles.packaged import FilePath, TomlTable


class WireFormat(str, Enum):
    """The wire formats that adapters implement."""

    OPENAI_RESPONSES = "openai-responses"
    OPENAI_CHAT = "openai-chat"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    BEDROCK_CONVERSE = "bedrock-converse"
    GEMINI_INTERACTIONS = "gemini-interactions"


class Sdk(str, Enum):
    """The SDK that sends the requests; also the name of the extra that installs it."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    BEDROCK = "bedrock"


class ClientConfig(SourcedTable):
    """The settings of the client that is created if the caller passes none.

    Attributes:
        flavour: The SDK's client class without its ``Async`` prefix, or the name of a service of boto3.
        key_env: Environment variables for the key; the first one that is set wins.
        key_required: False for servers that may run without authentication.
        base_url: The address. Without one, the caller must pass it, except for Google and Amazon, whose SDKs have one.
        base_url_env: An environment variable that overrides ``base_url``.
        api_version: The API version that Azure's client requires.
        request_id_header: The header for an id of emitter's own, which the vendor records with a request.
    """

    sdk: Sdk
    flavour: str
    key_env: tuple[str, ...] = ()
    key_required: bool = True
    base_url: str | None = None
    base_url_env: str | None = None
    api_version: str | None = None
    request_id_header: str | None = None

    @model_validator(mode="after")
    def _check_key(self) -> ClientConfig:
        if self.key_required and not self.key_env:
            raise ValueError("name the variable of the key in key_env, or write key_required = false")
        return self

    @property
    def base_url_required(self) -> bool:
        """True if the caller must pass the address."""
        return self.base_url is None and self.sdk in {Sdk.OPENAI, Sdk.ANTHROPIC}

    @property
    def is_blocking(self) -> bool:
        """True if the SDK has no async client, so that async calls send from threads."""
        return self.sdk is Sdk.BEDROCK


class OutputBudgetParameter(SourcedTable):
    """The request field of the output budget, and the smallest value that the provider accepts."""

    parameter: str
    minimum: Annotated[int, Field(ge=1)] = 1


class OutputSupport(SourcedTable):
    """The output modes of a wire format, preferred first.

    Attributes:
        strict: Send a strict flag.
        enforced: The provider enforces a schema even without the flag.
        shown: The modes in which the server puts the schema into the model's context. In the others the prompt
            describes it, because a model does not read the grammar that its answer is held to.
        stream_usage: A stream reports its usage only on request.
        options: Merged into every request body.
    """

    modes: Annotated[tuple[OutputMode, ...], Field(min_length=1)]
    strict: bool = True
    enforced: bool = True
    shown: tuple[OutputMode, ...] = (OutputMode.TOOL,)
    stream_usage: bool = False
    options: dict[str, JsonValue] = Field(default_factory=dict)


class ModelLimits(SourcedTable):
    """The limits of the models whose name matches ``match``, a case-sensitive shell pattern.

    Attributes:
        context: The context window in tokens, for input and output together.
        max_input: The largest input in tokens, if it is smaller than the window.
        elastic: The window may be larger than ``context``, because of a setting or because its size is not known.
            Prompts are then not checked against it.
        max_output: The largest output in tokens.
        modes: Restricts the wire's output modes.
        strict: Overrides the wire's strict flag.
        known: False if the limits are assumed, as for models that no other row names. Callers are warned.
        assumed: The limits that no source states. The caller's ``Policy`` may exceed such an output, and prompts are
            not checked against such a window.
    """

    match: str
    context: Annotated[int, Field(ge=1)]
    max_input: Annotated[int, Field(ge=1)] | None = None
    elastic: bool = False
    max_output: Annotated[int, Field(ge=1)]
    modes: Annotated[tuple[OutputMode, ...], Field(min_length=1)] | None = None
    strict: bool | None = None
    known: bool = True
    assumed: frozenset[LimitName] = frozenset()

    @property
    def is_ceiling_assumed(self) -> bool:
        """True if no source states the largest output."""
        return not self.known or "max_output" in self.assumed

    @property
    def is_window_open(self) -> bool:
        """True if the window may be larger than ``context``."""
        return self.elastic or "context" in self.assumed

    @property
    def longest_prompt(self) -> int:
        """The largest input in tokens."""
        return self.context if self.max_input is None else self.max_input


class BackgroundMode(SourcedTable):
    """The background mode of a wire format.

    Attributes:
        body: The request fields that start a response in the background.
    """

    body: dict[str, JsonValue]


class WireProfile(ProfileTable):
    """The facts of one wire format of a provider."""

    tokens: OutputBudgetParameter
    thinking: ThinkingBudget | None = None
    parameters: RequestParameters | None = None
    output: OutputSupport
    stops: StopReasonTable
    usage: UsageFields | None = None
    media: WireMedia | None = None
    background: BackgroundMode | None = None


def _to_decimal(value: object) -> object:
    """Return a number of TOML as a decimal."""
    return Decimal(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


class BatchLimits(SourcedTable):
    """The largest batch of a provider, as a number of requests and as bytes.

    Attributes:
        price: The price of a request in a batch, as a share of its price outside one.
    """

    requests: Annotated[int, Field(ge=1)]
    bytes: Annotated[int, Field(ge=1)]
    price: Annotated[Decimal, BeforeValidator(_to_decimal), Field(gt=0, le=1)]


class PriceList(SourcedTable):
    """The provider in ``genai-prices`` that lists the models whose name matches ``match``."""

    match: str
    provider: str


class _ModelRow(Protocol):
    """A table row for the models that match a shell pattern."""

    @property
    def match(self) -> str: ...


RowT = TypeVar("RowT", bound=_ModelRow)


_matches = lru_cache(maxsize=4096)(fnmatchcase)


def _first_match(rows: tuple[RowT, ...], model: str) -> RowT | None:
    return next((row for row in rows if _matches(model, row.match)), None)


class ProfileFacts(TypedDict, total=False):
    """The facts that ``Profile.override`` replaces.

    Args:
        source: Where the facts are stated. Defaults to the profile's own source.
        verified: The date on which the source was read. Defaults to today.
        name: The name of a new profile. By default the profile keeps its name.
        base_url: The server's address. The variables of the key are then not inherited: name them in ``key_env``.
        key_env: The environment variables of the key.
        key_required: False if the server needs no key.
        context: The context window of every model, in tokens.
        max_output: The largest output of every model, in tokens.
        modes: The output modes, preferred first: ``"json_schema"``, ``"tool"``, ``"json_object"`` or ``"text"``.
        enforced: The server constrains what the model writes to the schema.
        strict: The server knows the flag ``strict``.
        shown: The output modes in which the server shows the schema to the model. In the others the prompt has it.
        stops: The meaning of stop reasons, such as ``{"end": "complete"}``.
        usage: Where a response counts parts of its tokens, such as ``{"thinking": ["reasoning_tokens"]}``; see the
            tables ``usage`` of emitter's profiles.
        rules: Rules for error bodies, such as ``[{"message": "balance", "means": "quota"}]``. The first match counts.
        keywords: The JSON Schema keywords that the server enforces.
        tables: Any other table of a profile, by its name.
    """

    source: str
    verified: dt.date
    name: str
    base_url: str
    key_env: Sequence[str]
    key_required: bool
    context: int
    max_output: int
    modes: Sequence[str]
    enforced: bool
    strict: bool
    shown: Sequence[str]
    stops: Mapping[str, str]
    usage: Mapping[str, object]
    rules: Sequence[Mapping[str, object]]
    keywords: Sequence[str]
    tables: Mapping[str, Any]


class Profile(ProfileTable):
    """The facts about a provider or a server: its limits, output modes, stop reasons, errors and schema keywords.

    Pass a profile of your own as ``profile=``. ``from_toml`` reads one, ``from_name`` returns one of emitter's, and
    ``override`` returns a copy with other facts.

    Attributes:
        source: Where the profile comes from: a file, or what its maker says.
        provider: The provider's id in events.
        wires: The wire formats; the first one is the default.
        models: The limits of models. The first matching row counts, and the last row must match every model.
        thinkers: Models that think by default.
        parameters: Models that accept fewer settings than their wire.
        encodings: Models with a published tokenizer.
        capabilities: Capabilities of models that no other table implies.
        prices: The price lists of models.
        media: The media that models accept. The first matching row counts, and a model without one accepts text only.
        caching: The prompt caches. Requests to a model without a row set no cache parameters.
        aliases: Other names of the provider.
        listed: False for a profile that is not a provider's.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    title: str
    provider: str
    source: str = ""
    client: ClientConfig
    wires: Annotated[dict[WireFormat, WireProfile], Field(min_length=1)]
    subset: SchemaSubset
    faults: FaultTable
    models: Annotated[tuple[ModelLimits, ...], Field(min_length=1)]
    thinkers: tuple[ReasoningModel, ...] = ()
    parameters: tuple[ModelParameters, ...] = ()
    encodings: tuple[TokenEncoding, ...] = ()
    capabilities: tuple[ModelCapabilities, ...] = ()
    prices: tuple[PriceList, ...] = ()
    rate_limits: RateLimitHeaders | None = None
    media: tuple[ModelMedia, ...] = ()
    caching: tuple[PromptCaching, ...] = ()
    batches: BatchLimits | None = None
    aliases: tuple[str, ...] = ()
    listed: bool = True
    __hash__ = ProfileTable.__hash__  # pyright does not see that pydantic keeps an inherited one

    if not TYPE_CHECKING:  # the parameters are the fields

        def __init__(self, /, **facts: Any) -> None:
            """Raises ``BadProfile`` if a fact cannot be used."""
            from emitter.profiles.custom import Origin, describe_invalid  # noqa: PLC0415  few callers describe a server

            try:
                super().__init__(**facts)
            except ValidationError as error:
                raise describe_invalid(error.errors(), facts, Origin("Profile", "")) from error

        __init__.__pydantic_base_init__ = True  # pydantic calls it for ``Profile(...)`` only

    @classmethod
    def from_name(cls, name: str) -> Profile:
        """Return the profile of a provider that emitter knows, such as ``"vllm"``. Raises ``BadProfile``."""
        return load_profile(name)

    @classmethod
    def from_toml(cls, source: str | FilePath) -> Profile:
        """Read a profile from a TOML file, or from TOML text.

        It has the tables of emitter's own profiles and states only what differs from the profile in ``extends``, by
        default ``"openai-compatible"``. ``source`` at the top is that of every table without one.

        Args:
            source: The path of a file whose name ends in ``.toml``, or the text.

        Raises:
            BadProfile: The file or a value in it cannot be used. The message names the key and the line.
        """
        from emitter.profiles import custom  # noqa: PLC0415  few callers describe a server

        origin, parent, table = custom.read_table(source)
        return cls._build(load_profile(parent), table, origin)

    def override(self, **facts: Unpack[ProfileFacts]) -> Profile:
        """Return a profile with other facts. ``ProfileFacts`` describes them.

        Raises:
            BadProfile: A fact cannot be used. The message names it.
        """
        from emitter.profiles import custom  # noqa: PLC0415  few callers describe a server

        origin, table = custom.facts_table(self.name, [wire.value for wire in self.wires], {**facts})
        return self._build(self, table, origin)

    @classmethod
    def _build(cls, parent: Profile, table: TomlTable, origin: Origin) -> Profile:
        from emitter.profiles import custom  # noqa: PLC0415  few callers describe a server

        inherited = custom.to_toml(parent.model_dump(exclude_unset=True))
        merged = custom.merge_custom(cls, table, inherited, origin)
        return cls._validate_tables(merged, origin)

    @classmethod
    def _validate_tables(cls, tables: TomlTable, origin: Origin) -> Profile:
        from emitter.profiles import custom  # noqa: PLC0415  few callers describe a server

        try:
            return cls.model_validate(tables)
        except ValidationError as error:
            raise custom.describe_invalid(error.errors(), tables, origin) from error

    @field_validator("models")
    @classmethod
    def _check_last_row(cls, value: tuple[ModelLimits, ...]) -> tuple[ModelLimits, ...]:
        if value[-1].match != "*":
            raise ValueError('the last row must be the default, match = "*"')
        return value

    @cached_property
    def default_wire(self) -> WireFormat:
        """The wire format used if the caller names none."""
        return next(iter(self.wires))

    def model_limits(self, model: str) -> ModelLimits:
        """Return the limits of ``model``."""
        return _first_match(self.models, model) or self.models[0]

    def is_known_model(self, model: str) -> bool:
        """Return whether the limits of ``model`` or of its server are facts (``known`` in its row)."""
        return self.model_limits(model).known

    def token_encoding(self, model: str) -> str | None:
        """Return the published encoding of ``model``, or None."""
        row = _first_match(self.encodings, model)
        return None if row is None else row.encoding

    def price_list(self, model: str) -> str | None:
        """Return the provider in ``genai-prices`` that lists ``model``, or None."""
        row = _first_match(self.prices, model)
        return None if row is None else row.provider

    @property
    def batch_price(self) -> Decimal:
        """The price of a request in a batch, as a share of its price outside one."""
        return Decimal(1) if self.batches is None else self.batches.price

    def thinking_tokens(self, wire: WireFormat, model: str, options: Mapping[str, Json]) -> int:
        """Return the tokens of the output budget to reserve for thinking under the caller's ``options``."""
        budget = self.wires[wire].thinking
        row = _first_match(self.thinkers, model)
        return 0 if budget is None else budget.reserved_tokens(options, None if row is None else row.effort)

    def counts_thinking(self, wire: WireFormat) -> bool:
        """Return whether the output budget includes thinking, as far as is known."""
        budget = self.wires[wire].thinking
        return budget is None or budget.counted

    def thinking_options(self, wire: WireFormat, options: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
        """Return the paths and values of the caller's ``options`` that control thinking."""
        budget = self.wires[wire].thinking
        return () if budget is None else budget.set_options(options)

    def lower_effort(self, wire: WireFormat, model: str, options: Mapping[str, Json]) -> str | None:
        """Return the next lower effort than the one in force, or None if there is none.

        The effort in force is that of the ``options``, or else the model's default. It is not lowered if the caller
        controls thinking with another field.
        """
        parameter = self.accepted_parameters(wire, model).get("reasoning_effort")
        if parameter is None:
            return None
        set_options, budget = dict(self.thinking_options(wire, options)), self.wires[wire].thinking
        row = _first_match(self.thinkers, model)
        default = "" if row is None else row.effort
        effort = set_options.pop(parameter.path, None) or str(parameter.read(options) or default).lower()
        numbers = () if budget is None else budget.tokens
        if any(path in numbers or word in parameter.values for path, word in set_options.items()):
            return None
        at = parameter.values.index(effort) if effort in parameter.values else 0
        return parameter.values[at - 1] if at else None

    def model_parameters(self, model: str) -> ModelParameters | None:
        """Return the deviations of ``model`` from the settings of its wire, or None."""
        return _first_match(self.parameters, model)

    def accepted_parameters(self, wire: WireFormat, model: str) -> dict[str, RequestParameter]:
        """Return the settings that ``model`` accepts over ``wire``, with its own limits."""
        parameters, own = self.wires[wire].parameters, self.model_parameters(model)
        accepted = dict(parameters.accepted) if parameters else {}
        if own is None:
            return accepted
        return {name: own.narrow(name, accepted[name]) for name in accepted.keys() - own.refuses}

    def thinks_by_default(self, model: str) -> bool:
        """Return whether ``model`` is known to think by default; a row for all models does not count."""
        row = _first_match(self.thinkers, model)
        return row is not None and row.effort != "none" and row.match != "*"

    def stated_capabilities(self, model: str) -> frozenset[str]:
        """Return the capabilities of ``model`` that no other table implies."""
        row = _first_match(self.capabilities, model)
        return frozenset() if row is None else row.provides

    def prompt_caching(self, model: str) -> PromptCaching | None:
        """Return the prompt cache of ``model``, or None if it is not known."""
        return _first_match(self.caching, model)

    def model_media(self, model: str) -> ModelMedia | None:
        """Return the media that ``model`` accepts, or None if it accepts text only."""
        return _first_match(self.media, model)

    def media_sources(self, wire: WireFormat, model: str, medium: Medium) -> frozenset[MediaSource]:
        """Return the ways to send ``medium`` to ``model`` over ``wire``, none if the model does not accept it."""
        row, sending = self.model_media(model), self.wires[wire].media
        support = None if row is None else row.support(medium)
        if support is None or sending is None:
            return frozenset()
        sources = sending.sources(medium)
        return sources if support.sources is None else sources & support.sources

    def is_known_to_take(self, wire: WireFormat, model: str, medium: Medium) -> bool:
        """Return whether ``model`` is known to accept ``medium`` over ``wire``; an assumption does not count."""
        row = self.model_media(model)
        return row is not None and not row.assumed and bool(self.media_sources(wire, model, medium))

    def output_modes(self, wire: WireFormat, model: str) -> tuple[OutputMode, ...]:
        """Return the output modes that both the wire and the model support, preferred first."""
        allowed = self.model_limits(model).modes
        return tuple(mode for mode in self.wires[wire].output.modes if allowed is None or mode in allowed)

    def preferred_output_mode(self, wire: WireFormat, model: str) -> OutputMode:
        """Return the first output mode that both the wire and the model support."""
        return next(iter(self.output_modes(wire, model)), self.wires[wire].output.modes[-1])

    def enforces_schema(self, wire: WireFormat, model: str) -> bool:
        """Return whether the provider enforces a schema for ``model``."""
        return self.sends_strict(wire, model) or self.wires[wire].output.enforced

    def sends_strict(self, wire: WireFormat, model: str) -> bool:
        """Return whether a strict flag is sent for ``model``."""
        own = self.model_limits(model).strict
        return self.wires[wire].output.strict if own is None else own


@cache
def load_profile(name: str) -> Profile:
    """Return the profile ``name``.

    Raises:
        BadProfile: There is no such profile, or it is invalid. The message names the file, the key and allowed values.
    """
    if not is_profile(name):
        raise BadProfile(f"There is no profile {name!r}.", hint=f"Choose one of {', '.join(profile_names())}.")
    return _validate(name, merge_profile(name, packaged_toml))


def load_profile_from(directory: Traversable, name: str) -> Profile:
    """Return the profile ``name`` from a folder of your own; may raise ``BadProfile``."""
    return _validate(name, merge_profile(name, partial(read_toml, directory)))


def _validate(name: str, tables: TomlTable) -> Profile:
    try:
        return Profile.model_validate(tables)
    except ValidationError as error:
        raise BadProfile("\n".join(_describe_error(name, detail) for detail in error.errors())) from error


def _describe_error(name: str, error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in error["loc"])
    return f"providers/{name}.toml: {key}: {error['msg']}."
