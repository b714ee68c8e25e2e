"""Answer a binding moment at the terminal.

FILE holds the envelope, by itself or as a tool's result; - or nothing is standard input, and the keys then come from
the terminal itself. With --store it is a decision that waits in a store, and is resolved there. With neither a terminal
nor --answer, one line of standard input is the answer.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias, cast

from emitter.cli import waiting
from emitter.cli.answering import next_step
from emitter.cli.document import write
from emitter.cli.envelope import read_moment
from emitter.decide import Unanswered, Unresolved, digest
from emitter.decide.resolution import to_json
from emitter.render.typed import typed
from emitter.terminal import ask, listen, sentence

if TYPE_CHECKING:
    import argparse

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment

    Answered: TypeAlias = tuple[BindingMoment, Resolution | Unresolved, bool]
    """What was asked, what was answered, and whether standard output has been told already."""

TERMINAL = Path("/dev/tty")
CHANNEL = "terminal"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.set_defaults(unread=1)
    parser.epilog = (
        "Exit status: 0 there is an answer, 1 nobody decided, 2 what was given is no envelope, or no answer to it."
    )
    waiting.add_arguments(parser)
    parser.add_argument("--plain", action="store_true", help="lines of text instead of the picker, for screen readers")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds until nobody has decided")
    parser.add_argument(
        "--answer", metavar="TEXT", help='the answer itself: "2" for an option, "a TEXT" or "d TEXT" for a veto'
    )
    parser.add_argument("--json", action="store_true", help="print the resolution as JSON")


def run(asked: argparse.Namespace) -> int:
    """Ask and print; 1 when nobody decided."""
    waiting.check(asked)
    with ExitStack() as opened:
        moment, resolution, told = _in_file(asked, opened) if asked.store is None else _in_store(asked, opened)
    asked.unread = status = 1 if isinstance(resolution, Unresolved) else 0
    if asked.json:
        write(to_json(resolution))
    else:
        before = "" if told else f"{sentence(moment, resolution)}\n"
        sys.stdout.write(f"{before}{next_step(moment, resolution)}\n")
    return status


def _in_file(asked: argparse.Namespace, opened: ExitStack) -> Answered:
    moment = read_moment(asked.file)
    return moment, *_resolution(moment, asked, asked.timeout, opened)


def _in_store(asked: argparse.Namespace, opened: ExitStack) -> Answered:
    place = opened.enter_context(waiting.waiting(asked))
    moment = place.pending.moment
    resolution, told = _resolution(moment, asked, place.patience(asked.timeout), opened)
    place.record(resolution, CHANNEL)
    return moment, resolution, told


def _resolution(
    moment: BindingMoment, asked: argparse.Namespace, timeout: float | None, opened: ExitStack
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
    answer = ask(moment, input=given, output=shown, plain=asked.plain or None, timeout=timeout)
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
