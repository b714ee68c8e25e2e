"""What stands in a store: canonical JSON in ASCII, so that every database takes it and a replay is the same bytes."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from emitter.errors import InputError, StoreAltered
from emitter.store.log import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from emitter.events import RunEvent
    from emitter.wire import Json

_LONGEST_KEY = 512
"""Characters of a key that is kept whole: two such are well below the 2,704 bytes that PostgreSQL's indexes take."""
_ESCAPED = codecs.lookup("unicode_escape").encode
"""Looked up here, for it loads a module: a child that was forked meanwhile would wait for ever for that to end."""
_ALTERED = "What the store keeps is no entry that was written into it."
_ELSEWHERE = "Something else wrote into it, or another release."
_LAST = 2**63 - 1
"""The largest number that every database knows."""


def key(name: str) -> str:
    """Return a run's or envelope's id as a database takes it: in ASCII, another for each id, and never long.

    JSON's escapes would not do: they make two lone surrogates and the character that they spell one.
    """
    escaped = _ESCAPED(name)[0].decode("ascii")
    if len(escaped) <= _LONGEST_KEY:
        return escaped
    return f"{escaped[:_LONGEST_KEY]}#{hashlib.sha256(escaped.encode()).hexdigest()}"


def text_of(entry: Entry) -> str:
    """Return an entry's text; raises ``InputError`` where it is no JSON."""
    return _written({"type": entry.type, "outcome": entry.outcome, "envelope": entry.envelope})


def entry_of(text: str) -> Entry:
    """Return the entry that a text tells of; raises ``StoreAltered`` where it tells of none."""
    try:
        members = json.loads(text)
        kind, outcome, envelope = members["type"], members["outcome"], members["envelope"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise StoreAltered(_ALTERED, hint=_ELSEWHERE) from None
    if not (isinstance(outcome, Mapping) and isinstance(envelope, Mapping)):
        raise StoreAltered(_ALTERED, hint=_ELSEWHERE)
    return Entry(kind, cast("Mapping[str, Json]", outcome), cast("Mapping[str, Json]", envelope))


def texts_of(events: Iterable[RunEvent]) -> list[str]:
    """Return the texts of the events' RunEventDocs; raises ``InputError`` where one is no JSON."""
    return [_written(event.to_json()) for event in events]


def documents_of(texts: Iterable[str]) -> tuple[Mapping[str, Json], ...]:
    """Return the RunEventDocs that texts tell of."""
    return tuple(json.loads(text) for text in texts)


def numbered(events: Sequence[RunEvent], first: int) -> tuple[RunEvent, ...]:
    """Return the events, the first of them with ``first`` as its number in the run."""
    return tuple(replace(event, sequence=number) for number, event in enumerate(events, first))


def following(after: int) -> int:
    """Return the number of the first event after ``after``, where it may be any number at all."""
    return min(max(after + 1, 0), _LAST)


def _written(value: Json) -> str:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "What is to be kept is no JSON that a store can hold.",
            hint="Keep texts, whole and finite numbers, lists and objects, not nested by hundreds.",
        ) from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Json]", value))
    raise TypeError(type(value).__name__)
