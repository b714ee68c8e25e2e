"""What passes between the emission and a vendor, in words that belong to none of them.

Values only: nothing here reads, sends or decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = Any
"""A JSON value: ``None``, bool, int, float, str, list or dict with string keys."""


class Role(str, Enum):
    """Who speaks in a message."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation that leads to the request."""

    role: Role
    text: str


class OutputMode(str, Enum):
    """How the vendor is asked to hold to a schema."""

    JSON_SCHEMA = "json_schema"
    """The vendor's own structured-output mode."""
    TOOL = "tool"
    """One forced strict tool whose arguments are the document."""
    JSON_OBJECT = "json_object"
    """Any JSON object; the schema travels in the prompt."""
    TEXT = "text"
    """Nothing is asked of the vendor; the schema travels in the prompt."""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The document that is asked for: a name of at most 64 characters and its compiled schema."""

    name: str
    schema: Mapping[str, Json]
    mode: OutputMode
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """One call as the emission wants it; ``budget`` is the output budget in tokens.

    ``correction`` is the one corrective fragment of a schema retry; it replaces its predecessor and is
    written by us from the validator, never from the answer. ``options`` are merged into the vendor's body
    as they are.
    """

    model: str
    system: str
    messages: tuple[Message, ...]
    output: OutputFormat
    budget: int
    correction: str | None = None
    options: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))

    def turns(self) -> tuple[Message, ...]:
        """Return the messages with the correction, if any, as the last user turn."""
        if self.correction is None:
            return self.messages
        return (*self.messages, Message(Role.USER, self.correction))


class Stop(str, Enum):
    """What a vendor's stop reason means. ``providers/*.toml`` maps every raw reason to one of these."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    OVERFLOWED = "overflowed"
    REFUSED = "refused"
    PAUSED = "paused"
    UNKNOWN = "unknown"
    FAULTED = "faulted"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls: ``input`` and ``output`` are all that went in and came out.

    ``cache_read`` and ``cache_write`` are parts of ``input``, ``thinking`` is a part of ``output``, as far
    as the vendor tells them apart. ``estimated`` says that a part of it was counted here, since an answer that
    broke off was never billed in words.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """All tokens, in and out."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.thinking + other.thinking,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What a vendor said of a failure, in its own words.

    It is for the caller's exception alone: no model reads it, and no event holds it. ``param`` names the part of
    the request that the vendor complains of. ``cause`` is the exception that the SDK raised, where it raised one;
    it is never written down.
    """

    message: str = ""
    code: str | None = None
    param: str | None = None
    cause: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as the vendor gave it: stop first, then what it holds.

    ``raw_stop`` is the vendor's own word. ``text`` is the visible answer without thinking or commentary,
    ``arguments`` the arguments of each called tool (JSON text or an object), ``refusal`` the vendor's
    refusal text or category, which is never told. ``usage`` is None where the vendor told none. ``report`` is what
    the vendor said of it, where it came as an error.
    """

    stop: Stop
    raw_stop: str
    text: str = ""
    arguments: tuple[Json, ...] = ()
    refused_as: str | None = None
    usage: Usage | None = None
    request_id: str | None = None
    report: Report | None = None


class FaultKind(str, Enum):
    """Why no answer came. The value is the word used in ``providers/*.toml``."""

    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    SCHEMA_REJECTED = "schema_rejected"
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
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    """The caller left before the answer was whole."""

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed later."""
        return self in _TRANSIENT


_TRANSIENT = frozenset(
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

    ``status`` is the HTTP status (None where no response came), ``code`` the vendor's own code,
    ``retry_after`` what the vendor asked for in seconds, ``message`` one sentence of ours. ``report`` is what the
    vendor said itself, and ``request_id`` its id of the request.
    """

    kind: FaultKind
    message: str
    status: int | None = None
    code: str | None = None
    retry_after: float | None = None
    usage: Usage | None = None
    request_id: str | None = None
    report: Report | None = None


Answer: TypeAlias = Reply | Fault


def with_budget(request: Request, budget: int) -> Request:
    """Return the same request, byte for byte in its prompt, with another output budget."""
    return Request(
        model=request.model,
        system=request.system,
        messages=request.messages,
        output=request.output,
        budget=budget,
        correction=request.correction,
        options=request.options,
    )


def mapping(value: Json) -> Mapping[str, Json]:
    """Return ``value`` where it is an object, else an empty one: what comes from outside promises nothing."""
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Json]:
    """Return ``value`` where it is a list, else an empty one."""
    return cast("list[Json]", value) if isinstance(value, list) else []
