"""What a renderer is: it draws an envelope for a surface, and reads what the surface sends back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from emitter.decide import Resolution, Unresolved
    from emitter.kinds import BindingMoment
    from emitter.wire import Json

Drawn_co = TypeVar("Drawn_co", covariant=True)


class Renderer(Protocol[Drawn_co]):
    """A surface's own form of the eight slots, and the way back.

    ``name`` is what ``emitter render --to`` calls it.
    """

    @property
    def name(self) -> str:
        """The surface's name."""
        ...

    def draw(self, moment: BindingMoment) -> Drawn_co:
        """Return the envelope in the surface's form: a text, or a document of JSON."""
        ...

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return what the surface's reply says; raises ``ResolutionError`` for one that answers nothing."""
        ...
