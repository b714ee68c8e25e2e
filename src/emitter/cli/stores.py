"""The command ``decisions``, and access to existing stores and to the decisions waiting in them."""

from __future__ import annotations

import importlib
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from emitter.answers import AnswerRecorder
from emitter.authority import Authority
from emitter.authority.execution import check_retained
from emitter.authority.journal import read_attachment, read_logged_head
from emitter.authority.rules import describe_stop
from emitter.cli.arguments import add_file_argument, add_json_argument, add_sign_argument, add_store_argument, to_number
from emitter.cli.input_output import print_json
from emitter.decisions import Selected, Unresolved
from emitter.decisions.ledger import DEFAULT_WORDS, Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, pending_of
from emitter.decisions.ledger_words import ONE_WEEK, KeepWords
from emitter.errors import AlreadyResolved, DecisionExpired, InputError, StoreAltered, Tampered
from emitter.events import format_timestamp
from emitter.files import check_path, is_file
from emitter.messages import as_mapping
from emitter.render.outcomes import describe_answer
from emitter.render.safe_text import quote, to_single_line
from emitter.stores import SqliteStore, SqlStore, Store
from emitter.stores.sqlite import SqliteDatabase

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Generator, Iterable, Iterator

    from emitter.authority import ApprovalState
    from emitter.decisions import Resolution
    from emitter.decisions.ledger_details import DetailRequest
    from emitter.decisions.principals import Principal
    from emitter.messages import Json


def add_decisions_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    add_store_argument(parser)
    add_json_argument(parser)
    parser.add_argument("--words-key", metavar="FILE", help="a JWK or PEM key that decrypts requests for detail")
    parser.add_argument(
        "--closed", action="store_true", help="list closed decisions instead, latest first, with what became of each"
    )


def run_decisions(args: Namespace) -> int:
    """List the decisions that wait in a store, oldest first, with their findings.

    With --closed, list those that were answered, withdrawn or expired, and what became of the calls that were approved:
    whether they wait for the agent, run, were made, or cannot be made any more.

    STORE is the store of a `Ledger` or an `Authority`, and is never created. Answer a decision with `emitter resolve
    --store STORE` at the terminal, or with `emitter serve --store STORE` on a local page. The agent continues a call
    that waits for the decision by repeating it with its id.
    """
    words = KeepWords() if args.words_key is None else KeepWords.with_key_file(args.words_key)
    with open_store(args.store, words) as stored:
        if args.closed:
            return _list_closed(stored, as_json=args.json)
        ledger = stored.authority.ledger
        decisions = [(pending, ledger.detail_requests(pending.decision_id)) for pending in ledger.pending()]
    if args.json:
        print_json({"decisions": [_pending_json(*decision) for decision in decisions]})
    else:
        sys.stdout.write("".join(f"{line}\n" for decision in decisions for line in _pending_lines(*decision)))
    return 0


def _list_closed(stored: OpenStore, *, as_json: bool) -> int:
    ledger = stored.authority.ledger
    found = [
        read_or_tampered(f"the decision {reference}", partial(ledger.find_by_reference, reference))
        for reference in ledger.closed_references()
    ]
    decisions = [(each, stored.authority.find_state(each)) for each in found]
    if as_json:
        print_json({"decisions": [_closed_json(*decision) for decision in decisions]})
    else:
        sys.stdout.write("".join(f"{line}\n" for decision in decisions for line in _closed_lines(*decision)))
    return 0


def _closed_json(decision: PendingDecision | ResolvedDecision, state: ApprovalState) -> dict[str, Json]:
    members: dict[str, Json] = {"state": state.value, **_pending_json(pending_of(decision), ())}
    if isinstance(decision, ResolvedDecision):
        members |= {"answered_by": decision.principal, "answered_at": format_timestamp(decision.resolved_at)}
    return members


