"""The requests, responses and failures that pass between an emission and a provider.

These are provider-independent values. The adapters translate them to and from each wire format.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json: TypeAlias = Any
"""A JSON value: ``None``, bool, int, float, str, list or dict with string keys."""


class Role(str, Enum):
    """The speaker of a message."""

    USER = "user"
    ASSISTANT = "assistant"


class Trust(str, Enum):
    """The trust in the inputs of an envelope. One untrusted input makes the envelope untrusted."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Medium(str, Enum):
    """A kind of input that is not text."""

    IMAGE = "image"
    DOCUMENT = "document"
    AUDIO = "audio"


MEDIUM_NAMES = {Medium.IMAGE: "an image", Medium.DOCUMENT: "a PDF document", Medium.AUDIO: "an audio recording"}


@dataclass(frozen=True, slots=True, repr=False)
class MediaPart:
    """An image, a document or an audio recording in a message, as ``data``, a ``url`` or a ``file_id``.

    Attributes:
        media_type: The media type, or an empty string if it is not known.
        file_id: The provider's id of an uploaded file.
        name: The file name to send, if any.
        detail: OpenAI's level of detail.
    """

    medium: Medium
    media_type: str = ""
    data: bytes | None = None
    url: str | None = None
    file_id: str | None = None
    name: str | None = None
    detail: str | None = None

    @property
    def digest(self) -> str:
        """``sha256:`` and the hash of the bytes, or of the URL or file id if there are none."""
        content = self.data if self.data is not None else (self.url or self.file_id or "").encode(errors="replace")
        return f"sha256:{hashlib.sha256(content).hexdigest()}"

    @property
    def base64(self) -> str:
        """The bytes in base64."""
        return base64.b64encode(self.data or b"").decode()

    @property
    def data_url(self) -> str:
        """The bytes as a ``data:`` URL."""
        return f"data:{self.media_type};base64,{self.base64}"

    def __repr__(self) -> str:
        """Identify the part without its bytes, and without its URL, which may be signed."""
        source = "data" if self.data is not None else "url" if self.url is not None else "file_id"
        fields = (self.medium.value, self.media_type, source, self.digest, self.name, self.detail)
        return f"MediaPart{fields!r}"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation.

    ``parts`` is empty for a turn of text only. Otherwise it holds texts and media in order, and ``text`` holds all the
    texts.
    """

    role: Role
    text: str
    parts: tuple[str | MediaPart, ...] = ()

    @classmethod
    def from_parts(cls, role: Role, parts: Sequence[str | MediaPart]) -> Message:
        """Return a turn of texts and media; adjacent texts are joined with a blank line."""
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return cls(role, "\n\n".join(texts))
        merged: list[str | MediaPart] = []
        for part in parts:
            if isinstance(part, str) and merged and isinstance(merged[-1], str):
                merged[-1] = f"{merged[-1]}\n\n{part}"
            else:
                merged.append(part)
        return cls(role, "\n\n".join(texts), tuple(merged))

    @property
    def media(self) -> tuple[MediaPart, ...]:
        """The media of the turn."""
        return tuple(part for part in self.parts if isinstance(part, MediaPart))


class OutputMode(str, Enum):
    """The mode in which a provider is asked to follow a schema."""

    JSON_SCHEMA = "json_schema"
    """The provider's structured-output mode."""
    TOOL = "tool"
    """One forced strict tool whose arguments are the document."""
    JSON_OBJECT = "json_object"
    """Any JSON object; the schema is part of the prompt."""
    TEXT = "text"
    """Plain text; the schema is part of the prompt."""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The requested document: a name of at most 64 characters and its compiled schema.

    Attributes:
        is_enforced: The server is said to hold the model to the schema.
        is_described: The prompt describes the schema. Otherwise the server is said to show it to the model.
        is_ignored: The prompt describes the schema because the server ignored that of an earlier request.
    """

    name: str
    schema: Mapping[str, Json]
    mode: OutputMode
    strict: bool = True
    is_enforced: bool = False
    is_described: bool = True
    is_ignored: bool = False


class _NoFields(dict[str, Any]):
    """An empty, hashable mapping.

    A dataclass rejects an unhashable default, and ``MappingProxyType`` is hashable only from Python 3.12 on.
    """

    __hash__ = object.__hash__  # type: ignore[assignment]


NO_FIELDS: Mapping[str, Any] = _NoFields()
"""No fields or headers."""
JUDGE_ROUTE = -1
"""The route of a request to the judge, which is the last of the emission's models."""


HOUR = "1h"
"""The cache lifetime for which providers have a separate price."""


