"""Which schemas stand alone: the benchmarks pass over those that name what is elsewhere, because nothing is fetched."""

from __future__ import annotations

from typing import Any

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_KNOWN = ("json-schema.org/draft-", "json-schema.org/draft/", "json-schema.org/schema")
"""The drafts' own addresses; every validator brings what stands there along."""


def alone(schema: Any) -> bool:
    """Tell whether a schema names nothing but itself and the drafts; a relative reference counts as elsewhere."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if not all(_here(value.get(each)) for each in _REFERENCES) or not _known(value.get("$schema")):
                return False
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return True


def _here(reference: Any) -> bool:
    # a property may be called "$ref": then its value is a schema, which is looked at in its turn
    return not isinstance(reference, str) or reference.startswith("#")


def _known(draft: Any) -> bool:
    return not isinstance(draft, str) or any(each in draft for each in _KNOWN)
