"""What reached the simulator, and what the vendor would bill for it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from emitter.wire import Usage

if TYPE_CHECKING:
    from emitter.profile.model import WireName
    from emitter.testing.draft import Behaviour
    from emitter.wire import Json

NOTHING = Usage()


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One request that arrived, and what became of it.

    ``wire`` is None where the path is none of a vendor's, ``body`` the parsed body (None where it was no JSON),
    ``behaviour`` what answered (None where the request itself was at fault), ``status`` the HTTP status (None
    where no headers were sent), ``usage`` what the vendor would bill.
    """

    wire: WireName | None
    path: str
    model: str
    body: Json
    streamed: bool
    behaviour: Behaviour | None
    status: int | None
    usage: Usage


class Entry:
    """One call in the ledger, whose bill may still change."""

    __slots__ = ("call",)

    def __init__(self, call: Call) -> None:
        self.call = call


class Ledger:
    """Keeps the calls in order of arrival, the last ``keep`` of them, and the sum of all."""

    def __init__(self, keep: int | None) -> None:
        self._lock = Lock()
        self._entries: deque[Entry] = deque(maxlen=keep)
        self._billed = NOTHING

    def enter(self, call: Call) -> Entry:
        """Add a call and its bill."""
        entry = Entry(call)
        with self._lock:
            self._entries.append(entry)
            self._billed += call.usage
        return entry

    def correct(self, entry: Entry, usage: Usage) -> None:
        """Change the bill of a call whose client went away."""
        with self._lock:
            before = entry.call.usage
            entry.call = replace(entry.call, usage=usage)
            self._billed += Usage(
                usage.input - before.input, usage.output - before.output, thinking=usage.thinking - before.thinking
            )

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls, in order of arrival."""
        with self._lock:
            return tuple(each.call for each in self._entries)

    @property
    def billed(self) -> Usage:
        """The usage of all calls, of those no longer kept, too."""
        with self._lock:
            return self._billed

    def forget(self) -> None:
        """Drop all calls and their sum."""
        with self._lock:
            self._entries.clear()
            self._billed = NOTHING
