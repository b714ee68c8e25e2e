"""Turn the text of a streamed answer into events for completed fields.

A provider's schema may differ from the caller's, so each completed part is placed in a document of its own, decoded
and validated as the whole document would be.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from emitter.errors import InputError, Uncompilable
from emitter.messages import as_list, as_mapping
from emitter.schema.codecs import VALUE_MEMBER, VARIANT_MEMBER
from emitter.schema.container_codecs import REST_MEMBER, item_member_name
from emitter.schema.dialects import detect_draft
from emitter.schema.json_data import escape_pointer_token, iter_objects, parse_pointer
from emitter.schema.validator import Validator
from emitter.streaming import FieldComplete, TextDelta
from emitter.streaming.partial_schema import (
    admits_type,
    discriminator_values,
    iter_properties,
    relax_schema,
    schemas_at,
)
from emitter.streaming.partials import ROOT_BRACKETS
from emitter.streaming.scanner import CompletedMember, JsonScanner, StringUnescaper
from emitter.strict_json import NotJsonError, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.messages import Json
    from emitter.schema import Compiled
    from emitter.streaming import DocumentPath, EventFactory, StreamSelection

_CACHE_SIZE = 256
"""The number of schemas whose validators are cached."""
_TEXT_PROBE = "[1]"
"""A string that is also a list if it is decoded as JSON."""


class FieldStream:
    """The streaming plan for one schema; ``new_reader`` begins one answer."""

    def __init__(self, compiled: Compiled, selection: StreamSelection) -> None:
        """Prepare the plan; raise ``InputError`` for a path to no container or a pointer to no string."""
        self._compiled = compiled
        self._selection = selection
        self._wrapper = _wrapper_path(compiled)
        text_paths = {parse_pointer(pointer): pointer for pointer in selection.text_pointers}
        parents = (path[:end] for path in text_paths for end in range(1, len(path)))
        containers = frozenset({*selection.containers, *parents})
        self._required = _required_siblings(compiled)
        for path in selection.containers:
            _check_container(compiled.original, path)
        for path, pointer in text_paths.items():
            self._check_text(path, pointer)
        self._containers = frozenset({self._wrapper, *((*self._wrapper, *path) for path in containers)})
        self._tagged_containers = frozenset(
            path for path in self._containers if _is_tagged(compiled, path, self._wrapper)
        )
        self._validator = _partial_validator(compiled, containers)
        self._texts = {
            (*self._wrapper, *path): selection.display_pointer(pointer) for path, pointer in text_paths.items()
        }

    def new_reader(self) -> FieldStreamReader:
        """Return the reader of one answer."""
        kind = as_mapping(self._compiled.schema).get("type")
        roots = ROOT_BRACKETS.get(str(kind), "{[")
        scanner = JsonScanner(roots, self._containers, self._texts)
        return FieldStreamReader(scanner, self, SiblingValues(self._required), self._selection.new_event_factory())

    def _check_text(self, path: DocumentPath, pointer: str) -> None:
        wire_path = (*self._wrapper, *path)
        node: Json = self._compiled.decode(SiblingValues(self._required).partial_document(wire_path, _TEXT_PROBE))
        for step in path:
            node = as_mapping(node).get(str(step))
        schemas = schemas_at(self._compiled.original, path)
        if node != _TEXT_PROBE or not any(admits_type(schema, "string") for schema in schemas):
            raise InputError(
                f"{pointer!r} is not a string of the document.", hint=_properties_hint(self._compiled.original)
            )

    def text_pointer(self, path: DocumentPath) -> str | None:
        """Return the pointer under which the string at a wire path is reported."""
        return self._texts.get(path)

    def completed_values(self, path: DocumentPath, value: Json, siblings: SiblingValues) -> Iterator[tuple[str, Json]]:
        """Yield the pointer and value of each field in a wire value, if it is valid."""
        start = len(self._wrapper)
        if path[:start] != self._wrapper or self._validator is None or not self._is_reportable(path, siblings):
            return
        document = self._compiled.decode(siblings.partial_document(path, value))
        if self._validator(document):
            return
        if len(path) == start:
            yield "", document
            return
        pointer = "".join(map(_pointer_step, path[start:-1]))
        container = _container_at(document, path[start:-1], siblings)
        if path[:-1] in self._tagged_containers:
            members = _all_members(container)
        elif isinstance(path[-1], int) and isinstance(container, list):
            members = [(path[-1], item) for item in as_list(container)[siblings.item_index(path[-1]) :]]
        else:
            members = _new_members(container, self._container_before(path, siblings), path[-1])
        yield from ((pointer if step is None else pointer + _pointer_step(step), member) for step, member in members)

    def _is_reportable(self, path: DocumentPath, siblings: SiblingValues) -> bool:
        """Return whether a member has a meaning alone; of a tagged variant only the value has."""
        return path[:-1] not in self._tagged_containers or (
            path[-1] == VALUE_MEMBER and siblings.has_siblings(path[:-1])
        )

    def _container_before(self, path: DocumentPath, siblings: SiblingValues) -> Json:
        """Return the container of a part as it was before the part."""
        container_path, start = path[:-1], len(self._wrapper)
        if not siblings.has_siblings(container_path):
            return None
        empty = siblings.partial_container(container_path, path[-1])
        document = self._compiled.decode(siblings.partial_document(container_path, empty) if container_path else empty)
        return _container_at(document, container_path[start:], siblings)


class FieldStreamReader:
    """The reader of one answer."""

    def __init__(
        self, scanner: JsonScanner, stream: FieldStream, siblings: SiblingValues, make_event: EventFactory
    ) -> None:
        self._scanner = scanner
        self._stream = stream
        self._siblings = siblings
        self._make_event = make_event
        self._unescapers: dict[DocumentPath, StringUnescaper] = {}
        self._is_broken = False

    def feed(self, text: str) -> Iterable[FieldComplete | TextDelta]:
        """Return the events of this piece of the answer."""
        events: list[FieldComplete | TextDelta] = []
        for item in self._scanner.feed(text):
            if self._is_broken:
                break
            if isinstance(item, CompletedMember):
                events.extend(self._completed_fields(item))
            else:
                events.extend(self._text_deltas(item.path, item.raw))
        return events

    def _text_deltas(self, path: DocumentPath, raw: str) -> Iterator[TextDelta]:
        pointer = self._stream.text_pointer(path)
        text = self._unescapers.setdefault(path, StringUnescaper()).feed(raw)
        if pointer is not None and text:
            yield TextDelta(pointer, text)

    def _completed_fields(self, member: CompletedMember) -> Iterator[FieldComplete]:
        try:
            value = parse_json(member.text)
        except NotJsonError:
            self._scanner.end()
            self._is_broken = True
            return
        events = [
            self._make_event(*field) for field in self._stream.completed_values(member.path, value, self._siblings)
        ]
        self._siblings.add(member.path, value)
        yield from (event for event in events if event is not None)


def _pointer_step(step: str | int) -> str:
    return f"/{escape_pointer_token(str(step))}"


def _container_at(document: Json, path: DocumentPath, siblings: SiblingValues) -> Json:
    """Return the container at ``path`` in the document of a part."""
    for step in path:
        if isinstance(step, int):
            document = next(iter(as_list(document)[siblings.item_index(step) :]), None)
        else:
            document = as_mapping(document).get(step)
    return document


def _all_members(container: Json) -> list[tuple[str | int | None, Json]]:
    """Return every member of a container, or the value itself if it is not a container."""
    if isinstance(container, list):
        return list(enumerate(as_list(container)))
    return list(as_mapping(container).items()) if isinstance(container, dict) else [(None, container)]


def _new_members(container: Json, previous: Json, step: str | int) -> list[tuple[str | int | None, Json]]:
    """Return the members that the wire member at ``step`` added to a container."""
    if isinstance(container, list):
        return _all_members(container)[len(as_list(previous)) :]
    members, known_members = as_mapping(container), as_mapping(previous)
    if isinstance(step, str) and step in members:
        return [(step, members[step])]
    return [
        (name, member) for name, member in members.items() if name not in known_members or known_members[name] != member
    ]


@lru_cache(maxsize=_CACHE_SIZE)
def _wrapper_path(compiled: Compiled) -> DocumentPath:
    """Return the path to the caller's root, which the wire schema may wrap in an object."""
    members = as_mapping(as_mapping(compiled.schema).get("properties"))
    if len(members) != 1 or not compiled.enforced:
        return ()
    name = next(iter(members))
    # If decoding removes the only member, the compiler has added it.
    return () if name in as_mapping(compiled.decode({name: []})) else (name,)


