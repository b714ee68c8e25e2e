"""The full-screen picker. Needs the extra ``terminal``.

The picker runs on the terminal's alternate screen, so that the scrollback stays as it was, and needs neither colour nor
a mouse. No key both highlights an option and chooses it. When it ends, the decision and its answer are written below
the prompt.

Source: draft-morrison-binding-moment-envelope-00, section 8.2.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TextIO, TypeAlias

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
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
from prompt_toolkit.output import create_output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from emitter.decisions import Resolution, Unresolved, UnresolvedReason
from emitter.render.layout import DETAIL_OFFER, HATCHES, HatchKind
from emitter.render.safe_text import cell_width
from emitter.terminal.picker_state import (
    MARGIN,
    Notice,
    PickerSession,
    Tone,
    clear_highlight,
    highlight,
    move_down,
    move_up,
    scroll,
)
from emitter.terminal.plain_mode import TopicRequest, describe_time_limit, discard_typed_input

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.output import Output

    from emitter.models import BindingMoment
    from emitter.render.layout import Hatch
    from emitter.terminal.picker_state import DetailAnswer, PageRow, View

PickerAnswer: TypeAlias = Resolution | Unresolved | TopicRequest
ESCAPE_TIMEOUT = 0.25
"""Seconds to wait for the rest of a key's escape sequence before it counts as Escape.

