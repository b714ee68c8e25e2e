"""Functions that the adapters share to decode responses: stop reasons, candidates, error bodies and token counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from emitter.messages import (
    Fault,
    FaultKind,
    ModelResponse,
    ProviderErrorDetails,
    StopReason,
    Usage,
    as_list,
    as_mapping,
)
from emitter.outside_values import parse_int
from emitter.profiles.tables import ProviderError
from emitter.strict_json import NotJsonError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emitter.messages import CallResult, ExpectedAnswer, Json
    from emitter.profiles.model import Profile, WireFormat
    from emitter.profiles.tables import FaultTable, StopReasonTable, UsageFields


@dataclass(frozen=True, slots=True)
class DecodingTables:
    """The tables of a provider profile that decoding needs."""

    stops: StopReasonTable
    faults: FaultTable
    usage: UsageFields | None = None


@lru_cache(maxsize=64)
def decoding_tables(profile: Profile, wire: WireFormat) -> DecodingTables:
    """Return the tables that a wire format of a provider is decoded with."""
    return DecodingTables(profile.wires[wire].stops, profile.faults, profile.wires[wire].usage)


@dataclass(frozen=True, slots=True)
class AssembledBody:
    """A stream folded into a unary body.

    ``is_complete`` is false if the terminal event is missing. ``problem`` describes a piece that belongs to another
    answer. ``is_grounded`` is true if a piece that is not in the body names outside material.
    """

    body: Json
    is_complete: bool
    problem: str | None = None
    is_grounded: bool = False


ToolCall: TypeAlias = "tuple[Json, Json]"
"""The name and the arguments of a called tool, as the vendor sent them."""
ANOTHER_ID = "it has the id of another answer"
ANOTHER_CHOICE = "it has another choice than the one that was requested"
ANOTHER_ROLE = "its message is not the assistant's"
AFTER_THE_END = "its answer goes on after its end"
NOT_OPEN = "a piece of it belongs to a part that is not open"
ANOTHER_DOCUMENT = "its answer is another one than was streamed"
_ROLES = (None, "", "assistant", "model")
"""The roles of an answer. Most servers leave the role out of all chunks but the first."""
ERROR_STOP_PREFIX = "error:"
"""The prefix of the stop reason of an answer that came as an error."""
_FIRST_ERROR_STATUS = 400
_CODE_PATTERN = re.compile(r"[\w.:/-]{1,100}")
"""The form of a provider's error code. Other text may quote the prompt, so only the caller sees it."""
_MAX_LINE_LENGTH = 1000
_MAX_ERROR_FIELDS = 8
_MAX_COUNT = 1 << 40
_WORST_FIRST = tuple(StopReason)


def collect_stop_reasons(*values: Json) -> tuple[str, ...]:
    """Return every distinct stop reason, or one empty string if there is none.

    A tuple contains the reasons of an assembled stream. A value that is not a string is represented by its type, which
    no table contains, so that it means "unknown".
    """
    reasons: list[str] = []
    for value in values:
        if isinstance(value, tuple):
            reasons.extend(cast("tuple[str, ...]", value))
        elif value not in (None, ""):
            reasons.append(value if isinstance(value, str) else f"<{type(value).__name__}>")
    return tuple(dict.fromkeys(reasons)) or ("",)


def worst_stop_reason(raw_stops: tuple[str, ...], table: StopReasonTable) -> StopReason:
    """Return the worst meaning of the raw stop reasons."""
    if len(raw_stops) == 1:
        return table.lookup(raw_stops[0])
    return min(map(table.lookup, raw_stops), key=_WORST_FIRST.index)


