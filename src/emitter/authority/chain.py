"""The hash chain of a workflow's records.

Each line contains the hash of the previous one, so no line can be changed, moved or removed from the middle without
detection. A chain cannot show that its end was cut off: keep the hash of the last line elsewhere, or sign the lines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import ValidationError

from emitter.authority.records import (
    LINE_VERSION,
    RECORD_ADAPTER,
    Confirm,
    Line,
    UnknownRecord,
    parse_timestamp,
)
from emitter.decisions.canonical_json import LONE_SURROGATE, CanonicalProfile, digest_of
from emitter.errors import InputError, NotCanonical, Tampered, UnsignedLine
from emitter.messages import as_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emitter.authority.records import ChainRecord
    from emitter.decisions.resolution import AnswerVerifier
    from emitter.messages import Json

T = TypeVar("T")
_CHAIN_NAME: Final = "emitter.authority"
_SIGN_HINT: Final = "Pass sign= to Authority, as when the previous lines were written."


@dataclass(frozen=True, slots=True)
class SigningCallbacks:
    """Functions that sign a line's hash, verify a line that is read, and verify a principal's answer."""

    sign: Callable[[str], str] | None = None
    check: Callable[[Line], None] | None = None
    check_answer: AnswerVerifier | None = None

    def check_line(self, line: Line) -> None:
        """Verify the signatures of a line that was read."""
        if self.check is not None:
            self.check(line)
        # What an answer of a newer release covers is not known here.
        if self.check_answer is not None and line.version <= LINE_VERSION:
            check_answer_signature(line, self.check_answer)


def make_line(
    seq: int, at: str, prev: str, record: ChainRecord, sign: Callable[[str], str] | None = None
) -> tuple[dict[str, Json], Line]:
    """Return the line of a record as it is stored, signed if ``sign`` is set, and as it reads."""
    document: dict[str, Json] = {"version": LINE_VERSION, "seq": seq, "at": at, "prev": prev}
    document["record"] = record.to_json()
    hashed = _hash_members(document)
    document["hash"] = hashed
    if sign is not None:
        document["signature"] = sign_text(hashed, sign)
    return document, _validate_line(document, f"the record for line {seq}")


def sign_text(text: str, sign: Callable[[str], str]) -> str:
    """Return the signature of a text, or raise ``InputError`` if ``sign`` returns something else."""
    signature = sign(text)
    if not isinstance(signature, str) or LONE_SURROGATE.search(signature):  # pyright: ignore[reportUnnecessaryIsInstance]  user code may return anything
        raise InputError("sign= must return a string.", hint="Return a signature of the hash it receives.")
    return signature


def check_answer_signature(line: Line, check_answer: Callable[[str, str | None], T]) -> T | None:
    """Return the result of ``check_answer`` for a confirm, None for other records, or raise ``Tampered``."""
    if not isinstance(line.record, Confirm):
        return None
    confirm, first = line.record, line.record.granted_by.first_approval
    try:
        if first is not None and confirm.approval_statement is not None:
            check_answer(confirm.approval_statement, first.signature)
        return check_answer(confirm.answer_statement, confirm.granted_by.signature)
    except Tampered as error:
        place = f"line {line.seq}"
        raise Tampered(f"{place}, CONFIRM, has no valid answer: {error.args[0]}", place=place) from None


def _hash_members(members: Json) -> str:
    return digest_of(members, CanonicalProfile.WIRE)


def compute_genesis_hash(workflow_id: str) -> str:
    """Return the ``prev`` of a workflow's first line, which differs for every workflow."""
    return digest_of({"chain": _CHAIN_NAME, "workflow_id": workflow_id}, CanonicalProfile.WIRE)


def parse_line(document: Json, place: str) -> Line:
    """Return the line if its hash is correct, or raise ``Tampered`` naming ``place``."""
    line = _validate_line(document, place)
    try:
        expected = _hash_members({name: value for name, value in document.items() if name not in {"hash", "signature"}})
    except NotCanonical:
        raise _not_a_line(place) from None
    if line.hash != expected:
        raise Tampered(f"{place} was changed: its hash does not match.", place=place)
    return line


