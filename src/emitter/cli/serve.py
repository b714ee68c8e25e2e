"""The command ``serve``. Needs the extra ``web``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli import stores
from emitter.cli.arguments import add_json_argument
from emitter.cli.envelopes import read_moment
from emitter.cli.input_output import print_json
from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import UnreadableAnswer
from emitter.decisions.resolution import resolution_to_json
from emitter.errors import AlreadyResolved
from emitter.web import Address, serve

if TYPE_CHECKING:
    import argparse

    from emitter.decisions import Resolution
    from emitter.decisions.ledger_entries import PendingDecision

_EXIT_STATUSES = {UnresolvedReason.CANCELLED: 130}
"""Exit statuses by the reason why nobody answered. Any other reason exits with 1."""


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(unread=1)
    stores.add_decision_arguments(parser)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port to listen on (default: a free port)")
    parser.add_argument("--open", action="store_true", help="also open the page in a browser")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds for which the decision can be answered")
    add_json_argument(parser, "print one JSON document (always on)")


def run_serve(args: argparse.Namespace) -> int:
    """Serve a decision as a page on this machine, and print the answer as JSON.

    FILE holds a binding moment, a tool's result that contains one, or the output of `emitter moment --json`. Without
    FILE, or with -, standard input is read. With --store, you answer a decision that waits in a store; the agent
    reads the answer there, and answers questions there. The page's address is printed on standard error: anyone who
    has it can answer, once. Exits with 1 if nobody answered in time, and with 130 after Ctrl-C.
    """
    stores.check_options(args)
    if args.store is None:
        ledger = Ledger(words=None)  # the answer is printed instead
        answer = _serve_pending(ledger.open(read_moment(args.file), expires_in=args.timeout), ledger, args)
    else:
        answer = _serve_stored(args)
    args.unread = status = _EXIT_STATUSES.get(answer.reason, 1) if isinstance(answer, Unresolved) else 0
    print_json(resolution_to_json(answer), indent=None)
    return status


def _serve_stored(args: argparse.Namespace) -> Resolution | Unresolved:
    with stores.open_decision(args) as decision:
        answer = _serve_pending(decision.with_timeout(args.timeout), decision.ledger, args)
    if not isinstance(answer, Unresolved):
        stores.report_kept_words(answer, decision.ledger.words)
    return answer


def _serve_pending(pending: PendingDecision, ledger: Ledger, args: argparse.Namespace) -> Resolution | Unresolved:
    outcome = serve(
        pending,
        ledger,
        on_address=_print_address,
        address=Address(port=args.port),
        open_browser=args.open,
        detail=args.store is not None,  # without a store, no agent can answer
    )
    if isinstance(outcome, Unresolved):
        return outcome
    if isinstance(outcome.resolution, UnreadableAnswer):
        raise AlreadyResolved("The decision was answered elsewhere, in words that cannot be read here.")
    return outcome.resolution


def _print_address(address: str) -> None:
    sys.stderr.write(f"emitter: answer at {address}\n")
    sys.stderr.flush()