def make_result(  # noqa: PLR0913  the parts of an answer
    tables: DecodingTables,
    usage: Usage | None,
    raw_stops: tuple[str, ...] = ("",),
    *,
    text: str = "",
    calls: Sequence[ToolCall] = (),
    expected: ExpectedAnswer | None = None,
    refused_as: str | None = None,
    is_grounded: bool = False,
) -> CallResult:
    """Return the response with these parts, or the fault that its stop reasons stand for.

    Only a call of the expected tool is part of it. If ``expected`` is None, as for a recording, every call is.
    """
    stop, raw = worst_stop_reason(raw_stops, tables.stops), "|".join(raw_stops)
    if stop is StopReason.FAULTED:
        return Fault(FaultKind.SERVER, f"The vendor ended the answer with {raw!r}.", usage=usage)
    refused_as = (refused_as or raw) if stop is StopReason.REFUSED else None
    arguments = tuple([made for name, made in calls if expected is None or expected.is_own_call(name)]) if calls else ()
    other_called = len(arguments) < len(calls)
    return ModelResponse(stop, raw, text, arguments, refused_as, usage, None, None, other_called, is_grounded)


def reject_foreign(result: CallResult, problem: str | None) -> CallResult:
    """Return a fault for an answer that does not belong to its request. A refusal or a fault is unchanged."""
    if problem is None or not isinstance(result, ModelResponse) or result.stop is StopReason.REFUSED:
        return result
    return with_usage(make_protocol_fault(problem), result.usage)


def worst_result(results: Sequence[CallResult]) -> CallResult:
    """Return the worst of the results of several candidates, or the first of equally bad ones.

    Only one candidate is requested. If several arrive, a complete one must not hide one that was cut off or refused.
    """
    stops = [StopReason.FAULTED if isinstance(result, Fault) else result.stop for result in results]
    return results[stops.index(min(stops, key=_WORST_FIRST.index))]


def parse_error(status: int, body: Json, tables: DecodingTables) -> CallResult:
    """Return the fault that an error body describes, or the refusal if the prompt was blocked."""
    error = describe_error(status, body)
    meaning = tables.faults.read(error)
    error_name = next((name for name in (error.code, error.type) if name and not name.isdecimal()), error.code)
    report = parse_error_details(body, error_name)
    if report is not None and (meaning.limits or meaning.hint):
        report = replace(report, limits=meaning.limits, hint=meaning.hint)
    error_name = error_name if _CODE_PATTERN.fullmatch(error_name) else ""
    if isinstance(meaning.means, StopReason):
        return replace(_stopped_by_error(meaning.means, error_name), report=report)
    with_error = " with an error" if status < _FIRST_ERROR_STATUS else ""
    message = f"The vendor answered {status}{with_error}{f' ({error_name})' if error_name else ''}."
    request_id = _code_as_string(as_mapping(body).get("request_id")) or None
    code = error_name or None
    return Fault(meaning.means, message, status, code, meaning.wait, request_id=request_id, report=report)


def describe_error(status: int, body: Json) -> ProviderError:
    """Return what the body of an error says, in the form that the rules of a profile read."""
    error = extract_error(body)
    code, kind = _code_as_string(error.get("code")), _code_as_string(error.get("type"))
    code = _code_as_string(as_mapping(error.get("details")).get("error_code")) or code
    kind = kind or _code_as_string(error.get("status"))
    words = _error_words(error)
    report = None if words else parse_error_details(body, "")
    words = words or (f"{report.param}: {report.message}" if report else "")
    detail = "\n".join(_iter_texts({key: value for key, value in error.items() if key not in _MAIN_FIELDS}))
    return ProviderError(_effective_status(status, code), code, kind, words, detail, error)


_MAIN_FIELDS = frozenset({"message", "code", "type", "status"})
_MAX_TEXTS = 64
_MAX_NESTING = 8


def _error_words(error: Mapping[str, Any]) -> str:
    """Return the message of an error, and that of the server behind a gateway."""
    texts = (error.get("message"), as_mapping(error.get("metadata")).get("raw"))
    return "\n".join(text for text in texts if isinstance(text, str))


