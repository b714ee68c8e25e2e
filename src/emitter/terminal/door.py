"""``ask`` and ``aask``: a decision put to whoever sits at the terminal."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from emitter.decide import Unanswered, Unresolved, digest
from emitter.errors import InputError, MissingExtra
from emitter.render import plain_text
from emitter.render.layout import OFFER
from emitter.render.typed import typed
from emitter.terminal.lines import Heard, read_line
from emitter.terminal.page import Elaborated
from emitter.terminal.plain import More, converse, elaborated
from emitter.terminal.sentence import sentence
from emitter.terminal.words import handed_on, write

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.terminal.plain import Detail

Pick: TypeAlias = "Callable[..., Coroutine[Any, Any, Resolution | Unresolved | More]]"

PLAIN = ("EMITTER_PLAIN", "ACCESSIBLE")
"""Variables that ask for the plain mode; the second one is what other programs at terminals listen to."""

_DUMB = {"dumb", "unknown"}
_OFF = {"", "0", "f", "false", "n", "no", "off"}


def ask(  # noqa: PLR0913  every one but the first has a default
    moment: BindingMoment,
    *,
    input: TextIO | None = None,  # noqa: A002  it is what it is called everywhere
    output: TextIO | None = None,
    plain: bool | None = None,
    timeout: float | None = None,
    detail: Detail | None = None,
) -> Resolution | Unresolved:
    """Put a decision to whoever sits at the terminal, and return the answer.

    ``input`` and ``output`` are standard input and output unless given. ``plain`` asks for lines of text or, where it
    is False, for the picker; without it, the picker is drawn where there is a terminal that can and the extra
    ``terminal`` is installed, and neither ``EMITTER_PLAIN`` nor ``ACCESSIBLE`` asks otherwise. ``timeout`` is in
    seconds, and is kept where the input can be waited for: at a terminal, and at a pipe outside Windows. ``detail`` is
    a function that is called with what the person wants to know more about (``m``), and returns a text or JSON, or None
    for no answer yet; that decides nothing, and the person is asked on. It may be async.

    Nobody's answer is ``Unresolved``: ``CANCELLED`` where the person left (q, Ctrl-C, or five lines that were no
    answer), ``TIMEOUT``, and ``DROPPED`` where there was nobody: the input ended, or the terminal went away. Raises
    ``InputError`` inside a running event loop and for a picker without a terminal, and ``MissingExtra``.
    """
    given, shown = _streams(input, output)
    _outside_a_loop()
    try:
        return asyncio.run(aask(moment, input=given, output=shown, plain=plain, timeout=timeout, detail=detail))
    except KeyboardInterrupt:
        write(shown, "\n")
        return _told(moment, Unresolved(digest(moment), Unanswered.CANCELLED), shown)


async def aask(  # noqa: PLR0913  every one but the first has a default
    moment: BindingMoment,
    *,
    input: TextIO | None = None,  # noqa: A002  it is what it is called everywhere
    output: TextIO | None = None,
    plain: bool | None = None,
    timeout: float | None = None,  # noqa: ASYNC109  it ends in an answer, not in an exception
    detail: Detail | None = None,
) -> Resolution | Unresolved:
    """Do as ``ask`` does, without blocking; an interruption of the plain mode is the event loop's to tell."""
    given, shown = _streams(input, output)
    _check(timeout)
    pick = _picker(given, shown, plain=plain)
    if pick is None:
        return _told(moment, await converse(moment, given, shown, timeout, detail), shown)
    until = None if timeout is None else time.monotonic() + timeout
    details: tuple[Elaborated, ...] | None = None if detail is None else ()
    left = timeout
    while isinstance(found := await pick(moment, given, shown, left, details), More):
        try:
            more = await _elaborated(given, shown, until, detail)
        except TimeoutError:
            found = Unresolved(digest(moment), Unanswered.TIMEOUT)
            break
        details, left = (*(details or ()), *more), None if until is None else max(0.0, until - time.monotonic())
    return _told(moment, found, shown, picked=True)


async def _elaborated(
    given: TextIO, shown: TextIO, until: float | None, detail: Detail | None
) -> tuple[Elaborated, ...]:
    """Ask for a topic below the screen, and return what is told of it; nothing where no line was typed."""
    write(shown, f"{OFFER.asks} ")
    heard = await read_line(given, until)
    if isinstance(heard, Heard):
        return ()
    topic = handed_on(heard)
    write(shown, "Asking the agent ...\n")
    return (Elaborated(topic, await elaborated(detail, topic, until)),)


def listen(moment: BindingMoment, *, input: TextIO, timeout: float | None = None) -> Resolution | Unresolved:  # noqa: A002
    """Return what one line of ``input`` answers, without showing or asking anything: for a pipe.

    No line within ``timeout`` seconds is ``TIMEOUT``, and none at all ``DROPPED``; raises ``ResolutionError`` for one
    that is no answer, and ``InputError`` inside a running event loop.
    """
    _check(timeout)
    _outside_a_loop()
    until = None if timeout is None else time.monotonic() + timeout
    try:
        heard = asyncio.run(read_line(input, until))
    except TimeoutError:
        return Unresolved(digest(moment), Unanswered.TIMEOUT)
    return Unresolved(digest(moment), Unanswered.DROPPED) if isinstance(heard, Heard) else typed(moment, heard)


def _told(
    moment: BindingMoment, answer: Resolution | Unresolved, shown: TextIO, *, picked: bool = False
) -> Resolution | Unresolved:
    """Write what came of it; before that, the decision itself where it stood on a screen that is gone."""
    with suppress(OSError):  # the terminal may be gone, and the answer is the answer
        if picked:
            columns = os.get_terminal_size(shown.fileno()).columns
            write(shown, f"{plain_text.binding_moment(moment, columns - 1)}\n\n")
        write(shown, f"{sentence(moment, answer)}\n")
    return answer


def _picker(given: TextIO, shown: TextIO, *, plain: bool | None) -> Pick | None:
    """Return what draws the picker; None for the plain mode."""
    if plain or (plain is None and (_asked_for_lines() or not _can_draw(given, shown))):
        return None
    if not _can_draw(given, shown):
        raise InputError("There is no terminal to draw on.", hint="Ask for the plain mode.")
    try:
        pick: Pick = importlib.import_module("emitter.terminal.picker").pick
    except ImportError as error:
        if plain is None:
            return None
        raise MissingExtra("The picker needs prompt_toolkit.", hint="Run: pip install 'emitter[terminal]'") from error
    return pick


def _streams(given: TextIO | None, shown: TextIO | None) -> tuple[TextIO, TextIO]:
    given, shown = given or sys.stdin, shown or sys.stdout
    if not (given and shown):
        raise InputError("Standard input or output is closed.", hint="Hand over another.")
    return given, shown


def _asked_for_lines() -> bool:
    return any(os.environ.get(each, "").casefold() not in _OFF for each in PLAIN)


def _can_draw(given: TextIO, shown: TextIO) -> bool:
    return given.isatty() and shown.isatty() and _term() not in _DUMB


def _term() -> str:
    """Return what the terminal is called; one that is called nothing is not known."""
    return os.environ.get("TERM", "").casefold() or "unknown"


def _outside_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise InputError("ask waits in an event loop of its own, and one is running.", hint="Await aask instead.")


def _check(timeout: float | None) -> None:
    if timeout is not None and not timeout > 0:
        raise InputError(f"timeout is {timeout}; it must be above 0 seconds.")
