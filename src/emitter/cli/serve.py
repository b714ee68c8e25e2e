"""The commands ``serve`` and ``inbox``, which answer decisions on local web pages. Need the extra ``web``."""

from __future__ import annotations

import getpass
import sys
from functools import partial
from typing import TYPE_CHECKING

from emitter.cli import FAILED, INTERRUPTED, SUCCESS, stores
from emitter.cli.arguments import add_json_argument, add_port_argument, add_sign_argument, to_number
from emitter.cli.input_output import print_json
from emitter.cli.moments import read_moment
from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import UnreadableAnswer
from emitter.decisions.resolution import resolution_to_json
from emitter.errors import AlreadyResolved

if TYPE_CHECKING:
    import argparse

    from emitter.decisions import Resolution
    from emitter.decisions.ledger_entries import PendingDecision


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(pipe_status=1)
    stores.add_decision_arguments(parser)
    _add_page_arguments(parser)
    parser.add_argument(
        "--timeout",
        type=to_number,
        metavar="SECONDS",
        help="the time in which the decision can be answered (default: none)",
    )
    add_json_argument(parser, "print one JSON document (always on)")


def _add_page_arguments(parser: argparse.ArgumentParser) -> None:
    add_port_argument(parser)
    parser.add_argument("--open", action="store_true", help="also open the page in a browser")


def run_serve(args: argparse.Namespace) -> int:
    """Serve a decision as a page on this machine, and print the answer as JSON.

    With --store, you answer a decision that waits in a store. The agent reads the answer there, and answers your
    requests for detail there. The page's address is printed on standard error: anyone who has it can answer, once.
    Exits with 1 if nobody answered in time, and with 130 after Ctrl-C.
    """
    stores.check_options(args)
    if args.store is None:
        ledger = Ledger(words=None)  # the answer is printed instead
        answer = _serve_pending(ledger.open(read_moment(args.file), expires_in=args.timeout), ledger, args)
    else:
        answer = _serve_stored(args)
    args.pipe_status = status = _get_exit_status(answer)
    print_json(resolution_to_json(answer), indent=None)
    return status


def _get_exit_status(answer: Resolution | Unresolved) -> int:
    if not isinstance(answer, Unresolved):
        return SUCCESS
    return INTERRUPTED if answer.reason is UnresolvedReason.CANCELLED else FAILED


def _serve_stored(args: argparse.Namespace) -> Resolution | Unresolved:
    with stores.open_decision(args) as decision:
        answer = _serve_pending(decision.with_timeout(args.timeout), decision.ledger, args)
    if not isinstance(answer, Unresolved):
        stores.report_retention(answer, decision.ledger.words)
    return answer


def _serve_pending(pending: PendingDecision, ledger: Ledger, args: argparse.Namespace) -> Resolution | Unresolved:
    from emitter.web import Address, serve  # noqa: PLC0415  --help works without the extra

    outcome = serve(
        pending,
        ledger,
        on_address=partial(_print_address, "answer at"),
        address=Address(port=args.port),
        open_browser=args.open,
        detail=args.store is not None,  # without a store, no agent can answer
    )
    if isinstance(outcome, Unresolved):
        return outcome
    if isinstance(outcome.resolution, UnreadableAnswer):
        raise AlreadyResolved("The decision was answered elsewhere, in words that cannot be read here.")
    return outcome.resolution


def add_inbox_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--store", metavar="STORE", required=True, help="the agents' store: an SQLite file, or postgresql://..."
    )
    _add_page_arguments(parser)
    parser.add_argument("--principal", metavar="NAME", help="your name in the records (default: your account's name)")
    add_sign_argument(parser, "sign the answers")
    stores.add_words_arguments(parser)


def run_inbox(args: argparse.Namespace) -> int:
    """Serve the decisions of a store as an inbox on this machine, until interrupted.

    The inbox lists the open decisions of all agents with their forms, and the closed ones with the receipts of what was
    done. Its address is printed on standard error. Each address signs one browser in; then the address for another
    browser is printed. Your service can mount the same inbox for many people: see docs/guides/inbox.md.
    """
    from emitter.web import Address, Principal  # noqa: PLC0415  --help works without the extra
    from emitter.web.inbox_server import serve_inbox  # noqa: PLC0415

    principal = Principal(args.principal or getpass.getuser())
    words = stores.read_words_options(args)
    with stores.open_store(args.store, words, stores.load_signer(args.sign)) as stored:
        serve_inbox(
            stored.authority,
            principal,
            on_address=partial(_print_address, "open"),
            address=Address(port=args.port),
            open_browser=args.open,
        )
    return 0


def _print_address(instruction: str, address: str) -> None:
    sys.stderr.write(f"emitter: {instruction} {address}\n")
    sys.stderr.flush()
