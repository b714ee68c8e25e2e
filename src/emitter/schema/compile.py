"""From the caller's JSON Schema to a vendor's strict subset.

Compiling consumes: each node hands over the keywords that the vendor enforces, and whatever is left over
either becomes a ``Loss`` (told in the description, checked locally) or, where leaving it out would change
which documents can be said at all, raises ``Uncompilable``. Nothing slips through.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from emitter import profile as profiles
from emitter.errors import Uncompilable
from emitter.profile.subset import Optionals
from emitter.schema.compiled import Compiled, Loss
from emitter.schema.decode import decoder
from emitter.schema.validate import Validator
from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.profile.model import Profile
    from emitter.profile.subset import Subset
    from emitter.wire import Json

Node: TypeAlias = dict[str, Any]

MAX_DEPTH = 64
"""A schema nested deeper is refused: no vendor takes one, and compiling must stay bounded."""

_CHECKED_LOCALLY = frozenset(
    {"minLength", "maxLength", "pattern", "format"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"}
    | {"minProperties", "maxProperties", "dependentRequired", "dependentSchemas"}
    | {"not", "if", "then", "else", "default", "const"}
)
_ANNOTATIONS = frozenset({"$schema", "$id", "$comment", "examples", "deprecated", "readOnly", "writeOnly"})


def compile_schema(schema: Mapping[str, Json], profile: str | Profile) -> Compiled:
    """Compile a JSON Schema (draft 2020-12) for the vendor of ``profile``.

    Raises ``Uncompilable`` with a pointer when no sound form exists. The result is cached per schema and
    profile.
    """
    name = profile if isinstance(profile, str) else profile.name
    subset = (profiles.load(profile) if isinstance(profile, str) else profile).subset
    try:
        text = json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise Uncompilable("", "the schema is not JSON, or nested too deeply to read") from error
    return _compile(text, name, cast("Any", subset))  # frozen, hence hashable; the checkers cannot see it


@lru_cache(maxsize=256)
def _compile(text: str, _profile: str, subset: Subset) -> Compiled:
    schema = json.loads(text)
    losses: list[Loss] = []
    wire = _Compiler(subset, losses).root(schema)
    return Compiled(wire, tuple(losses), lambda value: value, decoder(schema), Validator(schema), schema)


class _Compiler:
    """One walk over one schema; ``losses`` is filled on the way."""

    def __init__(self, subset: Subset, losses: list[Loss]) -> None:
        self._subset = subset
        self._losses = losses

    def root(self, schema: Any) -> Node:
        if mapping(schema).get("type") != "object":
            raise Uncompilable("", "the root must be an object schema")
        return self.node(schema, "", 0)

    def node(self, schema: Any, pointer: str, depth: int) -> Node:
        if not mapping(schema):
            raise Uncompilable(pointer, "an open value has no closed form yet")
        if depth > MAX_DEPTH:
            raise Uncompilable(pointer, f"nested deeper than {MAX_DEPTH}")
        source: Node = {key: value for key, value in mapping(schema).items() if key not in _ANNOTATIONS}
        out: Node = {}
        for handle in (self._reference, self._union, self._object, self._array, self._plain):
            handle(source, out, pointer, depth)
        self._tell_losses(source, out, pointer)
        return out

    def _reference(self, source: Node, out: Node, pointer: str, depth: int) -> None:
        if "$ref" in source:
            if "$ref" not in self._subset.keywords:
                raise Uncompilable(f"{pointer}/$ref", "this vendor takes no references")
            out["$ref"] = source.pop("$ref")
            if not self._subset.ref_siblings:
                source.pop("description", None)
                source.pop("title", None)
        if "$defs" in source:
            out["$defs"] = {
                name: self.node(each, f"{pointer}/$defs/{name}", depth + 1)
                for name, each in source.pop("$defs").items()
            }

    def _union(self, source: Node, out: Node, pointer: str, depth: int) -> None:
        if "anyOf" in source:
            out["anyOf"] = [
                self.node(each, f"{pointer}/anyOf/{index}", depth + 1) for index, each in enumerate(source.pop("anyOf"))
            ]

    def _object(self, source: Node, out: Node, pointer: str, depth: int) -> None:
        if source.get("type") != "object":
            return
        if source.pop("additionalProperties", True) is not False:
            raise Uncompilable(f"{pointer}/additionalProperties", "an open object has no closed form yet")
        required = source.pop("required", [])
        names = source.pop("properties", {})
        out["type"] = source.pop("type")
        out["properties"] = {
            name: self._property(each, f"{pointer}/properties/{name}", depth, needed=name in required)
            for name, each in names.items()
        }
        nullable = self._subset.optionals is Optionals.NULLABLE
        out["required"] = list(names) if nullable else [name for name in names if name in required]
        out["additionalProperties"] = False
        if self._subset.ordering:
            out[self._subset.ordering] = list(names)

    def _property(self, schema: Any, pointer: str, depth: int, *, needed: bool) -> Node:
        compiled = self.node(schema, pointer, depth + 1)
        if needed or self._subset.optionals is Optionals.OMIT:
            return compiled
        return _nullable(compiled)

    def _array(self, source: Node, out: Node, pointer: str, depth: int) -> None:
        if source.get("type") != "array":
            return
        if "items" not in source:
            raise Uncompilable(f"{pointer}/items", "an open array has no closed form yet")
        out["type"] = source.pop("type")
        out["items"] = self.node(source.pop("items"), f"{pointer}/items", depth + 1)
        bound, most = source.get("minItems"), self._subset.min_items_max
        if bound is not None and most is not None and bound > most:
            out["minItems"] = most
            self._lose(pointer, "minItems", source.pop("minItems"), out)

    def _plain(self, source: Node, out: Node, pointer: str, _depth: int) -> None:
        if "const" in source and "const" not in self._subset.keywords:
            out["enum"] = [source.pop("const")]
        for key in [each for each in source if self._enforced(each, source[each])]:
            if key in out:
                raise Uncompilable(f"{pointer}/{key}", "stands beside a keyword that it cannot be joined with")
            out[key] = source.pop(key)

    def _enforced(self, key: str, value: Any) -> bool:
        if key == "format":
            return value in self._subset.formats
        refused = self._subset.pattern_refuses if key == "pattern" else None
        return key in self._subset.keywords and (refused is None or re.search(refused, str(value)) is None)

    def _tell_losses(self, source: Node, out: Node, pointer: str) -> None:
        for key, value in source.items():
            if key not in _CHECKED_LOCALLY and key not in {"title", "description"}:
                raise Uncompilable(f"{pointer}/{key}", "this keyword has no sound form for this vendor yet")
            if key in _CHECKED_LOCALLY:
                self._lose(pointer, key, value, out)

    def _lose(self, pointer: str, keyword: str, value: Any, out: Node) -> None:
        loss = Loss(pointer, keyword, json.dumps(value, ensure_ascii=False))
        self._losses.append(loss)
        if "$ref" not in out:
            told = f"Must hold: {keyword} {loss.value}."
            out["description"] = f"{out['description']} {told}" if "description" in out else told


def _nullable(node: Node) -> Node:
    """Let the node be null, inside the subset of every vendor."""
    if isinstance(node.get("type"), str) and not node.keys() & {"enum", "const", "properties", "items"}:
        return {**node, "type": [node["type"], "null"]}
    if "anyOf" in node:
        return {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
    description = {"description": node.pop("description")} if "description" in node else {}
    return {"anyOf": [node, {"type": "null"}], **description}
