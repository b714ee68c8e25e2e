"""The failures after which another model may be asked. ``core.verdicts`` has the reason of each.

Faults pass to the next model at once, since waiting helps only the last one. An answer that is cut or invalid is first
remedied by its own model, as far as the limits leave one call for each model after it.
"""

from __future__ import annotations

from enum import Enum


class FallbackReason(str, Enum):
    """A kind of failure after which another model may be asked."""

    UNREACHABLE = "unreachable"
    """The network or the vendor's service failed, or the vendor is overloaded."""
    RATE_LIMITED = "rate-limited"
    """The rate limit or the credit of the account is used up."""
    TRUNCATED = "truncated"
    """The answer was cut at the largest output budget, or the prompt does not fit the model."""
    INVALID = "invalid"
    """No answer was valid."""
    REFUSED = "refused"
    """The model or a safety system refused."""


DEFAULT_FALLBACK_REASONS = frozenset(FallbackReason) - {FallbackReason.REFUSED}
"""A refusal is not taken to another model unless the caller says so."""
