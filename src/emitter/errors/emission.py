"""An emission ended without an envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from emitter.errors.base import EmitterError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Trace(Protocol):
    """What every failed emission tells: see ``emitter.moment.Trace``."""

    @property
    def attempts(self) -> Sequence[Any]:
        """Every call that was made, in order."""
        ...

    @property
    def usage(self) -> object:
        """The tokens of all calls together."""
        ...

    @property
    def events(self) -> Sequence[Any]:
        """Every event that was told, in order."""
        ...


class EmissionError(EmitterError):
    """The emission ended without an envelope.

    ``code`` is a stable word for the reason, OpenWOP's where it has one. ``trace`` holds attempts, usage and events.

    What the vendor said of the last call is in ``vendor_message``, ``vendor_code`` and ``param`` (the part of the
    request that it complains of), with its ``status_code``, its ``request_id`` and the seconds in ``retry_after``;
    each is None where it said nothing. Registered secrets are struck out of them. The exception of the vendor's SDK
    is the ``__cause__``, unless it shows a registered secret.

    ``str`` holds the vendor's message. ``summary`` does not: log or show that where a model may read it. Neither
    carries text of the model.
    """

    def __init__(  # noqa: PLR0913  all but the first two have a default
        self,
        message: str,
        *,
        code: str,
        trace: Trace,
        hint: str | None = None,
        status_code: int | None = None,
        vendor_message: str | None = None,
        vendor_code: str | None = None,
        param: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.trace = trace
        self.status_code = status_code
        self.vendor_message = vendor_message
        self.vendor_code = vendor_code
        self.param = param
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        return " ".join(filter(None, (Exception.__str__(self), self._quoted(), self.hint)))

    def _quoted(self) -> str:
        named = f" (param: {self.param})" if self.param and self.param not in (self.vendor_message or "") else ""
        if self.vendor_message:
            return f'The vendor said: "{self.vendor_message}"{named}'
        return f"The vendor named the parameter {self.param}." if named else ""

    def __reduce__(self) -> tuple[object, ...]:
        members = {name: value for name, value in vars(self).items() if not name.startswith("__")}
        return _again, (type(self), Exception.__str__(self), members)


def _again(kind: type[EmissionError], message: str, members: dict[str, Any]) -> EmissionError:
    """Build an error again, so that it can cross a process."""
    return kind(message, **members)


class Refused(EmissionError):
    """The model refused, or a safety system blocked the exchange."""

    hint = "A refusal is never re-sent: change the situation or ask a person."


class Truncated(EmissionError):
    """The answer did not fit its budget, even raised to the ceiling."""

    hint = "Allow more attempts or tokens in Policy, shorten the material, or choose a larger model."


class PromptTooLong(EmissionError):
    """The prompt leaves no room for an answer in the model's window, or is larger than the vendor takes.

    It is raised before anything is sent where the window is known and the count is certain, and otherwise when the
    vendor says so. Then ``trace`` has the call.
    """

    hint = "Shorten the situation, the material or the schema, or choose a model with a larger window."


class Invalid(EmissionError):
    """The answer never satisfied its schema within the attempts allowed."""

    hint = "Each attempt's stop and violations are in the error's trace; another model or more attempts may do."


class AuthenticationError(EmissionError):
    """The vendor did not accept the key (401), or the key may not do this (403)."""

    hint = "Check the API key, and what its account and project may use."


class BadRequest(EmissionError):
    """The vendor rejected the request (400, 422); ``vendor_message`` and ``param`` say why."""

    hint = "Change what the vendor names: an entry of options=, the schema, or the model."


class NotFound(EmissionError):
    """The vendor has no such model, or nothing stands at the address (404)."""

    hint = "Check the name of the model and the base URL."


class RateLimited(EmissionError):
    """The vendor still had too many requests after the last try (429); ``retry_after`` is the wait it asked for."""

    hint = "Try again later, or allow more faults, time or a longer wait in Policy."


class QuotaExhausted(RateLimited):
    """The account has no credit or quota left: waiting does not help."""

    hint = "Add credit or raise the limit of the account at the vendor."


class Unreachable(EmissionError):
    """The network failed, or the vendor could not serve the request (timeouts, 5xx, unreadable responses)."""

    hint = "Try again later, or allow more faults, time or a longer wait in Policy; the error's trace has each fault."


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
