"""Answer a binding moment at the terminal.

FILE holds the envelope, by itself or as a tool's result; - or nothing is standard input, and the keys then come from
the terminal itself. With --store it is a decision that waits in a store, and is resolved there: the agent reads the
answer from the store, with the person's own words. With neither a terminal nor --answer, one line of standard input is
the answer. With --detail the agent is asked for more first, which decides nothing.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias, cast

from emitter.cli import waiting
from emitter.cli.answering import next_step
from emitter.cli.document import write
from emitter.cli.envelope import read_moment
from emitter.decide import Unanswered, Unresolved, digest
from emitter.decide.resolution import to_json
from emitter.errors import InputError
from emitter.ledger import Unkept
from emitter.render.line import lines
from emitter.render.typed import typed
from emitter.terminal import ask, listen, sentence

if TYPE_CHECKING:
    import argparse

    from emitter.cli.waiting import Waiting
    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.ledger import DetailRequest
    from emitter.terminal import Detail

    Answered: TypeAlias = tuple[BindingMoment, Resolution | Unresolved, bool]
    """What was asked, what was answered, and whether standard output has been told already."""

TERMINAL = Path("/dev/tty")
CHANNEL = "terminal"
_NOT_YET = "the agent has not answered yet; type m to look again"
_PATIENCE = 5.0
"""Seconds that a person at the terminal waits for the agent before they are asked on."""
_LOOK = 0.2
"""Seconds between two looks at whether the agent has answered."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.set_defaults(unread=1)
    parser.epilog = (
        "Exit status: 0 there is an answer, 1 nobody decided (as always with --detail), 2 what was given is no "
        "envelope, or no answer to it."
    )
    waiting.add_arguments(parser)
    parser.add_argument("--plain", action="store_true", help="lines of text instead of the picker, for screen readers")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds until nobody has decided")
    parser.add_argument(
        "--answer", metavar="TEXT", help='the answer itself: "2" for an option, "a TEXT" or "d TEXT" for a veto'
    )
    parser.add_argument(
        "--detail",
        metavar="TOPIC",
        help="ask for more on TOPIC and decide nothing; with --timeout, wait so long for the agent's answer",
    )
    parser.add_argument("--json", action="store_true", help="print the resolution as JSON")


def run(asked: argparse.Namespace) -> int:
    """Ask and print; 1 when nobody decided."""
    waiting.check(asked)
    if asked.detail is not None:
        return _ask_detail(asked)
    with ExitStack() as opened:
        moment, resolution, told = _in_file(asked, opened) if asked.store is None else _in_store(asked, opened)
    asked.unread = status = 1 if isinstance(resolution, Unresolved) else 0
    if asked.json:
        write(to_json(resolution))
    else:
        before = "" if told else f"{sentence(moment, resolution)}\n"
        sys.stdout.write(f"{before}{next_step(moment, resolution)}\n")
    return status


def _ask_detail(asked: argparse.Namespace) -> int:
    """Ask the agent for detail, and print what it answered by now; nobody has decided then."""
    if asked.store is None or asked.answer is not None:
        raise InputError(
            "--detail is for a decision of a store, without --answer.", hint="Name the store with --store."
        )
    with waiting.waiting(asked) as place:
        request = place.ledger.ask_detail(place.pending.decision_id, asked.detail, channel=CHANNEL)
        if request.is_open and asked.timeout:
            sys.stderr.write(f"emitter: waiting for the agent's answer, for up to {asked.timeout:g} seconds\n")
        until = time.monotonic() + (asked.timeout or 0.0)
        while request.is_open and time.monotonic() < until:
            time.sleep(_LOOK)
            request = place.ledger.detail_requests(place.pending.decision_id)[request.number - 1]
    if asked.json:
        known = {"decision_id": request.decision_id, "number": request.number, "topic": asked.detail}
        write({"detail": {**known, "answer": request.answer}})
    else:
        told = "The agent has not answered yet." if request.is_open else "\n".join(lines(request.text))
        sys.stdout.write(f"{told}\nThe decision is still open.\n")
    return 1


def _detail(place: Waiting, topic: str) -> str:
    """Ask the agent for detail, wait for it for a little, and return what it answered to all that was asked for."""
    ledger, decision_id = place.ledger, place.pending.decision_id
    if topic or not ledger.detail_requests(decision_id):
        ledger.ask_detail(decision_id, topic, channel=CHANNEL)
    until = time.monotonic() + _PATIENCE
    while any(each.is_open for each in ledger.detail_requests(decision_id)) and time.monotonic() < until:
        time.sleep(_LOOK)
    return "\n".join(f"{_named(each)}: {each.text or _NOT_YET}" for each in ledger.detail_requests(decision_id))


def _named(request: DetailRequest) -> str:
    return request.topic if request.topic and not isinstance(request.topic, Unkept) else "More"


def _in_file(asked: argparse.Namespace, opened: ExitStack) -> Answered:
    moment = read_moment(asked.file)
    return moment, *_resolution(moment, asked, asked.timeout, opened, None)


def _in_store(asked: argparse.Namespace, opened: ExitStack) -> Answered:
    place = opened.enter_context(waiting.waiting(asked))
    moment = place.pending.moment
    resolution, told = _resolution(moment, asked, place.patience(asked.timeout), opened, partial(_detail, place))
    place.record(resolution, CHANNEL)
    return moment, resolution, told


def _resolution(
    moment: BindingMoment,
    asked: argparse.Namespace,
    timeout: float | None,
    opened: ExitStack,
    detail: Detail | None,
) -> tuple[Resolution | Unresolved, bool]:
    if asked.answer is not None:
        return typed(moment, asked.answer), False
    is_read = asked.file == "-" and asked.store is None  # so standard input holds the envelope, and no keys
    given = _terminal(opened, "r") if is_read else sys.stdin
    if not given:
        sys.stderr.write("emitter: there is no terminal to answer at; --answer takes one.\n")
        return Unresolved(digest(moment), Unanswered.DROPPED), False
    if not given.isatty() and not asked.plain:
        return listen(moment, input=given, timeout=timeout), False
    shown = sys.stdout if sys.stdout.isatty() else _beside(given, opened)
    answer = ask(moment, input=given, output=shown, plain=asked.plain or None, timeout=timeout, detail=detail)
    return answer, shown is sys.stdout


def _beside(given: TextIO, opened: ExitStack) -> TextIO:
    """Return where a person looks while standard output goes elsewhere."""
    return (_terminal(opened, "w") if given.isatty() else None) or sys.stderr


def _terminal(opened: ExitStack, mode: str) -> TextIO | None:
    """Return the terminal of this process, which standard input and output are not; None where it has none."""
    try:
        return cast("TextIO", opened.enter_context(TERMINAL.open(mode, encoding="utf-8")))
    except OSError:
        return None
