"""Serve a decision as a page on this machine, and print how it was answered.

FILE holds a binding moment, a tool's result with one, or what `emitter moment --json` printed; - or nothing is standard
input. With --store it is a decision that waits in a store, and is resolved there: the agent reads the answer from the
store, with the person's own words, and answers there what they want to know more about. The page's address is told on
standard error: whoever has it can answer, once. Prints the resolution as JSON. Exit status 1 where nobody answered in
time, 130 after Ctrl-C; neither is an answer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli import waiting
from emitter.cli.document import write
from emitter.cli.envelope import read_moment
from emitter.decide import Unanswered, Unresolved
from emitter.decide.resolution import to_json
from emitter.errors import AlreadyResolved
from emitter.ledger import Ledger, Unspoken
from emitter.web import Address, serve

if TYPE_CHECKING:
    import argparse

    from emitter.decide import Resolution
    from emitter.ledger import Pending

_UNANSWERED = {Unanswered.CANCELLED: 130}
"""The exit status where nobody answered for this reason; for any other it is 1."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.set_defaults(unread=1)
    waiting.add_arguments(parser)
    parser.add_argument("--port", type=int, default=0, metavar="N", help="where to listen (default: a free port)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser too")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds until nobody can answer any more")
    parser.add_argument("--json", action="store_true", help="the only form: one JSON document")


def run(asked: argparse.Namespace) -> int:
    """Serve until it is answered, and print."""
    waiting.check(asked)
    if asked.store is None:
        ledger = Ledger(words=None)  # they are printed
        answer = _served(ledger.open(read_moment(asked.file), expires_in=asked.timeout), ledger, asked)
    else:
        answer = _stored(asked)
    asked.unread = status = _UNANSWERED.get(answer.reason, 1) if isinstance(answer, Unresolved) else 0
    write(to_json(answer), indent=None)
    return status


def _stored(asked: argparse.Namespace) -> Resolution | Unresolved:
    with waiting.waiting(asked) as place:
        answer = _served(place.within(asked.timeout), place.ledger, asked)
    if not isinstance(answer, Unresolved):
        waiting.say_kept(answer, place.ledger.words)
    return answer


def _served(pending: Pending, ledger: Ledger, asked: argparse.Namespace) -> Resolution | Unresolved:
    detail = asked.store is not None  # else nobody is there to answer
    done = serve(pending, ledger, tell=_tell, at=Address(port=asked.port), browse=asked.open, detail=detail)
    if isinstance(done, Unresolved):
        return done
    if isinstance(done.resolution, Unspoken):
        raise AlreadyResolved("Somebody answered elsewhere meanwhile, in words that cannot be read here.")
    return done.resolution


def _tell(address: str) -> None:
    sys.stderr.write(f"emitter: answer at {address}\n")
    sys.stderr.flush()
