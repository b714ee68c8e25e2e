"""Try the recovery strategies in OpenWOP's order and return the one document they agree on.

The order is strict JSON, a document surrounded by a code fence or prose, then a document whose syntax needs repair.
``RecoveryPath`` names the strategy that succeeded. Documents in thinking blocks are ignored, and a document that the
surrounding text retracts is not returned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, cast

from emitter.recover.candidates import CandidateDocument, scan_answer, select_documents
from emitter.recover.lenient_parser import MAX_STRING_LAYERS, ParseFlaw
from emitter.recover.repair import find_document_end, repair_document
from emitter.recover.retraction import Stance, classify_prose
from emitter.recover.thinking_blocks import blank_out
from emitter.strict_json import NotJsonError, json_equal, parse_json, unescape_string

if TYPE_CHECKING:
    from emitter.messages import Json


def recover(text: str) -> Recovered | None:
    """Return the one document in ``text``, or None. Never raises.

    Documents in thinking blocks are ignored, and a document that the surrounding text retracts is not returned.

    Args:
        text: A complete answer. Check the stop reason first.
    """
    outcome = parse_answer(text)
    return outcome if isinstance(outcome, Recovered) else None


def parse_answer(text: str) -> Recovered | Ambiguous | Retracted | None:
    """Return the one document in ``text``, or None. Never raises.

    ``Ambiguous`` means that there are several different documents, ``Retracted`` that the text takes its document back.
    """
    return _parse_strict(text) or _parse_escaped(text) or _parse_embedded(text)


def _parse_strict(text: str) -> Recovered | None:
    """Parse an answer that is strict JSON."""
    try:
        value = parse_json(text)
    except NotJsonError:
        return None
    inner = _unwrap_strings(value)
    path = RecoveryPath.DIRECT if inner is None else RecoveryPath.CUSTOM
    return Recovered(value if inner is None else inner, path, _byte_offset(text, _document_start(text)))


def _unwrap_strings(value: Json) -> Json | None:
    """Return the object or array inside a JSON string, or None."""
    inner = value
    for _ in range(MAX_STRING_LAYERS):
        if not isinstance(inner, str):
            break
        try:
            inner = parse_json(inner)
        except NotJsonError:
            return None
    is_wrapped = isinstance(value, str) and isinstance(inner, dict | list)
    return cast("Json", inner) if is_wrapped else None


def _parse_escaped(text: str) -> Recovered | None:
    r"""Parse a document that was escaped as if for a string, but has no quotes around it: ``{\"a\": 1}``."""
    if '\\"' not in text or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = _unwrap_strings(unescape_string(text))
    except ValueError:
        return None
    return None if value is None else Recovered(value, RecoveryPath.CUSTOM, _byte_offset(text, _document_start(text)))


def _parse_embedded(text: str) -> Recovered | Ambiguous | Retracted | None:
    """Parse the documents in the text outside its thinking blocks."""
    scan = scan_answer(text)
    if scan.flaw is ParseFlaw.UNFINISHED_THINKING:
        return None
    answer = blank_out(text, scan.blocks) if scan.blocks else text
    unwrapped = (_parse_strict(answer) or _parse_escaped(answer)) if scan.blocks else None
    if unwrapped is not None:
        path = RecoveryPath.BRACE_WALKER if unwrapped.path is RecoveryPath.DIRECT else unwrapped.path
        return Recovered(unwrapped.value, path, _byte_offset(text, _document_start(answer)))
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
        Recovered(value, RecoveryPath.JSONREPAIR, _byte_offset(text, start)), f"{answer[:start]}\n{answer[end:]}"
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
    offset = _byte_offset(text, candidates[0].document.start)
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


def _document_start(text: str) -> int:
    return len(text) - len(text.lstrip())


def _byte_offset(text: str, start: int) -> int:
    """Return the number of UTF-8 bytes before ``start``; a lone surrogate counts as three."""
    return len(text[:start].encode("utf-8", "surrogatepass"))


class RecoveryPath(str, Enum):
    """The strategy that read the document, in OpenWOP's vocabulary (RFC 0033)."""

    DIRECT = "direct"
    """The answer is strict JSON."""
    MARKDOWN_FENCE = "markdown-fence"
    """Strict JSON inside a Markdown code fence."""
    BRACE_WALKER = "brace-walker"
    """Strict JSON surrounded by something else: prose, a byte order mark or a function call."""
    JSONREPAIR = "jsonrepair"
    """Broken syntax was repaired, by the lenient parser or by json-repair."""
    CUSTOM = "custom"
    """The same document more than once, or a document inside a JSON string."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """A recovered document.

    Attributes:
        value: The document.
        path: The strategy that read it.
        byte_offset: Its start in the answer's UTF-8 bytes.
        doubtful: The surrounding text may retract it. Ask again if you can.
    """

    value: Json
    path: RecoveryPath
    byte_offset: int | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several different documents, none of which is certainly the answer."""

    count: int


@dataclass(frozen=True, slots=True)
class Retracted:
    """A document that the surrounding text refuses or retracts."""
