"""Ready-made behaviours of a simulated vendor: answers, refusals, truncation, errors and network faults.

``Decoded`` draws documents from the request's own schema by constrained decoding.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import jsonschema_rs

from emitter.errors import MissingExtra
from emitter.messages import OutputMode
from emitter.models import binding_moment
from emitter.testing.plans import (
    Behaviour,
    EndReason,
    ErrorKind,
    PlannedError,
    PlannedResponse,
    RawResponse,
    Transmission,
    TransmissionOutcome,
    count_tokens,
    truncate_to_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from emitter.messages import Json
    from emitter.models.binding_moment import TurnAnswer
    from emitter.testing.constrained_decoding import Sampler
    from emitter.testing.plans import PlannedOutcome, ReceivedRequest

CHUNK_SIZE = 20
"""Characters in one delta of a stream."""
_PROSE_WORDS = ("the", "lock", "is", "gone", "so", "we", "go", "on", "with", "what", "was", "left", "and", "wait")
_PROSE_SENTENCES = 3
_MAX_SENTENCE_WORDS = 12


def _dump_document(document: Json) -> str:
    return document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document drawn from the request's schema by constrained decoding, or a few words if there is no schema.

    Needs the extra ``testing``. ``chunk_size`` is the number of characters in one delta of a stream.
    """

    chunk_size: int = CHUNK_SIZE

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the document, or the vendor's error if the decoder cannot use the schema."""
        if request.schema is None:
            return PlannedResponse(_write_prose(request), chunk_size=self.chunk_size)
        return _draw_response(request, request.schema, broken=False, chunk=self.chunk_size)


def _draw_response(request: ReceivedRequest, schema: Json, *, broken: bool, chunk: int = CHUNK_SIZE) -> PlannedOutcome:
    """Return a drawn document, or the vendor's error for a schema that cannot be drawn from.

    ``broken`` makes the document violate the schema in one place.
    """
    rng = request.make_rng()
    try:
        text = draw_document(schema, rng)
        return PlannedResponse(break_document(text, schema, rng) if broken else text, chunk_size=chunk)
    except UndecodableSchema as error:
        return PlannedError(ErrorKind.BAD_SCHEMA, str(error))


def _write_prose(request: ReceivedRequest) -> str:
    rng = request.make_rng()
    sentences = [rng.sample(_PROSE_WORDS, rng.randint(4, _MAX_SENTENCE_WORDS)) for _ in range(_PROSE_SENTENCES)]
    return " ".join(f"{' '.join(words).capitalize()}." for words in sentences)


DECODED = Decoded()
"""The default answer."""


@dataclass(frozen=True, slots=True)
class Text:
    """This text, word for word. Any other JSON value is written as JSON."""

    text: Json
    chunk_size: int = CHUNK_SIZE

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _dump_document(self.text))

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the text."""
        return PlannedResponse(self.text, chunk_size=self.chunk_size)


def write_decision(outcome: TurnAnswer, reasoning: str = "") -> Text:
    """Return a binding moment or a withheld decision as the model writes it."""
    return Text(binding_moment.turn_document(outcome, reasoning))


@dataclass(frozen=True, slots=True)
class Cut:
    """An answer that is longer than its budget, however large that is.

    It ends after ``at_tokens``, or after the request's budget. An answer that fits is cut after three fifths of its
    tokens. With a budget of ``complete_at_tokens`` or more, the answer is complete.
    """

    at_tokens: int | None = None
    complete_at_tokens: int | None = None
    answer: Behaviour = DECODED

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the truncated answer."""
        planned = self.answer.plan(request)
        if not isinstance(planned, PlannedResponse) or self._is_budget_large_enough(request.budget):
            return planned
        limits = [limit for limit in (self.at_tokens, request.budget) if limit is not None]
        limit, length = min(limits, default=None), count_tokens(planned.text)
        kept = length * 3 // 5 if limit is None or limit >= length else limit
        return replace(
            planned, text=truncate_to_tokens(planned.text, kept), end_reason=EndReason.TRUNCATED, output_tokens=limit
        )

    def _is_budget_large_enough(self, budget: int | None) -> bool:
        return self.complete_at_tokens is not None and (budget is None or budget >= self.complete_at_tokens)