@dataclass(frozen=True, slots=True)
class PromptCache:
    """The settings of a request for the provider's prompt cache.

    Attributes:
        prefix: The length of the start of the system prompt that all requests of a form share.
        is_marked: Mark the end of the prefix, so that it is cached.
        is_exclusive: Cache only the marked prefix, if the provider would otherwise choose what to cache.
        lifetime: The lifetime of the cached prefix, in the provider's words, or None for its default.
        key: A name that requests with the same prefix share.
    """

    prefix: int = 0
    is_marked: bool = False
    is_exclusive: bool = False
    lifetime: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call to a model.

    Attributes:
        max_output_tokens: The output budget in tokens.
        correction: The corrective fragment of a schema retry. It is written from the validator's findings, never from
            the answer, and replaces the previous one.
        options: Merged into the provider's request body unchanged.
        headers: Sent along with the SDK's own.
        route: The position of the model among those of the emission, or ``JUDGE_ROUTE``.
        cache: The settings for the prompt cache, or None for the provider's default.
        is_streamed: The server answers only in a stream, so the answer is read as one, also if nobody watches it.
        lowered_effort: The reasoning effort in ``options`` that replaced a higher one after a cut.
    """

    model: str
    system: str
    messages: tuple[Message, ...]
    output: OutputFormat
    max_output_tokens: int
    correction: str | None = None
    options: Mapping[str, Json] = NO_FIELDS
    headers: Mapping[str, str] = NO_FIELDS
    route: int = 0
    cache: PromptCache | None = None
    is_streamed: bool = False
    lowered_effort: str | None = None

    def system_parts(self) -> tuple[str, ...]:
        """Return the system prompt, in two parts if only a prefix of it is marked for the cache."""
        length = self.cache.prefix if self.cache is not None and self.cache.is_marked else len(self.system)
        rest = self.system[length:].strip()
        return (self.system[:length], rest) if rest else (self.system,)

    def all_messages(self) -> tuple[Message, ...]:
        """Return the messages with the correction, if any, as the last user turn."""
        if self.correction is None:
            return self.messages
        return (*self.messages, Message(Role.USER, self.correction))


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The conditions under which a response is the answer to its request.

    Attributes:
        tool_name: The only tool that was offered, whose call is the answer, or None if there was none.
        response_id: The id that the response must have, or None if it may have any.
    """

    tool_name: str | None = None
    response_id: str | None = None

    @classmethod
    def of(cls, request: ModelRequest) -> ExpectedAnswer:
        """Return what the answer to a request must match."""
        output = request.output
        return cls(output.name) if output.mode is OutputMode.TOOL else _NO_TOOL

    def is_own_call(self, name: Json) -> bool:
        """Return whether a call of this tool is the answer."""
        return self.tool_name is not None and name == self.tool_name

    def is_own_id(self, response_id: Json) -> bool:
        """Return whether a response with this id is the answer."""
        return self.response_id is None or response_id == self.response_id


_NO_TOOL = ExpectedAnswer()


