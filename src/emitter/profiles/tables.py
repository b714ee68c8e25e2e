"""The tables of a provider profile: stop reasons, faults, thinking, capabilities and the JSON Schema subset.

Every table is closed: an unknown key is an error.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from emitter.messages import FaultKind, Medium, StatedLimits, StopReason, as_mapping
from emitter.outside_values import parse_float, parse_int

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

    from emitter.messages import Json, PromptCache


class ProfileTable(BaseModel):
    """A table that rejects unknown keys, and values of another kind than that of their field."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """Make scalars strict, so that ``"4096"`` is no number. Lists and words may still become tuples and enums."""
        schema = handler(source)
        _make_strict(schema)
        return schema

    @cached_property
    def content_hash(self) -> int:
        """A hash of all facts. Equal tables have equal ones, also if each was read by itself."""
        return hash(tuple(_freeze(getattr(self, name)) for name in type(self).model_fields))

    def __hash__(self) -> int:
        """Hash by content, because profiles and their tables are keys of caches."""
        return self.content_hash


_STRICT_KINDS = frozenset({"bool", "date", "decimal", "float", "int", "str"})


def _make_strict(schema: Any) -> None:
    """Make the scalars in a schema of pydantic strict."""
    if isinstance(schema, dict):
        node = cast("dict[str, Any]", schema)
        if str(node.get("type")) in _STRICT_KINDS:  # a table may have a field of this name
            node["strict"] = True
        node.pop("sub_type", None)  # that of an enum, whose words may then be bytes
        for inner in node.values():
            _make_strict(inner)
    elif isinstance(schema, list):
        for inner in cast("list[Any]", schema):
            _make_strict(inner)


def _freeze(value: object) -> object:
    """Return a value of a table that can be hashed."""
    if isinstance(value, Mapping):
        return frozenset((key, _freeze(each)) for key, each in cast("Mapping[str, object]", value).items())
    if isinstance(value, list | tuple):
        return tuple(_freeze(each) for each in cast("tuple[object, ...]", value))
    return value


class SourcedTable(ProfileTable):
    """A table of facts with its source."""

    source: Annotated[str, Field(min_length=1)]
    verified: dt.date


def _check_regex(pattern: str) -> str:
    """Return ``pattern`` if it is a valid regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"invalid regular expression: {error}") from error
    return pattern


RegexPattern: TypeAlias = Annotated[str, AfterValidator(_check_regex)]
"""A regular expression, as text."""


class StopReasonTable(SourcedTable):
    """The meaning of every stop reason.

    ``reasons`` lists complete reasons. ``families`` lists the part before the colon of reasons that adapters compose of
    two fields (``failed:server_error``, ``block:SAFETY``), so that a new detail keeps the meaning of its family. A
    family may not mean ``complete``. Any other reason is ``unknown``.
    """

    reasons: dict[str, StopReason]
    families: dict[str, StopReason] = Field(default_factory=dict)

    @field_validator("families")
    @classmethod
    def _reject_complete_families(cls, families: dict[str, StopReason]) -> dict[str, StopReason]:
        complete = [name for name, stop in families.items() if stop is StopReason.COMPLETE]
        if complete:
            raise ValueError(f"the family {complete[0]} cannot mean complete; list its reasons in full under reasons")
        return families

    def lookup(self, raw: str) -> StopReason:
        """Return the meaning of a raw stop reason."""
        family, colon, _ = raw.partition(":")
        return self.reasons.get(raw) or (self.families.get(family) if colon else None) or StopReason.UNKNOWN


_MAX_SEARCHED = 4_000
_BELOW = "below"
"""The figure of an error that names the first output budget that is too large."""
_FIGURES = frozenset(each.name for each in fields(StatedLimits)) | {_BELOW}
_SEPARATORS = str.maketrans("", "", ",_ ")


