"""Showing what chains of records come to.

Every name in them is somebody else's: it stands in quotation marks, on the line where it belongs, and can neither drive
a terminal nor say in the library's words that something holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.render.line import line, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emitter.authority import Intent, Receipt
    from emitter.authority.export import Report
    from emitter.authority.records.form import Amount
    from emitter.authority.rules.state import Held
    from emitter.wire import Json

_END: Final = "nobody can tell whether more lines stood here: name a noted hash with --head"


@dataclass(frozen=True, slots=True)
class Broken:
    """A chain that does not hold, and why; ``workflow_id`` is None where nothing told whose it should be."""

    workflow_id: str | None
    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Done:
    """What was done in a workflow, and what has no receipt."""

    workflow_id: str
    receipts: Sequence[Receipt]
    unfinished: Sequence[Intent]


def verified_json(found: Report | Broken, names: Mapping[str, str] | None = None) -> dict[str, Json]:
    """Return what became of verifying a chain; ``names`` tells the files of the principals' keys, by thumbprint."""
    if isinstance(found, Broken):
        named = {} if found.workflow_id is None else {"workflow_id": found.workflow_id}
        return {**named, "holds": False, "place": found.place, "reason": found.reason}
    return {
        "workflow_id": found.workflow_id,
        "holds": True,
        "lines": found.lines,
        "head": found.head,
        "signed": found.signed,
        "counts": dict(found.counts),
        "confirms": [_confirm_json(each, found, names or {}) for each in found.confirms],
        "unfinished": [each.to_json() for each in found.unfinished],
    }


def verified_lines(found: Report | Broken, names: Mapping[str, str], *, checked: bool, headed: bool) -> Iterator[str]:
    """Yield it as lines of text; ``checked`` says whether signatures were, ``headed`` whether a head was noted.

    ``names`` tells the files of the principals' keys, by thumbprint.
    """
    if isinstance(found, Broken):
        yield _broken_line(found)
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(found.counts.items()))
    yield f"holds: {quoted(found.workflow_id)}, {found.lines} lines ({counts})"
    yield f"  head        {found.head}"
    yield f"  end         {'as it was noted, or later' if headed else _END}"
    yield f"  signatures  {_signatures(found, checked=checked)}"
    for each in found.confirms:
        yield _confirm_line(each)
        yield f"    answer    {_answer(each, found, names)}"
    yield from map(_intent_line, found.unfinished)


def listed_json(found: Sequence[Done | Broken]) -> dict[str, Json]:
    """Return each workflow's receipts, and its acts that have none; and the workflows whose chains do not hold."""
    return {
        "workflows": [_done_json(each) for each in found if isinstance(each, Done)],
        "broken": [verified_json(each) for each in found if isinstance(each, Broken)],
    }


def listed_lines(found: Done | Broken) -> Iterator[str]:
    """Yield what was done in a workflow, or that its chain does not hold, as lines of text."""
    if isinstance(found, Broken):
        yield _broken_line(found)
        return
    yield f"{quoted(found.workflow_id)}: receipts {len(found.receipts)}, unfinished {len(found.unfinished)}"
    yield from map(_receipt_line, found.receipts)
    yield from map(_intent_line, found.unfinished)


def _done_json(done: Done) -> dict[str, Json]:
    return {
        "workflow_id": done.workflow_id,
        "receipts": [each.to_json() for each in done.receipts],
        "unfinished": [each.to_json() for each in done.unfinished],
    }


def _broken_line(found: Broken) -> str:
    named = "" if found.workflow_id is None else f"{quoted(found.workflow_id)}: "
    return f"does not hold: {named}{line(found.reason)}"


def _signatures(found: Report, *, checked: bool) -> str:
    if checked:
        return "each line has one that holds"
    if not found.signed:
        return "none"
    return f"{found.signed}, which nobody checked: name a key with --key"


def _answer(held: Held, found: Report, names: Mapping[str, str]) -> str:
    """Return whose answer the acts of a confirm rest on."""
    key = found.answered.get(held.confirm.confirm_id)
    if key is not None:
        return f"signed by {quoted(names.get(key, ''))} (key {key})"
    if held.confirm.granted_by.signature is None:
        return "not signed: whoever could write into the store could have given it"
    return "signed, which nobody checked: name a key with --principal"


def _confirm_json(held: Held, found: Report, names: Mapping[str, str]) -> dict[str, Json]:
    confirm = held.confirm
    key = found.answered.get(confirm.confirm_id)
    return {
        "confirm_id": confirm.confirm_id,
        "answer": {
            "decision": confirm.granted_by.decision,
            "signed": confirm.granted_by.signature is not None,
            "key": key,
            "file": None if key is None else names.get(key),
        },
        "limits": _plain(confirm.limits),
        "spent": _plain(held.spent),
        "uses": held.uses,
        "ended": None if held.end is None else held.end.value,
    }


def _plain(amounts: Mapping[str, Amount]) -> dict[str, Json]:
    """Return amounts as records have them: a fraction as a text."""
    return {name: each if isinstance(each, int) else str(each) for name, each in amounts.items()}


def _confirm_line(held: Held) -> str:
    limits, spent = held.confirm.limits, held.spent
    told = [f"{name} {spent[name]} of {limits.get(name, 'any number')}" for name in sorted({*limits, *spent})]
    ended = "no end recorded" if held.end is None else held.end.value
    return f"  confirm     {quoted(held.confirm.confirm_id)}: {', '.join([f'acts {held.uses}', *told, ended])}"


def _receipt_line(receipt: Receipt) -> str:
    error = "" if receipt.error is None else f", error {quoted(receipt.error)}"
    ids = f"(receipt {quoted(receipt.receipt_id)}, by {quoted(receipt.authorization_ref)})"
    return f"  {receipt.result.value:<10}  {_deed(receipt)}{error} {ids}"


def _intent_line(intent: Intent) -> str:
    ids = f"(intent {quoted(intent.intent_id)}, by {quoted(intent.authorization_ref)})"
    return f"  unfinished  {_deed(intent)} {ids}"


def _deed(record: Receipt | Intent) -> str:
    step = "" if record.step_id is None else f", step {quoted(record.step_id)}"
    return f"{record.timestamp}  {quoted(record.action)} on {quoted(record.target)}{step}"
