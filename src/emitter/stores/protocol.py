"""The ``Store`` protocol, its entries, and their serialization.

Stores write canonical ASCII JSON, so that every database accepts it and a replay returns the same bytes.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, cast

from emitter.errors import InputError, NewerRecord, StoreAltered
from emitter.messages import as_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from emitter.events import RunEvent
    from emitter.messages import Json


@dataclass(frozen=True, slots=True)
class Entry:
    """An accepted envelope as a store keeps it: its kind, its outcome and its JSON, with secrets redacted.

    ``version`` is that of the record's form. Check it with ``require_known`` before you read the rest.
    """

    type: str
    outcome: Mapping[str, Json]
    envelope: Mapping[str, Json]
    version: int = 1


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to store, with its events, which the store numbers."""

    entry: Entry
    events: tuple[RunEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """The entry in the store. ``events`` are numbered; they are empty unless this call ``created`` the entry."""

    entry: Entry
    events: tuple[RunEvent, ...]
    created: bool


@dataclass(frozen=True, slots=True)
class ScannedEntry:
    """An entry as ``ScanningStore.entries`` returns it, with its position and its correlation id.

    An id of more than 512 characters is shortened, as the store keeps it.
    """

    position: int
    correlation_id: str
    entry: Entry


class Store(Protocol):
    """An append-only event log for each run, and the envelopes that were accepted.

    Threads and processes may call every method at the same time. A write is durable when the method returns, and a
    killed process leaves either all of a call or nothing.
    """

    def find(self, run_id: str, correlation_id: str) -> Entry | None:
        """Return the entry of a correlation id, or None."""
        ...

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Return the entry of a correlation id. If there is none, call ``make`` and store its result.

        Concurrent callers wait while one of them runs ``make``. An exception from ``make`` is raised and nothing is
        stored, so the next caller runs it again.
        """
        ...

    def forget(self, run_id: str, correlation_id: str) -> None:
        """Delete the entry of a correlation id, if there is one.

        The run's log stays. The same id can be stored again.
        """
        ...

    def append(self, run_id: str, events: Sequence[RunEvent]) -> tuple[RunEvent, ...]:
        """Append events to the run's log and return them with their ``sequence`` numbers."""
        ...

    def events(self, run_id: str, after: int = -1, *, node_id: str | None = None) -> tuple[Mapping[str, Json], ...]:
        """Return the events of the run's log after sequence ``after``, as RunEventDocs.

        With ``node_id``, only the events of this node. Their cost must not grow with the rest of the log, because every
        emission reads them.
        """
        ...


class ScanningStore(Store, Protocol):
    """A store that also reads the entries of a run in one call, as the stores of this package do.

    On a store without ``entries``, the history of a workflow is read entry by entry.
    """

    def entries(self, run_id: str, after: int = -1, *, limit: int | None = None) -> tuple[ScannedEntry, ...]:
        """Return the entries of a run that were stored after position ``after``, oldest first, at most ``limit``.

        Positions grow in the order in which the entries of a run became visible. An entry never appears behind a
        position that was returned before, so the last position is where to continue. They may have gaps.
        """
        ...


_MAX_KEY_LENGTH = 512
"""Longer keys are hashed. Two keys of this length fit into the 2,704 bytes of a PostgreSQL index row."""
_escape, _unescape = codecs.lookup("unicode_escape")[:2]
"""Resolved at import time: the lookup loads a module, and a child forked during the load would deadlock."""
_ALTERED_TEXT = "The store returned an entry that emitter did not write."
_LOG = "the store's log"
_ALTERED_LOG = f"An event in {_LOG} was not written by emitter."
_ALTERED_HINT = "Another program or another release of emitter wrote to the store."
_MAX_SEQUENCE = 2**63 - 1
"""The largest integer that every supported database can store."""


def encode_key(name: str) -> str:
    """Return a run id or correlation id as ASCII, unique for each id and of bounded length.

    JSON escapes would not be unique: two lone surrogates and the character they form have the same escape.
    """
    escaped = _escape(name)[0].decode("ascii")
    if len(escaped) <= _MAX_KEY_LENGTH:
        return escaped
    return f"{escaped[:_MAX_KEY_LENGTH]}#{hashlib.sha256(escaped.encode()).hexdigest()}"


def decode_key(key: str) -> str:
    """Return the id of an encoded key. A key that was hashed is returned as it is."""
    return key if len(key) > _MAX_KEY_LENGTH else _unescape(key.encode("ascii"))[0]


def scan_from(store: Store, run_id: str, after: int = -1) -> tuple[ScannedEntry, ...] | None:
    """Return the entries of a run after a position, or None if the store cannot scan: see ``ScanningStore``."""
    scan: Callable[[str, int], tuple[ScannedEntry, ...]] | None = getattr(store, "entries", None)
    return None if scan is None else scan(run_id, after)


def serialize_entry(entry: Entry) -> str:
    """Return an entry as text. Raises ``InputError`` if it is not JSON."""
    return _dump_json(
        {"type": entry.type, "outcome": entry.outcome, "envelope": entry.envelope, "version": entry.version}
    )


def parse_entry(text: str) -> Entry:
    """Parse an entry, of whichever version. Raises ``StoreAltered`` if the text is not one."""
    try:
        members = json.loads(text)
        kind, outcome, envelope = members["type"], members["outcome"], members["envelope"]
        version = read_version(members)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise StoreAltered(_ALTERED_TEXT, hint=_ALTERED_HINT) from None
    if not (isinstance(outcome, Mapping) and isinstance(envelope, Mapping)):
        raise StoreAltered(_ALTERED_TEXT, hint=_ALTERED_HINT)
    return Entry(kind, cast("Mapping[str, Json]", outcome), cast("Mapping[str, Json]", envelope), version)


RECORD_VERSION = 1
"""The version of the records that this release writes, and the latest one that it knows."""


def read_version(members: Mapping[str, Json]) -> int:
    """Return the version of a record. Records of the time before versions have the first one. Raises ``ValueError``."""
    version = members.get("version", 1)
    if type(version) is not int or version < 1:
        raise ValueError("the version of a record is not a number")
    return version


def require_known(entry: Entry, place: str = "An entry of the store") -> Entry:
    """Return an entry that this release can read. Raises ``NewerRecord``."""
    if entry.version > RECORD_VERSION:
        raise NewerRecord(place, version=entry.version, known=RECORD_VERSION)
    return entry


def serialize_events(events: Iterable[RunEvent]) -> list[str]:
    """Return the events as RunEventDoc texts. Raises ``InputError`` if one is not JSON."""
    return [_dump_json(event.to_json()) for event in events]


def parse_events(texts: Iterable[str]) -> tuple[Mapping[str, Json], ...]:
    """Parse RunEventDoc texts. Raises ``StoreAltered`` if a text is not one."""
    try:
        documents = tuple(as_mapping(json.loads(text)) for text in texts)
    except (ValueError, RecursionError):
        documents = (as_mapping(None),)
    if not all(type(document.get("sequence")) is int for document in documents):
        raise StoreAltered(_ALTERED_LOG, place=_LOG, hint=_ALTERED_HINT)
    return documents


def number_events(events: Sequence[RunEvent], first: int) -> tuple[RunEvent, ...]:
    """Return the events, numbered from ``first`` on."""
    return tuple(replace(event, sequence=number) for number, event in enumerate(events, first))


def next_sequence(after: int) -> int:
    """Return the sequence that follows ``after``, clamped to what a database can store."""
    return min(max(after + 1, 0), _MAX_SEQUENCE)


def _dump_json(value: Json) -> str:
    try:
        return _encode_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "A store can hold JSON only, and this is not a JSON value.",
            hint="Use strings, finite numbers, lists and objects, nested less than a few hundred levels deep.",
        ) from error


def _json_default(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Json]", value))
    raise TypeError(type(value).__name__)


_encode_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, default=_json_default).encode
