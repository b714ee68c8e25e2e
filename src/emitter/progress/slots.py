"""From the text of an answer, as it comes, to the slots of the document that it will be.

What the vendor is asked for may be another form than the caller's. So each part is put into a document that has
nothing else, and that is decoded and validated as the whole would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from emitter.errors import InputError, Uncompilable
from emitter.progress.part import Beside, Needed
from emitter.progress.relaxed import relaxed
from emitter.progress.scan import Path, Scanner, Whole
from emitter.progress.standing import admits, standing
from emitter.progress.text import Unescape
from emitter.progress.told import Slot, TextDelta
from emitter.schema.codec.choices import VALUE, VARIANT
from emitter.schema.drafts import draft_of
from emitter.schema.pointer import escaped
from emitter.schema.validate import Validator
from emitter.wire import mapping, sequence
from emitter.wire.strict import NotJsonError, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.schema import Compiled
    from emitter.wire import Json

Read: TypeAlias = "Callable[[str, Json], Slot | None]"

_CACHED = 256
"""So many schemas keep what judges their parts."""
_PROBE = "[1]"
"""A text that only a text is: what carries JSON as text would read it as a list."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What is told of a document on the way.

    ``opened`` are the ways to the containers below the root whose members are told one by one. ``followed`` are
    pointers of texts that are told as they are written. ``begin`` is called for each answer, for what turns a
    pointer and the valid JSON there into the slot to tell, or None for none. ``place`` is how a followed pointer
    is told.
    """

    opened: tuple[Path, ...] = ()
    followed: tuple[str, ...] = ()
    begin: Callable[[], Read] = lambda: Slot
    place: Callable[[str], str] = str


class Slots:
    """The form of the slots of one schema; ``reader`` begins one answer."""

    def __init__(self, compiled: Compiled, watch: Watch) -> None:
        """Prepare; raises ``InputError`` for an opened way to no container, and a followed pointer to no text."""
        self._compiled = compiled
        self._watch = watch
        self._before = _wrapper(compiled)
        around = {way(each)[:end] for each in watch.followed for end in range(1, len(way(each)))}
        opened = frozenset({*watch.opened, *around})
        self._needed = _needed(compiled)
        for each in watch.opened:
            _check_container(compiled.original, each)
        for pointer in watch.followed:
            self._check_text(pointer)
        self._opened = frozenset({self._before, *((*self._before, *each) for each in opened)})
        self._tagged = frozenset(each for each in self._opened if _is_tagged(compiled, each, self._before))
        self._valid = _validator(compiled, opened)
        self._followed = {(*self._before, *way(each)): watch.place(each) for each in watch.followed}

    def reader(self) -> Reader:
        """Return the reader of one answer."""
        kind = mapping(self._compiled.schema).get("type")
        roots = {"array": "[", "object": "{"}.get(str(kind), "{[")
        scanner = Scanner(roots, self._opened, self._followed)
        return Reader(scanner, self, Beside(self._needed), self._watch.begin())

    def _check_text(self, pointer: str) -> None:
        path = (*self._before, *way(pointer))
        node: Json = self._compiled.decode(Beside(self._needed).document(path, _PROBE))
        for step in way(pointer):
            node = mapping(node).get(str(step))
        said = standing(self._compiled.original, way(pointer))
        if node != _PROBE or not any(admits(each, "string") for each in said):
            raise InputError(f"{pointer!r} names no text of the document.", hint=_hint(self._compiled.original))

    def pointer_of(self, path: Path) -> str | None:
        """Return the followed pointer of a place on the wire."""
        return self._followed.get(path)

    def places(self, path: Path, value: Json, beside: Beside) -> Iterator[tuple[str, Json]]:
        """Yield each place that a part amounts to, and what stands there; none where it is not valid."""
        start = len(self._before)
        if path[:start] != self._before or self._valid is None or not self._tells(path, beside):
            return
        document = self._compiled.decode(beside.document(path, value))
        if self._valid(document):
            return
        if len(path) == start:
            yield "", document
            return
        pointer = "".join(map(_step, path[start:-1]))
        container = _to(document, path[start:-1], beside)
        if path[:-1] in self._tagged:
            found = _all(container)
        elif isinstance(path[-1], int) and isinstance(container, list):
            found = [(path[-1], each) for each in sequence(container)[beside.place(path[-1]) :]]
        else:
            found = _new(container, self._decoded(path, beside), path[-1])
        yield from ((pointer if step is None else pointer + _step(step), each) for step, each in found)

    def _tells(self, path: Path, beside: Beside) -> bool:
        """Tell whether a member says something alone: of a form with a tag of ours, only the value behind it."""
        return path[:-1] not in self._tagged or (path[-1] == VALUE and beside.has(path[:-1]))

    def _decoded(self, path: Path, beside: Beside) -> Json:
        """Return the container of a part as it was without it."""
        around, start = path[:-1], len(self._before)
        if not beside.has(around):
            return None
        empty = beside.container(around, path[-1])
        whole = self._compiled.decode(beside.document(around, empty) if around else empty)
        return _to(whole, around[start:], beside)


class Reader:
    """Reads one answer."""

    def __init__(self, scanner: Scanner, slots: Slots, beside: Beside, read: Read) -> None:
        self._scanner = scanner
        self._slots = slots
        self._beside = beside
        self._read = read
        self._texts: dict[Path, Unescape] = {}
        self._broken = False

    def feed(self, text: str) -> Iterable[Slot | TextDelta]:
        """Return what there is to tell with this piece of the answer."""
        told: list[Slot | TextDelta] = []
        for each in self._scanner.feed(text):
            if self._broken:
                break
            if isinstance(each, Whole):
                told.extend(self._whole(each))
            else:
                told.extend(self._written(each.path, each.raw))
        return told

    def _written(self, path: Path, raw: str) -> Iterator[TextDelta]:
        pointer = self._slots.pointer_of(path)
        text = self._texts.setdefault(path, Unescape()).feed(raw)
        if pointer is not None and text:
            yield TextDelta(pointer, text)

    def _whole(self, found: Whole) -> Iterator[Slot]:
        try:
            value = loads(found.text)
        except NotJsonError:
            self._scanner.end()
            self._broken = True
            return
        read = [self._read(*each) for each in self._slots.places(found.path, value, self._beside)]
        self._beside.keep(found.path, value)
        yield from (each for each in read if each is not None)


def way(pointer: str) -> Path:
    """Return the way that a JSON pointer names, from the root."""
    return tuple(each.replace("~1", "/").replace("~0", "~") for each in pointer.removeprefix("/").split("/"))


def _step(step: str | int) -> str:
    return f"/{escaped(str(step))}"


def _to(document: Json, path: Path, beside: Beside) -> Json:
    """Return the container that stands at ``path`` in the document of a part."""
    for step in path:
        if isinstance(step, int):
            document = next(iter(sequence(document)[beside.place(step) :]), None)
        else:
            document = mapping(document).get(step)
    return document


def _all(container: Json) -> list[tuple[str | int | None, Json]]:
    """Return every member of a container, or what is none as it is."""
    if isinstance(container, list):
        return list(enumerate(sequence(container)))
    return list(mapping(container).items()) if isinstance(container, dict) else [(None, container)]


def _new(container: Json, before: Json, step: str | int) -> list[tuple[str | int | None, Json]]:
    """Return the members that a container has come to by the one at ``step`` on the wire."""
    if isinstance(container, list):
        return _all(container)[len(sequence(before)) :]
    members, known = mapping(container), mapping(before)
    if isinstance(step, str) and step in members:
        return [(step, members[step])]
    return [(name, each) for name, each in members.items() if name not in known or known[name] != each]


@lru_cache(maxsize=_CACHED)
def _wrapper(compiled: Compiled) -> Path:
    """Return the way to the caller's root: the vendor may have it as the one member of an object of ours."""
    members = mapping(mapping(compiled.schema).get("properties"))
    if len(members) != 1 or not compiled.enforced:
        return ()
    name = next(iter(members))
    return () if name in mapping(compiled.decode({name: []})) else (name,)


