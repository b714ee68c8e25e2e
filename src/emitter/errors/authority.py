"""What was approved, and only that, may happen: whatever else is asked for is refused by one of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.errors.base import EmitterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


class AuthorityError(EmitterError):
    """An act, or a grant of authority, was refused; nothing happened.

    ``code`` is a word that a program can tell the reasons apart by.
    """

    code = "refused"


class NotConsent(AuthorityError):
    """What was handed over chooses no option that grants this: only such a choice is consent."""

    code = "not_consent"


class UnsignedAnswer(AuthorityError):
    """Signatures of answers are checked, and this answer has none by a key that was named: it authorizes nothing.

    Have it answered with ``emitter resolve --sign KEY``, or through a ``Ledger(sign=...)``. An answer that stands
    unsigned cannot be signed later: make a new call.
    """

    code = "unsigned_answer"


class NotApproved(AuthorityError):
    """The principal was asked, and did not choose that it be done.

    ``decision_id`` names the decision; ``Ledger.find`` tells what they chose instead.
    """

    code = "not_approved"

    def __init__(self, message: str, *, decision_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.decision_id = decision_id


class ApprovalPending(AuthorityError):
    """The principal was asked, and has not answered yet; nothing happens until they do.

    ``decision_id`` names the decision that is open in the ledger: have it resolved, and call again under ``call_id``.
    """

    code = "approval_pending"

    def __init__(self, message: str, *, decision_id: str = "", call_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.decision_id = decision_id
        self.call_id = call_id


class UnknownConfirm(AuthorityError):
    """Nobody confirmed this."""

    code = "unknown_confirm"


class ConfirmExpired(AuthorityError):
    """The time of the authority is over, or has not begun."""

    code = "expired"


class ConfirmRevoked(AuthorityError):
    """The authority was taken back."""

    code = "revoked"


class NotRevocable(AuthorityError):
    """The authority was granted as one that cannot be taken back: stop the workflow instead."""

    code = "not_revocable"


class OutOfScope(AuthorityError):
    """The authority does not cover this act: another workflow, step, target or capability."""

    code = "out_of_scope"


class RiskExceeded(AuthorityError):
    """The act is riskier than what was approved."""

    code = "risk_exceeded"


class LimitExceeded(AuthorityError):
    """The act would spend more than is left of a limit."""

    code = "limit_exceeded"


class LimitUnknown(AuthorityError):
    """A limit of the authority is one that nobody here can enforce, so nothing is authorized by it."""

    code = "limit_unknown"


class LimitUnstated(AuthorityError):
    """The act does not say how much it takes of what is limited, or takes of what was not granted."""

    code = "limit_unstated"


class WorkflowStopped(AuthorityError):
    """The workflow, or the step, was stopped: nothing of it starts."""

    code = "stopped"


class OtherCall(AuthorityError):
    """The call is not the one that was approved; ``pointer`` is the JSON pointer of the first place that differs."""

    code = "other_call"

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.pointer = pointer


class AlreadyUsed(AuthorityError):
    """What may be used once was used; ``receipt_id`` names the receipt of the act, empty where it has none (yet)."""

    code = "already_used"

    def __init__(self, message: str, *, receipt_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.receipt_id = receipt_id


class Unfinished(AuthorityError):
    """The act was begun before, and nobody knows how it ended: it is never repeated by itself.

    ``intent_id`` names the intent that has no receipt. See what became of the act, and settle it.
    """

    code = "unfinished"

    def __init__(self, message: str, *, intent_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.intent_id = intent_id


class PartiallyDone(EmitterError):
    """Raise this in a guarded tool that failed after part of its effect happened.

    The act's receipt then has the result ``partial``, with what you say was done, and the exception reaches the caller.
    It may be raised ``from`` the exception that stopped the tool, and inside an exception group.

    Args:
        message: What happened, for whoever catches it. It does not go into the receipt.
        side_effects: What was done, a JSON object: ``{"sent": 2, "of": 3}``.
        evidence_refs: Names of proofs, such as ``"txn:ABC123"``.
    """

    def __init__(
        self,
        message: str,
        *,
        side_effects: Mapping[str, Any] | None = None,
        evidence_refs: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.side_effects = side_effects
        self.evidence_refs = evidence_refs
