"""What the kit must be able to do with a surface: look at a drawing as a person does, and use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from emitter.render.delivery import present

if TYPE_CHECKING:
    from emitter.decide import Resolution, Unresolved
    from emitter.kinds import BindingMoment
    from emitter.render.delivery import Fallback
    from emitter.render.layout import HatchKind
    from emitter.render.surface import Renderer
    from emitter.wire import Json

Drawn = TypeVar("Drawn")


@dataclass(frozen=True, slots=True)
class ShownOption:
    """An option as a person finds it on a drawing.

    ``text`` is what can be read of it without acting: label, mark, warning, and the reasoning if it stands there.
    ``reasoning`` is the reasoning that is shown with it or one step away. ``marked``: as the recommended one.
    """

    text: str
    reasoning: str
    marked: bool


class NotOffered(Exception):
    """Raised by a subject where its surface has no way at all to say this: not even by a forged reply."""


class Subject(Protocol[Drawn]):
    """A surface under test. Texts are as the person reads them: markup has been interpreted, nothing is escaped."""

    def draw(self, moment: BindingMoment) -> Drawn:
        """Return a new drawing of the envelope."""
        ...

    def text(self, drawn: Drawn) -> str:
        """Return all that can be read, with what is made available one step away."""
        ...

    def option(self, drawn: Drawn, index: int) -> ShownOption:
        """Return the option at ``index``, counted from 0, as it is found on the drawing."""
        ...

    def hatches(self, drawn: Drawn) -> set[HatchKind]:
        """Return the hatches that can be invoked."""
        ...

    def select(self, drawn: Drawn, index: int) -> Json:
        """Return the reply that chooses an option; for one that is not there, a forged one."""
        ...

    def answer(self, drawn: Drawn, text: str, /) -> Json:
        """Return the reply of the answer-space hatch; where it is closed, a forged one."""
        ...

    def object(self, drawn: Drawn, text: str, /) -> Json:
        """Return the reply of the question-space hatch, ``text`` may be empty; where it is closed, a forged one."""
        ...

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return what the surface makes of a reply to this envelope; raises ``ResolutionError``."""
        ...

    def deliver(self, result: Json) -> Drawn | Fallback:
        """Return what the surface makes of a tool's structured result, well-formed or not."""
        ...


class RendererSubject(Generic[Drawn]):
    """The part of a subject that every ``Renderer`` has: a subclass names it, and looks at its drawings."""

    renderer: Renderer[Drawn]

    def draw(self, moment: BindingMoment) -> Drawn:
        """Return the renderer's drawing."""
        return self.renderer.draw(moment)

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return what the renderer reads."""
        return self.renderer.read(moment, reply)

    def deliver(self, result: Json) -> Drawn | Fallback:
        """Return the drawing of a tool's result, or its fallback."""
        return present(result, self.renderer)