def _is_tagged(compiled: Compiled, path: Path, before: Path) -> bool:
    """Tell whether the wire has a form behind a tag of ours."""
    ours = any(set(mapping(each.get("properties"))) == {VARIANT, VALUE} for each in standing(compiled.schema, path))
    theirs = standing(compiled.original, path[len(before) :])
    return ours and not any(VARIANT in mapping(each.get("properties")) for each in theirs)


def _check_container(schema: Json, path: Path) -> None:
    if not any(admits(each, "object", "array") for each in standing(schema, path)):
        pointer = "".join(map(_step, path))
        raise InputError(f"{pointer!r} names no list or object of the document.", hint=_hint(schema))


def _hint(schema: Json) -> str:
    names = dict.fromkeys(name for each in standing(schema, ()) for name in mapping(each.get("properties")))
    return f"Its properties are {', '.join(names)}." if names else "Its schema names no properties."


@lru_cache(maxsize=_CACHED)
def _needed(compiled: Compiled) -> Needed:
    return Needed(compiled.original, compiled.schema)


@lru_cache(maxsize=_CACHED)
def _validator(compiled: Compiled, opened: frozenset[Path]) -> Validator | None:
    """Return what judges parts, or nothing where no part can be judged alone."""
    schema, draft = compiled.original, draft_of(compiled.original)
    try:
        return Validator(schema if isinstance(schema, bool) else relaxed(schema, opened, draft), draft)
    except (Uncompilable, RecursionError):
        return None
