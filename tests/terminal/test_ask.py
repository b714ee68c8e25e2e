"""Which way a decision is put: the picker where somebody can use it, lines everywhere else."""

from __future__ import annotations

import asyncio
import importlib
import io
import os
import pty
import subprocess
import sys
import termios
from typing import TYPE_CHECKING, TextIO

import pytest

from emitter.decisions import Selected, digest
from emitter.errors import InputError, MissingExtra
from emitter.terminal import ask
from tests.terminal.moments import INVOICE
from tests.terminal.window import Screen

if TYPE_CHECKING:
    from collections.abc import Iterator


class Terminal(Screen):
    """A terminal that types its own line as soon as it is asked for one."""

    def __init__(self, keyboard: int, file: int) -> None:
        super().__init__(file)
        self._keyboard = keyboard

    def flush(self) -> None:
        """Type, once the prompt is out; leave a picker."""
        if "\x1b[?1049h" in self.getvalue():
            os.write(self._keyboard, b"q")
        elif self.getvalue().endswith(": "):
            os.write(self._keyboard, b"2\n")


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, Terminal]]:
    """Return both ends that a person has of a terminal."""
    keyboard, file = pty.openpty()
    termios.tcsetwinsize(file, (24, 80))
    with os.fdopen(file, encoding="utf-8") as given:
        yield given, Terminal(keyboard, file)
    os.close(keyboard)


LINES = {
    "screen reader": {"EMITTER_PLAIN": "1"},
    "other programs' variable": {"ACCESSIBLE": "true"},
    "a dumb terminal": {"TERM": "dumb"},
    "a dumb terminal in capitals": {"TERM": "DUMB"},
    "an unknown terminal": {"TERM": "unknown"},
    "a terminal without a name": {"TERM": ""},
}
PICKER: dict[str, dict[str, str]] = {"most": {}, "switched off": {"EMITTER_PLAIN": "0", "ACCESSIBLE": "no"}}


@pytest.mark.parametrize("variables", LINES.values(), ids=LINES.keys())
def test_lines_where_they_are_asked_for(
    variables: dict[str, str], terminal: tuple[TextIO, Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a variable, or by a terminal that can do nothing else."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    given, shown = terminal

    assert ask(INVOICE, input=given, output=shown) == Selected(digest(INVOICE), 1)
    assert "\x1b" not in shown.getvalue()


@pytest.mark.parametrize("variables", PICKER.values(), ids=PICKER.keys())
def test_the_picker_where_there_is_a_terminal(
    variables: dict[str, str], terminal: tuple[TextIO, Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless something speaks against it."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    given, shown = terminal
    ask(INVOICE, input=given, output=shown)

    assert "\x1b[?1049h" in shown.getvalue()


def test_lines_can_be_asked_for_in_the_call(terminal: tuple[TextIO, Terminal]) -> None:
    """``plain=True`` needs no variable."""
    given, shown = terminal

    assert ask(INVOICE, input=given, output=shown, plain=True) == Selected(digest(INVOICE), 1)


def test_without_the_extra_there_are_lines(terminal: tuple[TextIO, Terminal], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs it to answer; who insists on the picker is told what to install."""
    importlib.import_module("emitter.terminal")
    monkeypatch.delitem(sys.modules, "emitter.terminal.picker", raising=False)
    monkeypatch.setitem(sys.modules, "prompt_toolkit.application", None)
    given, shown = terminal

    assert ask(INVOICE, input=given, output=shown) == Selected(digest(INVOICE), 1)
    with pytest.raises(MissingExtra, match=r"pip install 'llm-emitter\[terminal\]'"):
        ask(INVOICE, input=given, output=shown, plain=False)


def test_a_picker_needs_a_terminal() -> None:
    """Who insists on one without a terminal is reported so."""
    with pytest.raises(InputError, match="The picker needs a terminal"):
        ask(INVOICE, input=io.StringIO(), output=io.StringIO(), plain=False)


def test_a_closed_stream_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a program that was started without any."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="Standard input or output is closed"):
        ask(INVOICE)


def test_a_running_loop_is_reported() -> None:
    """``ask`` blocks, so within a loop it names the other one."""

    async def within() -> None:
        ask(INVOICE, input=io.StringIO("1\n"), output=io.StringIO())

    with pytest.raises(InputError, match="Await aask instead"):
        asyncio.run(within())


def test_lines_load_no_library_of_the_picker() -> None:
    """The plain mode is the standard library's alone."""
    code = (
        "import io, sys; from emitter.terminal import ask; from tests.terminal.moments import INVOICE\n"
        "ask(INVOICE, input=io.StringIO('1'), output=io.StringIO()); print('prompt_toolkit' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
