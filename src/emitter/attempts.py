"""The calls of an emission as its trace keeps them, each with the verdict on its answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from emitter.findings import Violation  # noqa: TC001  the journal of a bulk run reads attempts by their annotations
from emitter.messages import JUDGE_ROUTE, Fault, ProviderErrorDetails, Usage


class Verdict(str, Enum):
    """The classification of an answer."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    OVERFLOWED = "overflowed"
    REFUSED = "refused"
    VIOLATED = "violated"
    FLAGGED = "flagged"
    """Valid, but a check asks for one correction. The answer stands if the correction fails."""
    MALFORMED = "malformed"
    PAUSED = "paused"
    UNKNOWN = "unknown"
    FAULTED = "faulted"
    UNCHECKED = "unchecked"
    """A check or validator of the caller raised an exception."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call and its result. No text of the model is kept.

    ``model`` is ``provider/model`` by the ids in events, ``route`` its position among the models of the emission,
    -1 being the judge, ``stop`` the vendor's own word, ``report`` the vendor's error details, and ``usage``
    None if the call brought no answer.
    """

    number: int
    verdict: Verdict
    budget: int
    corrected: bool
    stop: str = ""
    usage: Usage | None = None
    violations: tuple[Violation, ...] = ()
    fault: Fault | None = None
    request_id: str | None = None
    report: ProviderErrorDetails | None = None
    model: str = ""
    route: int = 0

    @property
    def by_judge(self) -> bool:
        """Whether the call asked a judge about another answer."""
        return self.route == JUDGE_ROUTE


def total_usage(attempts: tuple[Attempt, ...]) -> Usage:
    """Return the token usage of all calls."""
    return sum((attempt.usage for attempt in attempts if attempt.usage is not None), Usage())
