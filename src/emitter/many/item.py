"""What one of many emissions came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from emitter.conversation import Situation
    from emitter.door.result import Emission
    from emitter.many.job import Job
    from emitter.moment.result import Withheld

T = TypeVar("T")
R = TypeVar("R", bound="Emission[Any] | Withheld")
"""What the single call returns."""
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Item(Generic[R_co]):
    """One emission of many: its place in the input, counted from 0, and its ``result`` or ``error``.

    ``key`` is the caller's, or what the journal knows it by. ``situation`` is what the caller gave. ``replayed``
    says that the outcome was read from the journal, so that nothing was asked; ``stale`` that the job has changed
    since, so that the outcome answers an earlier version of it. ``error`` is an ``EmissionError``
    with its trace, or what else this one raised, such as ``InputError`` for a situation that cannot be shown.
    """

    index: int
    key: str | None
    situation: Situation | Job
    outcome: R_co | Exception
    replayed: bool = False
    stale: bool = False

    @property
    def error(self) -> Exception | None:
        """What went wrong, or None."""
        return self.outcome if isinstance(self.outcome, Exception) else None

    @property
    def result(self) -> R_co:
        """What the single call would have returned; raises what it would have raised."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    @property
    def value(self: Item[Emission[T]]) -> T:
        """The value of the result; raises as ``result`` does."""
        return self.result.value
