"""How a sitting looks: the page, a veto that is being written, and the last rows with the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    UIContent,
    UIControl,
    Window,
)
from prompt_toolkit.styles import Style

from emitter.terminal.page import MARGIN, Tone

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.output import Output

    from emitter.terminal.page import Row
    from emitter.terminal.sitting import Sitting

STYLE = Style.from_dict(
    {
        Tone.STRONG.value: "bold",
        Tone.HEADING.value: "ansicyan",
        Tone.LABEL.value: "bold",
        Tone.MARK.value: "ansigreen bold",
        Tone.WARNING.value: "ansiyellow bold",
        "chosen": "reverse",
        "margin": "bold",
        "rule": "ansicyan",
        "says": "bold",
    }
)
"""Colours only repeat what characters say, and bold and reverse only add to it."""

_ROOMY = 12
"""Rows of a window in which one can be spared for a rule."""


class PageControl(UIControl):
    """Draws the rows in the window; the cursor stands at the highlighted option, where magnifiers look."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting

    def is_focusable(self) -> bool:
        """Keys go here while an option is chosen."""
        return True

    def create_content(self, width: int, height: int) -> UIContent:
        """Return the rows in the window."""
        view = self._sitting.fit(width, height)
        option = range(0) if view.at is None else view.page.choices[view.at]
        rows = range(view.top, min(view.top + height, len(view.page.rows)))
        lines = [_line(view.page.rows[row], row, option) for row in rows]
        at = next((place for place, row in enumerate(rows) if row in option), None)
        return UIContent(lines.__getitem__, len(lines), Point(0, at or 0), show_cursor=at is not None)


def screen(sitting: Sitting, words: Buffer, output: Output) -> Layout:
    """Return the window's parts from top to bottom."""
    writing = Condition(lambda: sitting.hatch is not None)
    rule = "\u2500" if output.encoding().lower().replace("-", "") == "utf8" else "-"
    height = _Heights(sitting, words, output)
    return Layout(
        HSplit(
            [
                Window(PageControl(sitting), height=Dimension(weight=1)),
                Window(char=rule, style="class:rule", height=height.rule),
                ConditionalContainer(_entry(sitting, words, height.words), writing),
                Window(FormattedTextControl(lambda: _status(sitting)), height=height.status),
            ]
        )
    )


def _entry(sitting: Sitting, words: Buffer, height: Callable[[], Dimension]) -> HSplit:
    def asks() -> StyleAndTextTuples:
        return [("class:strong", f"{sitting.hatch.asks}:" if sitting.hatch is not None else "")]

    return HSplit(
        [
            Window(FormattedTextControl(asks), height=Dimension(max=1, preferred=1)),
            Window(BufferControl(words), wrap_lines=True, height=height),
        ]
    )


class _Heights:
    """How many rows each part has: in a low window, the page gives way to what is written, and then the rule."""

    def __init__(self, sitting: Sitting, words: Buffer, output: Output) -> None:
        self._sitting, self._words, self._output = sitting, words, output

    def status(self) -> Dimension:
        size = self._output.get_size()
        self._sitting.width = size.columns
        return Dimension.exact(min(len(self._sitting.status()), size.rows - 1))

    def rule(self) -> Dimension:
        return Dimension.exact(1 if self._output.get_size().rows >= _ROOMY else 0)

    def words(self) -> Dimension:
        size = self._output.get_size()
        cells = sum(1 + self._sitting.measure(line) // size.columns for line in self._words.text.split("\n"))
        return Dimension(min=1, preferred=cells, max=max(1, min(cells, size.rows // 2 - 1)))


def _line(row: Row, at: int, option: range) -> StyleAndTextTuples:
    marker = "" if at not in option else ">" if at == option.start else "|"
    key = f"{row.key}." if row.key else ""
    chosen = " class:chosen" if at in option and row.tone is Tone.LABEL else ""
    return [
        ("class:margin", f"{marker:<2}{key:<{MARGIN - 2}}"),
        (f"class:{row.tone.value}{chosen}", row.text),
        (f"class:{Tone.MARK.value}", f"  {row.mark}" if row.mark else ""),
    ]


def _status(sitting: Sitting) -> StyleAndTextTuples:
    said = sitting.view.says if sitting.hatch is None else sitting.said
    return [("class:says" if said else "", "\n".join(sitting.status()))]
