"""A request as the vendor takes it: read, checked against its published limits, or found at fault."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from emitter.adapters.endpoint import wire_of
from emitter.profile.model import WireName
from emitter.testing.asked import Asked
from emitter.testing.draft import Failure, Trouble
from emitter.testing.wires import anthropic, google, openai_chat, openai_responses
from emitter.testing.wires.openai_errors import AZURE
from emitter.testing.wires.reading import NO_SUCH_MODEL, limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.testing.wires.writing import Wire
    from emitter.wire import Json

WIRES: Mapping[WireName, Wire] = MappingProxyType(
    {
        WireName.OPENAI_RESPONSES: openai_responses,
        WireName.OPENAI_CHAT: openai_chat,
        WireName.ANTHROPIC: anthropic,
        WireName.GOOGLE: google,
    }
)
"""What writes each wire; total over ``WireName``."""

BAD_KEY = "bad-key"
"""The one key that no vendor takes."""

_PROFILES = {
    WireName.OPENAI_RESPONSES: "openai",
    WireName.OPENAI_CHAT: "openai",
    WireName.ANTHROPIC: "anthropic",
    WireName.GOOGLE: "google",
}
_ENDINGS: Mapping[WireName, tuple[str, ...]] = {
    WireName.OPENAI_RESPONSES: ("/responses",),
    WireName.OPENAI_CHAT: ("/chat/completions",),
    WireName.ANTHROPIC: ("/messages",),
    WireName.GOOGLE: (":generateContent", ":streamGenerateContent"),
}
"""How the addresses end at which something is written: others of the same vendor are not simulated."""
_ANY = "*"
_TOO_LARGE = {
    WireName.OPENAI_RESPONSES: (
        "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= {most}, but got {given} instead."
    ),
    WireName.OPENAI_CHAT: "max_tokens is too large: {given}. This model supports at most {most} completion tokens.",
    WireName.ANTHROPIC: "max_tokens: {given} > {most}, which is the maximum allowed number of output tokens",
    WireName.GOOGLE: (
        "Unable to submit request because it has a maxOutputTokens value of {given} "
        "but the supported range is from 1 to {most}."
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """A request as far as it was understood; ``asked`` says little where there is a ``failure``.

    ``wire`` is whose words are answered in, ``known`` whether the path is one of that wire's.
    """

    wire: WireName
    known: bool
    body: Json
    asked: Asked
    failure: Failure | None = None


def hear(path: str, raw: bytes, *, check_schemas: bool) -> Heard:
    """Return what a POST asks for."""
    wire = wire_of("", path)
    if wire is None or not path.partition("?")[0].endswith(_ENDINGS[wire]):
        return nowhere(path, WireName.OPENAI_RESPONSES)
    body = _loaded(raw)
    if not isinstance(body, dict):
        return Heard(wire, known=True, body=body, asked=_blank(wire, path), failure=Failure(Trouble.BAD_REQUEST))
    table = cast("dict[str, Json]", body)
    asked = WIRES[wire].read(path, table)
    if isinstance(asked, Failure):
        return Heard(wire, known=True, body=table, asked=_blank(wire, path), failure=asked)
    return Heard(wire, known=True, body=table, asked=asked, failure=_fault(asked, check_schemas=check_schemas))


def nowhere(path: str, wire: WireName) -> Heard:
    """Return what is heard on a path that leads nowhere."""
    return Heard(wire, known=False, body=None, asked=_blank(wire, path), failure=Failure(Trouble.NOT_FOUND))


def speaker(headers: Mapping[str, str]) -> WireName:
    """Return whose client sent a request, by its headers."""
    if "x-goog-api-key" in headers or "x-goog-api-client" in headers:
        return WireName.GOOGLE
    if "anthropic-version" in headers or "x-api-key" in headers:
        return WireName.ANTHROPIC
    return WireName.OPENAI_RESPONSES


def key_of(headers: Mapping[str, str]) -> str:
    """Return the key that a request carries."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return next((headers[each] for each in ("x-api-key", "x-goog-api-key", "api-key") if each in headers), bearer)


def _loaded(raw: bytes) -> Json:
    try:
        return json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None


def _no_number(word: str) -> None:
    """Refuse what Python reads as a number and JSON does not know."""
    raise ValueError(word)


def _blank(wire: WireName, path: str) -> Asked:
    azure = AZURE in path
    return Asked(wire, path, "", {}, streamed=False, schema=None, tool=None, budget=None, input_tokens=0, azure=azure)


def _fault(asked: Asked, *, check_schemas: bool) -> Failure | None:
    if asked.model == NO_SUCH_MODEL:
        return Failure(Trouble.NO_MODEL)
    return _beyond(asked) or (_breach(asked) if check_schemas else None)


def _beyond(asked: Asked) -> Failure | None:
    """Return the error of a request beyond what is known of its model."""
    known = limits(_PROFILES[asked.wire], asked.model)
    if known.match == _ANY:
        return None
    if asked.budget is not None and asked.budget > known.max_output:
        told = _TOO_LARGE[asked.wire].format(given=asked.budget, most=known.max_output)
        return Failure(Trouble.BAD_REQUEST, told)
    return Failure(Trouble.OVERFLOWED) if asked.input_tokens > known.context else None


def _breach(asked: Asked) -> Failure | None:
    wire = WIRES[asked.wire]
    for surface in wire.surfaces(asked):
        breach = surface.breach()
        if breach is not None:
            code = "invalid_function_parameters" if surface.tool else None
            return Failure(Trouble.BAD_SCHEMA, wire.complaint(surface, breach), param=surface.at, code=code)
    return None
