"""The door of the compiler: what may be called a schema, and what was compiled before.

A schema that is too large is degraded in this order: descriptions are shortened, optional properties flipped
between left out and null, long enums given up, subtrees carried as JSON text, at last the whole schema put
into the prompt. Each step is told as a loss with ``Why.DEGRADED``.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Hashable, Mapping
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from emitter import profile as profiles
from emitter.errors import InputError, Uncompilable
from emitter.schema.build import build
from emitter.schema.bundle import bundled
from emitter.schema.compiled import Compiled, Loss, Why
from emitter.schema.drafts import draft_of
from emitter.schema.openapi import as_json_schema, spoken_in
from emitter.schema.pattern import rewrite_patterns
from emitter.schema.source import source
from emitter.schema.write.ledger import shown

if TYPE_CHECKING:
    from emitter.profile.model import Profile
    from emitter.profile.subset import Subset
    from emitter.schema.bundle import Supplied
    from emitter.schema.shape import Rule

MAX_TEXT = 4_000_000
"""The most characters of a schema, as JSON."""

MAX_VALUES = 500_000
"""The most values of a schema, one that stands in several places counted for each."""

MAX_PLACES = 200_000_000
"""The most characters of the JSON pointers to all its values: a validator keeps the pointer of each."""

_CACHED = 256
_NO_JSON = "the schema is not JSON, or nested too deeply to read"
_NAMELESS = "the schema holds itself, is nested too deeply, or has names so long that nobody can name its places"


class Undeclared(str, Enum):
    """What becomes of properties that an object schema is silent about, and of schemas without ``type``."""

    CARRY = "carry"
    """They can be said: in one more property, as JSON text. What JSON Schema allows stays possible."""
    CLOSE = "close"
    """They cannot: an object has the properties it names, and a schema with ``properties`` is an object."""


class _Wish(NamedTuple):
    """For whom, and how."""

    subset: Subset
    degrade: bool
    undeclared: Undeclared | None
    typed: bool = False


def compile_schema(
    schema: object,
    profile: str | Profile,
    *,
    degrade: bool = True,
    undeclared: Undeclared | str | None = None,
    registry: Supplied | None = None,
) -> Compiled:
    """Compile a schema for the vendor of ``profile``.

    ``schema`` is a JSON Schema (drafts 4, 6, 7, 2019-09 or 2020-12), a pydantic model, or any type that
    pydantic's ``TypeAdapter`` takes. Where ``$schema`` names no draft it is 2020-12, or 2019-09 if only that
    knows the words. With ``degrade=False`` a schema over the vendor's limits of size is refused rather than
    degraded. ``undeclared`` says what becomes of properties that an object schema is silent about; without it
    they are carried for a JSON Schema, and closed for a type, whose reader would drop them. ``registry`` supplies
    the schemas that a JSON Schema refers to outside itself, by their URI; nothing is ever fetched.

    Raises ``Uncompilable`` with a pointer when no sound form exists. The result is cached.
    """
    chosen = profiles.load(profile) if isinstance(profile, str) else profile
    wish = _Wish(chosen.subset, bool(degrade), None if undeclared is None else _undeclared(undeclared))
    if registry is not None and isinstance(schema, Mapping):
        schema = bundled(cast("Mapping[str, Any]", schema), registry)
    if isinstance(schema, Constant):
        return _of_constant(schema, _defaulted(wish, typed=False))
    if isinstance(schema, Mapping):
        given = cast("Mapping[str, Any]", schema)
        return _of_json(given if isinstance(given, dict) else dict(given), wish)
    if isinstance(schema, bool):
        return _of_text(json.dumps(schema), _defaulted(wish, typed=False))
    return _of_type(schema, wish) if isinstance(schema, Hashable) else _of_type.__wrapped__(schema, wish)


class Constant(dict[str, Any]):
    """A JSON Schema that nobody will change: it is its own key to what was compiled before."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Be found by identity; a dict cannot be, since it may be changed."""
        return id(self)