class _ChangedAnswer:
    """The changed answer of another behaviour. Its errors stay unchanged."""

    __slots__ = ()
    answer: Behaviour

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the changed answer."""
        planned = self.answer.plan(request)
        return self._change(planned) if isinstance(planned, PlannedResponse) else planned

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Thinking(_ChangedAnswer):
    """An answer after this many tokens of thinking. They are billed and count towards the budget."""

    tokens: int
    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, thinking_tokens=planned.thinking_tokens + self.tokens)


@dataclass(frozen=True, slots=True)
class Refused:
    """The model refuses. Only Anthropic sends ``category``."""

    text: str = "I'm sorry, but I can't help with that."
    category: str = "general_harms"

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the refusal."""
        return PlannedResponse(self.text, EndReason.REFUSED, category=self.category)


@dataclass(frozen=True, slots=True)
class Filtered:
    """A safety system stops the answer after ``partial_text``, or blocks the prompt."""

    block_prompt: bool = False
    partial_text: str = ""

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the block."""
        if self.block_prompt:
            return PlannedError(ErrorKind.PROMPT_BLOCKED)
        return PlannedResponse(self.partial_text, EndReason.FILTERED)


@dataclass(frozen=True, slots=True)
class Paused:
    """The vendor pauses after ``partial_text``. Chat Completions has no stop reason for this and sends none."""

    partial_text: str = ""

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the partial text."""
        return PlannedResponse(self.partial_text, EndReason.PAUSED)


@dataclass(frozen=True, slots=True)
class UnknownStop(_ChangedAnswer):
    """A complete answer with an unknown stop reason."""

    reason: str = "quillious"
    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, end_reason=self.reason)


@dataclass(frozen=True, slots=True)
class Violating:
    """A document that violates the schema: ``document``, or by default a drawn one with one invalid place."""

    document: Json = None

    def __post_init__(self) -> None:
        if self.document is not None:
            object.__setattr__(self, "document", _dump_document(self.document))

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the invalid document."""
        if self.document is not None:
            return PlannedResponse(self.document)
        return _draw_response(request, {"type": "object"} if request.schema is None else request.schema, broken=True)


@dataclass(frozen=True, slots=True)
class Fenced(_ChangedAnswer):
    """The document in a Markdown fence."""

    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, text=f"```json\n{planned.text}\n```")


@dataclass(frozen=True, slots=True)
class InProse(_ChangedAnswer):
    """The document with prose around it."""

    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        text = f"Here is what you asked for:\n\n{planned.text}\n\nTell me if you need anything else."
        return replace(planned, text=text)


@dataclass(frozen=True, slots=True)
class Twice(_ChangedAnswer):
    """The same document twice in one answer, or two calls of a forced function."""

    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, text=f"{planned.text}\n{planned.text}")


@dataclass(frozen=True, slots=True)
class Malformed:
    """A complete answer without a document."""

    text: str = "I would go on with what was left, since the lock is gone."

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the text."""
        return PlannedResponse(self.text)


@dataclass(frozen=True, slots=True)
class Empty:
    """A complete answer without text."""

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return an empty text."""
        return PlannedResponse("")


_TOO_MANY_REQUESTS = 429
_OVERLOADED_ERROR = PlannedError(ErrorKind.OVERLOADED)


@dataclass(frozen=True, slots=True)
class Overloaded:
    """Too many requests (429), or too little capacity (503, 529).

    ``retry_after`` is in seconds, or ``"date"`` for a date two seconds from now.
    """

    status: int = _TOO_MANY_REQUESTS
    retry_after: float | str | None = None

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the error."""
        kind = ErrorKind.RATE_LIMITED if self.status == _TOO_MANY_REQUESTS else ErrorKind.OVERLOADED
        return PlannedError(kind, status=self.status, retry_after=self.retry_after)


