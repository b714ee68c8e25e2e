"""Try the recovery strategies in OpenWOP's order and return the one document they agree on.

The order is strict JSON, a document surrounded by a code fence or prose, then a document whose syntax needs repair.
``RecoveryPath`` names the strategy that succeeded. Documents in thinking blocks are ignored, and a document that the
surrounding text retracts is not returned.
"""

from __future__ import annotations

from dataclasses import replace

from emitter.recover.answer import (
    Ambiguous,
    Recovered,
    RecoveryPath,
    Retracted,
    byte_offset,
    document_start,
    parse_escaped,
    parse_strict,
)
from emitter.recover.candidates import CandidateDocument, scan_answer, select_documents
from emitter.recover.lenient_parser import ParseFlaw
from emitter.recover.repair import find_document_end, repair_document
from emitter.recover.retraction import Stance, classify_prose
from emitter.recover.thinking_blocks import blank_out
from emitter.strict_json import NotJsonError, json_equal, parse_json


def find_document(text: str) -> Recovered | Ambiguous | Retracted | None:
    """Parse the documents in the text outside its thinking blocks."""
    scan = scan_answer(text)
    if scan.flaw is ParseFlaw.UNFINISHED_THINKING:
        return None
    answer = blank_out(text, scan.blocks) if scan.blocks else text
    unwrapped = (parse_strict(answer) or parse_escaped(answer)) if scan.blocks else None
    if unwrapped is not None:
        path = RecoveryPath.BRACE_WALKER if unwrapped.path is RecoveryPath.DIRECT else unwrapped.path
        return Recovered(unwrapped.value, path, byte_offset(text, document_start(answer)))
    if scan.flaw is ParseFlaw.BROKEN and not scan.candidates:
        return _parse_repaired(text, answer, scan.flaw_position)
    documents = select_documents(answer, scan.candidates) if scan.flaw is None else None
    return _select_document(text, answer, documents) if documents else None


def _parse_repaired(text: str, answer: str, start: int) -> Recovered | Retracted | None:
    """Repair a broken document with json-repair if the result is certain."""
    end = find_document_end(answer, start)
    value = repair_document(answer, start) if end is not None else None
    if value is None:
        return None
    return _check_prose(
        Recovered(value, RecoveryPath.JSONREPAIR, byte_offset(text, start)), f"{answer[:start]}\n{answer[end:]}"
    )


def _select_document(
    text: str, answer: str, candidates: tuple[CandidateDocument, ...]
) -> Recovered | Ambiguous | Retracted | None:
    """Return the document that all candidates agree on, unless the prose retracts it."""
    distinct: list[Recovered] = []
    for candidate in candidates:
        parsed = _parse_candidate(answer, candidate)
        if parsed is None:
            return None
        if not any(json_equal(parsed.value, other.value) for other in distinct):
            distinct.append(parsed)
    if len(distinct) > 1:
        return Ambiguous(len(distinct))
    path = distinct[0].path if len(candidates) == 1 else RecoveryPath.CUSTOM
    offset = byte_offset(text, candidates[0].document.start)
    return _check_prose(Recovered(distinct[0].value, path, offset), _surrounding_prose(answer, candidates))


def _surrounding_prose(answer: str, candidates: tuple[CandidateDocument, ...]) -> str:
    starts = [*(candidate.document.start for candidate in candidates), len(answer)]
    ends = [0, *(candidate.document.end for candidate in candidates)]
    gaps = (answer[end:start] for end, start in zip(ends, starts, strict=True))
    return "\n".join((*gaps, *(candidate.document.comments for candidate in candidates if candidate.document.comments)))


def _check_prose(recovered: Recovered, prose: str) -> Recovered | Retracted:
    """Apply the stance of the surrounding prose to the document."""
    match classify_prose(prose):
        case Stance.PLAIN:
            return recovered
        case Stance.DOUBTFUL:
            return replace(recovered, doubtful=True)
        case Stance.RETRACTED:
            return Retracted()


def _parse_candidate(text: str, candidate: CandidateDocument) -> Recovered | None:
    """Parse a document strictly, or else use its lenient reading."""
    document = candidate.document
    try:
        value = parse_json(text[document.start : document.end])
    except NotJsonError:
        # Duplicate keys in broken syntax are a sign of two objects that ran together.
        return None if document.has_duplicate_keys else Recovered(document.value, RecoveryPath.JSONREPAIR)
    return Recovered(value, RecoveryPath.MARKDOWN_FENCE if candidate.is_fenced else RecoveryPath.BRACE_WALKER)
