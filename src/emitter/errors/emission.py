"""An emission ended without an envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from emitter.errors.base import EmitterError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Trace(Protocol):
    """What every failed emission tells: see ``emitter.moment.Trace``."""

    @property
    def attempts(self) -> Sequence[object]:
        """Every call that was made, in order."""
        ...

    @property
    def usage(self) -> object:
        """The tokens of all calls together."""
        ...

    @property
    def events(self) -> Sequence[object]:
        """Every event that was told, in order."""
        ...


class EmissionError(EmitterError):
    """The emission ended without an envelope.

    ``code`` is OpenWOP's terminal code; ``trace`` holds attempts, usage and events. The message never
    carries text of the model.
    """

    def __init__(self, message: str, *, code: str, trace: Trace, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.trace = trace

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), Exception.__str__(self), self.code, self.trace, self.hint)


def _again(kind: type[EmissionError], message: str, code: str, trace: Trace, hint: str) -> EmissionError:
    """Build an error again, so that it can cross a process."""
    return kind(message, code=code, trace=trace, hint=hint)


class Refused(EmissionError):
    """The model refused, or a safety system blocked the exchange."""

    hint = "A refusal is never re-sent: change the situation or ask a person."


class Truncated(EmissionError):
    """The answer did not fit its budget, even raised to the ceiling."""

    hint = "Allow more attempts or tokens in Policy, shorten the material, or choose a larger model."


class Invalid(EmissionError):
    """The answer never satisfied its schema within the attempts allowed."""

    hint = "Each attempt's stop and violations are in the error's trace; another model or more attempts may do."


class Unreachable(EmissionError):
    """The vendor could not be reached, or would not serve the request."""

    hint = "Check key, model name, address and network; each attempt's fault is in the error's trace."


class LimitReached(EmissionError):
    """A limit of the caller's or of the host's left nothing for a further call, or for this envelope."""

    hint = "Raise the limit in Policy; what was spent until then is in the error's trace."


class TokenLimitReached(LimitReached):
    """All calls together would have come to more than ``Policy.max_total_tokens``."""


class CostLimitReached(LimitReached):
    """All calls together would have cost more than ``Policy.max_cost``."""


class DeadlineReached(LimitReached, Unreachable):
    """``Policy.deadline`` passed before there was an answer that holds."""


class CheckFailed(EmissionError):
    """A check or a validator of the caller's own raised, so that nothing says what the answer is worth.

    What it raised is the error's ``__cause__``.
    """

    hint = "It is a bug in that code: a check returns what it finds, and a validator raises ValueError."


class CapabilityNotProvided(EmissionError):
    """Neither the model nor its declared fallback provides what is required of it, so nothing was sent.

    Source: OpenWOP RFC 0031, section B.
    """

    hint = "Choose a model that provides it, or name one as fallback_model."
