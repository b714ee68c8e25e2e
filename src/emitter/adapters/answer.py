"""What all wires share in reading an answer: tables, the choice among candidates, error bodies."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from emitter.wire import Fault, FaultKind, Reply, Report, Stop, mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.profile.meanings import Faults, Stops
    from emitter.wire import Answer, Json, Usage


@dataclass(frozen=True, slots=True)
class Tables:
    """The facts that decoding needs."""

    stops: Stops
    faults: Faults


@dataclass(frozen=True, slots=True)
class Assembled:
    """A stream folded into a unary body; ``ended`` is False when its terminal event never came."""

    body: Json
    ended: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate of an answer, before its stops are looked up: all the words that were said of its end."""

    raw_stops: tuple[str, ...]
    text: str = ""
    arguments: tuple[Json, ...] = ()
    refused_as: str | None = None


ERROR_STOP = "error:"
"""How the stop of an answer begins that came as an error."""
_FIRST_ERROR = 400
_CODE = re.compile(r"[\w.:/-]{1,100}")
"""What a vendor's code looks like; anything else is for the caller alone."""
_LONGEST = 1000
_MOST_PLACES = 8
_MOST_TOKENS = 1 << 40

_WORST_FIRST = (
    Stop.REFUSED,
    Stop.FAULTED,
    Stop.OVERFLOWED,
    Stop.TRUNCATED,
    Stop.UNKNOWN,
    Stop.PAUSED,
    Stop.COMPLETE,
)


def reasons(*said: Json) -> tuple[str, ...]:
    """Return every stop reason that was said, each once, or an empty one where none was.

    A tuple holds several, and comes only from a stream that was folded: JSON has none. What is not text stands as
    its type, which no table knows.
    """
    words: list[str] = []
    for each in said:
        if isinstance(each, tuple):
            words.extend(cast("tuple[str, ...]", each))
        elif each not in (None, ""):
            words.append(each if isinstance(each, str) else f"<{type(each).__name__}>")
    return tuple(dict.fromkeys(words)) or ("",)


def meaning(raws: tuple[str, ...], stops: Stops) -> Stop:
    """Return what the raw stops mean: the worst of them, so that none is glossed over."""
    return min(map(stops.meaning, raws), key=_WORST_FIRST.index)


def answer(candidates: Sequence[Candidate], tables: Tables, usage: Usage | None) -> Answer:
    """Return the answer of several candidates: the worst of them, the first where they are equal.

    One candidate is asked for; where more come, a good one must not hide a cut or a refused one.
    """
    known = candidates or (Candidate(("",)),)
    replies = [_reply(each, tables, usage) for each in known]
    worst = min(replies, key=lambda each: _WORST_FIRST.index(each.stop))
    if worst.stop is Stop.FAULTED:
        return Fault(FaultKind.SERVER, f"The vendor ended the answer with {worst.raw_stop!r}.", usage=usage)
    return worst


def _reply(candidate: Candidate, tables: Tables, usage: Usage | None) -> Reply:
    stop, raw = meaning(candidate.raw_stops, tables.stops), "|".join(candidate.raw_stops)
    return Reply(
        stop=stop,
        raw_stop=raw,
        text=candidate.text,
        arguments=candidate.arguments,
        refused_as=(candidate.refused_as or raw) if stop is Stop.REFUSED else None,
        usage=usage,
    )


def error_answer(status: int, body: Json, tables: Tables) -> Answer:
    """Return what an error body means: usually a fault, but a blocked prompt is a refusal all the same."""
    error = error_of(body)
    code, kind, message = (_text(error.get(key)) for key in ("code", "type", "message"))
    code = _text(mapping(error.get("details")).get("error_code")) or code
    kind = kind or _text(error.get("status"))
    means = tables.faults.meaning(_meant_status(status, code), code, kind, message)
    named = next((each for each in (code, kind) if each and not each.isdecimal()), code)
    report = report_of(body, named)
    named = named if _CODE.fullmatch(named) else ""
    if isinstance(means, Stop):
        return replace(_stopped(means, named), report=report)
    told = f"The vendor answered {status}{' with an error' if status < _FIRST_ERROR else ''}"
    asked = _text(mapping(body).get("request_id")) or None
    sentence = f"{told} ({named})." if named else f"{told}."
    return Fault(means, sentence, status, named or None, request_id=asked, report=report)


def report_of(body: Json, code: str) -> Report | None:
    """Return what an error body says of the failure, for the caller; None where it says nothing.

    ``failed_generation``, in which some servers repeat the model's answer, is not read.
    """
    error = error_of(body)
    places = _places(error) or _places(mapping(body)) or _places(mapping(mapping(body).get("message")))
    message = words(error.get("message")) or "; ".join(said for _, said in places if said)
    upstream = words(mapping(error.get("metadata")).get("raw"))
    param = words(error.get("param")) or ", ".join(place for place, _ in places if place)
    if not (message or upstream or param or code):
        return None
    return Report(f"{message} ({upstream})" if upstream else message, words(code) or None, param or None)


