"""Ask for a decision in plain lines of text, for screen readers, pipes and simple terminals.

Nothing is redrawn and no single key answers. An invalid answer is asked for again. Input typed before the
prompt is discarded, and a paste is not taken for an answer.

Source: draft-morrison-binding-moment-envelope-00, section 8.2.
"""

from __future__ import annotations

import asyncio
import os
import select
import stat
import time
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from inspect import isawaitable
from typing import TYPE_CHECKING, TextIO, TypeAlias, assert_never

from emitter.decisions import (
    Dialogue,
    FreeText,
    Resolution,
    Selected,
    Unresolved,
    UnresolvedReason,
    digest,
    ledger_arguments,
)
from emitter.decisions.ledger_details import format_answer
from emitter.errors import BadResolution, ResolutionError
from emitter.render import text_formats
from emitter.render.layout import NOT_ANSWERED_YET, HatchKind, build_layout, open_hatches
from emitter.render.replies import parse_typed_reply, parse_typed_topic, typing_instructions, veto
from emitter.render.safe_text import to_safe_lines, to_single_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.models import BindingMoment
    from emitter.render.layout import Hatch

MAX_TRIES = 5
"""Invalid lines after which the prompt ends."""
QUIT_KEY = "q"
DetailHandler: TypeAlias = "Callable[[str], object]"
"""Answers a request for detail on a topic with text or JSON, or with None if there is no answer yet."""


@dataclass(frozen=True, slots=True)
class TopicRequest:
    """The person asks for detail on a topic, which decides nothing."""

    topic: str = ""


PlainPrompt: TypeAlias = "Generator[str | TopicRequest, InputLine, Resolution | UnresolvedReason]"
"""Yields text to write or a request for detail, receives the input, and returns the answer."""


async def run_plain_prompt(
    moment: BindingMoment,
    input_stream: TextIO,
    output_stream: TextIO,
    seconds: float | None,
    detail: DetailHandler | None = None,
) -> Resolution | Unresolved:
    """Ask for a decision in lines of text, for at most ``seconds``; ``detail`` answers requests for detail."""
    deadline = None if seconds is None else time.monotonic() + seconds
    prompt = plain_prompt(moment, is_interactive=input_stream.isatty(), seconds=seconds, detail=detail is not None)
    request = next(prompt)
    try:
        while True:
            if isinstance(request, TopicRequest):
                request = prompt.send(await request_detail(detail, request.topic, deadline))
                continue
            discard_typed_input(input_stream)  # typed before the prompt was visible
            write_text(output_stream, request)
            request = prompt.send(await read_line(input_stream, deadline))
    except StopIteration as end:
        return Unresolved(digest(moment), end.value) if isinstance(end.value, UnresolvedReason) else end.value
    except TimeoutError:
        write_text(output_stream, "\n")
        return Unresolved(digest(moment), UnresolvedReason.TIMEOUT)


async def request_detail(detail: DetailHandler | None, topic: str, deadline: float | None) -> str:
    """Return the answer of ``detail``, or what it raised, as safe lines. Raises ``TimeoutError`` after the deadline."""
    async with asyncio.timeout(None if deadline is None else max(0.0, deadline - time.monotonic())):
        try:
            answer: object = None if detail is None else await asyncio.to_thread(detail, topic)
            answer = await answer if isawaitable(answer) else answer
            return (
                NOT_ANSWERED_YET
                if answer is None
                else "\n".join(to_safe_lines(format_answer(ledger_arguments.check_detail_answer(answer))))
            )
        except ResolutionError as error:
            return str(error)
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001  the handler is the caller's code
            return f"The request for detail failed: {type(error).__name__}."


def plain_prompt(
    moment: BindingMoment, *, is_interactive: bool, seconds: float | None, detail: bool = False
) -> PlainPrompt:
    """Run the dialogue until the person answers or leaves. The end of an interactive input (Ctrl-D) means leaving."""
    hatch: Hatch | None = None
    message, tries = _opening_text(moment, seconds, detail=detail), MAX_TRIES
    while tries:
        line = yield f"{message}\n{_prompt_label(hatch)}: "
        if line is InputEvent.END:
            return UnresolvedReason.CANCELLED if is_interactive else UnresolvedReason.DROPPED
        text = "" if isinstance(line, InputEvent) else clean_input(line)
        if hatch is None and text.lower() == QUIT_KEY:
            return UnresolvedReason.CANCELLED
        topic = parse_typed_topic(text) if detail and hatch is None else None
        if topic is not None:
            message = str((yield TopicRequest(topic)))
            continue
        if hatch is None and (hatch := _find_hatch(moment, text.lower())) is not None:
            message = hatch.label
            continue
        try:
            return _parse_answer(moment, hatch, line)
        except ResolutionError as error:
            message, hatch, tries = str(error), None, tries - 1
    return UnresolvedReason.CANCELLED


def _parse_answer(moment: BindingMoment, hatch: Hatch | None, line: InputLine) -> Resolution:
    """Return the resolution that a line means, or raise ``ResolutionError``."""
    if isinstance(line, InputEvent):
        raise BadResolution("Several lines came at once, and all were ignored.", hint="Type one line.")
    text = clean_input(line)
    return parse_typed_reply(moment, text) if hatch is None else veto(moment, hatch.kind, text)


