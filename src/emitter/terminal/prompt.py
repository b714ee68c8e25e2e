"""Ask the person at the terminal for a decision: ``ask``, ``aask`` and ``listen``."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from emitter.decisions import Unresolved, UnresolvedReason, digest
from emitter.errors import InputError, MissingExtra
from emitter.render import text_formats
from emitter.render.layout import DETAIL_OFFER
from emitter.render.replies import parse_typed_reply
from emitter.terminal.picker_state import DetailAnswer
from emitter.terminal.plain_mode import (
    InputEvent,
    TopicRequest,
    clean_input,
    describe_resolution,
    read_line,
    request_detail,
    run_plain_prompt,
    write_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from emitter.decisions import Resolution
    from emitter.models import BindingMoment
    from emitter.terminal.plain_mode import DetailHandler

PickFunction: TypeAlias = "Callable[..., Coroutine[Any, Any, Resolution | Unresolved | TopicRequest]]"
PLAIN_VARIABLES = ("EMITTER_PLAIN", "ACCESSIBLE")
"""Variables that select the plain mode. Other terminal programs read ``ACCESSIBLE`` too."""
_DUMB_TERMINALS = {"dumb", "unknown"}
_FALSE_VALUES = {"", "0", "f", "false", "n", "no", "off"}


def ask(  # noqa: PLR0913  most have a default
    moment: BindingMoment,
    *,
    input: TextIO | None = None,  # noqa: A002  the usual name
    output: TextIO | None = None,
    plain: bool | None = None,
    timeout: float | None = None,
    detail: DetailHandler | None = None,
) -> Resolution | Unresolved:
    """Ask the person at the terminal for a decision, and return the answer.

    The result is ``Unresolved`` if nobody answers. Its reason is ``CANCELLED`` if the person left (q, Ctrl-C or five
    invalid lines), ``TIMEOUT``, or ``DROPPED`` if the input ended or the terminal closed.

    Args:
        moment: The decision.
        input: The stream of keys and lines. Defaults to standard input.
        output: The stream to write to. Defaults to standard output.
        plain: True asks in lines of text, False with the picker. By default, the picker is used if a capable terminal
            and the extra ``terminal`` are available and neither ``EMITTER_PLAIN`` nor ``ACCESSIBLE`` is set.
        timeout: Seconds to wait. Applies to terminals, and to pipes except on Windows.
        detail: Answers the person's requests for detail (``m``). It is called with the topic and returns text, JSON, or
            None for no answer yet. May be async. Detail decides nothing, and the person is asked again.

    Raises:
        InputError: An event loop is running, or the picker was requested without a terminal.
        MissingExtra: The picker was requested without the extra ``terminal``.
    """
    input, output = _resolve_streams(input, output)  # noqa: A001  the usual name
    _require_no_running_loop()
    try:
        return asyncio.run(aask(moment, input=input, output=output, plain=plain, timeout=timeout, detail=detail))
    except KeyboardInterrupt:
        write_text(output, "\n")  # the terminal has echoed ^C on the line of the prompt
        return _write_outcome(moment, Unresolved(digest(moment), UnresolvedReason.CANCELLED), output)


async def aask(  # noqa: PLR0913  most have a default
    moment: BindingMoment,
    *,
    input: TextIO | None = None,  # noqa: A002  the usual name
    output: TextIO | None = None,
    plain: bool | None = None,
    timeout: float | None = None,  # noqa: ASYNC109  it returns an answer and does not raise
    detail: DetailHandler | None = None,
) -> Resolution | Unresolved:
    """Ask as ``ask`` does, without blocking. In plain mode, the event loop handles interrupts."""
    input, output = _resolve_streams(input, output)  # noqa: A001  the usual name
    _check_timeout(timeout)
    pick = _load_picker(input, output, plain=plain)
    if pick is None:
        return _write_outcome(moment, await run_plain_prompt(moment, input, output, timeout, detail), output)
    deadline = _deadline(timeout)
    details: tuple[DetailAnswer, ...] | None = None if detail is None else ()
    remaining = timeout
    while isinstance(answer := await pick(moment, input, output, remaining, details), TopicRequest):
        try:
            more = await _ask_for_topic(input, output, deadline, detail)
        except TimeoutError:
            answer = Unresolved(digest(moment), UnresolvedReason.TIMEOUT)
            break
        details = (*(details or ()), *more)
        remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
    return _write_outcome(moment, answer, output, picked=True)


async def _ask_for_topic(
    input_stream: TextIO, output_stream: TextIO, deadline: float | None, detail: DetailHandler | None
) -> tuple[DetailAnswer, ...]:
    """Ask for a topic below the screen, and return the agent's answer, or nothing if no line was typed."""
    write_text(output_stream, f"{DETAIL_OFFER.prompt} ")
    line = await read_line(input_stream, deadline)
    if isinstance(line, InputEvent):
        return ()
    topic = clean_input(line)
    write_text(output_stream, "Asking the agent ...\n")
    return (DetailAnswer(topic, await request_detail(detail, topic, deadline)),)


