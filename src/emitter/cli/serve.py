"""Serve a decision as a page on this machine, and print how it was answered.

FILE holds a binding moment, a tool's result with one, or what `emitter moment --json` printed; - or nothing is standard
input. The page's address is told on standard error: whoever has it can answer, once. Prints the resolution as JSON.
Exit status 1 where nobody answered in time, 130 after Ctrl-C; neither is an answer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from emitter.cli.document import write
from emitter.cli.envelope import read_moment
from emitter.decide import Unanswered, Unresolved
from emitter.decide.resolution import to_json
from emitter.ledger import Ledger
from emitter.web import Address, serve

if TYPE_CHECKING:
    import argparse

    from emitter.decide import Resolution

_UNANSWERED = {Unanswered.CANCELLED: 130}
"""The exit status where nobody answered for this reason; for any other it is 1."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the envelope; - or nothing is standard input"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="where to listen (default: a free port)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser too")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds until nobody can answer any more")
    parser.add_argument("--json", action="store_true", help="the only form: one JSON document")


def run(asked: argparse.Namespace) -> int:
    """Serve until it is answered, and print."""
    ledger = Ledger()
    pending = ledger.open(read_moment(asked.file), expires_in=asked.timeout)
    done = serve(pending, ledger, tell=_tell, at=Address(port=asked.port), browse=asked.open)
    answer = done if isinstance(done, Unresolved) else cast("Resolution", done.resolution)  # the words were heard here
    write(to_json(answer), indent=None)
    return _UNANSWERED.get(answer.reason, 1) if isinstance(answer, Unresolved) else 0


def _tell(address: str) -> None:
    sys.stderr.write(f"emitter: answer at {address}\n")
    sys.stderr.flush()