def _opening_text(moment: BindingMoment, seconds: float | None, *, detail: bool) -> str:
    limit = "" if seconds is None else f"\n{describe_time_limit(seconds)}"
    instructions = f"{typing_instructions(moment, detail=detail)} Type {QUIT_KEY} to leave."
    return f"{text_formats.format_moment(moment)}\n\n{instructions}{limit}"


def _find_hatch(moment: BindingMoment, text: str) -> Hatch | None:
    return next((hatch for hatch in open_hatches(moment.question.hatches) if hatch.key == text), None)


def _prompt_label(hatch: Hatch | None) -> str:
    if hatch is None:
        return "Your choice"
    return hatch.prompt if hatch.kind is HatchKind.FREE_TEXT else f"{hatch.prompt}, which may be empty"


try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]
PASTE_WINDOW = 0.05
"""Seconds. A line that follows another one faster was pasted."""


class InputEvent(Enum):
    """An input that is not a single line."""

    END = "end"
    SEVERAL = "several"


InputLine: TypeAlias = str | InputEvent


def discard_typed_input(stream: TextIO) -> None:
    """Discard unread input of a terminal."""
    if termios is not None and stream.isatty():
        with suppress(termios.error):
            termios.tcflush(stream.fileno(), termios.TCIFLUSH)


async def read_line(stream: TextIO, deadline: float | None) -> InputLine:
    """Return the next line, or raise ``TimeoutError`` once the monotonic clock has passed ``deadline``."""
    file = _pollable_file(stream, deadline)
    if file is None:
        return _classify_line(stream, await asyncio.to_thread(_read_blocking, stream))
    async with asyncio.timeout(None if deadline is None else max(0.0, deadline - time.monotonic())):
        line = await _read_line_bytes(file)
    await asyncio.sleep(PASTE_WINDOW)  # the next line of a paste arrives meanwhile
    return _classify_line(stream, line.decode(stream.encoding, errors="replace"))


def _read_blocking(stream: TextIO) -> str:
    try:
        return stream.readline()
    except UnicodeDecodeError:
        return "\ufffd"


async def _read_line_bytes(file: int) -> bytes:
    """Read a line byte by byte, so that nothing after it is consumed: it may belong to the next prompt."""
    line = bytearray()
    while not line.endswith(b"\n"):
        await _wait_readable(file)
        byte = os.read(file, 1)
        if not byte:
            break
        line += byte
    return bytes(line)


async def _wait_readable(file: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(file, ready.set)
    except PermissionError:  # epoll refuses files that are always ready, such as the null device
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(file)


def _classify_line(stream: TextIO, line: str) -> InputLine:
    """Return the line, or an event if the input ended or, at a terminal, more lines follow at once."""
    if not line:
        return InputEvent.END
    if stream.isatty() and _has_more_input(stream):
        discard_typed_input(stream)
        return InputEvent.SEVERAL
    return line


def _has_more_input(stream: TextIO) -> bool:
    """Check whether a stream has more input. False if it cannot be polled, as on a Windows console."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError):
        return False


def _pollable_file(stream: TextIO, deadline: float | None) -> int | None:
    """Return a file descriptor to poll, or None if the stream has to be read with its own method.

    The method of a stream blocks and reads ahead, so it is used for pipes without a deadline, for regular files, which
    are always ready, and for streams that cannot be polled.
    """
    if deadline is None and not stream.isatty():
        return None
    try:
        file = stream.fileno()
        select.select([file], [], [], 0)
    except (OSError, ValueError):
        return None
    return None if stat.S_ISREG(os.fstat(file).st_mode) else file


def clean_input(text: str) -> str:
    """Remove surrounding space and characters that no keyboard types: controls and lone surrogates."""
    return "".join(
        character for character in text if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"}
    ).strip()


def write_text(output_stream: TextIO, text: str) -> None:
    """Write ``text`` and flush it. Characters that the encoding lacks are written as escapes."""
    encoding = output_stream.encoding or "utf-8"
    output_stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    output_stream.flush()


_UNANSWERED_TEXTS = {
    UnresolvedReason.TIMEOUT: "Nobody answered in time",
    UnresolvedReason.CANCELLED: "You left without an answer",
    UnresolvedReason.DECLINED: "You declined to answer",
    UnresolvedReason.DROPPED: "Nobody could answer here",
}


def describe_resolution(moment: BindingMoment, resolution: Resolution | Unresolved) -> str:
    """Return one line that says what was chosen, answered or left open."""
    match resolution:
        case Selected(index=index):
            choice = build_layout(moment).choices[index]
            return f"You chose {choice.key}: {choice.label}"
        case FreeText(answer=answer):
            return f"You answered: {to_single_line(answer)}"
        case Dialogue(objection=objection):
            words = to_single_line(objection)
            return f"You sent the question back: {words}" if words else "You sent the question back."
        case Unresolved(reason=reason):
            return f"{_UNANSWERED_TEXTS[reason]}; nothing is decided."
        case _:
            assert_never(resolution)


def describe_time_limit(seconds: float) -> str:
    """Return a sentence that announces the time limit."""
    return f"Open for {seconds:g} seconds; after that, nobody has decided."