def _places(table: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the fields that an error complains of, and what it says of each, as FastAPI and Google list them."""
    listed = items(table.get("detail"))
    places = [(".".join(map(_text, sequence(each.get("loc")))), words(each.get("msg"))) for each in listed]
    for detail in items(table.get("details")):
        violations = items(detail.get("fieldViolations"))
        places += [(words(each.get("field")), words(each.get("description"))) for each in violations]
    return [each for each in places if any(each)][:_MOST_PLACES]


def words(said: Json) -> str:
    """Return a vendor's words as one line of printable text, cut where it is very long; what is no text is empty."""
    line = " ".join(said.split()) if isinstance(said, str) else ""
    line = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in line[:_LONGEST])
    return f"{line}…" if isinstance(said, str) and len(said) > _LONGEST else line


def with_cause(found: Answer, cause: Exception) -> Answer:
    """Return ``found`` with the exception of the SDK that it was read from."""
    return replace(found, report=replace(found.report or Report(), cause=cause))


def _meant_status(status: int, code: str) -> int:
    """Return the status that an error under a good one carries as its code, as proxies and Google write it."""
    meant = int(code) if re.fullmatch(r"[45][0-9]{2}", code) else status
    return meant if status < _FIRST_ERROR else status


def _stopped(stop: Stop, named: str) -> Answer:
    if stop is Stop.FAULTED:
        return Fault(FaultKind.SERVER, f"The vendor answered with an error ({named}).", code=named)
    return Reply(stop, f"{ERROR_STOP}{named}", refused_as=named if stop is Stop.REFUSED else None)


def is_error(body: Mapping[str, Any], *held: str) -> bool:
    """Tell whether a body is an error though its status is good.

    ``held`` are the keys of an answer: without any of them, a bare message is an error too.
    """
    if body.get("error") or body.get("errors") or body.get("type") == "error":
        return True
    return body.keys().isdisjoint(held) and bool(error_of(body))


def broken(*tables: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the first part of an answer that is an error, or holds one; None where all are well."""
    return next((each for each in tables if each.get("error") or each.get("type") == "error"), None)


def error_of(body: Json) -> Mapping[str, Any]:
    """Return the error object inside a body of any vendor, or an empty one."""
    tables = items(body) or [mapping(body)]
    table = next((each for each in tables if each.get("error")), tables[0])
    inner = table.get("error") or table.get("errors")
    while (isinstance(inner, list) and inner) or mapping(mapping(inner).get("error")):
        inner = sequence(inner)[0] if isinstance(inner, list) else mapping(inner)["error"]
    if isinstance(inner, str):
        return {"message": inner, "code": inner if re.fullmatch(r"[\w.-]+", inner) else None}
    said = table.get("message") or table.get("detail")
    return mapping(inner) or ({**table, "message": said} if isinstance(said, str) else {})


def protocol_fault(what: str, status: int | None = None) -> Fault:
    """Return the fault of a response that is not what its protocol promises."""
    return Fault(FaultKind.PROTOCOL, f"The vendor's response cannot be read: {what}.", status)


def with_status(found: Answer, status: int, retry_after: float | None, request_id: str | None) -> Answer:
    """Return ``found`` with what only the HTTP response knew."""
    if isinstance(found, Fault):
        asked = request_id or found.request_id
        return replace(found, status=found.status or status, retry_after=retry_after, request_id=asked)
    return found if request_id is None else replace(found, request_id=request_id)


def with_usage(found: Answer, usage: Usage | None) -> Answer:
    """Return ``found`` with what it cost."""
    return replace(found, usage=usage)


def items(value: Json) -> list[Mapping[str, Any]]:
    """Return the objects of ``value`` where it is a list, else nothing."""
    return [mapping(each) for each in sequence(value)]


def first_of(value: Json) -> Mapping[str, Any]:
    """Return the choice or candidate of a streamed event that belongs to the first of them, or an empty one."""
    return next((each for each in items(value) if not count(each.get("index"))), mapping(None))


def count(value: Json) -> int:
    """Return a token count; what is not a positive number counts nothing, and no count is beyond all measure."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return 0
    return int(min(value, _MOST_TOKENS))


def text(value: Json) -> str:
    """Return ``value`` where it is text, else an empty string."""
    return value if isinstance(value, str) else ""


def _text(value: Json) -> str:
    """Return a code as text; some vendors send numbers."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
