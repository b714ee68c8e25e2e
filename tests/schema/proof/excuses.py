"""Which faults of a decoded document the compiler has announced."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tests.schema.proof.exceptions import by_the_decoder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.schema import Loss
    from tests.schema.proof.judge import Fault, Step


class Excuse(str, Enum):
    """Why a fault is no unsoundness."""

    PLACE = "place"
    """A keyword on the way to it is a loss, at the place where it stands."""
    KEYWORD = "keyword"
    """Only the keyword is among the losses, at another place: the compiler may have copied it there."""
    DECODER = "decoder"
    """The decoder of these tests writes what the vendor's would not."""


_CONDITIONAL = frozenset(
    {"if", "not", "contains", "propertyNames", "dependentSchemas", "dependencies", "patternProperties"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)
"""What is inside them is broken where they are; that they are lost at another place may thus excuse it."""

_PARTS = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}


class Losses:
    """The losses of a compiled schema, by place and by keyword."""

    def __init__(self, losses: Iterable[Loss]) -> None:
        self._places = {(each.pointer, each.keyword) for each in losses}
        self._keywords = {keyword for _, keyword in self._places}

    def excuse(self, fault: Fault) -> Excuse | None:
        """Return what excuses a fault, the strictest first; a union is excused only where itself is lost."""
        if any((step.pointer, part) in self._places for step in fault.steps for part in _parts(step)):
            return Excuse.PLACE
        reported = (fault.steps[0], *(step for step in fault.steps[1:] if step.keyword in _CONDITIONAL))
        if any(part in self._keywords for step in reported for part in _parts(step)):
            return Excuse.KEYWORD
        return Excuse.DECODER if by_the_decoder(fault) else None


def _parts(step: Step) -> tuple[str, ...]:
    return _PARTS.get(step.keyword, (step.keyword,))
