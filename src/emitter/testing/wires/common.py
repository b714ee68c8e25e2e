"""Types and functions that the simulated APIs share: answers, stream events, errors, token counts, schemas."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from emitter.messages import as_list, as_mapping
from emitter.profiles import load_profile
from emitter.testing import schema_rules, vendor_rules
from emitter.testing.media_rules import strip_media
from emitter.testing.plans import EndReason, ErrorKind, PlannedError, count_tokens
from emitter.testing.schema_rules import SchemaDialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from emitter.messages import Json, Usage
    from emitter.profiles.model import ModelLimits
    from emitter.testing.plans import PlannedResponse, ReceivedRequest
    from emitter.testing.schema_rules import SchemaViolation

ID_PLACEHOLDER = "7c0ffee5ad0f1e2d3c4b5a69"
"""Placeholder of the response id, replaced by an id of the same length when the response is sent.

So a cached response can be sent again with another id, and its event offsets stay valid.
"""
CREATED_AT = 1_795_000_000
"""Creation time of every answer. With a clock, no two runs would be the same."""
_JSON_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, eq=False)
class PreparedAnswer:
    """An answer, ready to be written: ``plan`` is within the budget, ``usage`` is its cost."""

    request: ReceivedRequest
    plan: PlannedResponse
    usage: Usage

    @property
    def is_tool_call(self) -> bool:
        """True if the text is the arguments of a forced function."""
        return bool(self.request.tool and self.plan.text) and self.plan.end_reason is not EndReason.REFUSED

    @property
    def is_interrupted(self) -> bool:
        """True if a stream ends in the middle of its text."""
        return self.plan.error is not None or self.plan.end_reason is EndReason.MISSING

    def get_end_word(self, words: Mapping[EndReason, str | None]) -> str | None:
        """Return the vendor's word for the end of the answer. A word in the plan is sent unchanged."""
        reason = self.plan.end_reason
        return words[reason] if isinstance(reason, EndReason) else reason

    def iter_chunks(self, text: str) -> Iterator[str]:
        """Split a text into the chunks of a stream."""
        size = max(1, self.plan.chunk_size)
        return (text[start : start + size] for start in range(0, len(text), size))

    def split_calls(self) -> list[str]:
        """Return the arguments of each call: two documents in the text are two calls."""
        text = self.plan.text
        calls: list[str] = []
        start = 0
        while start < len(text):
            try:
                _, end = _JSON_DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                return [text]
            calls.append(text[start:end])
            start = end + len(text[end:]) - len(text[end:].lstrip())
        return calls


@dataclass(frozen=True, slots=True)
class SentEvent:
    """One event of a stream; ``text_length`` is the number of characters of the answer in it."""

    text: str | bytes
    text_length: int = 0

    @property
    def data(self) -> bytes:
        """The bytes that are sent."""
        return self.text.encode() if isinstance(self.text, str) else self.text


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An error response."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class WireSimulator(Protocol):
    """The constants and functions that the module of each API has.

    ``PROFILE`` names the provider profile with the models' limits. Only paths with one of ``PATH_SUFFIXES`` are
    simulated.
    """

    PROFILE: str
    PATH_SUFFIXES: tuple[str, ...]
    MAX_BUDGET_MESSAGE: str

    def parse_request(self, path: str, body: Mapping[str, Json]) -> ReceivedRequest | PlannedError:
        """Parse a request, or return the error that it causes."""
        ...

    def iter_schemas(self, request: ReceivedRequest) -> Iterator[RequestSchema]:
        """Yield the schemas of a request, each with the dialect that the vendor requires of it."""
        ...

    def describe_violation(self, schema: RequestSchema, violation: SchemaViolation) -> str:
        """Return the vendor's message about a schema that breaks a rule."""
        ...

    def write_response(self, answer: PreparedAnswer) -> Json:
        """Return the body of a response that is not streamed."""
        ...

    def write_stream(self, answer: PreparedAnswer) -> Iterator[SentEvent]:
        """Yield the events of a streamed response."""
        ...

    def write_error(self, planned_error: PlannedError, request: ReceivedRequest) -> ErrorResponse:
        """Return the error response."""
        ...


def dump_compact(value: Json) -> str:
    """Write JSON without spaces, as most vendors do."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def format_named_event(name: str, payload: Json) -> str:
    """Format a server-sent event with a name."""
    return f"event: {name}\ndata: {dump_compact(payload)}\n\n"


def format_event(payload: Json) -> str:
    """Format a server-sent event without a name."""
    return f"data: {dump_compact(payload)}\n\n"


def parse_arguments(text: str) -> dict[str, Json] | None:
    """Return the arguments of a call, or None if they are not a JSON object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return dict(as_mapping(value)) if isinstance(value, dict) else None


