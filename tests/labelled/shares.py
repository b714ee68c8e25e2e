"""How well labelled texts are judged, and the interval that each share is known to."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Z = 1.959963984540054
"""The two-sided 95 % point of the normal distribution."""

Text = TypeVar("Text")


@dataclass(frozen=True, slots=True)
class Score(Generic[Text]):
    """What was found of what should be, and what should not."""

    hits: tuple[Text, ...]
    missed: tuple[Text, ...]
    wrong: tuple[Text, ...]
    passed: tuple[Text, ...]

    @classmethod
    def of(cls, judged: Iterable[tuple[Text, bool, bool]]) -> Score[Text]:
        """Return the score of some texts, each with whether it should be found, and whether it was."""
        groups: dict[tuple[bool, bool], list[Text]] = {(a, b): [] for a in (True, False) for b in (True, False)}
        for text, should, was in judged:
            groups[should, was].append(text)
        order = ((True, True), (True, False), (False, True), (False, False))
        return cls(*(tuple(groups[each]) for each in order))

    @property
    def precision(self) -> tuple[int, int]:
        """The true ones among those found, as a fraction."""
        return len(self.hits), len(self.hits) + len(self.wrong)

    @property
    def recall(self) -> tuple[int, int]:
        """Those found among the true ones, as a fraction."""
        return len(self.hits), len(self.hits) + len(self.missed)

    @property
    def false_positives(self) -> tuple[int, int]:
        """Those found among the ones in order, as a fraction."""
        return len(self.wrong), len(self.wrong) + len(self.passed)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * len(self.hits) / (2 * len(self.hits) + len(self.wrong) + len(self.missed))


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, after Wilson (1927)."""
    if not whole:
        return 0.0, 1.0
    share, square = part / whole, Z * Z / whole
    centre = (share + square / 2) / (1 + square)
    reach = Z / (1 + square) * sqrt(share * (1 - share) / whole + square / (4 * whole))
    return max(0.0, centre - reach), min(1.0, centre + reach)


def shown(part: int, whole: int) -> str:
    """Return a share and its interval as a report shows them."""
    low, high = wilson(part, whole)
    return f"{part}/{whole} [{low:.3f}, {high:.3f}]"
