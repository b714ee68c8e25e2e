"""One person before one decision: the view, the veto that is being written, and what the last drawing showed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from emitter.decide import dialogue, free_text, selected
from emitter.errors import ResolutionError
from emitter.render.layout import HatchKind, layout
from emitter.terminal import status
from emitter.terminal.page import NARROWEST, page
from emitter.terminal.view import Says, View, confirmed, fitted, shown
from emitter.terminal.words import handed_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.render.layout import Hatch, Layout
    from emitter.terminal.page import Elaborated, Page

_HINTS = {HatchKind.FREE_TEXT: "PgUp/PgDn read", HatchKind.DIALOGUE: "it may be empty"}


@dataclass(slots=True)
class Sitting:
    """What changes while a person decides; ``width`` is the window's, in cells."""

    moment: BindingMoment
    measure: Callable[[str], int]
    layout: Layout
    view: View
    width: int = 80
    hatch: Hatch | None = None
    said: str | None = None
    drawn_words: str | None = None
    kept: dict[HatchKind, str] = field(default_factory=dict[HatchKind, str])
    pages: dict[int, Page] = field(default_factory=dict[int, "Page"])
    details: tuple[Elaborated, ...] | None = None

    @classmethod
    def of(
        cls,
        moment: BindingMoment,
        measure: Callable[[str], int],
        says: str | None,
        details: tuple[Elaborated, ...] | None = None,
    ) -> Sitting:
        """Return the sitting before anything was drawn; ``says`` is told first.

        ``details`` are what was asked for so far; None where detail cannot be asked for.
        """
        drawn = layout(moment)
        return cls(moment, measure, drawn, View(page(drawn, 80, measure, details), 1, says=says), details=details)

    def fit(self, width: int, height: int) -> View:
        """Return the view in a window of this size, in which the page has ``height`` rows."""
        self.width = width
        if width not in self.pages:
            self.pages = {width: page(self.layout, width, self.measure, self.details)}
        self.view = fitted(self.view, self.pages[width], height)
        return self.view

    def status(self) -> list[str]:
        """Return the last rows of the window."""
        if self.hatch is None:
            return status.status(self.view, self.layout, self.width, self.measure, detail=self.details is not None)
        return status.writing(_HINTS[self.hatch.kind], self.said, self.width, self.measure)

    def was_drawn(self, words: str) -> None:
        """Take note that the view, and the ``words`` of a veto, stand on the screen; rows that are cut off do not."""
        if self.width >= NARROWEST:
            self.view = shown(self.view)
        self.drawn_words = words

    def move(self, way: Callable[[View], View]) -> None:
        """Move the view."""
        self.view = way(self.view)

    def say(self, says: Says) -> None:
        """Say why a key does nothing."""
        self.view = replace(self.view, says=says)

    def confirm(self) -> Resolution | None:
        """Return the choice that ENTER makes; None where it makes none, which is then told."""
        if self.width < NARROWEST:
            self.say(Says.NARROW)
            return None
        found = confirmed(self.view)
        if isinstance(found, View):
            self.view = found
            return None
        return selected(self.moment, found)

    def write(self, hatch: Hatch) -> str:
        """Begin to write a veto, and return what was written of it before."""
        self.hatch, self.said, self.drawn_words = hatch, None, None
        return self.kept.get(hatch.kind, "")

    def leave(self, words: str) -> None:
        """Stop writing, and keep the ``words``."""
        if self.hatch is not None:
            self.kept[self.hatch.kind] = words
        self.hatch = None

    def send(self, words: str) -> Resolution | None:
        """Return the veto that ENTER sends; None where it sends none, which is then told."""
        if self.hatch is None:
            return None
        if words != self.drawn_words:
            self.said = Says.SEND
            return None
        try:
            if self.hatch.kind is HatchKind.FREE_TEXT:
                return free_text(self.moment, handed_on(words))
            return dialogue(self.moment, handed_on(words))
        except ResolutionError as error:
            self.said = str(error)
            return None
