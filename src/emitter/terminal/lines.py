"""Lines that a person types: what was typed before it was asked for is forgotten, and a paste is told from a line."""

from __future__ import annotations

import asyncio
import os
import select
import stat
import time
from contextlib import suppress
from enum import Enum
from typing import TextIO, TypeAlias

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

PASTED_WITHIN = 0.05
"""Seconds: a line that follows another as fast was not typed."""


class Heard(Enum):
    """What is heard instead of a line."""

    END = "end"
    SEVERAL = "several"


Line: TypeAlias = str | Heard


def forget(stream: TextIO) -> None:
    """Forget what was typed at a terminal and has not been read."""
    if termios is not None and stream.isatty():
        with suppress(termios.error):
            termios.tcflush(stream.fileno(), termios.TCIFLUSH)


async def read_line(stream: TextIO, until: float | None) -> Line:
    """Return the next line; raises ``TimeoutError`` once the monotonic clock passes ``until``."""
    file = _file(stream, until)
    if file is None:
        return _heard(stream, await asyncio.to_thread(_whole, stream))
    async with asyncio.timeout(None if until is None else max(0.0, until - time.monotonic())):
        line = await _by_bytes(file)
    await asyncio.sleep(PASTED_WITHIN)
    return _heard(stream, line.decode(stream.encoding, errors="replace"))


def _whole(stream: TextIO) -> str:
    try:
        return stream.readline()
    except UnicodeDecodeError:
        return "\ufffd"


async def _by_bytes(file: int) -> bytes:
    """Return a line, read byte by byte: what stands after it is left to whoever reads next."""
    found = bytearray()
    while not found.endswith(b"\n"):
        await _readable(file)
        byte = os.read(file, 1)
        if not byte:
            break
        found += byte
    return bytes(found)


async def _readable(file: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(file, ready.set)
    except PermissionError:  # epoll refuses what never makes anybody wait, as the null device
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(file)


def _heard(stream: TextIO, line: str) -> Line:
    """Return what was heard; at a terminal, a line that another follows at once was not typed."""
    if not line:
        return Heard.END
    if stream.isatty() and _follows(stream):
        forget(stream)
        return Heard.SEVERAL
    return line


def _follows(stream: TextIO) -> bool:
    """Tell whether there is more to read; of what cannot be asked, as a console of Windows, nothing is known."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError):
        return False


def _file(stream: TextIO, until: float | None) -> int | None:
    """Return the file to wait for; None where the stream's own method does: it knows what it has read ahead."""
    if until is None and not stream.isatty():
        return None
    try:
        file = stream.fileno()
        select.select([file], [], [], 0)
    except (OSError, ValueError):
        return None
    return None if stat.S_ISREG(os.fstat(file).st_mode) else file
