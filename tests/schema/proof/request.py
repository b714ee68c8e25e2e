"""What a request holds of a schema: names of properties and values to choose from, in the form or in the prompt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from emitter import prompts as prompt
from emitter.client import prompt_writer
from emitter.messages import OutputFormat, OutputMode, as_list, as_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.schema import Compiled

_NEVER = (False, {"not": {}}, {"not": True})
_MAPS = ("patternProperties", "dependentSchemas", "dependencies")
_SAME = ("anyOf", "oneOf", "allOf", "if", "then", "else", "not", "dependentSchemas", "dependencies")
"""Keywords whose schemas are about the value itself; those of the others are about what is inside it."""
_INSIDE = (
    *("patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("prefixItems", "items", "additionalItems", "contains", "unevaluatedItems"),
)
_OF_OBJECTS = {*_MAPS, "properties", "required", "additionalProperties", "propertyNames", "unevaluatedProperties"}
Names: TypeAlias = "frozenset[str] | None"
"""The only names that an object may have; None for any."""
_OF_ARRAYS = {"prefixItems", "items", "additionalItems", "contains", "unevaluatedItems"}


def missing(schema: Any, compiled: Compiled) -> list[str]:
    """Return the names and texts of ``schema`` that a request with ``compiled`` does not hold."""
    request = _request(compiled)
    return [each for each in dict.fromkeys(words(schema)) if not _held(each, request)]


def _request(compiled: Compiled) -> str:
    """Return the form as it is sent and what the prompt says of it, quotation marks inside texts as they are."""
    output = OutputFormat("document", as_mapping(compiled.schema), OutputMode.JSON_SCHEMA, strict=True)
    said = prompt_writer.render_form(prompt.load(), compiled, output, is_schema_shown=True)
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
    waiting: list[tuple[Any, Names]] = [(schema, None)]
    met = set[tuple[int, Names]]()
    while waiting:
        node, names = waiting.pop()
        if not isinstance(node, dict):
            continue
        names = _both(names, _only(schema, node))
        if (id(node), names) in met:
            continue
        met.add((id(node), names))
        if isinstance(node.get("$ref"), str):
            waiting.append((_target(schema, node["$ref"]), names))
            if _alone(schema):
                continue
        spoken = _spoken(node)
        properties = as_mapping(spoken.get("properties"))
        possible = {name: each for name, each in properties.items() if each not in _NEVER and _in(name, names)}
        impossible = properties.keys() - possible.keys()
        yield from possible
        yield from (each for each in as_list(spoken.get("required")) if _in(each, names) and each not in impossible)
        if "const" not in spoken:  # which chooses among them
            yield from (each for each in spoken.get("enum", ()) if isinstance(each, str))
        waiting.extend((each, names) for each in _beneath(spoken, _SAME))
        waiting.extend((each, None) for each in (*possible.values(), *_beneath(spoken, _INSIDE)))


def _beneath(node: dict[str, Any], keywords: tuple[str, ...]) -> Iterator[Any]:
    """Yield what may be a schema in these keywords, alone, in a list or by name."""
    for keyword in keywords:
        value = node.get(keyword)
        yield from (value, *as_list(value), *(as_mapping(value).values() if keyword in _MAPS else ()))


def _alone(schema: Any) -> bool:
    """Tell whether what stands beside a reference means nothing, as in the older drafts."""
    return "draft-0" in str(as_mapping(schema).get("$schema"))


def _only(schema: Any, node: Any) -> Names:
    """Return the only names that a value of ``node`` may have: an object that is closed closes what holds with it."""
    names: Names = None
    waiting, met = [node], set[int]()
    while waiting:
        here = as_mapping(waiting.pop())
        if id(here) in met:
            continue
        met.add(id(here))
        if isinstance(here.get("$ref"), str):
            waiting.append(_target(schema, here["$ref"]))
            if _alone(schema):
                continue
        if here.get("additionalProperties") is False and not here.get("patternProperties"):
            names = _both(names, frozenset(as_mapping(here.get("properties"))))
        waiting.extend(as_list(here.get("allOf")))
    return names


def _both(one: Names, other: Names) -> Names:
    return other if one is None else one if other is None else one & other


def _in(name: str, names: Names) -> bool:
    return names is None or name in names


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
