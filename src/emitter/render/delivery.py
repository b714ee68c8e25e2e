"""Find the decision in a tool's result, or fall back to the tool's own payload.

Sources: draft-morrison-binding-moment-envelope-00, sections 4, 7.1, 8.3 and 11.5; MCP 2025-11-25, "Structured
Content".
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pydantic import BaseModel

from emitter.decisions import MalformedEnvelope, digest, parse_moment
from emitter.decisions.canonical_json import CanonicalProfile, parse_strict_json
from emitter.decisions.envelope_parsing import MOMENT_FIELD
from emitter.errors import ApprovalPending, InputError, NotCanonical
from emitter.messages import as_list, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render import Renderer

_COPIES_DIFFER = "The envelope was discarded as malformed: its copies in the tool's result differ."
_TOOL_FAILED = "The tool failed, so the envelope in its result was discarded."
_SEVERAL_ENVELOPES = "The envelopes were discarded: more than one text of the tool's result holds one."
_MISPLACED_ENVELOPE = "The envelope in a text of the tool's result was discarded: that text holds the tool's data."
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_EMPTY_BLOCK = object()
_OutputT = TypeVar("_OutputT")


@dataclass(frozen=True, slots=True)
class DeliveredDecision:
    """A well-formed envelope, and the tool's own payload."""

    moment: BindingMoment
    payload: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class PlainResult:
    """The tool's own payload without a decision. ``diagnostic`` says why an envelope was discarded."""

    payload: Json
    diagnostic: str | None = None


Delivery: TypeAlias = DeliveredDecision | PlainResult


def read_structured_content(result: Json) -> Delivery:
    """Return the decision in a tool's structured result, or its payload."""
    if not isinstance(result, dict):
        return PlainResult(result)
    table = as_mapping(result)
    copies = [parse_moment(table[MOMENT_FIELD])] if MOMENT_FIELD in table else []
    return _merge_copies(copies, _without_field(table))


def read_tool_result(result: Mapping[str, Json] | BaseModel) -> Delivery:
    """Return the decision in a tool's whole result, or its payload.

    The payload is the structured content without the envelope, or the content blocks if it holds nothing else. An
    envelope counts as a member of the result itself, where the draft's section 7.1 puts it, and in the structured
    content, where the SDKs keep it. It is discarded if another of these places, or a text block, holds a different one.
    Some hosts drop both; then the last text block counts, if it is one JSON object with the single member
    ``binding_moment``, or the only text, and no other text holds an envelope. The envelope of a failed tool is
    discarded, unless its structured content has the ``code`` ``approval_pending``: that call waits for its approval.

    Warning: a text block is only as trustworthy as the tool. If a tool returns fetched text as a whole block, that
    text can imitate an envelope. Keep the structured content of such a tool, or do not show its results to the
    principal.

    Args:
        result: The result as JSON or as the SDK's object, as received. Objects of mcp 2.x have lost a
            ``binding_moment`` of the result itself, so pass the JSON if the server may put the envelope there.
    """
    received = as_mapping(result.model_dump(mode="json", by_alias=True) if isinstance(result, BaseModel) else result)
    structured, blocks = received.get("structuredContent"), as_list(received.get("content"))
    members, block_copies = as_mapping(structured), [_read_copy(block) for block in blocks]
    copies = [copy for copy in block_copies if copy is not None]
    placed = [parse_moment(place[MOMENT_FIELD]) for place in (received, members) if MOMENT_FIELD in place]
    other_members = _without_field(members)
    has_payload = isinstance(structured, dict) and (other_members or MOMENT_FIELD not in members)
    payload = other_members if has_payload else _payload_of_blocks(blocks, block_copies)
    # An error with this code is a guarded call that waits for its approval, and its envelope is to be shown.
    if received.get("isError") and members.get("code") != ApprovalPending.code:
        return PlainResult(payload, _TOOL_FAILED if copies or placed else None)
    if placed:
        readable = [copy.envelope for copy in copies if copy is not _UNREADABLE_COPY]
        return _merge_copies([*placed, *readable], payload)
    text_copies = [copy for block, copy in zip(blocks, block_copies, strict=True) if _is_text(block)]
    problem = _placement_problem(structured, copies, text_copies)
    return PlainResult(payload, problem) if problem else _merge_copies([copy.envelope for copy in copies], payload)


