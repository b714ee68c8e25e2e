"""A decision that waits in a store for its answer: named on the command line, and answered there.

The principal's words are kept in the store for the agent, as the command line says.
"""

from __future__ import annotations

import importlib
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from emitter.cli.stored import opened
from emitter.decide import Selected, Unresolved
from emitter.errors import AlreadyResolved, DecisionExpired, InputError
from emitter.ledger import KeepWords, Resolved
from emitter.ledger.words import WEEK

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Generator

    from emitter.decide import Resolution
    from emitter.ledger import Ledger, Pending

_LIST = "`emitter decisions STORE` lists those that wait."


class Waiting(NamedTuple):
    """A decision that is open, and the ledger that it is open in."""

    ledger: Ledger
    pending: Pending

    def patience(self, given: float | None) -> float | None:
        """Return for how many seconds somebody is waited for: no longer than an answer counts."""
        left = self.pending.left(time.time())
        return given if left is None else left if given is None else min(given, left)

    def within(self, given: float | None) -> Pending:
        """Return the decision as one that ends when nobody waits for it any more; in the store it stays open."""
        patience, now = self.patience(given), time.time()
        return self.pending if patience is None else replace(self.pending, expires_at=now + patience)

    def record(self, answer: Resolution | Unresolved, channel: str) -> None:
        """Record what was answered; raises ``AlreadyResolved`` and ``DecisionExpired`` where it came too late."""
        if isinstance(answer, Unresolved):
            self.ledger.unresolved(self.pending.decision_id, answer.reason, channel=channel)
            return
        self.ledger.resolve(self.pending.decision_id, answer, channel=channel)
        say_kept(answer, self.ledger.words)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare what names a decision: an envelope in a file, or one that waits in a store."""
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the envelope; - or nothing is standard input"
    )
    parser.add_argument(
        "--store", metavar="STORE", help="instead of FILE: a store in which a decision waits, and is resolved"
    )
    parser.add_argument("--decision", metavar="ID", help="which of the store's (default: the only one that waits)")
    parser.add_argument(
        "--sign", metavar="KEY", help="sign the answer with your private key: see `emitter receipts key`"
    )
    add_words(parser)


def add_words(parser: ArgumentParser) -> None:
    """Declare how the person's words are kept in a store."""
    kept = parser.add_argument_group("the person's own words, in the store")
    kept.add_argument(
        "--words-key",
        metavar="FILE",
        help="encrypt them with the key in this file: a JWK, or PEM (default: plain text)",
    )
    kept.add_argument(
        "--words-for", type=float, metavar="S", help=f"seconds until they are deleted (default: {WEEK:.0f}, a week)"
    )
    kept.add_argument("--no-words", action="store_true", help="do not keep them; only which answer it was")


def words(asked: Namespace) -> KeepWords | None:
    """Return how the person's words are kept; raises ``InputError`` where that is not clear, or without a store."""
    given = [each for each in ("words_key", "words_for", "no_words") if getattr(asked, each) not in (None, False)]
    options = [f"--{each.replace('_', '-')}" for each in given]
    if options and asked.store is None:
        raise InputError(f"{options[0]} is for --store.", hint="Name a store, or leave it out.")
    if asked.no_words:
        if len(options) > 1:
            raise InputError(f"--no-words keeps no words, and {options[0]} says how.", hint="Use one of the two.")
        return None
    seconds = WEEK if asked.words_for is None else asked.words_for
    return KeepWords(seconds) if asked.words_key is None else KeepWords.with_key_file(asked.words_key, seconds=seconds)


def check(asked: Namespace) -> None:
    """Raise ``InputError`` where both are named, or a decision of no store."""
    words(asked)
    if asked.store is None and asked.decision is not None:
        raise InputError("--decision is of a store.", hint="Name the store with --store.")
    if asked.store is None and asked.sign is not None:
        raise InputError("--sign signs an answer that is kept in a store.", hint="Name the store with --store.")
    if asked.store is not None and asked.file != "-":
        raise InputError("There is an envelope in FILE, and a store.", hint="Name one of the two.")


@contextmanager
def waiting(asked: Namespace) -> Generator[Waiting]:
    """Open the store and find the decision that is to be answered; raises ``InputError`` where it is not clear which.

    Raises ``AlreadyResolved``, ``DecisionExpired`` and ``UnknownDecision`` for one that does not wait.
    """
    sign = None if asked.sign is None else _signer(asked.sign)
    with opened(asked.store, words(asked), sign) as stored:
        ledger = stored.authority.ledger
        yield Waiting(ledger, _only(ledger) if asked.decision is None else _named(ledger, asked.decision))


def _signer(file: str) -> Callable[[str], str]:
    signing = importlib.import_module("emitter.authority.signing")  # which needs an extra
    made: Callable[[str], str] = signing.signer(signing.load_key(file))
    return made


def say_kept(answer: Resolution, words: KeepWords | None) -> None:
    """Say how the person's words are kept, or that somebody has to bring them to the agent."""
    if not isinstance(answer, Selected):
        sys.stderr.write(f"emitter: {_UNKEPT if words is None else words.summary}\n")


_UNKEPT = "The store has kept which answer it was, not its words: bring them to the agent."


def _only(ledger: Ledger) -> Pending:
    found = ledger.pending()
    if len(found) != 1:
        told = "No decision waits in this store." if not found else "Several decisions wait in this store."
        raise InputError(told, hint=_LIST if not found else f"Say which with --decision; {_LIST}")
    return found[0]


def _named(ledger: Ledger, decision_id: str) -> Pending:
    """Return a decision that is open, before anybody is asked in vain."""
    found = ledger.find(decision_id)
    if isinstance(found, Resolved):
        raise AlreadyResolved("The decision was resolved before.", hint=_LIST)
    if found not in ledger.pending():
        raise DecisionExpired("The time in which the decision could be resolved is over.", hint=_LIST)
    return found