def _closed_lines(decision: PendingDecision | ResolvedDecision, state: ApprovalState) -> Iterator[str]:
    pending = pending_of(decision)
    question = f"{quote(pending.agent)} asked {quote(pending.moment.question.stem)}"
    answer = f" ({describe_answer(decision)})" if isinstance(decision, ResolvedDecision) else ""
    yield f"{quote(pending.decision_id)}: {state.label}: {question}{answer}"
    yield from (f"  {to_single_line(finding)}" for finding in pending.moment.findings)


def _pending_json(pending: PendingDecision, details: Iterable[DetailRequest]) -> dict[str, Json]:
    question = pending.moment.question
    return {
        "decision_id": pending.decision_id,
        "digest": pending.digest,
        "agent": pending.agent,
        "opened_at": format_timestamp(pending.opened_at),
        "expires_at": None if pending.expires_at is None else format_timestamp(pending.expires_at),
        "synopsis": pending.moment.synopsis,
        "findings": list(pending.moment.findings),
        "stem": question.stem,
        "options": [option.label for option in question.options],
        "details": [
            {"number": request.number, "topic": request.readable_topic, "answer": request.answer} for request in details
        ],
    }


def _pending_lines(pending: PendingDecision, details: Iterable[DetailRequest]) -> Iterator[str]:
    until = "" if pending.expires_at is None else f", until {format_timestamp(pending.expires_at)}"
    question = f"{quote(pending.agent)} asks {quote(pending.moment.question.stem)}"
    yield f"{quote(pending.decision_id)}: {question} (since {format_timestamp(pending.opened_at)}{until})"
    yield from (f"  {to_single_line(finding)}" for finding in pending.moment.findings)
    for request in details:
        topic = request.readable_topic
        subject = "a detail" if topic is None else f"detail on {quote(topic)}" if topic else "detail"
        yield f"  {request.number}. {subject} is requested{'' if request.is_open else ', and answered'}"


_LIST_HINT = "Run `emitter decisions STORE` to list the open ones."


class OpenDecision(NamedTuple):
    """An open decision and its ledger."""

    ledger: Ledger
    pending: PendingDecision

    def timeout(self, seconds: float | None) -> float | None:
        """Return the seconds to wait for an answer: at most until the decision expires."""
        limits = [limit for limit in (seconds, self.pending.remaining_seconds(time.time())) if limit is not None]
        return min(limits, default=None)

    def with_timeout(self, seconds: float | None) -> PendingDecision:
        """Return the decision with the timeout as its expiry. In the store it stays open."""
        timeout = self.timeout(seconds)
        return self.pending if timeout is None else replace(self.pending, expires_at=time.time() + timeout)

    def record(self, answer: Resolution | Unresolved, channel: str, principal: Principal | None) -> bool:
        """Record an answer. Return False if it is the first of two approvals.

        Raises:
            AlreadyResolved: Another answer came first. The message says whose, and what it was.
            DecisionExpired: The answer came too late.
            EmitterError: It was not recorded for another reason.
        """
        answers = AnswerRecorder(self.ledger, channel)
        reply = answers.record(self.pending, principal, lambda: answer).require_accepted()
        if reply.counts and not isinstance(reply.decision, ResolvedDecision):
            return False
        if not isinstance(answer, Unresolved):
            report_retention(answer, self.ledger.words)
        return True


def add_decision_arguments(parser: ArgumentParser) -> None:
    """Add the arguments that select a decision: an envelope's file, or a store."""
    add_file_argument(parser)
    parser.add_argument("--store", metavar="STORE", help="answer a decision that waits in this store, instead of FILE")
    parser.add_argument(
        "--decision", metavar="ID", help="the id of the decision in the store (default: the only open decision)"
    )
    add_sign_argument(parser, "sign the answer")
    add_words_arguments(parser)


def add_words_arguments(parser: ArgumentParser) -> None:
    """Add the arguments for keeping the person's words in a store."""
    group = parser.add_argument_group("the person's words in the store")
    group.add_argument(
        "--words-key", metavar="FILE", help="encrypt the words with this JWK or PEM key (default: no encryption)"
    )
    group.add_argument(
        "--words-for",
        type=to_number,
        metavar="SECONDS",
        help=f"delete the words after this time (default: {ONE_WEEK:.0f}, a week)",
    )
    group.add_argument("--no-words", action="store_true", help="keep only the kind of answer, not the words")


