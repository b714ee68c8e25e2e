"""Export a workflow's chain, verify an exported one, and read records written by other implementations.

A chain is exported as lines of canonical JSON (RFC 8785). `report_chain` checks hashes, order, signatures and the rules
of delegation, because a forger of a whole chain can compute correct hashes.

Source: RFC 8785; delegation-invariants, the required and optional fields of CONFIRM, STOP and RECEIPT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from emitter.authority import rules
from emitter.authority.chain import check_answer_signature, get_workflow_id, verify_chain
from emitter.authority.records import LINE_VERSION, Confirm
from emitter.authority.rules import WorkflowState
from emitter.decisions.canonical_json import CanonicalProfile, canonicalize, normalize_json, parse_strict_json
from emitter.errors import InputError, NotCanonical, Tampered
from emitter.outside_values import parse_date

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.authority.records import Intent, Line
    from emitter.authority.rules import GrantState
    from emitter.messages import Json

ChainSource: TypeAlias = str | bytes | Iterable[str] | Iterable[bytes]
"""A text, or the lines of an open file."""


@dataclass(frozen=True, slots=True)
class ChainReport:
    """The state that a valid chain adds up to.

    ``lines`` is their number, ``head`` the hash of the last, and ``counts`` their number by record type. ``signed``
    counts lines with a signature, verified or not. ``confirms`` have the amounts spent and the reason they ended, and
    ``unfinished`` lists actions without a receipt. ``answered_by`` maps each confirm to the thumbprint of the key that
    signed its answer, if that was verified. ``newer_version`` is the latest version of a line that a newer release
    wrote, or 0. Of such lines and those that follow, the hashes, the order and the signatures are verified, and not
    whether their records were allowed.
    """

    workflow_id: str
    lines: int
    head: str
    signed: int
    counts: Mapping[str, int]
    confirms: tuple[GrantState, ...]
    unfinished: tuple[Intent, ...]
    answered_by: Mapping[str, str] = field(default_factory=dict[str, str])
    newer_version: int = 0


def export_lines(lines: Iterable[Json]) -> Iterator[bytes]:
    """Yield the lines of a chain as canonical JSON (RFC 8785) with a line feed, without verifying them."""
    for number, line in enumerate(lines):
        place = f"line {number}"
        try:
            yield canonicalize(line, CanonicalProfile.WIRE) + b"\n"
        except NotCanonical:
            raise Tampered(f"{place} has no canonical form.", place=place) from None


def read_lines(source: ChainSource) -> Iterator[Json]:
    """Yield the lines of an exported chain, or raise ``Tampered`` for one that is not canonical JSON."""
    for number, row in enumerate(_split_lines(source)):
        yield _parse_canonical(row, f"line {number}")


def report_chain(  # noqa: PLR0913  most have a default
    documents: Iterable[Json],
    check_line: Callable[[Line], None] | None = None,
    head: str | None = None,
    *,
    workflow_id: str | None = None,
    max_skew: float = 0.0,
    check_answer: Callable[[str, str | None], str] | None = None,
) -> ChainReport:
    """Verify a chain and report its state.

    A line is valid if its hash matches, it follows the previous line, and the preceding lines allow its record. Whether
    a confirm's decision was really made is not checked here: that needs the ledger, or ``check_answer``.

    Args:
        documents: The lines of the chain.
        check_line: Verifies a line's signature: see ``emitter.authority.signing.make_verifier``.
        head: The hash of an earlier last line. Without it, a truncated or replaced chain goes unnoticed.
        workflow_id: The workflow the chain must belong to.
        max_skew: Seconds by which clocks were allowed to differ, as in ``Authority(max_skew=)``.
        check_answer: Verifies the signature of the answer in each confirm: see ``SignatureVerifier.verify_answer``.

    Raises:
        Tampered: A line is invalid.
    """
    state: WorkflowState | None = None
    counts, seen, signed = Counter[str](), set[str](), 0
    answered_by: dict[str, str] = {}
    for line in verify_chain(documents, check_line):
        state = state or WorkflowState(_check_workflow_id(line, workflow_id))
        rules.apply_line(state, line, max_skew)
        if check_answer is not None and isinstance(line.record, Confirm) and line.version <= LINE_VERSION:
            answered_by[line.record.confirm_id] = check_answer_signature(line, check_answer) or ""
        counts[line.record.type] += 1
        seen.add(line.hash)
        signed += line.signature is not None
    if state is None:
        raise Tampered("The chain has no line.", place="line 0")
    _check_head(head, seen, state)
    confirms, unfinished = tuple(state.confirms.values()), tuple(state.unfinished_intents.values())
    position = state.workflow_id, state.next_number, state.head
    return ChainReport(*position, signed, counts, confirms, unfinished, answered_by, state.newer_version)


def _split_lines(source: ChainSource) -> Iterator[str | bytes]:
    if isinstance(source, (str, bytes)):
        text = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
        *rows, rest = text.split(b"\n")
        yield from rows if not rest else (*rows, rest)
        return
    for row in source:
        yield row.removesuffix("\n") if isinstance(row, str) else row.removesuffix(b"\n")


def _parse_canonical(row: str | bytes, place: str) -> Json:
    try:
        document = parse_strict_json(row, CanonicalProfile.WIRE)
    except NotCanonical as error:
        raise Tampered(f"{place} is not a line of a chain ({error}).", place=place) from None
    spelled = row.encode("utf-8", "surrogatepass") if isinstance(row, str) else row
    if canonicalize(document, CanonicalProfile.WIRE) != spelled:
        raise Tampered(f"{place} is not canonical JSON.", place=place)
    return document


def _check_workflow_id(first: Line, workflow_id: str | None) -> str:
    actual = get_workflow_id(first.record)
    if workflow_id is not None and actual not in {None, workflow_id}:
        raise Tampered("line 0 belongs to another workflow's chain.", place="line 0")
    return actual or workflow_id or ""


def _check_head(head: str | None, seen: set[str], state: WorkflowState) -> None:
    if head is not None and head not in seen:
        raise Tampered(
            "The chain has no line with the hash head=: its end was cut off, or it is another chain.",
            place=f"line {state.next_number}",
        )


def _check_iso_time(text: str) -> str:
    if parse_date(text) is None:
        raise ValueError("this is not a time in ISO 8601")
    return text


def _exact_decimal(value: object) -> object:
    """Convert a float from JSON to the decimal that was written."""
    return Decimal(repr(value)) if isinstance(value, float) else value


IsoTime: TypeAlias = Annotated[str, AfterValidator(_check_iso_time)]
ForeignNames: TypeAlias = Annotated[tuple[str, ...], Field(strict=False)]


class UnverifiedRecord(BaseModel):
    """A record from another implementation, which nobody here verified. Unknown members are in ``model_extra``."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    verified: ClassVar[Literal[False]] = False