class StopReason(str, Enum):
    """The meaning of a provider's stop reason. ``providers/*.toml`` maps every raw reason to one of these.

    The order matters: if an answer has several stop reasons, the first of these members wins, so COMPLETE is last.
    """

    REFUSED = "refused"
    FAULTED = "faulted"
    OVERFLOWED = "overflowed"
    LOOPED = "looped"
    TRUNCATED = "truncated"
    UNKNOWN = "unknown"
    PAUSED = "paused"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one or more calls.

    Attributes:
        input: All input tokens, including ``cache_read`` and ``cache_write``.
        output: All output tokens, including ``thinking``.
        cache_read: Input tokens read from a cache, if the provider reports them.
        cache_write: Input tokens written to a cache, if the provider reports them.
        cache_write_1h: The part of ``cache_write`` that is kept for an hour, which costs more.
        thinking: Output tokens spent on thinking, if the provider reports them.
        estimated: Part of the usage was counted locally, because the provider did not report it.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0
    estimated: bool = False
    cache_write_1h: int = 0

    @property
    def total(self) -> int:
        """The sum of input and output tokens."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.thinking + other.thinking,
            self.estimated or other.estimated,
            self.cache_write_1h + other.cache_write_1h,
        )


@dataclass(frozen=True, slots=True)
class StatedLimits:
    """The figures, in tokens, that a provider's error names. Each is None if the error does not name it.

    Attributes:
        output: The largest output budget that is accepted.
        credit: The largest output budget that the account can pay for.
        window: The largest sum of prompt and output budget.
        rate: The same sum, as a minute's allowance limits it.
        longest_prompt: The largest prompt.
        prompt: The tokens of the prompt.
        least_prompt: A lower bound of them: some servers stop counting.
        requested: The sum of the prompt and the requested output budget.
    """

    output: int | None = None
    credit: int | None = None
    window: int | None = None
    rate: int | None = None
    longest_prompt: int | None = None
    prompt: int | None = None
    least_prompt: int | None = None
    requested: int | None = None

    def prompt_tokens(self, budget: int) -> int | None:
        """Return the tokens of the prompt of a request with this output budget, or None if no figure tells."""
        if self.prompt is None and self.requested is not None and self.requested > budget:
            return self.requested - budget
        return self.prompt

    def largest_budget(self, prompt_tokens: int) -> int | None:
        """Return the largest output budget that fits all limits, or None if no figure limits it."""
        sums = (limit - prompt_tokens for limit in (self.window, self.rate) if limit is not None)
        return min((limit for limit in (self.output, self.credit, *sums) if limit is not None), default=None)


@dataclass(frozen=True, slots=True)
class ProviderErrorDetails:
    """A provider's own description of a failure, for the caller's exception only.

    It is never shown to a model or written to an event. ``param`` names the part of the request that the provider
    rejects. ``limits`` are the figures that it names, and ``hint`` is what to do about it. ``cause`` is the SDK's
    exception, if any, which is never serialized.
    """

    message: str = ""
    code: str | None = None
    param: str | None = None
    cause: Any = field(default=None, compare=False, repr=False)
    limits: StatedLimits | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """A provider's answer.

    Attributes:
        stop: The meaning of the stop reason.
        raw_stop: The provider's own stop reason.
        text: The visible answer without thinking or commentary.
        arguments: The arguments of each call of the requested tool, as JSON text or an object.
        refused_as: The provider's refusal text or category, which is never shown.
        usage: The usage, or None if the provider did not report it.
        report: The provider's error details, if the answer came as an error.
        other_tool_called: The model called a tool that was not requested. Nothing of such a call is kept.
        has_thinking: The model's thinking was sent along, in a field or part of its own. It is not kept.
        is_grounded: The answer was fed by outside material, such as a search that the vendor ran.
    """

    stop: StopReason
    raw_stop: str
    text: str = ""
    arguments: tuple[Json, ...] = ()
    refused_as: str | None = None
    usage: Usage | None = None
    request_id: str | None = None
    report: ProviderErrorDetails | None = None
    other_tool_called: bool = False
    is_grounded: bool = False
    has_thinking: bool = False

    @property
    def document_text(self) -> str:
        """The text of the document: the arguments of the first call, or the text if there is none."""
        if not self.arguments:
            return self.text
        first = self.arguments[0]
        return first if isinstance(first, str) else json.dumps(first)


class FaultKind(str, Enum):
    """The kind of failure that left a call without an answer. ``providers/*.toml`` uses the values."""

    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    SCHEMA_REJECTED = "schema_rejected"
    MODE_REFUSED = "mode_refused"
    """The server or the model does not have the output mode, such as ``response_format`` or a forced tool."""
    STREAM_REQUIRED = "stream_required"
    """The model answers only in a stream."""
    BUDGET_REFUSED = "budget_refused"
    """The output budget is larger than the provider accepts."""
    TOO_LARGE = "too_large"
    RESPONSE_TOO_LARGE = "response_too_large"
    """The response has more bytes than ``Policy.max_response_bytes`` allows."""
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    PROTOCOL = "protocol"
    CLIENT = "client"
    """The caller's own code or environment failed, such as a hook of the client."""
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    """The caller stopped before the answer was complete."""

    @property
    def is_about_form(self) -> bool:
        """True if the same request may be accepted in another output mode, or with a streamed answer."""
        return self in (FaultKind.MODE_REFUSED, FaultKind.STREAM_REQUIRED)

    @property
    def is_transient(self) -> bool:
        """True if the same request may succeed later."""
        return self in _TRANSIENT_FAULTS


_TRANSIENT_FAULTS = frozenset(
    {
        FaultKind.RATE_LIMIT,
        FaultKind.OVERLOADED,
        FaultKind.SERVER,
        FaultKind.TIMEOUT,
        FaultKind.CONNECTION,
        FaultKind.PROTOCOL,
    }
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of transport or service, as a value.

    Attributes:
        message: One sentence in emitter's words.
        status: The HTTP status, or None if no response arrived.
        code: The provider's error code.
        retry_after: The wait in seconds that the provider asked for.
        request_id: The provider's id of the request.
        report: The provider's own error details.
    """

    kind: FaultKind
    message: str
    status: int | None = None
    code: str | None = None
    retry_after: float | None = None
    usage: Usage | None = None
    request_id: str | None = None
    report: ProviderErrorDetails | None = None


CallResult: TypeAlias = ModelResponse | Fault


def with_output_budget(request: ModelRequest, max_output_tokens: int) -> ModelRequest:
    """Return the same request with another output budget."""
    return replace(request, max_output_tokens=max_output_tokens)


def as_mapping(value: Json) -> Mapping[str, Json]:
    """Return ``value`` if it is an object, else an empty mapping."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]  cast() is a call


def as_list(value: Json) -> list[Json]:
    """Return ``value`` if it is a list, else an empty list."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
