"""The picker: the decision in the whole window, answered by keys. Needs the extra ``terminal``.

It stands on the terminal's alternate screen: nothing in the window comes from anywhere else, a resized window keeps no
ghost of an option, and what stood there before comes back, with the decision and its answer written below it. It never
asks the terminal where its cursor is, has no use for a mouse, and says everything in characters first, so it works over
a slow line and without colour.

Source: draft-morrison-binding-moment-envelope-00, section 8.2.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TextIO, TypeAlias

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import create_output
from prompt_toolkit.utils import get_cwidth

from emitter.decide import Resolution, Unanswered, Unresolved
from emitter.render.line import cells
from emitter.terminal.drawing import STYLE, screen
from emitter.terminal.keys import bindings
from emitter.terminal.lines import forget
from emitter.terminal.plain import More
from emitter.terminal.sentence import open_for
from emitter.terminal.sitting import Sitting

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment
    from emitter.terminal.page import Elaborated

Answer: TypeAlias = Resolution | Unresolved | More

ESCAPE_WITHIN = 0.25
"""Seconds that the rest of a key's sequence may take; then it was Escape itself."""


async def pick(
    moment: BindingMoment,
    given: TextIO,
    shown: TextIO,
    seconds: float | None,
    details: tuple[Elaborated, ...] | None = None,
) -> Answer:
    """Return what a person answers at the terminal of ``given`` and ``shown``, within so many ``seconds``.

    ``details`` are what they asked for so far; None where detail cannot be asked for. ``More`` decides nothing.
    """
    sitting = Sitting.of(moment, _cells, None if seconds is None else open_for(round(seconds, 2)), details)
    application = _application(sitting, given, shown)

    async def expire(after: float) -> None:
        await asyncio.sleep(after)
        if not application.is_done:
            application.exit(result=Unresolved(sitting.layout.digest, Unanswered.TIMEOUT))

    def begin() -> None:
        clear_typeahead(application.input)
        forget(given)
        if seconds is not None:
            application.create_background_task(expire(seconds))

    try:
        return await application.run_async(pre_run=begin)
    except EOFError:
        return Unresolved(sitting.layout.digest, Unanswered.DROPPED)


def _cells(text: str) -> int:
    """Return how many cells a text may take, of this terminal or of another: none of it is to stand beyond the edge."""
    return max(cells(text), get_cwidth(text))


def _application(sitting: Sitting, given: TextIO, shown: TextIO) -> Application[Answer]:
    words = Buffer(multiline=False)
    output = create_output(stdout=shown)
    application: Application[Answer] = Application(
        layout=screen(sitting, words, output),
        key_bindings=bindings(sitting, words),
        style=STYLE,
        include_default_pygments_style=False,
        full_screen=True,
        input=create_input(stdin=given),
        output=output,
    )
    application.ttimeoutlen = ESCAPE_WITHIN

    def after_render(_: object) -> None:
        sitting.was_drawn(words.text)

    def after_typing(_: object) -> None:
        sitting.said = None

    application.after_render += after_render
    words.on_text_changed += after_typing
    return application
