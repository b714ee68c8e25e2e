"""The command ``resolve``, and asking the person at this terminal."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, assert_never, cast

from emitter.cli import stores
from emitter.cli.arguments import add_json_argument, to_number
from emitter.cli.input_output import print_json
from emitter.cli.moments import read_moment
from emitter.decisions import Act, Hold, Incorporate, Reopen, Unresolved, UnresolvedReason, continue_after, digest
from emitter.decisions.principals import Principal
from emitter.decisions.resolution import resolution_to_json
from emitter.errors import InputError
from emitter.render.layout import NOT_ANSWERED_YET
from emitter.render.replies import parse_typed_reply
from emitter.render.safe_text import quote, to_safe_lines
from emitter.terminal import ask, describe_resolution, listen

if TYPE_CHECKING:
    import argparse

    from emitter.cli.stores import OpenDecision
    from emitter.decisions import Resolution
    from emitter.models import BindingMoment
    from emitter.terminal import DetailHandler


TERMINAL = Path("/dev/tty")
CHANNEL = "terminal"
_DETAIL_TIMEOUT = 5.0
"""Seconds to wait for the agent's answer before the person is asked again."""
_POLL_SECONDS = 0.2
"""Seconds between two checks for the agent's answer."""
_FIRST_APPROVAL = (
    "Your approval is recorded, and the decision is still open: another person must approve the same option, with a "
    "--principal of their own."
)


class TerminalAnswer(NamedTuple):
    """A decision and its answer.

    Attributes:
        is_printed: The answer is on standard output already.
        next_step: What follows from the answer, as a sentence.
        is_open: The decision is still open.
    """

    moment: BindingMoment
    resolution: Resolution | Unresolved
    is_printed: bool
    next_step: str
    is_open: bool


def add_resolve_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.set_defaults(pipe_status=1)
    parser.epilog = (
        "Exit status: 0 the decision was answered, 1 it is still open (always with --detail, and after\n"
        "the first of two approvals), 2 the envelope or the answer is invalid."
    )
    stores.add_decision_arguments(parser)
    parser.add_argument(
        "--principal",
        metavar="NAME",
        help="your name in the records; required to approve what two people must approve (default: none)",
    )
    parser.add_argument("--plain", action="store_true", help="ask in lines of text, for screen readers")
    parser.add_argument(
        "--timeout", type=to_number, metavar="SECONDS", help="the time to wait for an answer (default: no limit)"
    )
    parser.add_argument(
        "--answer", metavar="TEXT", help='the answer: "2" for an option, "a TEXT" or "d TEXT" for a veto'
    )
    parser.add_argument(
        "--detail",
        metavar="TOPIC",
        help="ask the agent for detail on TOPIC, and decide nothing; with --timeout, wait for its answer",
    )
    add_json_argument(parser, "print the resolution as JSON")


def run_resolve(args: argparse.Namespace) -> int:
    """Answer a binding moment at the terminal.

    If standard input holds the envelope, keys are read from the terminal itself. With --store, you answer a decision
    that waits in a store, and the agent reads the answer, with your own words, from there. Without a terminal and
    without --answer, one line of standard input is the answer.

    What two people must approve is approved by two runs of the command, each with its own --principal. The name is
    recorded as you give it: nobody checks that you are that person.
    """
    stores.check_options(args)
    if args.principal is not None and args.store is None:
        raise InputError("--principal needs --store, because only stored answers have a name.", hint="Pass --store.")
    if args.detail is not None:
        return _request_detail(args)
    with ExitStack() as stack:
        answer = _answer_file if args.store is None else _answer_stored
        answered = answer(args, stack)
    args.pipe_status = status = 1 if answered.is_open else 0
    if args.json:
        print_json(resolution_to_json(answered.resolution))
    else:
        is_printed = answered.is_printed
        summary = "" if is_printed else f"{describe_resolution(answered.moment, answered.resolution)}\n"
        sys.stdout.write(f"{summary}{answered.next_step}\n")
    return status


def _request_detail(args: argparse.Namespace) -> int:
    """Ask the agent for detail, and print its answer if there is one by now."""
    if args.store is None or args.answer is not None:
        raise InputError("--detail needs --store and excludes --answer.", hint="Pass --store, and remove --answer.")
    with stores.open_decision(args) as decision:
        ledger, decision_id = decision.ledger, decision.pending.decision_id
        request = ledger.ask_detail(decision_id, args.detail, channel=CHANNEL)
        if request.is_open and args.timeout:
            sys.stderr.write(f"emitter: waiting for the agent's answer, for up to {args.timeout:g} seconds\n")
        deadline = time.monotonic() + (args.timeout or 0.0)
        while request.is_open and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            request = ledger.detail_requests(decision_id)[request.number - 1]
    if args.json:
        members = {"decision_id": request.decision_id, "number": request.number, "topic": args.detail}
        print_json({"detail": {**members, "answer": request.answer}})
    else:
        answer = NOT_ANSWERED_YET if request.is_open else "\n".join(to_safe_lines(request.text))
        sys.stdout.write(f"{answer}\nThe decision is still open.\n")
    return 1


