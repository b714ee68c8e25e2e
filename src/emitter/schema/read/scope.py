"""Finding what a reference names: by ``referencing``, in every draft, without ever leaving the document.

The drafts' own meta-schemas are at hand; anything else outside the document is refused.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from referencing import Registry, exceptions

from emitter.errors import Uncompilable
from emitter.schema.pointer import below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referencing import Resource
    from referencing._core import Resolver

    from emitter.schema.drafts import Draft

_ODD = re.compile(r"[^A-Za-z0-9_.-]+")


class Part(NamedTuple):
    """A schema as it stands in the document: its pointer, and the resolver for what it refers to."""

    schema: Any
    where: str
    resolver: Resolver[Any]


def _at_hand(uri: str) -> Resource[Any]:
    # A dozen files, read only where one is named; by name, for the package has no types.
    registry: Registry[Any] = import_module("jsonschema_specifications").REGISTRY
    try:
        return registry[uri]
    except KeyError as error:
        raise exceptions.NoSuchResource(ref=uri) from error  # type: ignore[call-arg]  # mypy sees no attrs class in it


class Scope:
    """Everything that references inside one document can name."""

    def __init__(self, schema: Any, draft: Draft) -> None:
        self._schema = schema
        self._draft = draft
        self._pointers: dict[int, str] | None = None
        registry: Any = Registry(retrieve=cast("Any", _at_hand))  # type: ignore[call-arg]  # nor in this
        self._resource = draft.specification.create_resource(schema)
        self._start = registry.resolver_with_root(self._resource)

    @property
    def root(self) -> Part:
        """The whole document as a part."""
        return Part(self._schema, "", self._start)

    def places(self) -> Iterator[Part]:
        """Yield everything in the document that may be a schema."""
        waiting = [self.root]
        while waiting:
            part = waiting.pop()
            node: Any = part.schema
            if node.__class__ is dict:
                yield part
                waiting.extend(self.inside(part, below(part.where, key), each) for key, each in node.items())
            elif node.__class__ is list:
                waiting.extend(part._replace(where=below(part.where, i), schema=each) for i, each in enumerate(node))

    def inside(self, part: Part, where: str, schema: Any) -> Part:
        """Return a subschema of ``part``; one with an id of its own has its own base for references."""
        resolver = part.resolver
        if schema.__class__ is dict and isinstance(schema.get(self._draft.identifier), str):
            resolver = resolver.in_subresource(self._draft.specification.create_resource(schema))
        return Part(schema, where, resolver)

    def lookup(self, part: Part, keyword: str) -> Part:
        """Return what the reference in ``part`` names; raises ``Uncompilable`` where that is nothing."""
        reference = part.schema[keyword]
        try:
            found = part.resolver.lookup(reference)
        except (exceptions.Unresolvable, exceptions.NoSuchResource, ValueError, TypeError, LookupError) as error:
            raise Uncompilable(below(part.where, keyword), _unresolved(reference)) from error
        return Part(found.contents, self._pointer(found.contents, reference), found.resolver)

    def found(self, part: Part) -> Part | None:
        """Return what the reference in ``part`` names, or None: it may stand where nobody looks."""
        try:
            return self.lookup(part, "$ref")
        except Uncompilable:
            return None

    def _pointer(self, schema: Any, reference: str) -> str:
        if self._pointers is None:
            self._pointers = {id(part.schema): part.where for part in self.places()}
        return self._pointers.get(id(schema), reference)


def _unresolved(reference: object) -> str:
    if isinstance(reference, str) and not reference.startswith("#"):
        return "names a schema outside this document; put it under $defs and refer to it there, or pass it in registry="
    return "names nothing in this document"


def name_of(where: str) -> str:
    """Return a name for a definition at ``where``, of letters that every vendor takes."""
    last = where.rstrip("/#").rpartition("/")[2]
    return _ODD.sub("_", last)[:64].strip("_") or "root"
