"""Turn the text of a streamed answer into growing documents, and read them as values.

A document is parsed again only when the text has grown by a hundredth, so a stream takes linear time. In a value,
missing parts are None. The caller's validators do not run on it, because they are written for complete values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic_core import SchemaValidator, from_json

from emitter.messages import as_list, as_mapping
from emitter.recover.thinking_blocks import ThinkingFilter
from emitter.schema.codecs import VALUE_MEMBER, VARIANT_MEMBER
from emitter.schema.container_codecs import KEY_MEMBER
from emitter.schema.python_types import DATA_KEYS, build_adapter, find_aliases, find_union_tags, to_json_text
from emitter.streaming import FieldComplete
from emitter.streaming.partial_schema import schemas_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.messages import Json
    from emitter.schema import Compiled
    from emitter.streaming import DocumentPath

_GROWTH = 100
_ROOT_START = re.compile(r"\s*+\"|[^{\[]*+[{\[]")
"""The quote of an answer that is one JSON string, whose brackets do not count, or the text up to the first bracket."""
_NUMBER_CHARACTERS = "+-.0123456789eE"
_BEFORE_NUMBER = (":", ",", "[", " ", "\t", "\n", "\r")
ROOT_BRACKETS = {"array": "[", "object": "{"}


class PartialStream:
    """The streaming plan for partial documents; ``new_reader`` begins one answer.

    If ``trailing_strings`` is true, the document includes the beginning of a string that is still being written.
    Strings with an enum, a constant, a format or a pattern are only included when they are complete.
    """

    def __init__(self, compiled: Compiled, *, trailing_strings: bool) -> None:
        self.compiled, self.trailing_strings = compiled, trailing_strings

    def new_reader(self) -> PartialReader:
        """Return the reader of one answer."""
        return PartialReader(self)


class PartialReader:
    """The reader of one answer."""

    def __init__(self, stream: PartialStream) -> None:
        self._stream = stream
        self._roots = ROOT_BRACKETS.get(str(as_mapping(stream.compiled.schema).get("type")), "{[")
        self._thinking_filter = ThinkingFilter()
        self._pieces: list[str] = []
        self._length, self._next_length = 0, 1
        self._document: Json = None

    def feed(self, text: str) -> Sequence[FieldComplete]:
        """Return the document so far, if this piece of the answer changes it."""
        piece = self._thinking_filter.feed(text)
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length < self._next_length:
            return ()
        self._next_length = self._length * (_GROWTH + 1) // _GROWTH + 1
        self._pieces = ["".join(self._pieces)]
        document = self._parse(self._pieces[0], "on")
        if self._stream.trailing_strings:
            grown = self._parse(self._pieces[0], "trailing-strings")
            if grown != document and _is_growth_in_string(self._stream.compiled, document, grown):
                document = grown
        if not document or document == self._document:
            return ()
        self._document = document
        return (FieldComplete("", self._stream.compiled.decode(document)),)

    def _parse(self, text: str, mode: Literal["on", "trailing-strings"]) -> Json:
        start = _ROOT_START.match(text)
        if start is None or start[0][-1] not in self._roots:
            return None
        try:
            document = from_json(_drop_cut_number(text[start.end() - 1 :]), allow_inf_nan=False, allow_partial=mode)
        except ValueError:  # only the whole answer can be repaired
            return None
        _drop_cut_member(document)
        return document


_WHOLE_STRING_KEYWORDS = frozenset({"enum", "const", "format", "pattern"})


def _is_growth_in_string(compiled: Compiled, document: Json, grown: Json) -> bool:
    """Return whether ``grown`` differs from ``document`` only in a string that may be shown in part."""
    before, after = compiled.decode(document), compiled.decode(grown)
    path: list[str | int] = []
    while isinstance(after, dict | list):
        known = dict(_members(before))
        changed = [(step, each) for step, each in _members(after) if step not in known or known[step] != each]
        if not changed:
            return False
        step, after = changed[-1]
        path, before = [*path, step], known.get(step)
    return _is_unconstrained_string(compiled, tuple(path))


def _members(value: Json) -> Iterable[tuple[str | int, Json]]:
    return as_mapping(value).items() if isinstance(value, dict) else enumerate(as_list(value))


@lru_cache(maxsize=256)
def _is_unconstrained_string(compiled: Compiled, path: DocumentPath) -> bool:
    schemas = schemas_at(compiled.original, path, unnamed=True)
    types = {kind for schema in schemas for kind in (as_list(schema.get("type")) or [schema.get("type")])}
    return (
        "string" in types
        and not types & {"number", "integer"}  # the string may be written in place of a number
        and not any(_WHOLE_STRING_KEYWORDS & schema.keys() for schema in schemas)
    )


def _drop_cut_number(text: str) -> str:
    """Return the text without a number at its end, which may have further digits."""
    before = text.rstrip(_NUMBER_CHARACTERS)
    return before if before.endswith(_BEFORE_NUMBER) else text


_WIRE_OBJECTS = ({KEY_MEMBER, VALUE_MEMBER}, {VARIANT_MEMBER, VALUE_MEMBER})
"""The members of a map's entry and of a tagged variant, which cannot be decoded one by one."""