def _validate_line(document: Json, place: str) -> Line:
    version = as_mapping(document).get("version", 1)
    try:
        if type(version) is int and version > LINE_VERSION:
            return _validate_newer(document)
        return Line.model_validate(document)
    except ValidationError:
        raise _not_a_line(place) from None


def _validate_newer(document: Mapping[str, Json]) -> Line:
    """Return a line of a newer release, with what this one knows of its record, or with an ``UnknownRecord``."""
    frame = {name: document[name] for name in Line.model_fields if name in document and name != "record"}
    members = as_mapping(document.get("record"))
    try:
        return Line.model_validate({**frame, "record": _drop_unknown_members(members)})
    except ValidationError:
        name = members.get("workflow_id") or as_mapping(members.get("scope")).get("workflow_id")
        unknown = UnknownRecord(str(members.get("type")), name if isinstance(name, str) else None)
        any_record = {"type": "EXPIRE", "timestamp": document.get("at"), "workflow_id": "w", "confirm_id": "c"}
        return Line.model_validate({**frame, "record": any_record}).model_copy(update={"record": unknown})


def _drop_unknown_members(members: Mapping[str, Json]) -> Json:
    """Return a record without the members that this release does not know."""
    kept: dict[str, Json] = json.loads(json.dumps(members))
    try:
        RECORD_ADAPTER.validate_python(kept)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            if each["type"] == "extra_forbidden":
                _drop_member(kept, each["loc"])
    return kept


def _drop_member(members: dict[str, Json], place: tuple[int | str, ...]) -> None:
    *path, last = place
    for step in path:  # it also has names of types, which are no members
        members = members.get(str(step), members)
    members.pop(str(last), None)


def _not_a_line(place: str) -> Tampered:
    return Tampered(f"{place} is not a line of a chain.", place=place)


def check_follows(last: Line | None, line: Line, place: str, workflow_id: str | None = None) -> None:
    """Raise ``Tampered`` unless the line directly follows ``last`` in the same workflow."""
    workflow = workflow_id or get_workflow_id(line.record if last is None else last.record)
    if last is not None:
        expected = (last.seq + 1, last.hash)
    else:
        expected = (0, line.prev if workflow is None else compute_genesis_hash(workflow))
    is_earlier = last is not None and parse_timestamp(line.at) < parse_timestamp(last.at)
    is_other = None not in {workflow, named := get_workflow_id(line.record)} and named != workflow
    if (line.seq, line.prev) != expected or is_earlier or is_other:
        raise Tampered(f"{place} does not follow the previous line.", place=place)


def check_stays_signed(last: Line | None, line: Line) -> None:
    """Raise ``UnsignedLine`` for an unsigned line after a signed one, which would invalidate the chain."""
    if last is not None and last.signature is not None and line.signature is None:
        raise UnsignedLine("The workflow's chain is signed, but this authority has no sign=.", hint=_SIGN_HINT)


def verify_chain(documents: Iterable[Json], check_line: Callable[[Line], None] | None = None) -> Iterator[Line]:
    """Yield the lines of a chain, calling ``check_line`` on each; raise ``Tampered`` at the first invalid one."""
    last: Line | None = None
    workflow: str | None = None
    for number, document in enumerate(documents):
        place = f"line {number}"
        line = parse_line(document, place)
        workflow = workflow or get_workflow_id(line.record)
        check_follows(last, line, place, workflow)
        if check_line is not None:
            check_line(line)
        last = line
        yield line


def get_workflow_id(record: ChainRecord | UnknownRecord) -> str | None:
    """Return the workflow id of any record, or None if a newer release wrote it elsewhere."""
    if isinstance(record, UnknownRecord):
        return record.workflow_id
    return record.scope.workflow_id if record.type == "CONFIRM" else record.workflow_id
