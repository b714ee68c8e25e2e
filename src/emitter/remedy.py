"""The remedies: for each verdict the one thing that may help, or nothing.

Rule: everything that decides whether and how a request is sent again lives in this file. As much as
possible stands in the table ``REMEDIES``; it reads like OpenWOP RFC 0033.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from emitter.events import Reason
from emitter.judge import RETRACTED, Judgement, Verdict
from emitter.wire import FaultKind, Request, with_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.policy import Policy
    from emitter.schema import Violation


class Remedy(Enum):
    """What may be tried."""

    NONE = "nothing: the emission ends"
    BUDGET = "the request with a larger budget and no corrective fragment"
    CORRECT = "the same budget with one corrective fragment"
    AGAIN = "the same request once more"
    BACKOFF = "the same request after a wait"


class Code(str, Enum):
    """The terminal codes of an emission: OpenWOP's, and one of ours for a bug in the caller's code."""

    TRUNCATION = "envelope_truncation_unrecoverable"
    REFUSAL = "envelope_refusal"
    INVALID = "envelope_invalid"
    UNCHECKED = "check_failed"


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict's remedy, the reason told with it, and the code when it does not help."""

    remedy: Remedy
    reason: Reason | None = None
    code: Code | None = None


REMEDIES: dict[Verdict, Row] = {
    Verdict.COMPLETE: Row(Remedy.NONE),
    Verdict.TRUNCATED: Row(Remedy.BUDGET, Reason.TRUNCATION, Code.TRUNCATION),
    Verdict.OVERFLOWED: Row(Remedy.NONE, Reason.TRUNCATION, Code.TRUNCATION),
    Verdict.REFUSED: Row(Remedy.NONE, Reason.REFUSAL, Code.REFUSAL),
    Verdict.VIOLATED: Row(Remedy.CORRECT, Reason.SCHEMA_VIOLATION, Code.INVALID),
    Verdict.MALFORMED: Row(Remedy.CORRECT, Reason.PARSE_ERROR, Code.INVALID),
    Verdict.PAUSED: Row(Remedy.AGAIN, Reason.UNKNOWN, Code.INVALID),
    Verdict.UNKNOWN: Row(Remedy.AGAIN, Reason.UNKNOWN, Code.INVALID),
    Verdict.FAULTED: Row(Remedy.BACKOFF),
    Verdict.UNCHECKED: Row(Remedy.NONE, None, Code.UNCHECKED),
}
"""The table. Total over ``Verdict``."""

FAULT_CODES: dict[FaultKind, str] = {
    FaultKind.RATE_LIMIT: "rate_limited",
    FaultKind.QUOTA: "provider_quota_exhausted",
    FaultKind.OVERLOADED: "provider_unavailable",
    FaultKind.SERVER: "provider_unavailable",
    FaultKind.TIMEOUT: "provider_unavailable",
    FaultKind.CONNECTION: "provider_unavailable",
    FaultKind.PROTOCOL: "provider_unavailable",
    FaultKind.DEADLINE: "deadline_exceeded",
    FaultKind.CANCELLED: "cancelled",
    FaultKind.AUTHENTICATION: "provider_authentication_failed",
    FaultKind.PERMISSION: "provider_permission_denied",
    FaultKind.NOT_FOUND: "provider_model_not_found",
    FaultKind.BAD_REQUEST: "provider_request_rejected",
    FaultKind.SCHEMA_REJECTED: "provider_schema_rejected",
    FaultKind.TOO_LARGE: "provider_request_too_large",
    FaultKind.RESPONSE_TOO_LARGE: "response_limit_reached",
}
"""The terminal code of each fault; total over ``FaultKind``. The first three are OpenWOP's, the rest ours."""

Write: TypeAlias = "Callable[[Sequence[Violation]], str]"
"""Writes the corrective fragment from violations alone."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Where an emission stands when a remedy is sought.

    ``earlier`` are the verdicts of the answered calls before this one, ``ceiling`` is the largest budget
    that policy and model allow, ``asked`` tells that the model was asked before for its document alone.
    """

    request: Request
    earlier: tuple[Verdict, ...]
    ceiling: int
    asked: bool = False


def following(judgement: Judgement, at: Situation, policy: Policy, write: Write) -> Request | None:
    """Return the request that may cure the verdict, or None when nothing may."""
    if len(at.earlier) + 1 >= policy.max_attempts:
        return None
    match REMEDIES[judgement.verdict].remedy:
        case Remedy.BUDGET:
            budget = min(math.ceil(at.request.budget * policy.truncation_multiplier), at.ceiling)
            # OpenWOP: a retry after a cut has no fragment that describes a schema problem, an earlier one included.
            return with_budget(replace(at.request, correction=None), budget) if budget > at.request.budget else None
        case Remedy.CORRECT if at.asked and RETRACTED in judgement.violations:
            return None  # it refused once more
        case Remedy.CORRECT:
            return replace(at.request, correction=write(judgement.violations))
        case Remedy.AGAIN:
            return None if judgement.verdict in at.earlier else at.request
        case Remedy.NONE | Remedy.BACKOFF:
            return None


def reason(judgement: Judgement) -> Reason | None:
    """Return the reason to tell, the nearest OpenWOP has for these violations."""
    rules = {each.rule for each in judgement.violations}
    if rules == {"type"}:
        return Reason.TYPE_MISMATCH
    if any(each.rule in {"enum", "const"} and each.pointer.endswith("/kind") for each in judgement.violations):
        return Reason.TYPE_DRIFT
    return REMEDIES[judgement.verdict].reason