@dataclass(frozen=True, slots=True)
class ProviderError:
    """The facts in an error body.

    Attributes:
        status: The HTTP status, or None for an error in a stream.
        code: Its ``code`` field.
        type: Its ``type`` field, or Google's ``status`` field.
        message: Its message, and that of the server behind it.
        detail: The texts of its other fields, one on each line.
        fields: The error object.
    """

    status: int | None = None
    code: str = ""
    type: str = ""
    message: str = ""
    detail: str = ""
    fields: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


@dataclass(frozen=True, slots=True)
class ErrorMeaning:
    """The meaning of an error, the figures that it names, what to do about it, and the wait in seconds."""

    means: StopReason | FaultKind
    limits: StatedLimits | None = None
    hint: str | None = None
    wait: float | None = None


_FIGURE = re.compile(r"(?<!\?P)<([a-z]\w*)>")


def _write_figures(pattern: str) -> str:
    """Replace each ``<figure>`` in a pattern by a group that finds its number."""
    return _FIGURE.sub(lambda match: f"(?P<{_check_figure(match[1])}>\\d[\\d,_]*)", pattern)


def _check_figure(name: str) -> str:
    if name not in _FIGURES:
        raise ValueError(f"unknown figure {name}; the figures are {', '.join(sorted(_FIGURES))}")
    return name


class FaultRule(ProfileTable):
    """One row of a fault table. All conditions must hold.

    Attributes:
        status: The HTTP status.
        code: The ``code`` field of the error body.
        type: The ``type`` field of the error body, or Google's ``status`` field.
        message: A regular expression that is searched in the error message. A name of ``StatedLimits`` in angle
            brackets, such as ``<window>``, stands for a number that is this figure.
        detail: A regular expression that is searched in the texts of the other fields of the error.
        figures: The fields of the error that hold figures, by the names of ``StatedLimits``.
        hint: What to do about the error, if the exception's own hint does not say so.
        source: Where the words are from.
    """

    means: StopReason | FaultKind
    status: int | None = None
    code: str | None = None
    type: str | None = None
    message: Annotated[str, AfterValidator(_write_figures), AfterValidator(_check_regex)] | None = None
    detail: RegexPattern | None = None
    figures: dict[Annotated[str, AfterValidator(_check_figure)], str] = Field(default_factory=dict)
    hint: str | None = None
    source: str | None = None

    @property
    def reads_words(self) -> bool:
        """True if the rule is about the words of an error. They say more than a code or type, and are read first."""
        return self.message is not None or self.detail is not None

    def read(self, error: ProviderError) -> ErrorMeaning | None:
        """Return the meaning of an error that meets all conditions, or None."""
        conditions = ((self.status, error.status), (self.code, error.code), (self.type, error.type))
        if any(expected not in (None, found) for expected, found in conditions):
            return None
        words = None if self.message is None else re.search(self.message, error.message)
        if self.message is not None and words is None:
            return None
        if self.detail is not None and re.search(self.detail, error.detail) is None:
            return None
        figures = {name: error.fields.get(key) for name, key in self.figures.items()}
        return ErrorMeaning(self.means, _state_limits(figures | (words.groupdict() if words else {})), self.hint)


def _state_limits(figures: Mapping[str, Json]) -> StatedLimits | None:
    """Return the figures that could be read, or None if there is none."""
    numbers = {name: _read_figure(figure) for name, figure in figures.items()}
    known = {name: number for name, number in numbers.items() if number is not None}
    if _BELOW in known:
        known["output"] = max(0, known.pop(_BELOW) - 1)
    return StatedLimits(**known) if known else None


def _read_figure(figure: Json) -> int | None:
    if isinstance(figure, str):
        return parse_int(figure.translate(_SEPARATORS))
    return figure if type(figure) is int and figure >= 0 else None


_UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}


_UNREAD_HINT = (
    "Change what the vendor names: a model setting, the output budget (Policy.output_tokens), an entry of extra_body=, "
    "the schema, an image or file, or the model. If these words mean a limit, a filter or a refused output mode, say "
    "so: profile=Profile.from_name(...).override(rules=[{'message': ..., 'means': ...}])."
)
"""The hint for a rejected request whose words no rule reads."""