def _drop_cut_member(document: Json) -> None:
    """Remove the last object of a document if it is incomplete in the vendor's form."""
    parent: Any = document
    while parent:
        items = as_list(parent)
        last: Any = len(items) - 1 if items else next(reversed(parent))
        child: Any = parent[last]
        if not isinstance(child, dict | list):
            return
        if isinstance(child, dict) and any(members > set(as_mapping(child)) for members in _WIRE_OBJECTS):
            del parent[last]
            return
        parent = cast("Any", child)


def make_partial_reader(schema_or_type: object) -> Callable[[Json], Any]:
    """Return the function that reads an incomplete document as a value of a type.

    It raises ``ValidationError`` if there is no such value yet. Documents of a JSON Schema are returned as they are.
    """
    if isinstance(schema_or_type, Mapping | bool):
        return lambda document: document
    if isinstance(schema_or_type, Hashable):
        return _reader_of_type(schema_or_type)
    return _reader_of_type.__wrapped__(schema_or_type)


@lru_cache(maxsize=256)
def _reader_of_type(kind: object) -> Callable[[Json], Any]:
    adapter, _ = build_adapter(kind)
    # The third argument keeps pydantic from using the validators of the models themselves.
    validator = SchemaValidator(_relax(adapter.core_schema, find_union_tags(adapter.core_schema)), None, False)
    by_name = find_aliases(adapter).has_nested or None
    return lambda document: validator.validate_json(to_json_text(document), by_alias=True, by_name=by_name)


_CALLER_HOOKS = frozenset({"post_init", "custom_init"})
_FIELD_TYPES = frozenset({"model-field", "dataclass-field", "typed-dict-field"})
_COLLECTIONS = frozenset({"list", "set", "frozenset", "dict"})


def _relax(node: Any, tags: frozenset[int], *, in_union: bool = False) -> Any:
    """Return a core schema for incomplete documents: nothing is required, and invalid parts are left out.

    ``in_union`` is true for the members of a union. They still require their literals, and the literals in ``tags``
    lose their defaults, because they distinguish the members.
    """
    if isinstance(node, list | tuple):
        return [_relax(each, tags, in_union=in_union) for each in cast("list[Any]", node)]
    if not isinstance(node, Mapping):
        return node
    table = cast("Mapping[str, Any]", node)
    kind = str(table.get("type"))
    # A validator of the caller is replaced by the schema that it wraps.
    if kind.startswith("function-") and not _is_of_pydantic(table["function"]["function"]):
        inner = _relax(table["schema"], tags, in_union=in_union) if "schema" in table else {"type": "none"}
        return {**inner, "ref": table["ref"]} if "ref" in table else inner
    within = kind == "union" or (in_union and kind not in _COLLECTIONS | _FIELD_TYPES)
    is_schema = isinstance(table.get("type"), str)  # otherwise a mapping of fields or choices
    relaxed: dict[str, Any] = {
        key: value if is_schema and key in DATA_KEYS else _relax(value, tags, in_union=within)
        for key, value in table.items()
        if not (is_schema and key in _CALLER_HOOKS)
    }
    if kind in _FIELD_TYPES:
        is_required = in_union and _without_default(relaxed["schema"])["type"] in {"literal", "enum"}
        relaxed |= _relax_field(kind, relaxed["schema"], is_tag=id(table) in tags, is_required=is_required)
    elif kind == "arguments":  # of a named tuple
        relaxed["arguments_schema"] = [
            {**each, **_relax_field(kind, each["schema"])} for each in relaxed["arguments_schema"]
        ]
    elif kind in _COLLECTIONS:
        relaxed.pop("min_length", None)
        for items in relaxed.keys() & {"items_schema", "values_schema"}:
            relaxed[items] = _without_errors(relaxed[items])
    return relaxed


def _relax_field(
    kind: str, schema: dict[str, Any], *, is_tag: bool = False, is_required: bool = False
) -> dict[str, Any]:
    """Return the members of a field that is None, or missing in a TypedDict, while it is not complete and valid."""
    if is_tag:
        return {"required": True} if kind == "typed-dict-field" else {"schema": _without_default(schema)}
    if is_required:
        return {}
    if kind == "typed-dict-field":
        return {"required": False, "schema": _without_errors(schema)}
    return {"schema": {"type": "default", "schema": _without_default(schema), "default": None, "on_error": "default"}}


def _without_errors(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that is left out if it is not valid."""
    return {"type": "default", "schema": schema, "on_error": "omit"}


def _without_default(schema: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = schema["schema"] if schema["type"] == "default" else schema
    return inner


def _is_of_pydantic(function: Any) -> bool:
    module = getattr(getattr(function, "func", function), "__module__", None) or ""
    return module.partition(".")[0] in {"pydantic", "pydantic_core"}
