"""What a surface does with a tool's result: find the envelope, or fall back to the conventional payload.

Source: draft-morrison-binding-moment-envelope-00, sections 4, 7.1, 8.3 and 11.5; MCP 2025-11-25, "Structured Content".
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pydantic import BaseModel

from emitter.decide import Malformed, digest, read
from emitter.decide.canonical import Profile
from emitter.decide.strict import parse
from emitter.decide.wellformed import FIELD
from emitter.errors import ApprovalPending, InputError, NotCanonical
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.kinds import BindingMoment
    from emitter.render.surface import Renderer
    from emitter.wire import Json

_TORN = "The envelope was discarded as malformed: the copies of it in the tool's result differ."
_FAILED = "The tool failed, so the envelope in its result was discarded."
_SEVERAL = "The envelopes were discarded: more than one text of the tool's result holds one."
_ASIDE = "The envelope in a text of the tool's result was discarded: it stands where a tool carries data."

_WAITS = ApprovalPending.code

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_NOTHING = object()

_Drawn = TypeVar("_Drawn")


@dataclass(frozen=True, slots=True)
class Delivered:
    """A well-formed envelope, and the tool's own payload beside it."""

    moment: BindingMoment
    payload: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Fallback:
    """The tool's own payload alone; ``diagnostic`` says why an envelope was discarded, where one was."""

    payload: Json
    diagnostic: str | None = None


Delivery: TypeAlias = Delivered | Fallback


def delivery(result: Json) -> Delivery:
    """Return what a tool's structured result holds; one that is no object is all payload."""
    if not isinstance(result, dict):
        return Fallback(result)
    table = mapping(result)
    payload = _without_field(table)
    if FIELD not in table:
        return Fallback(payload)
    found = read(table[FIELD])
    return Fallback(payload, str(found)) if isinstance(found, Malformed) else Delivered(found, payload)


def of_tool_result(result: Mapping[str, Json] | BaseModel) -> Delivery:
    """Return what the whole result of an MCP tool holds, ``content`` and ``structuredContent`` as they were received.

    ``result`` is the JSON of it, or the SDK's own object.

    The payload is what structured content holds beside the envelope, or the content where it holds nothing else.
    Where there is structured content, its member is the envelope; a text that holds another one speaks against it, and
    none is taken. Without structured content, which some hosts drop, the last text is looked at: it is to be one object
    of JSON with that one member, or the only text there is, and no other text may hold one. Data that a tool merely
    carries is no decision, nor is anything that a failed tool says, but for a call that waits for its approval: its
    structured content has the ``code`` ``approval_pending``.

    A text alone is only as good as the tool: one that ends in a text of strangers can be made to end in such an object.
    Put no tool before the principal that hands on what it fetched as a whole text, or keep its structured content.
    """
    received = mapping(result.model_dump(mode="json", by_alias=True) if isinstance(result, BaseModel) else result)
    structured, blocks = received.get("structuredContent"), sequence(received.get("content"))
    table, texts = mapping(structured), [_copy(each) for each in blocks]
    copies = [each for each in texts if each is not None]
    beside = _without_field(table)
    is_told = isinstance(structured, dict) and (beside or FIELD not in table)
    payload = beside if is_told else _beside(blocks, texts)
    if received.get("isError") and not _waits(table):
        return Fallback(payload, _FAILED if copies or FIELD in table else None)
    if FIELD in table:
        readable = [each.envelope for each in copies if each is not _UNREADABLE]
        return _agreed([read(table[FIELD]), *readable], payload)
    why = _no_place(structured, copies, [text for block, text in zip(blocks, texts, strict=True) if _is_text(block)])
    return Fallback(payload, why) if why else _agreed([each.envelope for each in copies], payload)


@dataclass(frozen=True, slots=True)
class _Copy:
    """What one place holds, and the other members of the object that it stands in."""

    envelope: BindingMoment | Malformed
    beside: Mapping[str, Json] = field(default_factory=dict[str, "Json"])


_UNREADABLE = _Copy(Malformed(("#: the text that carries it is no JSON that can be read in one way only",)))


def _no_place(structured: Json, copies: list[_Copy], texts: list[_Copy | None]) -> str | None:
    """Return why no text of a result is where an envelope may stand; None where one is, or where there is none."""
    if len(copies) > 1:
        return _SEVERAL
    misplaced = copies and (texts[-1] is None or (copies[0].beside and len(texts) > 1))
    return _ASIDE if misplaced or (copies and structured is not None) else None


def _agreed(copies: list[BindingMoment | Malformed], payload: Mapping[str, Json]) -> Delivery:
    """Return the envelope that all copies are, or the fallback."""
    well = [each for each in copies if not isinstance(each, Malformed)]
    bad = [each for each in copies if isinstance(each, Malformed)]
    if well and not bad and len(set(map(digest, well))) == 1:
        return Delivered(well[0], payload)
    if well:
        return Fallback(payload, _TORN)
    return Fallback(payload, str(bad[0]) if bad else None)


def present(result: Json, renderer: Renderer[_Drawn]) -> _Drawn | Fallback:
    """Return the drawing of a tool's structured result, or its fallback: also where the surface cannot draw it."""
    return drawn(delivery(result), renderer)


def drawn(found: Delivery, renderer: Renderer[_Drawn]) -> _Drawn | Fallback:
    """Return the drawing of what was delivered, or its fallback."""
    if isinstance(found, Fallback):
        return found
    try:
        return renderer.draw(found.moment)
    except InputError as error:
        return Fallback(found.payload, f"The envelope cannot be drawn on this surface: {error}")


def _copy(block: Json) -> _Copy | None:
    """Return the envelope that a block's text holds as an object of JSON, None where the text is anything else."""
    text = mapping(block).get("text")
    if not isinstance(text, str) or not text.lstrip().startswith("{") or not _names_it(text):
        return None
    try:
        table = mapping(parse(text, Profile.WIRE))
    except NotCanonical:
        return _UNREADABLE
    return _Copy(read(table[FIELD]), _without_field(table)) if FIELD in table else None


def _names_it(text: str) -> bool:
    """Tell whether a text of JSON may have the member: in its name any character may be escaped."""
    return f'"{FIELD}"' in _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def _is_text(block: Json) -> bool:
    return isinstance(mapping(block).get("text"), str)


def _beside(blocks: list[Json], texts: list[_Copy | None]) -> Mapping[str, Json]:
    """Return what a result of blocks alone says beside the envelope: the rest of the only block, or every block's."""
    match texts:
        case [_Copy(beside=beside)] if beside:
            return beside
        case _:
            rests = [_rest(block, text) for block, text in zip(blocks, texts, strict=True)]
            return {"content": [each for each in rests if each is not _NOTHING]}


def _rest(block: Json, text: _Copy | None) -> Json:
    """Return a block without the envelope that its text holds."""
    if text is None:
        return block
    return {**block, "text": json.dumps(text.beside, ensure_ascii=False)} if text.beside else _NOTHING


def _without_field(table: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in table.items() if name != FIELD}


def _waits(table: Mapping[str, Json]) -> bool:
    """Tell whether an error says that a guarded call was not made, since nobody has approved it yet."""
    return table.get("code") == _WAITS