Arrow keys are sequences that start with Escape, and a slow connection may deliver them in pieces.
"""


async def pick(
    moment: BindingMoment,
    input_stream: TextIO,
    output_stream: TextIO,
    seconds: float | None,
    details: tuple[DetailAnswer, ...] | None = None,
) -> PickerAnswer:
    """Show the picker, and return what the person does.

    Args:
        moment: The decision.
        input_stream: The terminal to read from.
        output_stream: The terminal to draw on.
        seconds: The time limit.
        details: The answers to requests for detail so far, or None if detail cannot be requested.
    """
    notice = None if seconds is None else describe_time_limit(round(seconds, 2))
    session = PickerSession.create(moment, _widest_cell_width, notice, details)
    application = _build_application(session, input_stream, output_stream)

    async def expire(delay: float) -> None:
        await asyncio.sleep(delay)
        if not application.is_done:
            application.exit(result=Unresolved(session.layout.digest, UnresolvedReason.TIMEOUT))

    def start() -> None:
        # Keys from before the picker must not answer: those that prompt_toolkit has read ahead, and those that the
        # terminal still holds.
        clear_typeahead(application.input)
        discard_typed_input(input_stream)
        if seconds is not None:
            application.create_background_task(expire(seconds))

    try:
        return await application.run_async(pre_run=start)
    except EOFError:
        return Unresolved(session.layout.digest, UnresolvedReason.DROPPED)


def _widest_cell_width(text: str) -> int:
    """Return the most cells that a text may take on any terminal, so that no row exceeds the window.

    Terminals disagree about emoji and combining characters.
    """
    return max(cell_width(text), get_cwidth(text))


def _build_application(
    session: PickerSession, input_stream: TextIO, output_stream: TextIO
) -> Application[PickerAnswer]:
    buffer = Buffer(multiline=False)
    output = create_output(stdout=output_stream)
    application: Application[PickerAnswer] = Application(
        layout=build_screen(session, buffer, output),
        key_bindings=build_key_bindings(session, buffer),
        style=STYLE,
        include_default_pygments_style=False,
        full_screen=True,
        input=create_input(stdin=input_stream),
        output=output,
    )
    application.ttimeoutlen = ESCAPE_TIMEOUT

    def after_render(_: object) -> None:
        session.mark_drawn(buffer.text)

    def after_typing(_: object) -> None:
        session.entry_notice = None

    application.after_render += after_render
    buffer.on_text_changed += after_typing
    return application


_CLOSED_NOTICES = {HatchKind.FREE_TEXT: Notice.NO_ANSWER, HatchKind.DIALOGUE: Notice.NO_OBJECTION}
_SCROLL_KEYS: Mapping[str, Callable[[View], View]] = {
    "pagedown": lambda view: scroll(view, max(1, view.height - 1)),
    "pageup": lambda view: scroll(view, -max(1, view.height - 1)),
}
_READING_KEYS: Mapping[str, Callable[[View], View]] = {
    "down": move_down,
    "j": move_down,
    "tab": move_down,
    "up": move_up,
    "k": move_up,
    "s-tab": move_up,
    "home": lambda view: scroll(view, -view.top),
    "end": lambda view: scroll(view, view.last_top),
    " ": _SCROLL_KEYS["pagedown"],
}


def build_key_bindings(session: PickerSession, buffer: Buffer) -> KeyBindings:
    """Return the key bindings. Vetoes are written in ``buffer``."""
    keys = KeyBindings()
    choosing = Condition(lambda: session.hatch is None)
    for key, step in _READING_KEYS.items():
        keys.add(key, filter=choosing)(_on_move(session, step))
    for key, step in _SCROLL_KEYS.items():
        keys.add(key)(_on_move(session, step))
    for choice in session.layout.choices:
        keys.add(choice.key, filter=choosing)(_on_move(session, partial(highlight, index=choice.index)))
    if session.details is not None:
        for key in (DETAIL_OFFER.key, DETAIL_OFFER.key.upper()):
            keys.add(key, filter=choosing)(_on_detail)
    _bind_vetoes(keys, session, buffer, choosing)
    _bind_exits(keys, session, buffer, choosing)
    return keys


def _bind_vetoes(keys: KeyBindings, session: PickerSession, buffer: Buffer, choosing: Condition) -> None:
    """Bind the keys of both vetoes, whether they are open or closed.

    A person who does not notice that a veto is closed continues to type words, which must not choose an option.
    """
    for kind, hatch in HATCHES.items():
        closed = partial(clear_highlight, notice=_CLOSED_NOTICES[kind])
        handler = _on_veto(session, buffer, hatch) if hatch in session.layout.hatches else _on_move(session, closed)
        for key in (hatch.key, hatch.key.upper()):
            keys.add(key, filter=choosing)(handler)

    @keys.add(Keys.Any, filter=choosing)
    def _(event: KeyPressEvent) -> None:
        if event.data.isprintable():
            session.move(partial(clear_highlight, notice=Notice.NOTHING))


def _bind_exits(keys: KeyBindings, session: PickerSession, buffer: Buffer, choosing: Condition) -> None:
    def leave(event: KeyPressEvent) -> None:
        event.app.exit(result=Unresolved(session.layout.digest, UnresolvedReason.CANCELLED))

    for key in ("q", "Q", "c-d"):
        keys.add(key, filter=choosing)(leave)
    for key in ("c-c", "<sigint>"):
        keys.add(key)(leave)

    for key in ("enter", "c-j"):  # some terminals send a line feed for Enter
        keys.add(key)(_on_enter(session, buffer))

    # ``eager``, so that Escape does not wait for a second key of a longer binding.
    @keys.add("escape", eager=True)
    def _(event: KeyPressEvent) -> None:
        if session.hatch is None:
            session.move(clear_highlight)
        else:
            session.stop_writing(buffer.text)
            event.app.layout.focus_last()

    @keys.add(Keys.BracketedPaste, filter=choosing)
    def _(_event: KeyPressEvent) -> None:
        session.show_notice(Notice.PASTED)


def _on_enter(session: PickerSession, buffer: Buffer) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        resolution = session.confirm() if session.hatch is None else session.send(buffer.text)
        if resolution is not None:
            event.app.exit(result=resolution)

    return handle


def _on_detail(event: KeyPressEvent) -> None:
    event.app.exit(result=TopicRequest())


def _on_move(session: PickerSession, step: Callable[[View], View]) -> Callable[[KeyPressEvent], None]:
    def handle(_event: KeyPressEvent) -> None:
        session.move(step)

    return handle


def _on_veto(session: PickerSession, buffer: Buffer, hatch: Hatch) -> Callable[[KeyPressEvent], None]:
    def handle(event: KeyPressEvent) -> None:
        buffer.text = session.start_writing(hatch)
        buffer.cursor_position = len(buffer.text)
        event.app.layout.focus(buffer)

    return handle


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
        "notice": "bold",
    }
)
"""Colour, bold and reverse only repeat information that is also in the text."""
_MIN_ROWS_WITH_RULE = 12
"""Rows of a window that is high enough for the rule."""


class PageControl(UIControl):
    """Draws the page's visible rows. The cursor marks the highlighted option for screen magnifiers."""

    def __init__(self, session: PickerSession) -> None:
        self._session = session

    def is_focusable(self) -> bool:
        """Return True, so that the page receives keys while no text is written."""
        return True

    def create_content(self, width: int, height: int) -> UIContent:
        """Return the visible rows."""
        view = self._session.fit(width, height)
        option = range(0) if view.highlighted is None else view.page.choices[view.highlighted]
        rows = range(view.top, min(view.top + height, len(view.page.rows)))
        lines = [_row_fragments(view.page.rows[row], row, option) for row in rows]
        cursor = next((index for index, row in enumerate(rows) if row in option), None)
        return UIContent(lines.__getitem__, len(lines), Point(0, cursor or 0), show_cursor=cursor is not None)