def _is_tagged(compiled: Compiled, path: DocumentPath, wrapper: DocumentPath) -> bool:
    """Return whether the wire schema wraps a variant in an object with emitter's tag."""
    is_wrapped = any(
        set(as_mapping(schema.get("properties"))) == {VARIANT_MEMBER, VALUE_MEMBER}
        for schema in schemas_at(compiled.schema, path)
    )
    originals = schemas_at(compiled.original, path[len(wrapper) :])
    return is_wrapped and not any(VARIANT_MEMBER in as_mapping(schema.get("properties")) for schema in originals)


def _check_container(schema: Json, path: DocumentPath) -> None:
    if not any(admits_type(node, "object", "array") for node in schemas_at(schema, path)):
        pointer = "".join(map(_pointer_step, path))
        raise InputError(f"{pointer!r} is not a list or object of the document.", hint=_properties_hint(schema))


def _properties_hint(schema: Json) -> str:
    names = dict.fromkeys(name for node in schemas_at(schema, ()) for name in as_mapping(node.get("properties")))
    return f"Its properties are {', '.join(names)}." if names else "Its schema names no properties."


@lru_cache(maxsize=_CACHE_SIZE)
def _required_siblings(compiled: Compiled) -> RequiredSiblings:
    return RequiredSiblings(compiled.original, compiled.schema)


