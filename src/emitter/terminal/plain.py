"""The plain mode: the decision as lines of text, answered by a typed line. For screen readers, pipes and any terminal.

Nothing is drawn over, nothing moves, and no key answers by itself. What cannot be taken is asked for again.

Source: draft-morrison-binding-moment-envelope-00, section 8.2 ("plain text with a labelled multiple-choice block").
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, TextIO, TypeAlias

from emitter.decide import Resolution, Unanswered, Unresolved, dialogue, digest, free_text
from emitter.errors import BadResolution, ResolutionError
from emitter.ledger import taking
from emitter.ledger.details import as_text
from emitter.render import plain_text
from emitter.render.layout import HatchKind, open_hatches
from emitter.render.line import lines
from emitter.render.typed import may_type, topic, typed
from emitter.terminal.lines import Heard, Line, forget, read_line
from emitter.terminal.sentence import open_for
from emitter.terminal.words import handed_on, write

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.kinds import BindingMoment
    from emitter.render.layout import Hatch

TRIES = 5
"""Lines that may be no answer; with the last of them the asking ends."""
LEAVE = "q"

Detail: TypeAlias = "Callable[[str], object]"
"""Answers what a person wants to know more about, by its topic, with a text or JSON; None is no answer yet."""


@dataclass(frozen=True, slots=True)
class More:
    """The person wants to know more about a topic; nothing is decided by that."""

    topic: str = ""


Talk: TypeAlias = "Generator[str | More, Line, Resolution | Unanswered]"
"""Yields what to write, or what is to be elaborated; is sent what was heard, and returns what came of it."""

_NOT_YET = "The agent has not answered yet."


async def converse(
    moment: BindingMoment, given: TextIO, shown: TextIO, seconds: float | None, detail: Detail | None = None
) -> Resolution | Unresolved:
    """Return what is answered in lines of ``given``, within so many ``seconds``; the asking is written to ``shown``.

    ``detail`` answers what the person wants to know more about.
    """
    until = None if seconds is None else time.monotonic() + seconds
    talk = talking(moment, person=given.isatty(), seconds=seconds, detail=detail is not None)
    asks = next(talk)
    try:
        while True:
            if isinstance(asks, More):
                asks = talk.send(await elaborated(detail, asks.topic, until))
                continue
            _ask(given, shown, asks)
            asks = talk.send(await read_line(given, until))
    except StopIteration as done:
        return done.value if not isinstance(done.value, Unanswered) else Unresolved(digest(moment), done.value)
    except TimeoutError:
        write(shown, "\n")
        return Unresolved(digest(moment), Unanswered.TIMEOUT)


async def elaborated(detail: Detail | None, topic: str, until: float | None) -> str:
    """Return what ``detail`` answers, as lines that can be shown; raises ``TimeoutError``.

    A function that raises does not end the asking: that it did is what is returned.
    """
    async with asyncio.timeout(None if until is None else max(0.0, until - time.monotonic())):
        try:
            answer: object = None if detail is None else await asyncio.to_thread(detail, topic)
            answer = await answer if isawaitable(answer) else answer
            return _NOT_YET if answer is None else "\n".join(lines(as_text(taking.detail(answer))))
        except ResolutionError as error:
            return str(error)
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001  it is anybody's code
            return f"The detail cannot be given: {type(error).__name__}."


def talking(moment: BindingMoment, *, person: bool, seconds: float | None, detail: bool = False) -> Talk:
    """Talk until there is an answer, or none: ``person`` tells whether somebody may be there to leave.

    ``detail`` says whether the person can ask for more.
    """
    hatch: Hatch | None = None
    told, tries = _opening(moment, seconds, detail=detail), TRIES
    while tries:
        heard = yield f"{told}\n{_asks(hatch)}: "
        if heard is Heard.END:
            return Unanswered.CANCELLED if person else Unanswered.DROPPED
        said = "" if isinstance(heard, Heard) else handed_on(heard).lower()
        if hatch is None and said == LEAVE:
            return Unanswered.CANCELLED
        about = topic(said) if detail and hatch is None else None
        if about is not None and not isinstance(heard, Heard):
            told = str((yield More(topic(handed_on(heard)) or "")))
            continue
        if hatch is None and (hatch := _opened(moment, said)) is not None:
            told = hatch.label
            continue
        try:
            return _taken(moment, hatch, heard)
        except ResolutionError as error:
            told, hatch, tries = str(error), None, tries - 1
    return Unanswered.CANCELLED


def _taken(moment: BindingMoment, hatch: Hatch | None, heard: Line) -> Resolution:
    """Return what a line says; raises ``ResolutionError``."""
    if isinstance(heard, Heard):
        raise BadResolution("Several lines came at once, and none of them was taken.", hint="Type one.")
    said = handed_on(heard)
    if hatch is None:
        return typed(moment, said)
    return free_text(moment, said) if hatch.kind is HatchKind.FREE_TEXT else dialogue(moment, said)


def _opening(moment: BindingMoment, seconds: float | None, *, detail: bool) -> str:
    limit = "" if seconds is None else f"\n{open_for(seconds)}"
    return f"{plain_text.binding_moment(moment)}\n\n{may_type(moment, detail=detail)} Type {LEAVE} to leave.{limit}"


def _opened(moment: BindingMoment, said: str) -> Hatch | None:
    return next((each for each in open_hatches(moment.question.hatches) if each.key == said), None)


def _asks(hatch: Hatch | None) -> str:
    if hatch is None:
        return "Your choice"
    return hatch.asks if hatch.kind is HatchKind.FREE_TEXT else f"{hatch.asks}, which may be empty"


def _ask(given: TextIO, shown: TextIO, text: str) -> None:
    """Write what is asked; what was typed before that answers something else."""
    forget(given)
    write(shown, text)
