"""What a request holds of a schema: names of properties and values to choose from, in the form or in the prompt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from emitter import prompt
from emitter.door import wording
from emitter.wire import OutputFormat, OutputMode, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.schema import Compiled

_NEVER = (False, {"not": {}}, {"not": True})
_MAPS = ("properties", "patternProperties", "dependentSchemas", "dependencies")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE = (
    *("additionalProperties", "propertyNames", "items", "additionalItems", "contains"),
    *("if", "then", "else", "not", "unevaluatedProperties", "unevaluatedItems"),
)
_OF_OBJECTS = {*_MAPS, "required", "additionalProperties", "propertyNames", "unevaluatedProperties"}
_OF_ARRAYS = {"prefixItems", "items", "additionalItems", "contains", "unevaluatedItems"}


def missing(schema: Any, compiled: Compiled) -> list[str]:
    """Return the names and texts of ``schema`` that a request with ``compiled`` does not hold."""
    request = _request(compiled)
    return [each for each in dict.fromkeys(words(schema)) if not _held(each, request)]


def _request(compiled: Compiled) -> str:
    """Return the form as it is sent and what the prompt says of it, quotation marks inside texts as they are."""
    output = OutputFormat("document", mapping(compiled.schema), OutputMode.JSON_SCHEMA, strict=True)
    said = wording.form(prompt.load(), compiled, output, holds=True)
    return "\n".join((*said, *_strings(compiled.schema if compiled.enforced else {})))


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, names quoted as JSON quotes them."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, str):
            yield here
            yield json.dumps(here, ensure_ascii=False)
        elif isinstance(here, dict):
            waiting.extend([*here, *here.values()])
        elif isinstance(here, list):
            waiting.extend(here)


def _held(word: str, request: str) -> bool:
    quoted = json.dumps(word, ensure_ascii=False)
    return quoted in request or json.dumps(quoted, ensure_ascii=False)[1:-1] in request


def words(schema: Any) -> Iterator[str]:
    """Yield the names of properties and the texts to choose from that a schema speaks of where a value can reach it."""
    waiting, met = [schema], set[int]()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or id(node) in met:
            continue
        met.add(id(node))
        if isinstance(node.get("$ref"), str):
            waiting.append(_target(schema, node["$ref"]))
            if "draft-0" in str(mapping(schema).get("$schema")):
                continue  # what stands beside a reference means nothing in the older drafts
        spoken = _spoken(node)
        possible = {name: each for name, each in mapping(spoken.get("properties")).items() if each not in _NEVER}
        impossible = mapping(spoken.get("properties")).keys() - possible.keys()
        yield from possible
        required = spoken.get("required")
        yield from (each for each in (required if isinstance(required, list) else ()) if each not in impossible)
        if "const" not in spoken:  # which chooses among them
            yield from (each for each in spoken.get("enum", ()) if isinstance(each, str))
        for keyword in _MAPS:
            waiting.extend(mapping(spoken.get(keyword)).values())
        for keyword in _LISTS:
            waiting.extend(spoken[keyword] if isinstance(spoken.get(keyword), list) else ())
        waiting.extend(spoken.get(keyword) for keyword in _SINGLE)


def _spoken(node: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a schema that are about a value of its type."""
    named = node.get("type", ["object", "array"])
    types = {named} if isinstance(named, str) else set(named)
    idle = (_OF_OBJECTS if "object" not in types else set()) | (_OF_ARRAYS if "array" not in types else set())
    return {name: each for name, each in node.items() if name not in idle}


def _target(schema: Any, reference: str) -> Any:
    """Return what a pointer into this schema names; nothing for any other reference."""
    here = schema
    for step in unquote(reference).split("/")[1:] if reference.startswith("#") else ["none"]:
        name = step.replace("~1", "/").replace("~0", "~")
        here = here.get(name) if isinstance(here, dict) else here[int(name)] if isinstance(here, list) else None
    return here
