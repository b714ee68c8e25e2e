"""What every surface of JSON tells of itself to the tests that are the same for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from emitter.testing.sample_moments import FEW_MOMENTS, ORDINARY_MOMENTS
from emitter.testing.surfaces import RendererSubject
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.models import BindingMoment


class JsonSubject(RendererSubject[Any]):
    """A surface that is drawn as JSON. A subclass in a module ``subject_*`` is found by every test of all surfaces.

    A drawing that says everything twice, such as in plain text and in HTML, has a subject for each of its texts.
    """

    moments: ClassVar[Mapping[str, BindingMoment]] = ORDINARY_MOMENTS if FULL else FEW_MOMENTS
    """The decisions for the contract's tests."""
    bound: ClassVar[bool] = True
    """Whether replies name their decision. A typed line does not: inherit ``TypedSubject`` first, which sets False."""
    has_room: ClassVar[bool] = True
    """Whether it draws decisions of any length. If False, a drawing that is too long raises ``TooLong``."""

    def faults(self, drawn: Any) -> list[str]:
        """Return what breaks the format in a drawing, or raise it."""
        raise NotImplementedError
