"""A terminal of the tests' own: real keys on a pseudo terminal, and a screen to look at, without a wait for luck."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import select
import termios
import tty
from typing import TYPE_CHECKING

import pyte
from prompt_toolkit.application.current import get_app_or_none
from wcwidth import wcwidth

from emitter.terminal import aask

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from emitter.decisions import Resolution, Unresolved
    from emitter.models import BindingMoment

UP, DOWN, LEFT, RIGHT = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"
PAGE_UP, PAGE_DOWN, HOME, END = "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"
ENTER, ESCAPE, CTRL_C, CTRL_D = "\r", "\x1b", "\x03", "\x04"


def pasted(text: str) -> str:
    """Return what a terminal sends for a paste."""
    return f"\x1b[200~{text}\x1b[201~"


class Screen(io.StringIO):
    """Takes what is drawn, and has the size of the pseudo terminal."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def fileno(self) -> int:
        """Return the pseudo terminal, which knows its size."""
        return self._file

    def isatty(self) -> bool:
        """Be one."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Take everything."""
        return "utf-8"


class Glass(pyte.Screen):
    """A screen on which what has no width stands with the character before, as on a terminal of today."""

    def draw(self, data: str) -> None:
        """Draw characters."""
        for each in data:
            if wcwidth(each) == 0:
                self._join(each)
            else:
                super().draw(each)

    def _join(self, mark: str) -> None:
        row = self.buffer[self.cursor.y]
        place = next(at for at in range(self.cursor.x - 1, -1, -1) if row[at].data)
        row[place] = row[place]._replace(data=row[place].data + mark)


class Window:
    """``aask`` at a terminal of so many columns and rows; ``typed`` before it began."""

    def __init__(
        self, moment: BindingMoment, columns: int = 80, rows: int = 24, *, typed: str = "", timeout: float | None = None
    ) -> None:
        self._keyboard, self._file = pty.openpty()
        tty.setcbreak(self._file)
        termios.tcsetwinsize(self._file, (rows, columns))
        self._given = os.fdopen(os.dup(self._file), encoding="utf-8")
        self._shown = Screen(self._file)
        self._screen = Glass(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._fed = 0
        os.write(self._keyboard, typed.encode())
        self._runner = asyncio.Runner()
        self._runner.run(self._begin(moment, timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.close()
        self._given.close()
        os.close(self._file)
        os.close(self._keyboard)

    def press(self, *keys: str) -> Self:
        """Press keys, each after what the one before did has been drawn."""
        for each in keys:
            self._runner.run(self._press(each))
        return self

    def resize(self, columns: int, rows: int) -> Self:
        """Make the window another size."""
        termios.tcsetwinsize(self._file, (rows, columns))
        self._look()
        self._screen.resize(rows, columns)
        self._runner.run(self._resized())
        return self

    def rows(self) -> list[str]:
        """Return what stands on the screen."""
        self._look()
        return [each.rstrip() for each in self._screen.display]

    def text(self) -> str:
        """Return what stands on the screen, as one text."""
        return "\n".join(self.rows())

    def styles(self, row: int) -> set[str]:
        """Return how the characters of a row look."""
        self._look()
        cells = self._screen.buffer[row]
        return {
            name
            for column in range(self._screen.columns)
            for name in ("bold", "reverse", "fg", "bg")
            if getattr(cells[column], name) not in {False, "default"}
        }

    @property
    def drawn(self) -> str:
        """Everything that was written, orders to the terminal included."""
        return self._shown.getvalue()

    @property
    def open(self) -> bool:
        """Whether there is no answer yet."""
        return not self._asking.done()

    def answer(self) -> Resolution | Unresolved:
        """Return what came of it."""
        return self._runner.run(asyncio.wait_for(self._asking, 10))

    def hang_up(self) -> None:
        """Take the keyboard away."""
        os.close(self._keyboard)
        self._keyboard = os.open(os.devnull, os.O_WRONLY)

    def _look(self) -> None:
        drawn = self._shown.getvalue()
        self._stream.feed(drawn[self._fed :])
        self._fed = len(drawn)

    async def _begin(self, moment: BindingMoment, seconds: float | None) -> None:
        self._asking = asyncio.create_task(aask(moment, input=self._given, output=self._shown, timeout=seconds))
        while self.open and get_app_or_none() is None:  # noqa: ASYNC110  it draws before it waits for the first time
            await asyncio.sleep(0)
        await self._settled()

    async def _press(self, key: str) -> None:
        app, drawn = get_app_or_none(), asyncio.Event()
        os.write(self._keyboard, key.encode())
        if key == ESCAPE and app is not None:  # it may be the beginning of another key's sequence
            app.after_render += lambda _: drawn.set()
            await asyncio.wait_for(drawn.wait(), 10)
        await self._settled()

    async def _settled(self) -> None:
        """Wait until every key was taken and what it did was drawn."""
        while self._busy():  # noqa: ASYNC110  nobody is told when it has nothing more to do
            await asyncio.sleep(0.0005)

    def _busy(self) -> bool:
        app = get_app_or_none()
        return app is not None and (bool(select.select([self._file], [], [], 0)[0]) or app.invalidated)

    async def _resized(self) -> None:
        app = get_app_or_none()
        assert app is not None
        app._on_resize()
        await self._settled()
