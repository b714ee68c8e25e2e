"""Which wire an exchange speaks: by the endpoint's name, else by its path, else by the body's shape."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from emitter.adapters.answer import items, text
from emitter.profile.model import WireName
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

_NAMED = (
    (re.compile(r"(^|[./_-])chat[./_]completions([./](create|stream|parse))?$"), WireName.OPENAI_CHAT),
    # A stored response is read, or cancelled, under its id; counting and compacting are other things.
    (re.compile(r"(^|[./_-])responses([./](?!compact|input_)[^/]+(/cancel)?)?$"), WireName.OPENAI_RESPONSES),
    # Threads have messages too.
    (
        re.compile(r"(^|/v\d\w*/|/anthropic/|(?<!threads)[._-])messages([./](create|stream|parse))?$"),
        WireName.ANTHROPIC,
    ),
    (re.compile(r"^anthropic-on-|/anthropic/.*:(stream)?rawpredict$"), WireName.ANTHROPIC),
    (re.compile(r"/model/[^/]*anthropic[^/]*/invoke(-with-response-stream)?$"), WireName.ANTHROPIC),
    (re.compile(r"(^|[.:/])(stream)?_?generate_?content(_?stream)?$"), WireName.GOOGLE),
)
"""How an endpoint's name or path, in lower case, tells its wire."""

_SHAPES = (
    ("choices", WireName.OPENAI_CHAT),
    ("candidates", WireName.GOOGLE),
    ("promptFeedback", WireName.GOOGLE),
    ("prompt_feedback", WireName.GOOGLE),
    ("stop_reason", WireName.ANTHROPIC),
)
"""What only one wire's body or chunk holds."""


def wire_of(name: str, path: str) -> WireName | None:
    """Return the wire of an endpoint, by its name or else by its path; None: it is none of ours."""
    return _named(name) or _named(path.partition("?")[0].rstrip("/"))


def shape_of(body: Json) -> WireName | None:
    """Return the wire whose body this is, or a list of its events; for an exchange of which nothing else is known."""
    return next(filter(None, map(_shaped, items(body) or [mapping(body)])), None)


def _named(name: str) -> WireName | None:
    return next((wire for pattern, wire in _NAMED if pattern.search(name.lower())), None)


def _shaped(body: Mapping[str, Any]) -> WireName | None:
    kind = text(body.get("type"))
    if kind.startswith("response.") or body.get("object") == "response":
        return WireName.OPENAI_RESPONSES
    if kind in {"message_start", "error"}:
        return WireName.ANTHROPIC
    if "status" in mapping(body.get("error")):
        return WireName.GOOGLE
    return next((wire for key, wire in _SHAPES if key in body), None)