_WINDOW_SECONDS = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class RateLimited:
    """Answers 429 above a number of requests or tokens in any minute, and says how long to wait.

    A refused request does not count. ``clock`` returns seconds.
    """

    requests: int | None = None
    tokens: int | None = None
    answer: Behaviour = DECODED
    clock: Callable[[], float] = time.monotonic
    _admitted: deque[tuple[float, int]] = field(default_factory=deque[tuple[float, int]])

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the answer, or the error while a limit is reached."""
        now, planned = self.clock(), self.answer.plan(request)
        while self._admitted and self._admitted[0][0] + _WINDOW_SECONDS <= now:
            self._admitted.popleft()
        output = count_tokens(planned.text) if isinstance(planned, PlannedResponse) else 0
        counted = request.input_tokens + output
        used = sum(tokens for _, tokens in self._admitted)
        is_full = self.requests is not None and len(self._admitted) >= self.requests
        if is_full or (self.tokens is not None and used + counted > self.tokens):
            wait = self._admitted[0][0] + _WINDOW_SECONDS - now if self._admitted else _WINDOW_SECONDS
            return PlannedError(ErrorKind.RATE_LIMITED, status=_TOO_MANY_REQUESTS, retry_after=math.ceil(wait))
        self._admitted.append((now, counted))
        return planned


@dataclass(frozen=True, slots=True)
class Failed:
    """An internal error of the vendor."""

    status: int = 500
    message: str = ""

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the error."""
        return PlannedError(ErrorKind.SERVER, self.message, self.status)


@dataclass(frozen=True, slots=True)
class ModesRefused:
    """The server refuses some output modes, by default JSON Schemas. ``answer`` follows in any other mode.

    ``modes`` are the values of ``OutputMode``, and ``message`` is what the server says.
    """

    modes: tuple[str, ...] = ("json_schema",)
    message: str = "This response_format type is unavailable now"
    answer: Behaviour = DECODED

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the error, or the answer."""
        if find_output_mode(request).value in self.modes:
            return PlannedError(ErrorKind.BAD_REQUEST, self.message)
        return self.answer.plan(request)


@dataclass(frozen=True, slots=True)
class StreamsOnly:
    """The server answers only in a stream, and refuses any other request with ``message``."""

    message: str = "This model only supports streaming: set stream to true."
    answer: Behaviour = DECODED

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:
        """Return the error, or the answer."""
        return self.answer.plan(request) if request.streamed else PlannedError(ErrorKind.BAD_REQUEST, self.message)


def find_output_mode(request: ReceivedRequest) -> OutputMode:
    """Return the output mode that a request asks for."""
    if request.tool is not None:
        return OutputMode.TOOL
    if request.schema is None:
        return OutputMode.TEXT
    # A vendor takes this schema for a request that asks for any object.
    return OutputMode.JSON_OBJECT if request.schema == _ANY_OBJECT else OutputMode.JSON_SCHEMA


_ANY_OBJECT: Json = {"type": "object"}


class _ErrorBehaviour:
    """An error that needs no options."""

    __slots__ = ()
    kind: ClassVar[ErrorKind]

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the error."""
        return PlannedError(self.kind)


@dataclass(frozen=True, slots=True)
class Quota(_ErrorBehaviour):
    """The account is out of credit. Waiting does not help."""

    kind: ClassVar[ErrorKind] = ErrorKind.QUOTA


@dataclass(frozen=True, slots=True)
class Unauthorized(_ErrorBehaviour):
    """The API key is invalid."""

    kind: ClassVar[ErrorKind] = ErrorKind.UNAUTHORIZED


@dataclass(frozen=True, slots=True)
class Forbidden(_ErrorBehaviour):
    """The API key is valid, but lacks the permission."""

    kind: ClassVar[ErrorKind] = ErrorKind.FORBIDDEN


@dataclass(frozen=True, slots=True)
class NotFound(_ErrorBehaviour):
    """The model does not exist."""

    kind: ClassVar[ErrorKind] = ErrorKind.NO_MODEL


@dataclass(frozen=True, slots=True)
class Overflowed(_ErrorBehaviour):
    """The prompt is longer than the model's context window."""

    kind: ClassVar[ErrorKind] = ErrorKind.OVERFLOWED


@dataclass(frozen=True, slots=True)
class Stalled(_ChangedAnswer):
    """The response stops before the headers, or ``after_bytes`` of its body, until the client disconnects."""

    after_bytes: int | None = None
    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, transmission=Transmission(TransmissionOutcome.STALLED, self.after_bytes))


@dataclass(frozen=True, slots=True)
class Dropped(_ChangedAnswer):
    """The connection is cut ``after_bytes`` of the body; None: before the headers.

    The last byte of a body and the last event of a stream are never sent.
    """

    after_bytes: int | None = 200
    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, transmission=Transmission(TransmissionOutcome.DISCONNECTED, self.after_bytes))