def read_words_options(args: Namespace) -> KeepWords | None:
    """Return the settings for keeping the person's words, or None to keep none.

    Raises:
        InputError: The options contradict each other, or need --store.
    """
    options = [
        f"--{name.replace('_', '-')}"
        for name in ("words_key", "words_for", "no_words")
        if getattr(args, name) not in (None, False)
    ]
    if options and args.store is None:
        raise InputError(f"{options[0]} needs --store.", hint=f"Name a store, or remove {options[0]}.")
    if args.no_words:
        if len(options) > 1:
            raise InputError(f"--no-words and {options[0]} exclude each other.", hint="Use one of the two.")
        return None
    seconds = ONE_WEEK if args.words_for is None else args.words_for
    return KeepWords(seconds) if args.words_key is None else KeepWords.with_key_file(args.words_key, seconds=seconds)


def check_options(args: Namespace) -> None:
    """Raise ``InputError`` if the options contradict each other."""
    read_words_options(args)
    if args.store is None and args.decision is not None:
        raise InputError("--decision needs --store.", hint="Pass --store.")
    if args.store is None and args.sign is not None:
        raise InputError("--sign needs --store, because only stored answers are signed.", hint="Pass --store.")
    if args.store is not None and args.file != "-":
        raise InputError("FILE and --store exclude each other.", hint="Pass one of the two.")


@contextmanager
def open_decision(args: Namespace) -> Generator[OpenDecision]:
    """Open the store and find the decision to answer.

    Raises:
        InputError: The store cannot be opened, or the decision is ambiguous.
        UnknownDecision: The store holds no such decision.
        AlreadyResolved: The decision is resolved.
        DecisionExpired: The decision has expired.
    """
    with open_store(args.store, read_words_options(args), load_signer(args.sign)) as stored:
        ledger = stored.authority.ledger
        pending = _single_pending(ledger) if args.decision is None else _find_pending(stored.authority, args.decision)
        stop = stored.authority.find_stop(pending)
        if stop is not None:
            sys.stderr.write(f"emitter: {describe_stop(stop)}\n")
        yield OpenDecision(ledger, pending)


def load_signer(file: str | None) -> Callable[[str], str] | None:
    """Return a function that signs with the key in a file, or None without a file."""
    if file is None:
        return None
    signing = importlib.import_module("emitter.authority.signing")  # needs an extra
    signer: Callable[[str], str] = signing.make_signer(signing.load_key(file))
    return signer


def report_retention(answer: Resolution, keep_words: KeepWords | None) -> None:
    """Report on standard error for how long the person's words are kept."""
    if not isinstance(answer, Selected):
        sys.stderr.write(f"emitter: {_WORDS_NOT_KEPT if keep_words is None else keep_words.summary}\n")


_WORDS_NOT_KEPT = "The store keeps the kind of answer, not the words: tell them to the agent yourself."


def _single_pending(ledger: Ledger) -> PendingDecision:
    match ledger.pending():
        case [pending]:
            return pending
        case []:
            raise InputError("No decision waits in this store.", hint=_LIST_HINT)
        case _:
            raise InputError("Several decisions wait in this store.", hint=f"Select one with --decision. {_LIST_HINT}")


def _find_pending(authority: Authority, decision_id: str) -> PendingDecision:
    """Return an open decision. A closed one is rejected before the person is asked."""
    decision = authority.ledger.find(decision_id)
    if isinstance(decision, ResolvedDecision):
        deed = "" if decision.action is None else f" {authority.find_state(decision).deed}"
        raise AlreadyResolved(f"The decision is resolved already. {describe_answer(decision)}{deed}", hint=_LIST_HINT)
    if decision not in authority.ledger.pending():
        problem = "The agent withdrew the decision." if decision.withdrawn else "The decision has expired."
        raise DecisionExpired(problem, hint=_LIST_HINT)
    return decision


