"""Which constraints a peer says that it cannot enforce: those it wrote into a description.

anthropic writes ``{minimum: 1}``, pydantic-ai ``minimum=1`` and ``format: date``. A constraint counts as told where a
description that the original does not have holds its keyword in one of these forms, with its value where that is no
object or array. Where it stands is not asked, which favours the peer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from emitter.schema import Loss

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOLD = re.compile(r"(?:^|[{(,\s])([A-Za-z$]+)(?:: |=)")


def reported(original: Any, wire: Any) -> tuple[Loss, ...]:
    """Return the constraints of ``original`` that the descriptions of ``wire`` tell, as losses."""
    text = "\n".join(_descriptions(wire) - _descriptions(original))
    keywords = {each if each != "Format" else "format" for each in _TOLD.findall(text)}
    return tuple(
        Loss(pointer, keyword, str(value)[:80])
        for pointer, node in _nodes(original)
        for keyword, value in node.items()
        if keyword in keywords and _said(keyword, value, text)
    )


def _said(keyword: str, value: Any, text: str) -> bool:
    if isinstance(value, dict | list):
        return True  # a helper writes its own form of it
    spellings = (f"{keyword}: {value}", f"{keyword}={value}", f"{keyword.capitalize()}: {value}")
    return any(each in text for each in spellings)


def _descriptions(schema: Any) -> set[str]:
    found = (node.get("description") for _, node in _nodes(schema))
    return {each for each in found if isinstance(each, str)}


def _nodes(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object in a schema with its JSON pointer."""
    waiting = [("", schema)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            yield pointer, value
            waiting.extend((f"{pointer}/{str(k).replace('~', '~0').replace('/', '~1')}", v) for k, v in value.items())
        elif isinstance(value, list):
            waiting.extend((f"{pointer}/{index}", each) for index, each in enumerate(value))