@dataclass(frozen=True, slots=True)
class Trickled(_ChangedAnswer):
    """After ``after_bytes`` of the body, spaces or comments arrive slowly and without end.

    A stream stops after the last event within those bytes, so that no event is torn.
    """

    after_bytes: int = 0
    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, transmission=Transmission(TransmissionOutcome.TRICKLED, self.after_bytes))


@dataclass(frozen=True, slots=True)
class NotJson:
    """HTTP 200 with a body in no vendor's format: a proxy's page, half a document, nothing."""

    body: str = "<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>"

    def plan(self, request: ReceivedRequest) -> PlannedOutcome:  # noqa: ARG002
        """Return the body."""
        return RawResponse(self.body.encode(), "text/html" if self.body.startswith("<") else "application/json")


@dataclass(frozen=True, slots=True)
class Unended(_ChangedAnswer):
    """A stream without its last events, or an answer without a stop reason."""

    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, end_reason=EndReason.MISSING)


@dataclass(frozen=True, slots=True)
class ErrorEvent(_ChangedAnswer):
    """An error under HTTP 200: in a stream after half of the answer, otherwise instead of it."""

    error: PlannedError = _OVERLOADED_ERROR
    answer: Behaviour = DECODED

    def _change(self, planned: PlannedResponse) -> PlannedResponse:
        return replace(planned, text=planned.text[: len(planned.text) // 2], error=self.error)


_SAMPLER_CACHE_SIZE = 64
_MAX_DRAWS = 20
_REPLACEMENTS: tuple[Json, ...] = (None, "no such value", -7.5, [], {}, False)


class UndecodableSchema(Exception):
    """The decoder cannot use the schema, or found no document within its limits."""


def draw_document(schema: Json, rng: Random) -> str:
    """Return a document that the schema allows.

    Raises:
        UndecodableSchema: The decoder cannot use the schema.
        MissingExtra: llguidance is not installed.
    """
    sampler = _load_sampler(json.dumps(schema, ensure_ascii=False))
    for _ in range(_MAX_DRAWS):
        drawn = sampler.draw(rng)
        if drawn is not None:
            return drawn.decode(errors="replace")
    raise UndecodableSchema("no document was complete within the length limit")


@lru_cache(maxsize=_SAMPLER_CACHE_SIZE)
def _load_sampler(schema: str) -> Sampler:
    try:
        from emitter.testing.constrained_decoding import Sampler, find_compile_error  # noqa: PLC0415  the extra may be missing
    except ImportError as error:
        raise MissingExtra(
            "Drawing documents from a schema needs llguidance.",
            hint="Run: pip install 'llm-emitter[testing]', or pass other answers, such as answers=Text(...).",
        ) from error
    document: Json = json.loads(schema)
    if not isinstance(document, dict | bool):
        raise UndecodableSchema("a schema must be an object or a boolean")
    try:
        problem = find_compile_error(document)
    except ValueError as error:
        raise UndecodableSchema(str(error)) from error
    if problem:
        raise UndecodableSchema(problem)
    return Sampler(document)


def break_document(text: str, schema: Json, rng: Random) -> str:
    """Return a document like ``text`` that violates the schema, or raise ``UndecodableSchema`` if all are valid."""
    try:
        is_valid = jsonschema_rs.validator_for(schema).is_valid
    except ValueError as error:
        raise UndecodableSchema(str(error)) from error
    candidates = list(_iter_mutations(json.loads(text)))
    rng.shuffle(candidates)
    for candidate in (*candidates, *_REPLACEMENTS):
        if not is_valid(candidate):
            return json.dumps(candidate, ensure_ascii=False)
    raise UndecodableSchema("every changed document is valid, too")


def _iter_mutations(value: Any) -> Iterator[Json]:
    """Yield the document with one member removed, changed or added."""
    if isinstance(value, dict):
        members = cast("dict[str, Json]", value)
        for name, member in members.items():
            yield {key: value for key, value in members.items() if key != name}
            yield from ({**members, name: changed} for changed in (*_iter_mutations(member), *_REPLACEMENTS))
        yield {**members, "unasked": True}
    elif isinstance(value, list):
        items = cast("list[Json]", value)
        for index, item in enumerate(items[:3]):  # a long list gives enough candidates with these
            yield from ([*items[:index], changed, *items[index + 1 :]] for changed in _iter_mutations(item))