class FaultTable(SourcedTable):
    """The meaning of errors: the ``rules`` about words in order, the other ``rules`` in order, then ``statuses``.

    A key of ``statuses`` is a status (``"429"``) or a family (``"5xx"``). ``wait`` is a regular expression that finds
    the wait that an error asks for, in its groups ``h``, ``m``, ``s`` and ``ms``.
    """

    rules: tuple[FaultRule, ...] = ()
    statuses: dict[Annotated[str, Field(pattern=r"^[1-5](\d\d|xx)$")], FaultKind] = Field(default_factory=dict)

    wait: RegexPattern | None = None

    @cached_property
    def _ordered_rules(self) -> tuple[FaultRule, ...]:
        return tuple(sorted(self.rules, key=lambda rule: not rule.reads_words))

    def read(self, error: ProviderError) -> ErrorMeaning:
        """Return the meaning of an error."""
        if len(error.message) > _MAX_SEARCHED or len(error.detail) > _MAX_SEARCHED:
            error = replace(error, message=error.message[:_MAX_SEARCHED], detail=error.detail[:_MAX_SEARCHED])
        meaning = self._find_meaning(error)
        return replace(meaning, wait=self._find_wait(error.message))

    def _find_meaning(self, error: ProviderError) -> ErrorMeaning:
        meanings = ((rule, rule.read(error)) for rule in self._ordered_rules)
        rule, meaning = next((found for found in meanings if found[1] is not None), (None, None))
        if meaning is None:
            keys = (str(error.status), f"{str(error.status)[:1]}xx")
            means = next((self.statuses[key] for key in keys if key in self.statuses), FaultKind.SERVER)
            meaning = ErrorMeaning(means)
        is_read = meaning.means is not FaultKind.BAD_REQUEST or (rule is not None and rule.reads_words)
        return meaning if is_read or meaning.hint else replace(meaning, hint=_UNREAD_HINT)

    def _find_wait(self, message: str) -> float | None:
        found = re.search(self.wait, message) if self.wait else None
        units = found.groupdict() if found is not None else {}
        seconds = [(parse_float(units.get(unit)) or 0) * factor for unit, factor in _UNITS.items()]
        return sum(seconds) or None

    def lookup(self, status: int | None, code: str, kind: str, message: str) -> StopReason | FaultKind:
        """Return the meaning of an error with these fields, without its figures."""
        return self.read(ProviderError(status, code, kind, message)).means


OptionPath = Annotated[str, Field(pattern=r"^\w+(\.\w+)*$")]
"""A path in the caller's options, with dots between its keys."""
LimitName = Literal["context", "max_output"]
"""The limits of a model that a profile may only assume."""
SettingName = Literal["temperature", "top_p", "seed", "reasoning_effort", "service_tier", "safety", "stop"]
SETTING_NAMES: tuple[SettingName, ...] = get_args(SettingName)
"""The model settings that are written to the request body."""
SETTING_DEFAULT = 1
"""The default of the settings that some models accept only with their default."""


