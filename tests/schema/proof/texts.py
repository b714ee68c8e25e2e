"""Strings worth writing into a document: names that collide, and values as JSON text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.schema.proof.corpora import Case

MOST = 200
_LONGEST = 80


def texts(case: Case) -> tuple[str, ...]:
    """Return names and words of a schema, and parts of its instances as JSON text, the short ones."""
    found: dict[str, None] = {}
    for each in _parts([case.schema, *case.valid, *case.invalid]):
        for text in _written(each):
            if len(text) <= _LONGEST:
                found[text] = None
        if len(found) >= MOST:
            break
    return tuple(found)


def _parts(values: list[Any]) -> Iterator[Any]:
    """Yield every part of some values, the outer before the inner, taking the values in turn."""
    waiting = list(values)
    for each in waiting:
        yield each
        if len(waiting) < 20 * MOST:
            waiting.extend(each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())


def _written(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        yield from (each for each in part if not each.startswith("$"))
    text = json.dumps(part, ensure_ascii=False)
    if len(text) <= _LONGEST:
        yield text