@lru_cache(maxsize=_CACHED)
def _of_constant(schema: Constant, wish: _Wish) -> Compiled:
    return _of_text(_text(schema), wish)


def _undeclared(given: Undeclared | str) -> Undeclared:
    try:
        return Undeclared(given)
    except ValueError as error:
        said = " or ".join(repr(each.value) for each in Undeclared)
        raise InputError(f"undeclared is {given!r}; it must be {said}.") from error


def _defaulted(wish: _Wish, *, typed: bool) -> Any:
    """Return the wish with its default filled in; hashable, for a subset is frozen, which no checker can see."""
    default = Undeclared.CLOSE if typed else Undeclared.CARRY
    return wish._replace(undeclared=default if wish.undeclared is None else wish.undeclared, typed=typed)


def _of_json(schema: dict[str, Any], wish: _Wish) -> Compiled:
    """Compile a JSON Schema; its bytes are the quickest key to what was compiled before."""
    try:
        return _of_bytes(marshal.dumps(schema), _defaulted(wish, typed=False))
    except ValueError:  # what marshal cannot write, JSON may: subclasses of dict and str
        return _of_text(_text(schema), _defaulted(wish, typed=False))


@lru_cache(maxsize=_CACHED)
def _of_bytes(data: bytes, wish: _Wish) -> Compiled:
    return _of_text(_text(marshal.loads(data)), wish)  # noqa: S302  bytes that were made here


@lru_cache(maxsize=_CACHED)
def _of_type(kind: object, wish: _Wish) -> Compiled:
    return _of_text(_text(source(kind).schema), _defaulted(wish, typed=True))


@lru_cache(maxsize=_CACHED)
def _of_text(text: str, wish: _Wish) -> Compiled:
    schema: Any = json.loads(text)
    widened: list[Rule] = []
    if spoken_in(text):
        schema, widened = as_json_schema(schema)
    compiled = _built(schema, wish)
    # Null is valid here although JSON Schema, which does not know the word, would say otherwise.
    losses = tuple(Loss(rule.where, rule.keyword, shown(rule.value), Why.WIDENED) for rule in widened)
    return replace(compiled, losses=(*compiled.losses, *losses)) if losses else compiled


def _built(schema: Any, wish: _Wish) -> Compiled:
    """Compile a schema; patterns that the validator cannot read are told to the model and not checked."""
    close = wish.undeclared is Undeclared.CLOSE
    try:
        return build(schema, wish.subset, degrade=wish.degrade, close=close, typed=wish.typed)
    except Uncompilable:
        readable, lost = rewrite_patterns(schema, draft_of(schema))
        if readable == schema:
            raise
    compiled = build(readable, wish.subset, degrade=wish.degrade, close=close, typed=wish.typed)
    losses = tuple(Loss(rule.where, rule.keyword, shown(rule.value), Why.UNSUPPORTED) for rule in lost)
    known = {(each.pointer, each.keyword) for each in losses}
    others = (each for each in compiled.losses if (each.pointer, each.keyword) not in known)
    return replace(compiled, losses=(*others, *losses), original=schema)


def _text(schema: object) -> str:
    _check_size(schema)
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Uncompilable("", _NO_JSON) from error
    if len(text) > MAX_TEXT:
        raise Uncompilable("", f"the schema is longer than {MAX_TEXT} characters")
    return text


def _check_size(schema: object) -> None:
    """Refuse a schema that is too large to be written out: an object that holds another twice doubles it."""
    waiting: list[tuple[Any, int]] = [(schema, 0)]
    count = places = 0
    while waiting:
        node, place = waiting.pop()
        count, places = count + 1, places + place
        if count > MAX_VALUES:
            raise Uncompilable("", f"the schema has more than {MAX_VALUES} values")
        if places > MAX_PLACES:
            raise Uncompilable("", _NAMELESS)
        if isinstance(node, dict):
            members = cast("dict[object, Any]", node).items()
            waiting.extend((each, place + 1 + len(str(key))) for key, each in members)
        elif isinstance(node, list):
            waiting.extend((each, place + 2) for each in cast("list[Any]", node))