class ThinkingBudget(SourcedTable):
    """The share of the output budget that thinking takes on a wire.

    Attributes:
        counted: The output budget includes thinking.
        tokens: Paths of options that set the length of thinking as a number.
        effort: Paths of options that set it as a word. A number wins over a word.
        allowances: The tokens to reserve for each word, in lower case. A word with none turns thinking off, whatever
            the other options say. Otherwise the first path with a known word counts.
        beside_forced_tool: The model may think when it is forced to call a function.
    """

    counted: bool
    tokens: tuple[OptionPath, ...] = ()
    effort: tuple[OptionPath, ...] = ()
    allowances: dict[str, Annotated[int, Field(ge=0)]]
    beside_forced_tool: bool = True

    def reserved_tokens(self, options: Mapping[str, Json], default_effort: str | None) -> int:
        """Return the tokens to reserve under ``options``, which ``default_effort`` complements."""
        if not self.counted:
            return 0
        for number in (_value_at_path(options, path) for path in self.tokens):
            if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
                return number
        words = [str(_value_at_path(options, path) or "").lower() for path in self.effort]
        known = [self.allowances[word] for word in words if word in self.allowances]
        if not known:
            return self.allowances.get(default_effort or "", 0)
        return known[0] if all(known) else 0

    def set_options(self, options: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
        """Return the paths and values of the ``options`` that control thinking."""
        values = ((path, _value_at_path(options, path)) for path in (*self.tokens, *self.effort))
        return tuple((path, str(value).lower()) for path, value in values if value is not None)


class ReasoningModel(SourcedTable):
    """The default thinking effort of the models whose name matches ``match``."""

    match: str
    effort: str


class RequestParameter(ProfileTable):
    """A request field that a model setting is written to, and the values that it accepts.

    Attributes:
        path: The path of the field. For Google it leads into ``GenerateContentConfig``.
        minimum: The smallest number.
        maximum: The largest number.
        values: The accepted words, or the accepted words of each entry. Efforts rise.
        names: The accepted names of the entries of a mapping.
        entry: The keys under which a mapping's entries are written as a list of objects: one for the name, one for
            the word.
        max_items: The longest list.
    """

    path: OptionPath
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    entry: tuple[str, str] | None = None
    max_items: int | None = None

    def read(self, options: Mapping[str, Json]) -> Json:
        """Return what a request has in this field. None, if it leaves the setting to the vendor's default."""
        return _value_at_path(options, self.path)

    def write(self, value: Json) -> dict[str, Json]:
        """Return the request field of a setting."""
        if self.entry is not None:
            value = [dict(zip(self.entry, pair, strict=True)) for pair in as_mapping(dict(value)).items()]
        elif not self.values and not isinstance(value, int | float):  # the texts of stop
            value = [value] if isinstance(value, str) else list(value)
        innermost, *outer = reversed(self.path.split("."))
        return reduce(lambda inner, key: {key: inner}, outer, {innermost: value})


class RequestParameters(SourcedTable):
    """The model settings that a wire format has a field for. Others are not accepted."""

    temperature: RequestParameter | None = None
    top_p: RequestParameter | None = None
    seed: RequestParameter | None = None
    reasoning_effort: RequestParameter | None = None
    service_tier: RequestParameter | None = None
    safety: RequestParameter | None = None
    stop: RequestParameter | None = None

    @cached_property
    def accepted(self) -> Mapping[str, RequestParameter]:
        """The parameters by the name of their setting."""
        fields = {name: getattr(self, name) for name in SETTING_NAMES}
        return {name: field for name, field in fields.items() if field is not None}


class ModelParameters(SourcedTable):
    """The deviations of the models whose name matches ``match`` from the settings of their wire.

    Attributes:
        refuses: Settings that the models do not accept.
        default_only: Settings that they accept only with the default, 1.
        default_only_if_thinking: The same while they think.
        reasoning_effort: The words that they accept, if they do not accept all words of the wire.
    """

    match: str
    refuses: frozenset[SettingName] = frozenset()
    default_only: frozenset[SettingName] = frozenset()
    default_only_if_thinking: frozenset[SettingName] = frozenset()
    reasoning_effort: tuple[str, ...] = ()

    def narrow(self, name: str, parameter: RequestParameter) -> RequestParameter:
        """Return a parameter of the wire with the values that these models accept."""
        if name in self.default_only:
            return parameter.model_copy(update={"minimum": SETTING_DEFAULT, "maximum": SETTING_DEFAULT})
        if name == "reasoning_effort" and self.reasoning_effort:
            return parameter.model_copy(update={"values": self.reasoning_effort})
        return parameter


class UsageFields(SourcedTable):
    """Where a response counts what its input and output consist of, relative to its usage. The first path counts.

    The input, the output and their sum have one place on each wire. If the sum is larger than its parts, what is
    missing is added: see ``adapters.response_decoding.read_usage``.

    Attributes:
        cached: Paths of the input tokens that were read from a cache.
        written: Paths of the input tokens that were written to a cache.
        thinking: Paths of the tokens of thinking.
        thinking_beside: Thinking is not counted in the output. It counts where the response has no sum.
    """

    cached: tuple[OptionPath, ...] = ()
    written: tuple[OptionPath, ...] = ()
    thinking: tuple[OptionPath, ...] = ()
    thinking_beside: bool = False

    @cached_property
    def split_paths(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """The keys of the paths of ``cached``, ``written`` and ``thinking``."""
        return tuple(
            tuple(tuple(path.split(".")) for path in paths) for paths in (self.cached, self.written, self.thinking)
        )


class RateLimitHeaders(SourcedTable):
    """The response headers that tell how much of the rate limits is left, and how the vendor counts.

    Attributes:
        counts_budget: A call counts with its output budget, not with the tokens that it used.
    """

    remaining_requests: str = ""
    reset_requests: str = ""
    remaining_tokens: str = ""
    reset_tokens: str = ""
    counts_budget: bool = False


class TokenEncoding(SourcedTable):
    """The published tokenizer of the models whose name matches ``match``."""

    match: str
    encoding: str


def _value_at_path(options: Mapping[str, Json], path: str) -> Json:
    value: Json = options
    for key in path.split("."):
        value = cast("Mapping[str, Json]", value).get(key) if isinstance(value, Mapping) else getattr(value, key, None)
    return value


class Capability(str, Enum):
    """The reserved capability ids, and one of our own."""

    STRUCTURED_OUTPUT = "structured-output"
    """The provider enforces a schema."""
    DISCRIMINATOR_ENUM = "discriminator-enum"
    """The enforced schema may be a discriminated union."""
    LONG_CONTEXT = "long-context"
    """The context window has 200,000 tokens or more."""
    REASONING = "reasoning"
    """The model thinks before it answers."""
    FUNCTION_CALLING = "function-calling"
    """The model can be forced to call a function."""
    VISION_INPUT = "vision-input"
    AUDIO_INPUT = "audio-input"
    DOCUMENT_INPUT = "x-host-emitter-document-input"
    """The model accepts PDF documents. RFC 0031 reserves no id for it."""
    AUDIO_OUTPUT = "audio-output"
    IMAGE_OUTPUT = "image-output"


_CAPABILITY_ID = re.compile(r"[a-z][a-z0-9-]*|x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*")
_HOST_CAPABILITY_ID = re.compile(r"x-host-[a-z][a-z0-9-]*-[a-z][a-z0-9-]*")
_RESERVED_IDS = frozenset(capability.value for capability in Capability)


def is_capability_id(text: str) -> bool:
    """Return whether ``text`` has the form of a capability id."""
    return _CAPABILITY_ID.fullmatch(text) is not None


def _check_capability(text: str) -> str:
    if text not in _RESERVED_IDS and _HOST_CAPABILITY_ID.fullmatch(text) is None:
        raise ValueError(f"must be one of {', '.join(sorted(_RESERVED_IDS))}, or x-host-<host>-<key>")
    return text


class ModelCapabilities(SourcedTable):
    """The capabilities of the models whose name matches ``match`` that no other table implies.

    ``provides`` may be empty, to exclude models from a later row.
    """

    match: str
    provides: frozenset[Annotated[str, AfterValidator(_check_capability)]]


class MediaSource(str, Enum):
    """A way to send a medium to the provider."""

    DATA = "data"
    """In the request, as base64."""
    URL = "url"
    """By a URL that the provider reads."""
    FILE = "file"
    """By the id of an uploaded file."""


class WireMedia(SourcedTable):
    """The ways to send media over a wire format. A medium without a source cannot be sent.

    Attributes:
        needs_type: A URL and an uploaded file need a media type.
        file_schemes: The schemes of file ids that are URIs. Without one, file ids are not URIs.
        request_bytes: The largest request body.
    """

    image: frozenset[MediaSource] = frozenset()
    document: frozenset[MediaSource] = frozenset()
    audio: frozenset[MediaSource] = frozenset()
    needs_type: bool = False
    file_schemes: tuple[str, ...] = ()
    request_bytes: Annotated[int, Field(ge=1)] | None = None

    def sources(self, medium: Medium) -> frozenset[MediaSource]:
        """Return the ways to send ``medium``."""
        return {Medium.IMAGE: self.image, Medium.DOCUMENT: self.document, Medium.AUDIO: self.audio}[medium]


class MediumSupport(ProfileTable):
    """The files of one medium that a model accepts. A limit is None if it is not published.

    Attributes:
        types: The media types.
        bytes: The largest file.
        count: The most files in a request.
        sources: Restricts the wire's sources.
    """

    types: Annotated[tuple[str, ...], Field(min_length=1)]
    bytes: Annotated[int, Field(ge=1)] | None = None
    count: Annotated[int, Field(ge=1)] | None = None
    sources: frozenset[MediaSource] | None = None


class ImageSupport(MediumSupport):
    """The images that a model accepts.

    An image has ``base_tokens``, and ``patch_tokens`` for each square of ``patch`` pixels, up to ``max_tokens``. The
    formula is an upper bound, because providers scale large images down first.

    Attributes:
        side: The longest side in pixels.
        many: More images than this are limited to ``many_side`` instead of ``side``.
    """

    side: int | None = None
    many: int | None = None
    many_side: int | None = None
    patch: Annotated[int, Field(ge=1)] = 512
    base_tokens: Annotated[int, Field(ge=0)] = 0
    patch_tokens: Annotated[float, Field(ge=0)] = 0
    max_tokens: Annotated[int, Field(ge=1)]


class DocumentSupport(MediumSupport):
    """The documents that a model accepts, with an upper bound on the tokens of a page."""

    pages: Annotated[int, Field(ge=1)] | None = None
    page_tokens: Annotated[int, Field(ge=1)]


class AudioSupport(MediumSupport):
    """The recordings that a model accepts, with the tokens of a second."""

    second_tokens: Annotated[float, Field(gt=0)]


class ModelMedia(SourcedTable):
    """The media that the models whose name matches ``match`` accept, none if no medium is listed.

    Attributes:
        assumed: It is not known whether the models accept them. They are sent, but no capability is claimed.
    """

    match: str
    assumed: bool = False
    image: ImageSupport | None = None
    document: DocumentSupport | None = None
    audio: AudioSupport | None = None

    def support(self, medium: Medium) -> MediumSupport | None:
        """Return the facts about ``medium``, or None if the models do not accept it."""
        return {Medium.IMAGE: self.image, Medium.DOCUMENT: self.document, Medium.AUDIO: self.audio}[medium]


class PromptCaching(SourcedTable):
    """The prompt cache of the models whose name matches ``match``.

    Attributes:
        minimum: The tokens of the shortest prefix that is cached.
        marks: The largest number of marks in a request, 0 if the provider caches by itself.
        exclusive: The provider caches more than the marked prefix, unless the request forbids it.
        keyed: Requests with the same prefix can share a key.
        lifetimes: The lifetimes that a request can ask for, the default first and the longest last.
        write_price: The price of written tokens, as a multiple of the price of input.
    """

    match: str
    minimum: Annotated[int, Field(ge=1)]
    marks: Annotated[int, Field(ge=0)] = 0
    exclusive: bool = False
    keyed: bool = False
    lifetimes: tuple[str, ...] = ()
    write_price: Annotated[float, Field(ge=0)] = 1

    @property
    def is_free(self) -> bool:
        """True if a mark costs nothing, so that it can be set by default."""
        return self.marks > 0 and self.write_price <= 1

    def may_write(self, cache: PromptCache | None) -> bool:
        """Return whether tokens are written to the cache for more than the price of input."""
        if cache is not None and (cache.is_marked or cache.is_exclusive):
            return cache.is_marked and self.write_price > 1
        return self.exclusive and self.write_price > 1

    def longest_lifetime(self) -> str | None:
        """Return the longest lifetime to ask for, or None if there is only the default."""
        return self.lifetimes[-1] if len(self.lifetimes) > 1 else None


class OptionalProperties(str, Enum):
    """The form of an optional property in the provider's subset."""

    NULLABLE = "nullable"
    """Required, as a union with null."""
    OMIT = "omit"
    """Left out of ``required``."""


class RecursionSupport(str, Enum):
    """The recursive references that the provider accepts."""

    KEEP = "keep"
    """All."""
    OPTIONAL = "optional"
    """References through an optional property."""
    REFUSE = "refuse"
    """None. They are unrolled ``SchemaSubset.unroll`` times, and deeper levels are sent as JSON text."""


class SchemaLimits(SourcedTable):
    """Size limits of a schema; None if the provider publishes none.

    Attributes:
        depth: Nested objects and arrays from the root.
        levels: Nested schemas below the root, including scalars and unions but not references.
        enum_values: The members of all enums.
        characters: The characters of property and definition names and of enum and const values.
        optional: Properties left out of ``required``.
        optional_of_one_object: The same for any single object.
        unions: Schemas with ``anyOf`` or a list of types.
        long_enum: A string enum with more values may have at most ``long_enum_characters`` in total.
        text: The characters of all titles and descriptions.
    """

    depth: int | None = None
    levels: int | None = None
    properties: int | None = None
    enum_values: int | None = None
    characters: int | None = None
    optional: int | None = None
    optional_of_one_object: int | None = None
    unions: int | None = None
    long_enum: int | None = None
    long_enum_characters: int | None = None
    text: int | None = None


class SchemaSubset(SourcedTable):
    """The strict JSON Schema subset of a provider.

    Attributes:
        enforced: False for servers that enforce no schema. The schema is then only a part of the prompt.
        engines: The decoding engines behind the provider, by the names of ``providers/engines``.
        keywords: The enforced keywords. ``minimum:integer`` is enforced for integers, and not for other numbers.
        uncertain: Keywords that are sent, but that not every engine enforces. They are also described to the model.
        formats: The accepted string formats.
        enum_types: The accepted types of constants.
        closed_objects: Every object must be closed, unless ``open_objects`` allows it to be open.
        open_objects: An object that names properties may have any others, as ``additionalProperties: {}`` says.
        discriminated: Every variant of a union must have a property with a single value.
        root_ref: ``{"$ref": "#"}`` may refer to the root.
        root_names: A regular expression that the names of the root's properties must match in full.
        min_items_max: The largest accepted ``minItems``.
        max_count: The largest count of items or characters that is sent.
        lone_string_rules: Of a string's pattern, format and length, only one is enforced.
        ordering: The keyword for property order.
        pattern_refuses: A regular expression that finds unsupported syntax in a ``pattern``.
    """

    enforced: bool = True
    engines: tuple[str, ...] = ()
    keywords: frozenset[str]
    uncertain: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    enum_types: frozenset[str] = frozenset({"string", "integer", "number", "boolean"})
    optionals: OptionalProperties
    closed_objects: bool = True
    open_objects: bool = False
    discriminated: bool = False
    ref_siblings: bool = False
    root_ref: bool = False
    root_names: RegexPattern | None = None
    recursion: RecursionSupport = RecursionSupport.REFUSE
    unroll: int = 2
    min_items_max: int | None = None
    max_count: int | None = None
    lone_string_rules: bool = False
    ordering: str | None = None
    pattern_refuses: RegexPattern | None = None
    limits: SchemaLimits
