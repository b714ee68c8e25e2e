"""How often vetoes are used, notes written and hatches closed, and from where on that is worth telling.

Source: draft-morrison-binding-moment-envelope-00, sections 5.9 (calibration notes) and 11 (question-space vetoes,
suppressed hatches). The draft names no numbers; those of ``Thresholds`` are this library's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from emitter.errors import InputError


class Measure(str, Enum):
    """What has a rate."""

    QUESTION_VETOES = "question_vetoes"
    """Of the decisions that were resolved, those whose question was refused."""
    CALIBRATION_NOTES = "calibration_notes"
    """Of those that were opened, those that began with a correction of what the agent had said before."""
    SUPPRESSED_HATCHES = "suppressed_hatches"
    """Of those that were opened, those that took a veto away."""
    UNANSWERED = "unanswered"
    """Of those that were resolved or met no answer, those that met none, at least once."""

    @property
    def base(self) -> str:
        """What it is a share of."""
        match self:
            case Measure.QUESTION_VETOES:
                return "resolved"
            case Measure.CALIBRATION_NOTES | Measure.SUPPRESSED_HATCHES:
                return "opened"
            case Measure.UNANSWERED:
                return "settled"
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True)
class Rates:
    """How many decisions there were; every rate is from 0 to 1, and 0 where there was none.

    ``settled`` are those that were resolved or that nobody decided, be it until later: not those that nobody has met.
    """

    opened: int = 0
    resolved: int = 0
    free_texts: int = 0
    question_vetoes: int = 0
    calibration_notes: int = 0
    suppressed_hatches: int = 0
    unanswered: int = 0
    settled: int = 0

    def rate(self, measure: Measure) -> float:
        """Return the share that a measure is of."""
        whole = self.of(measure)
        return self.count(measure) / whole if whole else 0.0

    def count(self, measure: Measure) -> int:
        """Return how many decisions a measure counts."""
        return int(getattr(self, measure.value))

    def of(self, measure: Measure) -> int:
        """Return how many decisions a measure is a share of."""
        return int(getattr(self, measure.base))

    @property
    def question_veto_rate(self) -> float:
        """Of the resolved decisions, the share whose question was refused."""
        return self.rate(Measure.QUESTION_VETOES)

    @property
    def calibration_note_rate(self) -> float:
        """Of the opened decisions, the share with a calibration note."""
        return self.rate(Measure.CALIBRATION_NOTES)

    @property
    def suppressed_hatch_rate(self) -> float:
        """Of the opened decisions, the share with a hatch that is closed."""
        return self.rate(Measure.SUPPRESSED_HATCHES)

    @property
    def unanswered_rate(self) -> float:
        """Of the settled decisions, the share that nobody decided, at least once."""
        return self.rate(Measure.UNANSWERED)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which rate on a measure is told, above 0 and up to 1, or None for never.

    It takes at least ``minimum`` decisions of those that the rate is a share of.
    """

    minimum: int = 20
    question_vetoes: float | None = 0.3
    calibration_notes: float | None = 0.2
    suppressed_hatches: float | None = 0.1
    unanswered: float | None = 0.5

    def __post_init__(self) -> None:
        if type(self.minimum) is not int or self.minimum < 1:
            raise InputError("minimum is a whole number of decisions, at least 1.")
        for name in (each.value for each in Measure):
            given: object = getattr(self, name)
            fits = isinstance(given, int | float) and not isinstance(given, bool) and 0 < given <= 1
            if given is not None and not fits:
                raise InputError(f"{name} is a rate above 0 and up to 1, or None for never.")

    def threshold(self, measure: Measure) -> float | None:
        """Return from which rate on a measure is told."""
        found: float | None = getattr(self, measure.value)
        return found

    def is_exceeded(self, rates: Rates, measure: Measure) -> bool:
        """Tell whether there were enough decisions, and the rate is at its threshold or above."""
        threshold = self.threshold(measure)
        return threshold is not None and rates.of(measure) >= self.minimum and rates.rate(measure) >= threshold


DEFAULT_THRESHOLDS = Thresholds()
