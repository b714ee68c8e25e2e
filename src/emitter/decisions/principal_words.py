"""The principal's words in a ledger's store, and the latest ones in memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from emitter.decisions.ledger_log import deleted_words_key
from emitter.decisions.ledger_words import MissingWordsReason, read_words

if TYPE_CHECKING:
    from emitter.decisions.ledger_log import LedgerLog
    from emitter.decisions.ledger_words import KeepWords

_MAX_CACHED_WORDS: Final = 1024
"""How many of the latest answers' words this process keeps in memory."""


class PrincipalWords:
    """Keep free texts, objections and topics as ``keep`` says, or in this process's memory if it is None."""

    __slots__ = ("_cached", "_log", "keep")

    def __init__(self, log: LedgerLog, keep: KeepWords | None) -> None:
        self.keep = keep
        self._log = log
        self._cached: OrderedDict[str, tuple[str, float | None]] = OrderedDict()

    def write(self, name: str, words: str, written_at: float) -> float | None:
        """Store words and return when they are deleted, or None."""
        if self.keep is None:
            return None
        self._log.write_words(name, self.keep.make_entry(name, words, written_at))
        return self.keep.expires_at(written_at)

    def cache(self, name: str, words: str, written_at: float) -> None:
        """Keep words in memory."""
        self._cached[name] = words, None if self.keep is None else self.keep.expires_at(written_at)
        while len(self._cached) > _MAX_CACHED_WORDS:
            self._cached.popitem(last=False)

    def read(self, name: str) -> str | MissingWordsReason:
        """Return the words under a name, or why they cannot be read."""
        now = self._log.now()
        words, kept_until = self._cached.get(name, (None, None))
        if words is not None and (kept_until is None or now < kept_until):
            return words
        self._cached.pop(name, None)
        entry = self._log.find(name)
        if entry is not None:
            return read_words(entry, name, None if self.keep is None else self.keep.key, now)
        is_deleted = self._log.find(deleted_words_key(name)) is not None
        return MissingWordsReason.DELETED if is_deleted else MissingWordsReason.NOT_KEPT

    def delete(self, name: str, decision: str) -> int:
        """Delete words, and return how many texts were stored under the name: 0 or 1."""
        is_stored = self._log.find(name) is not None
        self._cached.pop(name, None)
        self._log.delete_words(name, decision)
        return int(is_stored)