class ForeignScope(UnverifiedRecord):
    """The scope of a foreign CONFIRM."""

    workflow_id: str
    step_ids: ForeignNames | None = None
    targets: ForeignNames | None = None
    capabilities: ForeignNames | None = None


class ForeignConfirm(UnverifiedRecord):
    """A foreign CONFIRM. ``limits`` are unchanged; a fraction is a ``Decimal``."""

    type: Literal["CONFIRM"]
    confirm_id: str
    timestamp: IsoTime
    scope: ForeignScope
    limits: dict[str, Annotated[Any, BeforeValidator(_exact_decimal)]]
    ttl_seconds: Annotated[int, Field(ge=0)]
    revocable: bool
    risk_level: str


class ForeignStop(UnverifiedRecord):
    """A foreign STOP."""

    type: Literal["STOP"]
    request_id: str
    timestamp: IsoTime
    workflow_id: str
    stop_scope: Literal["step", "chain"]
    step_id: str | None = None
    takeover_mode: str | None = None
    reason: str | None = None


class ForeignReceipt(UnverifiedRecord):
    """A foreign RECEIPT."""

    type: Literal["RECEIPT"]
    receipt_id: str
    timestamp: IsoTime
    actor: str
    workflow_id: str
    action: str
    target: str
    authorization_ref: str
    result: Literal["success", "failure", "partial"]
    step_id: str | None = None
    side_effects: Any = None
    evidence_refs: ForeignNames | None = None
    error: Any = None


ForeignRecord: TypeAlias = ForeignConfirm | ForeignStop | ForeignReceipt
"""A record of another implementation. It authorizes nothing here."""
_FOREIGN_ADAPTER: TypeAdapter[ForeignRecord] = TypeAdapter(Annotated[ForeignRecord, Field(discriminator="type")])


def read_foreign(document: str | bytes | Mapping[str, Json]) -> ForeignRecord:
    """Read a CONFIRM, STOP or RECEIPT of another implementation.

    The result is marked as not ``verified`` and authorizes nothing: you cannot execute under a foreign CONFIRM, and a
    foreign RECEIPT does not end an action of yours.

    Args:
        document: The record, as JSON text or as a JSON object.

    Raises:
        InputError: It is not one of the three records, or a required field is missing or of another type.
        NotCanonical: It is not strict JSON.
    """
    raw: Json = document
    value = (
        parse_strict_json(raw, CanonicalProfile.WIRE)
        if isinstance(raw, str | bytes)
        else normalize_json(raw, CanonicalProfile.WIRE)
    )
    try:
        return _FOREIGN_ADAPTER.validate_python(value)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(step) for step in first_error["loc"][1:]) or "type"
        raise InputError(f"Invalid CONFIRM, STOP or RECEIPT, at {place}: {first_error['msg']}.") from None
