"""Decide when another model is asked in place of the one that failed.

Faults pass to the next model at once, since waiting helps only the last one. An answer that is cut or invalid is first
remedied by its own model, as far as the limits leave one call for each model after it.
"""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from emitter.core.verdicts import Verdict
from emitter.messages import Fault, FaultKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import CallResult


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
_REASON_BY_VERDICT: Mapping[Verdict, FallbackReason | None] = MappingProxyType(
    {
        Verdict.COMPLETE: None,
        Verdict.FLAGGED: None,
        Verdict.TRUNCATED: FallbackReason.TRUNCATED,
        Verdict.OVERFLOWED: FallbackReason.TRUNCATED,
        Verdict.REFUSED: FallbackReason.REFUSED,
        Verdict.VIOLATED: FallbackReason.INVALID,
        Verdict.MALFORMED: FallbackReason.INVALID,
        Verdict.PAUSED: FallbackReason.INVALID,
        Verdict.UNKNOWN: FallbackReason.INVALID,
        Verdict.FAULTED: None,
        Verdict.UNCHECKED: None,
    }
)
_REASON_BY_FAULT: Mapping[FaultKind, FallbackReason | None] = MappingProxyType(
    {
        FaultKind.RATE_LIMIT: FallbackReason.RATE_LIMITED,
        FaultKind.QUOTA: FallbackReason.RATE_LIMITED,
        FaultKind.OVERLOADED: FallbackReason.UNREACHABLE,
        FaultKind.SERVER: FallbackReason.UNREACHABLE,
        FaultKind.TIMEOUT: FallbackReason.UNREACHABLE,
        FaultKind.CONNECTION: FallbackReason.UNREACHABLE,
        FaultKind.PROTOCOL: FallbackReason.UNREACHABLE,
        FaultKind.TOO_LARGE: FallbackReason.TRUNCATED,
        # the caller's to mend, or the end of the emission
        FaultKind.DEADLINE: None,
        FaultKind.CANCELLED: None,
        FaultKind.AUTHENTICATION: None,
        FaultKind.PERMISSION: None,
        FaultKind.NOT_FOUND: None,
        FaultKind.BAD_REQUEST: None,
        FaultKind.SCHEMA_REJECTED: None,
        FaultKind.RESPONSE_TOO_LARGE: None,
    }
)


def find_fallback_reason(answer: CallResult, verdict: Verdict) -> FallbackReason | None:
    """Return the kind of a failure, or None if no other model may be asked after it."""
    return _REASON_BY_FAULT[answer.kind] if isinstance(answer, Fault) else _REASON_BY_VERDICT[verdict]