def build_screen(session: PickerSession, buffer: Buffer, output: Output) -> Layout:
    """Return the layout of the window."""
    writing = Condition(lambda: session.hatch is not None)
    rule = "\u2500" if output.encoding().lower().replace("-", "") == "utf8" else "-"
    heights = _RowHeights(session, buffer, output)
    return Layout(
        HSplit(
            [
                Window(PageControl(session), height=Dimension(weight=1)),
                Window(char=rule, style="class:rule", height=heights.rule),
                ConditionalContainer(_entry_container(session, buffer, heights.words), writing),
                Window(FormattedTextControl(lambda: _status_fragments(session)), height=heights.status),
            ]
        )
    )


def _entry_container(session: PickerSession, buffer: Buffer, height: Callable[[], Dimension]) -> HSplit:
    def prompt() -> StyleAndTextTuples:
        return [("class:strong", f"{session.hatch.prompt}:" if session.hatch is not None else "")]

    return HSplit(
        [
            Window(FormattedTextControl(prompt), height=Dimension(max=1, preferred=1)),
            Window(BufferControl(buffer), wrap_lines=True, height=height),
        ]
    )


class _RowHeights:
    """Computes the height of each part. In a low window the page shrinks first, then the rule is dropped."""

    def __init__(self, session: PickerSession, buffer: Buffer, output: Output) -> None:
        self._session, self._buffer, self._output = session, buffer, output

    def status(self) -> Dimension:
        size = self._output.get_size()
        self._session.width = size.columns
        return Dimension.exact(min(len(self._session.status()), size.rows - 1))

    def rule(self) -> Dimension:
        return Dimension.exact(1 if self._output.get_size().rows >= _MIN_ROWS_WITH_RULE else 0)

    def words(self) -> Dimension:
        size = self._output.get_size()
        cells = sum(1 + self._session.measure(line) // size.columns for line in self._buffer.text.split("\n"))
        return Dimension(min=1, preferred=cells, max=max(1, min(cells, size.rows // 2 - 1)))


def _row_fragments(row: PageRow, number: int, option: range) -> StyleAndTextTuples:
    marker = "" if number not in option else ">" if number == option.start else "|"
    key = f"{row.key}." if row.key else ""
    chosen = " class:chosen" if number in option and row.tone is Tone.LABEL else ""
    return [
        ("class:margin", f"{marker:<2}{key:<{MARGIN - 2}}"),
        (f"class:{row.tone.value}{chosen}", row.text),
        (f"class:{Tone.MARK.value}", f"  {row.mark}" if row.mark else ""),
    ]


def _status_fragments(session: PickerSession) -> StyleAndTextTuples:
    return [("class:notice" if session.notice else "", "\n".join(session.status()))]
