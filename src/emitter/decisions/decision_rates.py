"""Rates of vetoes, calibration notes, closed hatches and unanswered decisions, and thresholds for warnings.

Source: draft-morrison-binding-moment-envelope-00, sections 5.9 and 11. The default thresholds are this library's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from emitter.errors import InputError


class DecisionMeasure(str, Enum):
    """The measures that have a rate."""

    QUESTION_VETOES = "question_vetoes"
    """Resolved decisions whose question was refused."""
    CALIBRATION_NOTES = "calibration_notes"
    """Opened decisions with a note that corrects something the agent said before."""
    SUPPRESSED_HATCHES = "suppressed_hatches"
    """Opened decisions that close a hatch."""
    UNANSWERED = "unanswered"
    """Settled decisions that somebody was asked about without deciding, at least once."""

    @property
    def base_field(self) -> str:
        """The field of ``DecisionRates`` that the measure is a share of."""
        match self:
            case DecisionMeasure.QUESTION_VETOES:
                return "resolved"
            case DecisionMeasure.CALIBRATION_NOTES | DecisionMeasure.SUPPRESSED_HATCHES:
                return "opened"
            case DecisionMeasure.UNANSWERED:
                return "settled"
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True)
class DecisionRates:
    """Counts of decisions, and their rates from 0 to 1. A rate of no decisions is 0.

    ``settled`` counts decisions that were resolved, or that somebody was asked about without deciding.
    """

    opened: int = 0
    resolved: int = 0
    free_texts: int = 0
    question_vetoes: int = 0
    calibration_notes: int = 0
    suppressed_hatches: int = 0
    unanswered: int = 0
    settled: int = 0

    def rate(self, measure: DecisionMeasure) -> float:
        """Return the rate of a measure."""
        base = self.base_count(measure)
        return self.count(measure) / base if base else 0.0

    def count(self, measure: DecisionMeasure) -> int:
        """Return the number of decisions that a measure counts."""
        return int(getattr(self, measure.value))

    def base_count(self, measure: DecisionMeasure) -> int:
        """Return the number of decisions that a measure is a share of."""
        return int(getattr(self, measure.base_field))


@dataclass(frozen=True, slots=True)
class RateThresholds:
    """Rates from which a ledger warns, above 0 and up to 1. ``None`` never warns.

    Args:
        minimum: How many decisions a rate needs before it counts.

    Raises:
        InputError: A value is out of range.
    """

    minimum: int = 20
    question_vetoes: float | None = 0.3
    calibration_notes: float | None = 0.2
    suppressed_hatches: float | None = 0.1
    unanswered: float | None = 0.5

    def __post_init__(self) -> None:
        if type(self.minimum) is not int or self.minimum < 1:
            raise InputError(f"minimum is {self.minimum!r}; it must be an int of at least 1.")
        for name in (measure.value for measure in DecisionMeasure):
            value: object = getattr(self, name)
            fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1
            if value is not None and not fits:
                raise InputError(f"{name} is {value!r}; it must be a number above 0 and up to 1, or None.")

    def threshold(self, measure: DecisionMeasure) -> float | None:
        """Return the threshold of a measure."""
        threshold: float | None = getattr(self, measure.value)
        return threshold

    def is_exceeded(self, rates: DecisionRates, measure: DecisionMeasure) -> bool:
        """Return whether a rate has enough decisions and is at or above its threshold."""
        threshold = self.threshold(measure)
        return threshold is not None and rates.base_count(measure) >= self.minimum and rates.rate(measure) >= threshold


DEFAULT_THRESHOLDS = RateThresholds()