def listen(moment: BindingMoment, *, input: TextIO, timeout: float | None = None) -> Resolution | Unresolved:  # noqa: A002
    """Read one line from a pipe as the answer, without showing anything.

    The result is ``Unresolved`` with ``TIMEOUT`` if no line comes in time, and with ``DROPPED`` if the input ends.

    Args:
        moment: The decision.
        input: The stream to read.
        timeout: Seconds to wait.

    Raises:
        ResolutionError: The line is not a valid answer.
        InputError: An event loop is running.
    """
    _check_timeout(timeout)
    _require_no_running_loop()
    try:
        line = asyncio.run(read_line(input, _deadline(timeout)))
    except TimeoutError:
        return Unresolved(digest(moment), UnresolvedReason.TIMEOUT)
    if isinstance(line, InputEvent):
        return Unresolved(digest(moment), UnresolvedReason.DROPPED)
    return parse_typed_reply(moment, line)


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _write_outcome(
    moment: BindingMoment, answer: Resolution | Unresolved, output_stream: TextIO, *, picked: bool = False
) -> Resolution | Unresolved:
    """Write the answer, and above it the decision if it was on the picker's screen, which is gone now."""
    with suppress(OSError):  # the answer counts even if the terminal is gone
        if picked:
            columns = os.get_terminal_size(output_stream.fileno()).columns
            write_text(output_stream, f"{text_formats.format_moment(moment, columns - 1)}\n\n")
        write_text(output_stream, f"{describe_resolution(moment, answer)}\n")
    return answer


def _load_picker(input_stream: TextIO, output_stream: TextIO, *, plain: bool | None) -> PickFunction | None:
    """Return the picker, or None for the plain mode."""
    if plain or (plain is None and (_wants_plain_mode() or not _can_draw(input_stream, output_stream))):
        return None
    if not _can_draw(input_stream, output_stream):
        raise InputError("The picker needs a terminal for input and output.", hint="Pass plain=True, or omit plain.")
    try:
        pick: PickFunction = importlib.import_module("emitter.terminal.picker").pick
    except ImportError as error:
        if plain is None:
            return None
        raise MissingExtra("The picker needs prompt_toolkit.", extra="terminal") from error
    return pick


def _resolve_streams(input_stream: TextIO | None, output_stream: TextIO | None) -> tuple[TextIO, TextIO]:
    input_stream, output_stream = input_stream or sys.stdin, output_stream or sys.stdout
    if not (input_stream and output_stream):
        raise InputError("Standard input or output is closed.", hint="Pass input= and output=.")
    return input_stream, output_stream


def _wants_plain_mode() -> bool:
    return any(os.environ.get(name, "").casefold() not in _FALSE_VALUES for name in PLAIN_VARIABLES)


def _can_draw(input_stream: TextIO, output_stream: TextIO) -> bool:
    terminal = os.environ.get("TERM", "").casefold() or "unknown"
    return input_stream.isatty() and output_stream.isatty() and terminal not in _DUMB_TERMINALS


def _require_no_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InputError("ask and listen cannot run inside a running event loop.", hint="Await aask instead.")


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None and not timeout > 0:
        raise InputError(f"timeout is {timeout}. It must be a number of seconds above 0.")