RETRY_DATE_SECONDS = 2.0
"""Seconds from now until a ``retry_after="date"``."""
_DEFAULT_RETRY_SECONDS = 20.0


def get_retry_seconds(retry_after: float | str | None) -> float:
    """Return the wait in seconds, or a default if there is none."""
    if retry_after is None:
        return _DEFAULT_RETRY_SECONDS
    return RETRY_DATE_SECONDS if isinstance(retry_after, str) else float(retry_after)


def make_retry_headers(retry_after: float | str | None) -> dict[str, str]:
    """Return the ``retry-after`` header, if any. A date comes with the ``date`` that it is relative to."""
    if retry_after is None:
        return {}
    if isinstance(retry_after, str):
        now = time.time()
        return {"date": formatdate(now, usegmt=True), "retry-after": formatdate(now + RETRY_DATE_SECONDS, usegmt=True)}
    return {"retry-after": f"{retry_after:g}"}


TOKENS_PER_MESSAGE = 4
"""Tokens around each message."""
NO_SUCH_MODEL = "no-such-model"
"""The one model name that every vendor rejects."""
DIALECTS: Mapping[str, SchemaDialect] = {
    "openai": vendor_rules.OPENAI,
    "azure-openai": vendor_rules.AZURE_OPENAI,
    "anthropic": vendor_rules.ANTHROPIC,
    "anthropic-tool": vendor_rules.ANTHROPIC_TOOL,
    "anthropic-loose-tool": SchemaDialect(
        keywords=frozenset({"type"}),
        node_rules=(schema_rules.check_schema_is_object, vendor_rules.check_anthropic_tool_root),
    ),
    "google": vendor_rules.GOOGLE,
    "google-openapi": vendor_rules.GOOGLE_OPENAPI,
}
_CHECK_CACHE_SIZE = 512


@dataclass(frozen=True, slots=True)
class RequestSchema:
    """A schema in a request and its required dialect.

    ``name`` is the name of the format or function. ``path`` is the location in the body, as the vendor writes it.
    """

    schema: Json
    dialect: str
    name: str
    path: str
    is_tool: bool = False

    def find_violation(self) -> SchemaViolation | None:
        """Return the first rule that the schema breaks."""
        return _find_first_violation(self.dialect, dump_compact(self.schema))


@lru_cache(maxsize=_CHECK_CACHE_SIZE)
def _find_first_violation(dialect: str, schema: str) -> SchemaViolation | None:
    return next(iter(DIALECTS[dialect].find_violations(json.loads(schema))), None)


def get_type_at(schema: Json, pointer: str) -> str:
    """Return the type of the subschema at a JSON pointer, by default ``object``."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        schema = as_list(schema)[int(name)] if isinstance(schema, list) else as_mapping(schema).get(name)
    kind = as_mapping(schema).get("type")
    return kind if isinstance(kind, str) else "object"


def load_limits(profile: str, model: str) -> ModelLimits:
    """Return the limits of a model."""
    return load_profile(profile).model_limits(model)


CACHE_MARKS = ("cache_control", "cachePoint", "prompt_cache_breakpoint")
"""The members that mark the end of a prefix to be cached."""
_NOT_TEXT = frozenset({"role", "type", *CACHE_MARKS})


def count_text_tokens(*values: Json) -> int:
    """Count the tokens of all texts and media in some values, without keys and roles."""
    texts, media_tokens = strip_media(list(values))
    return media_tokens + sum(count_tokens(text) for text in _iter_texts(as_list(texts)))


def _iter_texts(pending: list[Json]) -> Iterator[str]:
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            members = cast("dict[str, Json]", value)
            pending.extend(member for key, member in members.items() if key not in _NOT_TEXT)
        elif isinstance(value, list):
            pending.extend(cast("list[Json]", value))


def count_input_tokens(messages: Sequence[Json], schemas: Iterable[Json], *, system: Json = None) -> int:
    """Count the tokens of a prompt. Vendors put schemas and tools into it as text."""
    schema_tokens = sum(count_tokens(dump_compact(schema)) for schema in schemas if schema)
    return count_text_tokens(system, *messages) + schema_tokens + TOKENS_PER_MESSAGE * len(messages)


def parse_budget(value: Json) -> int | None:
    """Return the budget if it is an integer, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def make_missing_error(param: str, message: str) -> PlannedError:
    """Return the error of a required parameter that is missing."""
    return PlannedError(ErrorKind.BAD_REQUEST, message, param=param, code="missing_required_parameter")