@lru_cache(maxsize=_CACHE_SIZE)
def _partial_validator(compiled: Compiled, containers: frozenset[DocumentPath]) -> Validator | None:
    """Return the validator of parts, or None if no part can be validated alone."""
    schema, draft = compiled.original, detect_draft(compiled.original)
    try:
        return Validator(schema if isinstance(schema, bool) else relax_schema(schema, containers, draft), draft)
    except (Uncompilable, RecursionError):
        return None


class RequiredSiblings:
    """The members that must be remembered: union tags, and items of arrays with positional schemas."""

    def __init__(self, *schemas: Mapping[str, Json] | bool) -> None:
        tuples = (
            as_list(node.get(keyword))
            for schema in schemas
            for node in iter_objects(schema)
            for keyword in ("prefixItems", "items")
        )
        self.tuple_length = max(map(len, tuples), default=0)
        self._tags: dict[str, list[Json]] = {}
        for schema in schemas:
            for name, values in discriminator_values(schema).items():
                self._tags.setdefault(name, []).extend(values)
        names = {name for schema in schemas for name, _ in iter_properties(schema)}
        self._tuple_members = {item_member_name(index) for index in range(len(names))} & names
        self._tuple_members |= {REST_MEMBER} & names if self._tuple_members else set()

    def requires(self, step: str | int, value: Json) -> bool:
        """Return whether a member must be remembered."""
        if isinstance(step, int):
            return step < self.tuple_length
        return step in self._tuple_members or value in self._tags.get(step, ())


class SiblingValues:
    """The remembered members of one answer."""

    def __init__(self, required: RequiredSiblings) -> None:
        self._required = required
        self._values: dict[DocumentPath, dict[str | int, Json]] = {}

    def add(self, path: DocumentPath, value: Json) -> None:
        """Remember a member if it is required."""
        if self._required.requires(path[-1], value):
            self._values.setdefault(path[:-1], {})[path[-1]] = value

    def has_siblings(self, path: DocumentPath) -> bool:
        """Return whether members of a container are remembered."""
        return path in self._values

    def item_index(self, step: int) -> int:
        """Return the index of an item in the array of a part."""
        return min(step, self._required.tuple_length)

    def partial_document(self, path: DocumentPath, value: Json) -> Json:
        """Return the document with only ``value`` and the siblings that are required to decode it."""
        for end in range(len(path) - 1, -1, -1):
            value = self.partial_container(path[:end], path[end], value)
        return value

    def partial_container(self, path: DocumentPath, step: str | int, *children: Json) -> Json:
        """Return a container with its remembered members and at most one child at ``step``."""
        remembered = self._values.get(path, {})
        if isinstance(step, int):
            return [*(member for index, member in remembered.items() if index != step), *children]
        members = {str(name): member for name, member in remembered.items()}
        return {**members, step: children[0]} if children else members
