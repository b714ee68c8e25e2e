"""The request that a simulated vendor receives, and the response that a behaviour plans for it.

Any frozen dataclass with a ``plan`` method is a ``Behaviour``. Token counting for plans is here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from random import Random
from typing import TYPE_CHECKING, Protocol, TypeAlias

from emitter.tokens import make_token_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.messages import Json
    from emitter.profiles.model import WireFormat


class EndReason(Enum):
    """The reason why a vendor stopped writing. Each API has its own values for it."""

    COMPLETE = "whole"
    TRUNCATED = "cut"
    REFUSED = "refused"
    FILTERED = "filtered"
    PAUSED = "paused"
    MISSING = "none"
    """No reason is sent, and a stream ends without its last events."""


class ErrorKind(Enum):
    """The errors of a vendor. Each API has its own status, code and body for them."""

    BAD_REQUEST = "bad_request"
    BAD_SCHEMA = "bad_schema"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    NO_MODEL = "no_model"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    QUOTA = "quota"
    OVERFLOWED = "overflowed"
    PROMPT_BLOCKED = "prompt_blocked"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class PlannedError:
    """An error response.

    Attributes:
        kind: The error; the API decides its status and body.
        message: The vendor's message, by default the usual one.
        status: The HTTP status, by default the vendor's usual one.
        retry_after: Seconds, or ``"date"`` for a date two seconds from now.
        param: The part of the request that caused the error.
        code: The vendor's error code, by default the usual one.
    """

    kind: ErrorKind
    message: str = ""
    status: int | None = None
    retry_after: float | str | None = None
    param: str | None = None
    code: str | None = None


class TransmissionOutcome(Enum):
    """The end of the transmission of a response."""

    DELIVERED = "arrives"
    DISCONNECTED = "cut_off"
    STALLED = "falls_silent"
    TRICKLED = "trickles"


@dataclass(frozen=True, slots=True)
class Transmission:
    """The transmission of a response: it fails ``after_bytes`` of its body, or before the headers if that is None."""

    outcome: TransmissionOutcome = TransmissionOutcome.DELIVERED
    after_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedResponse:
    """An answer.

    Attributes:
        text: The whole text, or the arguments of a forced function.
        end_reason: The reason why the answer ends. A string is sent unchanged, even if the vendor does not know it.
        thinking_tokens: Tokens of thinking before the text.
        output_tokens: Billed tokens, thinking included. None: as many as thinking and text have.
        category: Anthropic's category of a refusal.
        chunk_size: Characters in one delta of a stream.
        error: An error under HTTP 200: at the end of a stream, otherwise instead of the answer.
        transmission: How the response is sent.
    """

    text: str
    end_reason: EndReason | str = EndReason.COMPLETE
    thinking_tokens: int = 0
    output_tokens: int | None = None
    category: str = ""
    chunk_size: int = 20
    error: PlannedError | None = None
    transmission: Transmission = Transmission()


@dataclass(frozen=True, slots=True)
class RawResponse:
    """A body as it is, by default under HTTP 200."""

    body: bytes
    content_type: str = "text/html"
    status: int = 200


PlannedOutcome: TypeAlias = "PlannedResponse | PlannedError | RawResponse"


class Behaviour(Protocol):
    """One way to answer. Any frozen dataclass with this method is a behaviour."""

    def plan(self, request: ReceivedRequest, /) -> PlannedOutcome:
        """Return the response to a request."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedRequest:
    """One request that arrived.

    Attributes:
        wire: The API that the request was sent to.
        path: The path with its query.
        model: The model's name.
        body: The JSON body.
        streamed: Whether the answer is streamed.
        schema: The schema that the answer must match, or None.
        tool: The function that the model must call, or None.
        budget: The output budget in tokens, or None.
        input_tokens: The tokens of the prompt.
        include_usage: Whether a stream ends with its usage.
        is_azure: Whether the path is one of Azure's.
        repeat_count: How many requests with the same body came before.
        seed: The seed of everything that is random about the answer.
    """

    wire: WireFormat
    path: str
    model: str
    body: Mapping[str, Json]
    streamed: bool
    schema: Json
    tool: str | None
    budget: int | None
    input_tokens: int
    include_usage: bool = True
    is_azure: bool = False
    repeat_count: int = 0
    seed: str = ""

    def make_rng(self) -> Random:
        """Return a random generator, the same for the same seed, body and repetition."""
        return Random(self.seed)  # noqa: S311  not for secrets


_TOKEN_CACHE_SIZE = 4_096


@cache
def _load_counter() -> Callable[[str], int]:
    return make_token_counter("o200k_base")


@lru_cache(maxsize=_TOKEN_CACHE_SIZE)
def count_tokens(text: str) -> int:
    """Count the tokens of a text. Without tiktoken's rank file this is an estimate that is never too low."""
    return _load_counter()(text)


def truncate_to_tokens(text: str, budget: int) -> str:
    """Return the longest prefix of ``text`` with at most ``budget`` tokens, found by binary search."""
    if budget <= 0:
        return ""
    fits, over = 0, len(text) + 1
    count = _load_counter()
    while over - fits > 1:
        middle = (fits + over) // 2
        if count(text[:middle]) <= budget:
            fits = middle
        else:
            over = middle
    return text[:fits]
