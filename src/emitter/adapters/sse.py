"""Server-sent events, read leniently: the text of a stream into its JSON events.

Source: html.spec.whatwg.org, section 9.2.6. Some proxies and recordings drop the blank line between events;
where joined data lines are not JSON, each line is read by itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json

_DONE = "[DONE]"


def is_stream(text: str) -> bool:
    """Tell whether a body is a stream of events rather than a document."""
    return text.lstrip("\ufeff \r\n\t").startswith(("data:", "event:", "id:", "retry:", ":"))


def events(text: str) -> list[Json]:
    """Return the JSON payloads of a stream; raises ``ValueError`` on one that is not JSON."""
    found: list[Json] = []
    for lines in _blocks(text):
        found.extend(_payloads(lines))
    return found


def _blocks(text: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            block.append(line[5:].removeprefix(" "))
        elif not line and block:
            yield block
            block = []


def _payloads(lines: list[str]) -> list[Json]:
    kept = [line for line in lines if line.strip() and line.strip() != _DONE]
    if not kept:
        return []
    try:
        return [json.loads("\n".join(kept))]
    except ValueError:
        return [json.loads(line) for line in kept]