def _iter_texts(value: Json, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a value, such as the name of a quota, up to a number and depth that no honest error has."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < _MAX_NESTING:
        items = as_list(value) or list(as_mapping(value).values())
        for item in items[:_MAX_TEXTS]:
            yield from _iter_texts(item, depth + 1)


def parse_error_details(body: Json, code: str) -> ProviderErrorDetails | None:
    """Return the provider's description of a failure for the caller, or None if there is none.

    ``failed_generation``, in which some servers repeat the model's answer, is ignored.
    """
    error = extract_error(body)
    # OpenAI names the field in ``param``. FastAPI servers list the fields in ``detail``, and Google in ``details``.
    fields = (
        _error_fields(error)
        or _error_fields(as_mapping(body))
        or _error_fields(as_mapping(as_mapping(body).get("message")))
    )
    message = as_printable_line(error.get("message")) or "; ".join(text for _, text in fields if text)
    upstream = as_printable_line(as_mapping(error.get("metadata")).get("raw"))
    param = as_printable_line(error.get("param")) or ", ".join(field for field, _ in fields if field)
    if not (message or upstream or param or code):
        return None
    return ProviderErrorDetails(
        f"{message} ({upstream})" if upstream else message, as_printable_line(code) or None, param or None
    )


def _error_fields(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each field that an error complains about with its message, as FastAPI and Google list them."""
    errors = [
        (".".join(map(_code_as_string, as_list(detail.get("loc")))), as_printable_line(detail.get("msg")))
        for detail in as_objects(table.get("detail"))
    ]
    for detail in as_objects(table.get("details")):
        errors += [
            (as_printable_line(violation.get("field")), as_printable_line(violation.get("description")))
            for violation in as_objects(detail.get("fieldViolations"))
        ]
    return [error for error in errors if any(error)][:_MAX_ERROR_FIELDS]


_ENCODED_DATA = re.compile(r"(?<=;base64,)[A-Za-z0-9+/_=-]+|[A-Za-z0-9+/_-]{100,}={0,2}")
"""Data that was sent in base64, which some providers repeat."""


def as_printable_line(value: Json) -> str:
    """Return a provider's text as one printable line, shortened if very long; anything but text becomes empty.

    Media that the provider repeats are left out.
    """
    line = _ENCODED_DATA.sub("…", " ".join(value.split())) if isinstance(value, str) else ""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line[:_MAX_LINE_LENGTH])
    return f"{shown}…" if len(line) > _MAX_LINE_LENGTH else shown


def _effective_status(status: int, code: str) -> int:
    """Return the status of an error, which proxies and Google write into the body of a response with status 200."""
    return status if status >= _FIRST_ERROR_STATUS else parse_int(code, minimum=400, maximum=599) or status


def _stopped_by_error(stop: StopReason, code: str) -> CallResult:
    if stop is StopReason.FAULTED:
        return Fault(FaultKind.SERVER, f"The vendor answered with an error ({code}).", code=code)
    return ModelResponse(stop, f"{ERROR_STOP_PREFIX}{code}", refused_as=code if stop is StopReason.REFUSED else None)


def is_error_body(body: Mapping[str, Any], *answer_keys: str) -> bool:
    """Return whether a body with a success status is an error.

    ``answer_keys`` are the keys of an answer. A body without any of them is an error if it has a message.
    """
    if body.get("error") or body.get("errors") or body.get("type") == "error" or _status_of_base(body):
        return True
    return body.keys().isdisjoint(answer_keys) and bool(extract_error(body))


def find_error(*tables: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the first part of an answer that is or contains an error, or None."""
    for table in tables:
        if table.get("error") or table.get("type") == "error":
            return table
    return None


def extract_error(body: Json) -> Mapping[str, Any]:
    """Return the error object in the body of any provider, or an empty mapping."""
    # A body may be a list of events, and gateways wrap the error of another provider in an error of their own.
    tables = as_objects(body) or [as_mapping(body)]
    table = next((candidate for candidate in tables if candidate.get("error")), tables[0])
    inner = table.get("error") or table.get("errors") or _status_of_base(table)
    while (isinstance(inner, list) and inner) or as_mapping(as_mapping(inner).get("error")):
        inner = as_list(inner)[0] if isinstance(inner, list) else as_mapping(inner)["error"]
    if isinstance(inner, str):
        return {"message": inner, "code": inner if re.fullmatch(r"[\w.-]+", inner) else None}
    message = table.get("message") or table.get("detail")
    return as_mapping(inner) or ({**table, "message": message} if isinstance(message, str) else {})


def _status_of_base(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the error of a body that states its status in ``base_resp``, under HTTP 200."""
    base = as_mapping(body.get("base_resp"))
    return {"code": base["status_code"], "message": base.get("status_msg")} if base.get("status_code") else {}


def make_protocol_fault(problem: str) -> Fault:
    """Return the fault of a response that violates its protocol."""
    return Fault(FaultKind.PROTOCOL, f"The vendor's response cannot be read: {problem}.")


def with_usage(result: CallResult, usage: Usage | None) -> CallResult:
    """Return the result with its usage."""
    return replace(result, usage=usage)


def as_objects(value: Json) -> list[Mapping[str, Any]]:
    """Return the items of a list as mappings, or an empty list for any other value."""
    return list(map(as_mapping, as_list(value)))


def as_count(value: Json) -> int:
    """Return a token count; anything but a positive number is 0, and very large numbers are capped."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return 0
    return int(min(value, _MAX_COUNT))


def read_usage(usage: Json, names: tuple[str, str], tables: DecodingTables) -> Usage | None:
    """Return the usage in a response, in which ``names`` count the input and the output.

    ``total_tokens`` is a check on their sum, because some servers count thinking beside the output, and some what they
    read from a cache beside the input.
    """
    table = as_mapping(usage)
    if not table:
        return None
    sent, written = as_count(table.get(names[0])), as_count(table.get(names[1]))
    paths = ((), (), ()) if tables.usage is None else tables.usage.split_paths
    cache_read, cache_write, thinking = (_first_count(table, places) for places in paths)
    total, cached = as_count(table.get("total_tokens")), cache_read + cache_write
    is_cache_beside = total - sent - written == cached if total else cached > sent
    is_thinking_beside = not total and tables.usage is not None and tables.usage.thinking_beside
    if cached and is_cache_beside:
        sent += cached
    if thinking > written or is_thinking_beside:
        written += thinking
    return cover_total(Usage(sent, written, cache_read, cache_write, thinking), total)


def cover_total(usage: Usage, total: int) -> Usage:
    """Return the usage with what the vendor's sum has beyond its parts as output."""
    if total <= usage.total:
        return usage
    return replace(usage, output=total - usage.input, estimated=usage.total == 0)


def _first_count(table: Mapping[str, Any], paths: tuple[tuple[str, ...], ...]) -> int:
    """Return the count at the first path that has one."""
    for path in paths:
        value: Any = table
        for key in path:
            value = as_mapping(value).get(key)
        if value:
            return as_count(value)
    return 0


def as_string(value: Json) -> str:
    """Return ``value`` if it is a string, else an empty string."""
    return value if isinstance(value, str) else ""


def _code_as_string(value: Json) -> str:
    """Return a code as text; some providers send numbers."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def parse_arguments(arguments: str) -> Json:
    """Return the parsed arguments of a tool call, or the text itself if it is not strict JSON."""
    try:
        return parse_json(arguments)
    except NotJsonError:  # recovery reads the text later
        return arguments


def read_index(value: Json) -> int:
    """Return the index of a choice or part: 0 if there is none, -1 if it is not an index."""
    return 0 if value is None else value if type(value) is int and value >= 0 else -1


def find_foreign_role(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the problem of messages if one is not the assistant's, or None."""
    for message in messages:
        if message.get("role") not in _ROLES:
            return ANOTHER_ROLE
    return None


def find_foreign_choice(choices: Sequence[Mapping[str, Any]], expected: ExpectedAnswer | None) -> str | None:
    """Return the problem of choices if one was not requested, or None. A recording may have several choices."""
    indices = [read_index(choice.get("index")) for choice in choices]
    if indices == [0] or (expected is None and 0 in indices and -1 not in indices):
        return None
    return ANOTHER_CHOICE


class StreamIdentity:
    """Checks that the pieces of a stream belong to one answer.

    ``problem`` is None until a piece does not belong to it. That piece and all later ones are not part of the answer. A
    recording, whose request is not known, may hold several answers one after another. ``is_grounded`` is true if a
    piece names outside material.
    """

    __slots__ = ("_id", "_is_recording", "is_grounded", "problem")

    def __init__(self, expected: ExpectedAnswer | None) -> None:
        self._is_recording = expected is None
        self.problem: str | None = None
        self.is_grounded = False
        self._id: Json = None

    def check_piece(self, piece_id: Json, *, has_ended: bool) -> None:
        """Note a piece that comes after the end of the answer, or has another id than an earlier one."""
        if piece_id != self._id:
            self.check_id(piece_id)
        if has_ended:
            self.check_end(has_ended=True)

    def check_id(self, value: Json) -> None:
        """Note a piece whose id differs from that of an earlier one. Some servers send empty ids."""
        if value != self._id and value not in (None, ""):
            if self._id is not None and not self._is_recording:
                self.fail(ANOTHER_ID)
            self._id = value

    def check_end(self, *, has_ended: bool) -> None:
        """Note a piece that comes after the end of the answer."""
        if has_ended and not self._is_recording:
            self.fail(AFTER_THE_END)

    def check_role(self, value: Json) -> None:
        """Note a message that is not the assistant's."""
        if value not in _ROLES:
            self.fail(ANOTHER_ROLE)

    def fail(self, problem: str) -> None:
        """Note a piece that does not belong to the answer. The first problem is kept."""
        self.problem = self.problem or problem


class StreamedBlocks:
    """The blocks of a streamed answer, each of which is opened, written in deltas and closed.

    Args:
        expected: The expected answer. The first call of its tool is the document, if it has a tool.
        identity: Notes the blocks and deltas that do not belong to the answer.
        call_type: The type of a block that is a call of a tool.
        text_type: The type of a block that is a part of the document otherwise.
    """

    __slots__ = ("_call_type", "_expected", "_identity", "_open", "_own_call", "_text_type", "blocks")

    def __init__(
        self, expected: ExpectedAnswer | None, identity: StreamIdentity, call_type: str, text_type: str
    ) -> None:
        self._expected, self._identity = expected, identity
        self._call_type, self._text_type = call_type, text_type
        self._own_call: int | None = None
        self.blocks: dict[int, dict[str, Any]] = {}
        self._open: set[int] = set()

    def clear(self) -> None:
        """Remove all blocks."""
        self.blocks, self._open = {}, set()

    def open(self, index: int, block: Mapping[str, Any], text: str, *, has_ended: bool) -> str:
        """Open a block, and return its ``text`` if it is a part of the document."""
        self._identity.check_end(has_ended=has_ended)
        if index < 0 or index in self.blocks:
            self._identity.fail(NOT_OPEN)
        if self._identity.problem:
            return ""
        self.blocks[index] = {**block, "deltas": []}
        self._open.add(index)
        if self._own_call is None and block.get("type") == self._call_type and self._expected is not None:
            self._own_call = index if self._expected.is_own_call(block.get("name")) else None
        return text if self._is_document(index) else ""

    def add(self, index: int, delta: Mapping[str, Any], text: str, arguments: str, *, has_ended: bool) -> str:
        """Add a delta to an open block, and return its text or arguments if they are a part of the document."""
        if text or arguments:
            self._identity.check_end(has_ended=has_ended)
            if index not in self._open:
                self._identity.fail(NOT_OPEN)
        if self._identity.problem or index not in self._open:
            return ""
        self.blocks[index]["deltas"].append(delta)
        if not self._is_document(index):
            return ""
        return arguments if index == self._own_call else text

    def close(self, index: int) -> None:
        """Close a block."""
        self._open.discard(index)

    def _is_document(self, index: int) -> bool:
        if self._expected is not None and self._expected.tool_name is not None:
            return index == self._own_call
        return self.blocks[index].get("type") == self._text_type
