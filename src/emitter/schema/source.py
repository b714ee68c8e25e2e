"""What a caller may call a schema: a JSON Schema, or any type that pydantic knows; and the way to its values.

A type is read by pydantic's own ``TypeAdapter``, so models, dataclasses, TypedDicts, unions and the like are
one thing here. A JSON Schema has JSON for its values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import SchemaError

from emitter.errors import Uncompilable
from emitter.schema.author import author_of
from emitter.schema.findings import Reading, found
from emitter.schema.generate import aliases_of, schema_of_type, writer_of
from emitter.schema.violation import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.schema.author import Author
    from emitter.wire import Json

T = TypeVar("T")

UNNAMED = "document"
_LONGEST_NAME = 64
_CACHED = 256
"""So many types are remembered: making a schema of one takes half a millisecond and more."""
_WANTED = "a schema is a JSON Schema as a dict, or a type such as a pydantic model"


@dataclass(frozen=True, slots=True)
class Source(Generic[T]):
    """A caller's schema: as JSON Schema, under a ``name`` every vendor takes, with the way there and back.

    ``read`` makes a value of a document that is valid against ``schema``, and ``dump`` a document of a value.
    Where ``typed`` is false the values are the documents themselves.
    """

    schema: Mapping[str, Json] | bool
    name: str
    read: Callable[[Json], Reading[T]]
    dump: Callable[[T], Json]
    typed: bool


def source(given: object) -> Source[Any]:
    """Return the source that ``given`` stands for; raises ``Uncompilable`` for what is no schema."""
    if isinstance(given, Mapping | bool):
        schema = cast("Mapping[str, Json] | bool", given)
        title = None if isinstance(schema, bool) else schema.get("title")
        return Source(schema, _name(title), Reading, lambda document: document, typed=False)
    if given is None or isinstance(given, str | bytes):
        raise Uncompilable("", f"{_WANTED}; this is of type {type(given).__name__}")
    return _of_type(given) if isinstance(given, Hashable) else _of_type.__wrapped__(given)


@lru_cache(maxsize=_CACHED)
def _of_type(kind: object) -> Source[Any]:
    adapter, schema = _adapted(kind)
    names = names_of(schema)
    aliases = aliases_of(adapter)
    dump: Any = writer_of(adapter).to_python if aliases.differing else adapter.dump_python
    return Source(
        schema=schema,
        name=_name(schema.get("title") or (kind.__name__ if isinstance(kind, type) else None)),
        read=partial(_read, adapter, names, by_name=aliases.nested),
        # Without computed fields, and with embedded JSON as text: what a document to be read holds.
        dump=partial(dump, mode="json", by_alias=True, round_trip=True, warnings="error"),
        typed=True,
    )


def _adapted(kind: object) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", kind))
        schema = schema_of_type(adapter)
    except (PydanticUserError, PydanticUndefinedAnnotation, SchemaError, TypeError, RecursionError) as error:
        named = getattr(kind, "__name__", None) or type(kind).__name__
        said = str(error).strip().partition("\n")[0]
        raise Uncompilable("", f"pydantic can make no JSON Schema of {named}: {said}; {_WANTED}") from error
    return adapter, schema


def _read(adapter: TypeAdapter[Any], names: frozenset[str], document: Json, *, by_name: bool) -> Reading[Any]:
    """Read as JSON, not as Python: strict types then still take what only JSON writes as text or list.

    ``by_name`` reads a field by its own name as well, where its alias leads into another object.
    """
    try:
        return Reading(adapter.validate_json(json.dumps(document), by_alias=True, by_name=by_name or None))
    except ValidationError as error:
        return Reading(violations=found(error, document, names, partial(_author, adapter)))


@lru_cache(maxsize=_CACHED)
def _author(adapter: TypeAdapter[Any]) -> Author:
    """Return what stands in the code of a type's validators."""
    return author_of(*_functions(adapter.core_schema))


def _functions(core: object) -> Iterator[object]:
    """Yield the functions that pydantic calls, those of a dataclass or model after it is built among them."""
    match core:
        case dict():
            table = cast("dict[str, object]", core)
            for name, each in table.items():
                if name == "function" and callable(each):
                    yield each
                elif name == "cls":
                    yield from (getattr(each, after, None) for after in ("__post_init__", "model_post_init"))
                elif name != "metadata":
                    yield from _functions(each)
        case list() | tuple():
            for each in cast("list[object]", core):
                yield from _functions(each)
        case _:
            return


def _name(title: object) -> str:
    """Return a name that every vendor takes: letters, digits, ``_`` and ``-``, a letter first."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", title).strip("_") if isinstance(title, str) else ""
    if not plain:
        return UNNAMED
    return (plain if plain[0].isalpha() else f"{UNNAMED}_{plain}")[:_LONGEST_NAME]
