"""The picker as a terminal shows it: the command runs on a pseudo terminal, and its screen becomes a page."""

from __future__ import annotations

import html
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pexpect
import pyte
from examples.gallery.decision import MOMENT
from examples.gallery.template import filled

if TYPE_CHECKING:
    from pyte.screens import Char

COLUMNS, ROWS = 96, 30
_COLOURS = {
    "default": "inherit", "black": "#5c6370", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#dcdfe4",
    "brightblack": "#7f848e", "brightgreen": "#98c379", "brightcyan": "#56b6c2",
}  # fmt: skip


def page() -> str:
    """Return the screen as an HTML page, the recommended option highlighted by its number."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    with TemporaryDirectory() as folder:
        file = Path(folder, "moment.json")
        file.write_text(json.dumps(MOMENT.to_json()), "utf-8")
        running = pexpect.spawn(
            sys.executable, ["-m", "emitter", "resolve", str(file)], dimensions=(ROWS, COLUMNS), timeout=20
        )
        stream.feed(_until(running, b"Leave it until 09:00"))
        running.send("1")
        stream.feed(_until(running, b"Resume from partition 62 now"))
        running.close(force=True)
    lines = "\n".join("".join(_cell(screen.buffer[row][column]) for column in range(COLUMNS)) for row in range(ROWS))
    return filled("terminal", LINES=lines)


def _until(running: pexpect.spawn[bytes], text: bytes) -> bytes:
    """Return all that was written up to a text and until nothing more comes."""
    running.expect_exact(text)
    seen = bytes(running.before or b"") + bytes(running.after or b"")
    while True:
        try:
            seen += running.read_nonblocking(65536, timeout=1)
        except pexpect.TIMEOUT:
            return seen


def _cell(cell: Char) -> str:
    colour, ground = (cell.bg, cell.fg) if cell.reverse else (cell.fg, cell.bg)
    style = f"color:{_hue(colour, reverse=cell.reverse)};"
    if cell.reverse or ground != "default":
        style += f"background:{'#dcdfe4' if ground == 'default' else _hue(ground)};"
    if cell.bold:
        style += "font-weight:bold;"
    if cell.underscore:
        style += "text-decoration:underline;"
    return f'<span style="{style}">{html.escape(cell.data) or " "}</span>'


def _hue(name: str, *, reverse: bool = False) -> str:
    if name == "default":
        return "#1e2127" if reverse else "#dcdfe4"
    return _COLOURS.get(name, f"#{name}")
