"""The text that a model which is held to a schema writes, and one that breaks it."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import jsonschema_rs

from emitter.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from emitter.testing.decoding.sampling import Sampler
    from emitter.wire import Json

_SAMPLERS = 64
_TRIES = 20
_OTHERS: tuple[Json, ...] = (None, "no such value", -7.5, [], {}, False)


class Undecodable(Exception):
    """The decoder takes no such schema, or found no document of it within its bounds."""


def document(schema: Json, luck: Random) -> str:
    """Return a document that the schema lets a model write.

    Raises ``Undecodable``, or ``MissingExtra`` without llguidance.
    """
    sampler = _sampler(json.dumps(schema, ensure_ascii=False))
    for _ in range(_TRIES):
        drawn = sampler.draw(luck)
        if drawn is not None:
            return drawn.decode(errors="replace")
    raise Undecodable("no document of the schema came to its end")


@lru_cache(maxsize=_SAMPLERS)
def _sampler(schema: str) -> Sampler:
    try:
        from emitter.testing.decoding.sampling import Sampler, compiles  # noqa: PLC0415  the extra may be missing
    except ImportError as error:
        raise MissingExtra(
            "Drawing documents of a schema needs llguidance.",
            hint="Run: pip install 'emitter[testing]', or let the simulator answer with Text(...).",
        ) from error
    held: Json = json.loads(schema)
    if not isinstance(held, dict | bool):
        raise Undecodable("a schema is an object")
    try:
        complaint = compiles(held)
    except ValueError as error:
        raise Undecodable(str(error)) from error
    if complaint:
        raise Undecodable(complaint)
    return Sampler(held)


def broken(text: str, schema: Json, luck: Random) -> str:
    """Return a document near the one given that is no instance of the schema.

    Raises ``Undecodable`` where every try is one.
    """
    try:
        holds = jsonschema_rs.validator_for(schema).is_valid
    except ValueError as error:
        raise Undecodable(str(error)) from error
    tries = list(_neighbours(json.loads(text)))
    luck.shuffle(tries)
    for each in (*tries, *_OTHERS):
        if not holds(each):
            return json.dumps(each, ensure_ascii=False)
    raise Undecodable("nothing breaks this schema")


def _neighbours(value: Any) -> Iterator[Json]:
    """Yield the document with one member left out, changed or added."""
    if isinstance(value, dict):
        table = cast("dict[str, Json]", value)
        for name, held in table.items():
            yield {key: each for key, each in table.items() if key != name}
            yield from ({**table, name: each} for each in (*_neighbours(held), *_OTHERS))
        yield {**table, "unasked": True}
    elif isinstance(value, list):
        members = cast("list[Json]", value)
        for index, held in enumerate(members[:3]):
            yield from ([*members[:index], each, *members[index + 1 :]] for each in _neighbours(held))
