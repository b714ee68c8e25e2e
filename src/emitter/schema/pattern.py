"""Patterns as the validator reads them, and what becomes of those that it cannot read."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import jsonschema_rs

from emitter.schema.drafts import DATA, MAPS_OF_SCHEMAS
from emitter.schema.pointer import below
from emitter.schema.shape import Rule

if TYPE_CHECKING:
    from emitter.schema.drafts import Draft


@lru_cache(maxsize=4096)
def _pattern(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern})


def matches(pattern: str, name: str) -> bool:
    """Tell whether ``pattern`` is found in ``name``, as the validator reads it and in bounded time."""
    return bool(_pattern(pattern).is_valid(name))


class Rewritten(NamedTuple):
    """A schema that the validator can read, and the patterns that were taken out of it."""

    schema: Any
    lost: list[Rule]


_ANCHORS = {"A": "^", "Z": "$"}
_REST = ("additionalProperties", "unevaluatedProperties")


def rewrite_patterns(schema: Any, draft: Draft) -> Rewritten:
    """Return a schema without the patterns that the validator cannot read.

    What Python writes in another way is rewritten. Any other unreadable pattern moves into the description, where
    the model reads it.
    """
    lost: list[Rule] = []
    return Rewritten(_rewrite(schema, "", draft, lost), lost)


def _rewrite(node: Any, where: str, draft: Draft, lost: list[Rule]) -> Any:
    if isinstance(node, list):
        listed = cast("list[Any]", node)
        return [_rewrite(each, below(where, index), draft, lost) for index, each in enumerate(listed)]
    if not isinstance(node, dict):
        return node
    table = cast("dict[str, Any]", node)
    found: dict[str, Any] = {}
    for key, each in table.items():
        at = below(where, key)
        if key in MAPS_OF_SCHEMAS and isinstance(each, dict):
            named = cast("dict[str, Any]", each)
            found[key] = {name: _rewrite(inside, below(at, name), draft, lost) for name, inside in named.items()}
        else:
            found[key] = each if key in DATA else _rewrite(each, at, draft, lost)
    gone = [*_without_pattern(found, where, draft), *_without_names(found, where, draft)]
    if gone:
        said = ", ".join(f"{rule.keyword} {json.dumps(rule.value, ensure_ascii=False)}" for rule in gone)
        found["description"] = " ".join(filter(None, [str(found.get("description", "")), f"Must hold: {said}."]))
        lost.extend(gone)
    return found


def _without_pattern(node: dict[str, Any], where: str, draft: Draft) -> list[Rule]:
    """Rewrite the pattern of a schema, or take it out."""
    given = node.get("pattern")
    readable = _readable(given, draft) if isinstance(given, str) else given
    if readable is not None:
        node["pattern"] = readable
    elif given is not None:
        return [Rule(where, "pattern", node.pop("pattern"))]
    return []


def _without_names(node: dict[str, Any], where: str, draft: Draft) -> list[Rule]:
    """Rewrite the patterns of names; without one of them nothing is known of the names that are not spoken of."""
    patterns: Any = node.get("patternProperties")
    if not isinstance(patterns, dict):
        return []
    readable = {name: _readable(name, draft) for name in cast("dict[str, Any]", patterns)}
    node["patternProperties"] = {new: patterns[name] for name, new in readable.items() if new is not None}
    gone: dict[str, Any] = {name: patterns[name] for name, new in readable.items() if new is None}
    if not gone:
        return []
    rest = [Rule(where, key, node.pop(key)) for key in _REST if key in node]
    return [Rule(where, "patternProperties", gone), *rest]


def _readable(pattern: str, draft: Draft) -> str | None:
    """Return the pattern in the validator's syntax, or None where it has none for it."""
    rewritten = re.sub(r"\\(.)", lambda found: _ANCHORS.get(found[1], found[0]), pattern)
    rewritten = re.sub(r"\(\?P=(\w+)\)", r"\\k<\1>", rewritten.replace("(?P<", "(?<"))
    return next((each for each in (pattern, rewritten) if _compiles(each, draft)), None)


def _compiles(pattern: str, draft: Draft) -> bool:
    try:
        draft.validator({"pattern": pattern})
    except ValueError:
        return False
    return True