def _wait_for_detail(decision: OpenDecision, topic: str) -> str:
    """Ask the agent for detail, wait briefly, and return all answers so far."""
    ledger, decision_id = decision.ledger, decision.pending.decision_id
    if topic or not ledger.detail_requests(decision_id):
        ledger.ask_detail(decision_id, topic, channel=CHANNEL)
    deadline = time.monotonic() + _DETAIL_TIMEOUT
    while any(request.is_open for request in ledger.detail_requests(decision_id)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return "\n".join(
        f"{request.readable_topic or 'More'}: {request.text or 'the agent has not answered yet; type m to look again'}"
        for request in ledger.detail_requests(decision_id)
    )


def _answer_file(args: argparse.Namespace, stack: ExitStack) -> TerminalAnswer:
    moment = read_moment(args.file)
    resolution, is_printed = _get_answer(moment, args, args.timeout, stack, None)
    is_open = isinstance(resolution, Unresolved)
    return TerminalAnswer(moment, resolution, is_printed, describe_next_step(moment, resolution), is_open)


def _answer_stored(args: argparse.Namespace, stack: ExitStack) -> TerminalAnswer:
    principal = None if args.principal is None else Principal(args.principal)
    decision = stack.enter_context(stores.open_decision(args))
    moment, timeout = decision.pending.moment, decision.timeout(args.timeout)
    for first in decision.ledger.first_approvals(decision.pending.decision_id):
        label = quote(moment.question.options[first.index].label)
        sys.stderr.write(f"emitter: {quote(first.principal)} has approved {label}; a second person must, too\n")
    resolution, is_printed = _get_answer(moment, args, timeout, stack, partial(_wait_for_detail, decision))
    if decision.record(resolution, CHANNEL, principal):
        is_open, next_step = isinstance(resolution, Unresolved), describe_recorded_answer(moment, resolution)
    else:
        is_open, next_step = True, _FIRST_APPROVAL
    return TerminalAnswer(moment, resolution, is_printed, next_step, is_open)


def _get_answer(
    moment: BindingMoment,
    args: argparse.Namespace,
    timeout: float | None,
    stack: ExitStack,
    detail: DetailHandler | None,
) -> tuple[Resolution | Unresolved, bool]:
    if args.answer is not None:
        return parse_typed_reply(moment, args.answer), False
    stdin_holds_envelope = args.file == "-" and args.store is None
    keys = _open_terminal(stack, "r") if stdin_holds_envelope else sys.stdin
    if not keys:
        sys.stderr.write("emitter: there is no terminal to answer at; pass the answer with --answer.\n")
        return Unresolved(digest(moment), UnresolvedReason.DROPPED), False
    if not keys.isatty() and not args.plain:
        return listen(moment, input=keys, timeout=timeout), False
    screen = sys.stdout
    if not screen.isatty():
        screen = (_open_terminal(stack, "w") if keys.isatty() else None) or sys.stderr
    answer = ask(moment, input=keys, output=screen, plain=args.plain or None, timeout=timeout, detail=detail)
    return answer, screen is sys.stdout


def _open_terminal(stack: ExitStack, mode: str) -> TextIO | None:
    """Open the process's controlling terminal, or return None if it has none."""
    try:
        return cast("TextIO", stack.enter_context(TERMINAL.open(mode, encoding="utf-8")))
    except OSError:
        return None


DEMO_TIMEOUT = 300.0
"""Seconds after which a demonstration continues without an answer."""


def is_interactive() -> bool:
    """Check whether a person sits at this terminal. The terminal of a CI machine has nobody."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI"))


def ask_at_terminal(moment: BindingMoment) -> None:
    """Let the person at this terminal answer, or say on standard error how to."""
    if is_interactive():
        sys.stdout.write(f"{describe_next_step(moment, ask(moment, timeout=DEMO_TIMEOUT))}\n")
    else:
        sys.stderr.write("emitter: there is no terminal to answer at; use `emitter resolve FILE`.\n")


def describe_next_step(moment: BindingMoment, resolution: Resolution | Unresolved) -> str:
    """Return one sentence about what the agent may do now."""
    continuation = continue_after(resolution, moment)
    match continuation:
        case Act():
            return "The agent may now do that, and nothing else."
        case Incorporate():
            return "The agent now takes your answer into account and goes on. It may ask you again."
        case Reopen():
            return "The agent now deliberates again, and may not ask this question a second time."
        case Hold():
            return "The agent now does nothing, because no answer is not consent."
        case _:
            assert_never(continuation)


def describe_recorded_answer(moment: BindingMoment, resolution: Resolution | Unresolved) -> str:
    """Return one sentence about an answer in a store, which the agent has not read yet."""
    continuation = continue_after(resolution, moment)
    match continuation:
        case Act():
            return (
                "Your choice is recorded. The agent may do that, and nothing else, when it reads the answer; a guarded "
                "call runs when the agent repeats it with its id."
            )
        case Incorporate():
            return "Your answer is recorded. The agent takes it into account when it reads it, and may ask you again."
        case Reopen():
            return "Your objection is recorded. The agent may not ask this question a second time."
        case Hold():
            return "No answer is recorded, and the decision is still open, because no answer is not consent."
        case _:
            assert_never(continuation)