T = TypeVar("T")
_SQLITE_MAGIC: Final = b"SQLite format 3\0"
_BUSY_TIMEOUT: Final = 10.0
"""Seconds to wait for the store's writers."""
_UNREADABLE_ERRORS: Final = (StoreAltered, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""Errors raised by reading an entry that this library did not write."""


class OpenStore(NamedTuple):
    """An open store, and the authority whose records it holds."""

    store: Store
    authority: Authority

    def workflows(self, workflow_id: str | None) -> tuple[str, ...]:
        """Return all workflows, or the named one.

        Raises:
            InputError: The named workflow has no record.
        """
        known = read_or_tampered("the list of workflows", self.authority.workflows)
        if workflow_id is None:
            return known
        if workflow_id not in known and next(self.lines(workflow_id), None) is None:
            raise InputError(
                "The store holds no such workflow.", hint="Run `emitter receipts list STORE` to list its workflows."
            )
        return (workflow_id,)

    def lines(self, workflow_id: str) -> Iterator[Json]:
        """Yield a workflow's lines as stored.

        Raises:
            Tampered: A line cannot be read.
        """
        lines, number = self.authority.lines(workflow_id), 0
        while (line := read_or_tampered(f"line {number}", lambda: next(lines, None))) is not None:
            yield line
            number += 1

    def check_retained(self, workflow_id: str) -> None:
        """Raise ``Tampered`` if a kept result does not match the digest in its line."""
        for number, line in enumerate(self.lines(workflow_id)):
            result = read_or_tampered(f"line {number}", partial(read_attachment, self.store, workflow_id, number))
            check_retained(result, as_mapping(line.get("record")).get("retained"), f"line {number}")

    def noted_head(self, workflow_id: str) -> str | None:
        """Return the hash of the last line that the store's log records."""
        return read_or_tampered("the store's log", lambda: read_logged_head(self.store, workflow_id))


def is_store(name: str) -> bool:
    """Check whether a name belongs to a store: an SQLite file, or the URL of a database."""
    if "://" in name:
        return True
    try:
        with check_path("STORE", name).open("rb") as file:
            return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    except OSError:
        return False


@contextmanager
def open_store(
    name: str, keep_words: KeepWords | None = DEFAULT_WORDS, sign: Callable[[str], str] | None = None
) -> Generator[OpenStore]:
    """Open an existing store.

    Args:
        name: The store's file, or the URL of a PostgreSQL database.
        keep_words: How its ledger keeps the principal's words.
        sign: Signs the principal's answers.

    Raises:
        InputError: The file is missing or empty. It is never created.
    """
    if "://" in name:
        with SqlStore(name, timeout=_BUSY_TIMEOUT) as server_store:
            ledger = Ledger(server_store, words=keep_words, sign=sign)
            yield OpenStore(server_store, Authority(server_store, ledger=ledger))
        return
    if not is_file(check_path("STORE", name)):
        raise InputError(f"{name} is not a file.", hint="Pass a store's file, or postgresql://...")
    # Opening a store creates its tables, so a file of another kind must be recognized before.
    database = SqliteDatabase(os.path.realpath(name), _BUSY_TIMEOUT)
    try:
        is_new = not database.format_version()
    finally:
        database.close()
    if is_new:
        raise InputError(f"{name} is empty, not a store.", hint="Pass a store's file.")
    with SqliteStore(name, timeout=_BUSY_TIMEOUT) as store:
        yield OpenStore(store, Authority(store, ledger=Ledger(store, words=keep_words, sign=sign)))


def read_or_tampered(place: str, read: Callable[[], T]) -> T:
    """Return what ``read`` returns.

    Raises:
        Tampered: The library did not write what was read.
    """
    try:
        return read()
    except _UNREADABLE_ERRORS:
        raise Tampered(f"{place} was not written by this library.", place=place) from None
