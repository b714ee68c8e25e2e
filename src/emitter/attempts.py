"""The calls of an emission as recorded on its trace, each with the verdict on its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from emitter.findings import Violation  # noqa: TC001  the journal of a bulk run reads attempts by their annotations
from emitter.messages import JUDGE_ROUTE, Fault, ModelResponse, OutputMode, ProviderErrorDetails, Usage


class Verdict(str, Enum):
    """The classification of the answer to one call."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    LOOPED = "looped"
    """The answer repeated itself until it was cut."""
    OVERFLOWED = "overflowed"
    REFUSED = "refused"
    VIOLATED = "violated"
    FLAGGED = "flagged"
    """Valid, but a check or the words around it ask for one correction. The answer stands if that of a check fails."""
    MALFORMED = "malformed"
    PAUSED = "paused"
    UNKNOWN = "unknown"
    FAULTED = "faulted"
    UNCHECKED = "unchecked"
    """A check or validator of the caller raised an exception."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call and its result. It has no text of the model, unless ``keep_response`` is true.

    Attributes:
        number: The number of the call, from 1.
        verdict: The verdict on the answer.
        budget: The output budget in tokens.
        corrected: The request had a corrective fragment.
        stop: The vendor's own stop reason.
        usage: The token usage, or None if the call had no answer.
        violations: The violations in the answer, or why it holds no document.
        fault: The failure, if there was no answer.
        request_id: The vendor's id of the request.
        report: The vendor's error details.
        model: ``provider/model``, by the ids that events use.
        route: The position of the model among the models of the emission, or -1 for the judge.
        mode: The output mode of the request.
        lowered_effort: The reasoning effort of the request, if it was lowered after a cut.
        response: The model's own answer without registered secrets, if ``keep_response`` is true.
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
    mode: OutputMode | None = None
    lowered_effort: str | None = None
    response: ModelResponse | None = field(default=None, repr=False, compare=False)

    @property
    def is_counted(self) -> bool:
        """True if the call counts towards ``Policy.max_attempts``.

        It was answered, or it was refused with a stated limit or for its form.
        """
        if self.verdict is not Verdict.FAULTED:
            return True
        is_limited = self.report is not None and self.report.limits is not None
        return is_limited or (self.fault is not None and self.fault.kind.is_about_form)

    @property
    def by_judge(self) -> bool:
        """True if the call asked a judge about another answer."""
        return self.route == JUDGE_ROUTE


def total_usage(attempts: tuple[Attempt, ...]) -> Usage:
    """Return the sum of the token usage of all calls."""
    return sum((attempt.usage for attempt in attempts if attempt.usage is not None), Usage())