@dataclass(frozen=True, slots=True)
class _EnvelopeCopy:
    """An envelope, and the other members of the object that holds it."""

    envelope: BindingMoment | MalformedEnvelope
    other_members: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


_UNREADABLE_COPY = _EnvelopeCopy(MalformedEnvelope(("#: its text is not unambiguous JSON",)))


def _placement_problem(
    structured: Json, copies: list[_EnvelopeCopy], text_copies: list[_EnvelopeCopy | None]
) -> str | None:
    """Return why the envelopes in a result's texts do not count, or None."""
    if len(copies) > 1:
        return _SEVERAL_ENVELOPES
    if not copies:
        return None
    # Text that a tool fetched could imitate an envelope, so it counts only where the library itself writes it.
    is_last = text_copies[-1] is not None
    is_alone = not copies[0].other_members or len(text_copies) == 1
    return None if structured is None and is_last and is_alone else _MISPLACED_ENVELOPE


def _merge_copies(copies: list[BindingMoment | MalformedEnvelope], payload: Mapping[str, Json]) -> Delivery:
    """Return the decision if all copies agree, or the plain result."""
    moments = [copy for copy in copies if not isinstance(copy, MalformedEnvelope)]
    malformed = [copy for copy in copies if isinstance(copy, MalformedEnvelope)]
    if moments and not malformed and len(set(map(digest, moments))) == 1:
        return DeliveredDecision(moments[0], payload)
    if moments:
        return PlainResult(payload, _COPIES_DIFFER)
    return PlainResult(payload, str(malformed[0]) if malformed else None)


def present(result: Json, renderer: Renderer[_OutputT]) -> _OutputT | PlainResult:
    """Draw a tool's structured result, or return its plain result if it holds no decision that can be drawn."""
    return draw_delivery(read_structured_content(result), renderer)


def draw_delivery(delivery: Delivery, renderer: Renderer[_OutputT]) -> _OutputT | PlainResult:
    """Draw a delivery, or return its plain result if it holds no decision that can be drawn."""
    if isinstance(delivery, PlainResult):
        return delivery
    try:
        return renderer.draw(delivery.moment)
    except InputError as error:
        return PlainResult(delivery.payload, f"The envelope cannot be drawn on this surface: {error}")


def _read_copy(block: Json) -> _EnvelopeCopy | None:
    """Return the envelope that a block's text holds as a JSON object, or None."""
    text = as_mapping(block).get("text")
    if not isinstance(text, str) or not text.lstrip().startswith("{") or not _mentions_field(text):
        return None
    try:
        table = as_mapping(parse_strict_json(text, CanonicalProfile.WIRE))
    except NotCanonical:
        return _UNREADABLE_COPY
    return _EnvelopeCopy(parse_moment(table[MOMENT_FIELD]), _without_field(table)) if MOMENT_FIELD in table else None


def _mentions_field(text: str) -> bool:
    """Check whether a JSON text may have the member. Any character of its name may be escaped."""
    return f'"{MOMENT_FIELD}"' in _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _is_text(block: Json) -> bool:
    return isinstance(as_mapping(block).get("text"), str)


def _payload_of_blocks(blocks: list[Json], copies: list[_EnvelopeCopy | None]) -> Mapping[str, Json]:
    """Return the payload of a result that has content blocks only."""
    match copies:
        case [_EnvelopeCopy(other_members=members)] if members:
            return members
        case _:
            stripped = [_strip_envelope(block, copy) for block, copy in zip(blocks, copies, strict=True)]
            return {"content": [block for block in stripped if block is not _EMPTY_BLOCK]}


def _strip_envelope(block: Json, copy: _EnvelopeCopy | None) -> Json:
    """Return a block without the envelope in its text."""
    if copy is None:
        return block
    return {**block, "text": json.dumps(copy.other_members, ensure_ascii=False)} if copy.other_members else _EMPTY_BLOCK


def _without_field(table: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in table.items() if name != MOMENT_FIELD}
