"""Take a person's answer to a decision, and return what the person reads.

All surfaces use this one way: find the decision, authenticate the person, check that they may answer, record the
answer, and reply. A reply has a sentence for the person whatever happened: an answer that came first, an expired
decision, a store that cannot be reached, or a function of the program that raised. Nothing is raised.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision, pending_of
from emitter.decisions.principals import Principal, is_allowed, is_same_principal, record_answer
from emitter.decisions.resolution import Selected, Unresolved, UnresolvedReason
from emitter.errors import (
    AlreadyResolved,
    BadToken,
    DecisionExpired,
    EmitterError,
    ResolutionError,
    StoreAltered,
    StoreFailed,
    UnknownDecision,
    UnsignedAnswer,
    WrongDigest,
)
from emitter.render.outcomes import describe_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger import Ledger
    from emitter.decisions.principals import DecisionAction, MayFunction
    from emitter.decisions.resolution import Resolution

    FoundDecision: TypeAlias = PendingDecision | ResolvedDecision

_log = logging.getLogger("emitter.answers")


class ReplyKind(str, Enum):
    """The outcome of an answer."""

    RECORDED = "recorded"
    FIRST_APPROVAL = "first_approval"
    """It is the first of two approvals. The decision is still open."""
    ALREADY_APPROVED = "already_approved"
    """The person was the first to approve it, too. The decision is still open for another person."""
    REPEATED = "repeated"
    """The same answer was recorded before."""
    UNRESOLVED = "unresolved"
    """Nobody decided, for example because a dialog was closed. The decision is still open."""
    ANSWERED = "answered"
    """Another answer came first, and counts."""
    CLOSED = "closed"
    """The decision has expired, or was withdrawn."""
    UNKNOWN = "unknown"
    NOT_ALLOWED = "not_allowed"
    OTHER_DECISION = "other_decision"
    """The answer belongs to another decision. This one is still open."""
    NOT_ACCEPTED = "not_accepted"
    """The answer is invalid. The decision is still open."""
    UNSIGNED = "unsigned"
    UNAVAILABLE = "unavailable"
    """The store failed. The same answer can be sent again."""
    FAILED = "failed"
    """Code of the program raised an exception, which is logged."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to an answer.

    Attributes:
        kind: The outcome of the answer.
        text: A sentence for the person: plain text that may have an option's label in it.
        decision: The decision as it stands now, or None if it is unknown or cannot be read.
        error: The exception, if the answer was not recorded.
    """

    kind: ReplyKind
    text: str
    decision: FoundDecision | None = None
    error: Exception | None = None

    @property
    def counts(self) -> bool:
        """True if this answer is on record, now or from before, perhaps as the first of two approvals."""
        return self.is_new or self.kind in {ReplyKind.ALREADY_APPROVED, ReplyKind.REPEATED}

    def require_accepted(self) -> Reply:
        """Return the reply if the answer counts or decided nothing, and raise its error otherwise.

        Raises:
            AlreadyResolved: Another answer came first. The message says whose, and what it was.
            DecisionExpired: The decision has expired, or was withdrawn.
            Exception: Whatever else ``error`` is.
        """
        match self.kind:
            case ReplyKind.ANSWERED:
                raise AlreadyResolved(self.text) from self.error
            case ReplyKind.CLOSED:
                raise DecisionExpired(self.text) from self.error
            case _ if self.error is not None:
                raise self.error
            case _:
                return self

    @property
    def is_new(self) -> bool:
        """True if this answer was recorded now."""
        return self.kind in {ReplyKind.RECORDED, ReplyKind.FIRST_APPROVAL}


class CallbackFailed(EmitterError):
    """A function of the program, such as ``authenticate=`` or ``may=``, raised an exception. It is the cause."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A person who may answer an open decision."""

    pending: PendingDecision
    principal: Principal


@dataclass(frozen=True, slots=True)
class AnswerRecorder:
    """Records the answers that come by one channel.

    Attributes:
        ledger: The ledger of the decisions.
        channel: The channel that it records.
        may: Returns True if a principal may answer a decision. By default every principal may.
    """

    ledger: Ledger
    channel: str
    may: MayFunction | None = None

    def admit(self, find: Callable[[], FoundDecision], authenticate: Callable[[], object]) -> Admitted | Reply:
        """Return the person and the decision if they may answer it now, or the reply to them.

        Args:
            find: Returns the decision. It may raise ``UnknownDecision`` or another error of this library.
            authenticate: Returns the ``Principal`` who answers, or None.
        """
        try:
            decision = find()
            principal = require_principal(authenticate)
            if principal is None or not check_allowed(self.may, principal, pending_of(decision), "answer"):
                return self._describe(
                    BadToken("You may not answer this decision. Ask somebody who may."), _NOT_RECORDED
                )
        except Exception as error:  # noqa: BLE001  whatever it is, the person reads a reply
            # How the decision stands is only for those who may answer it.
            return self._describe(error, _NOT_RECORDED)
        if isinstance(decision, ResolvedDecision) or decision.expiry_recorded:
            return _reply_to_late(decision, principal)
        return Admitted(decision, principal)

    def receive(
        self,
        find: Callable[[], FoundDecision],
        principal: Principal | None,
        read: Callable[[], Resolution | Unresolved],
    ) -> Reply:
        """Record an answer of somebody who was authenticated before, and return the reply.

        Args:
            find: Returns the decision. It may raise ``UnknownDecision`` or another error of this library.
            principal: Who answers, if the surface knows.
            read: Returns the answer. It may raise ``ResolutionError``.
        """
        try:
            pending = pending_of(find())
        except Exception as error:  # noqa: BLE001  whatever it is, the person reads a reply
            return self._describe(error, _NOT_RECORDED)
        return self.record(pending, principal, read)

    def record(
        self, pending: PendingDecision, principal: Principal | None, read: Callable[[], Resolution | Unresolved]
    ) -> Reply:
        """Record an answer, and return the reply.

        Args:
            pending: The decision.
            principal: Who answers, if the surface knows. Without a name, nobody can be the second to approve.
            read: Returns the answer. It may raise ``ResolutionError``.
        """
        try:
            answer = read()
        except Exception as error:  # noqa: BLE001  whatever it is, the person reads a reply
            return self._explain(error, pending, principal, _NOT_RECORDED)
        try:
            if isinstance(answer, Unresolved):
                return self._record_unresolved(pending, answer)
            return self._record_answer(pending, principal, answer)
        except Exception as error:  # noqa: BLE001  whatever it is, the person reads a reply
            reply = self._explain(error, pending, principal, _PERHAPS_RECORDED)
            # A store may fail after it has stored the answer.
            is_stored = isinstance(error, StoreFailed) and _is_answer_of(reply.decision, principal, answer)
            return Reply(ReplyKind.RECORDED, _RECORDED_TEXT, reply.decision) if is_stored else reply

    def _record_answer(self, pending: PendingDecision, principal: Principal | None, answer: Resolution) -> Reply:
        has_approved = self._has_approved(pending, principal, answer)
        decision = record_answer(self.ledger, principal, pending, answer, self.channel)
        if isinstance(decision, PendingDecision):
            return replace(_APPROVED_BEFORE if has_approved else _APPROVED, decision=decision)
        if not decision.already_resolved:
            return Reply(ReplyKind.RECORDED, _RECORDED_TEXT, decision)
        if principal is None or is_same_principal(principal.id, decision.principal):
            return Reply(ReplyKind.REPEATED, f"This answer was recorded before. {describe_answer(decision)}", decision)
        return _reply_to_late(decision, principal)

    def explain(self, error: Exception, pending: PendingDecision, principal: Principal | None = None) -> Reply:
        """Return the reply to a person who may answer, and whose answer failed with an exception.

        If the decision has ended meanwhile, the reply says how, and whose answer counts. Nothing was recorded.
        """
        return self._explain(error, pending, principal, _NOT_RECORDED)

    def _explain(self, error: Exception, pending: PendingDecision, principal: Principal | None, effect: str) -> Reply:
        """Return the reply to an exception. ``effect`` counts if the decision cannot be read."""
        try:
            decision = self.ledger.find(pending.decision_id)
        except Exception:  # noqa: BLE001  the first exception is the one to explain
            return self._describe(error, effect)
        if isinstance(decision, ResolvedDecision) or decision.expiry_recorded:
            return _reply_to_late(decision, principal, error)
        # An open decision of two people may have the first approval.
        is_open = not pending.four_eyes or isinstance(error, ResolutionError)
        return replace(self._describe(error, _NOT_RECORDED if is_open else effect), decision=decision)

    def _describe(self, error: Exception, effect: str) -> Reply:
        kind, text = next((row[1:] for row in _TEXTS if isinstance(error, row[0])), (ReplyKind.FAILED, _FAILED_TEXT))
        if kind in {ReplyKind.UNAVAILABLE, ReplyKind.FAILED}:
            # The exception may quote a secret, so it is logged, and its message reaches nobody.
            _log.warning("An answer by %s failed.", self.channel, exc_info=error)
        return Reply(kind, f"{text or error} {effect}".strip(), None, error)

    def _has_approved(self, pending: PendingDecision, principal: Principal | None, answer: Resolution) -> bool:
        """Return whether this person has approved the option before, so that another one must."""
        if principal is None or not isinstance(answer, Selected) or not pending.needs_two(answer):
            return False
        firsts = self.ledger.first_approvals(pending.decision_id)
        return any(each.index == answer.index and is_same_principal(each.principal, principal.id) for each in firsts)

    def _record_unresolved(self, pending: PendingDecision, answer: Unresolved) -> Reply:
        recorded = self.ledger.record_unresolved(pending.decision_id, answer.reason, channel=self.channel)
        if recorded.reason is UnresolvedReason.TIMEOUT and answer.reason is not UnresolvedReason.TIMEOUT:
            raise DecisionExpired("The decision has expired.")
        return Reply(ReplyKind.UNRESOLVED, "No answer was recorded. The decision is still open.", pending)


def require_principal(authenticate: Callable[[], object]) -> Principal | None:
    """Return who ``authenticate`` says it is, or None.

    Raises:
        CallbackFailed: It raised an exception, or returned something else.
    """
    try:
        principal = authenticate()
    except Exception as error:
        raise CallbackFailed("authenticate= raised an exception.") from error
    return check_principal_type(principal)


def check_principal_type(principal: object) -> Principal | None:
    """Return what ``authenticate=`` returned. Raises ``CallbackFailed`` unless it is a ``Principal`` or None."""
    if principal is None or isinstance(principal, Principal):
        return principal
    raise CallbackFailed(f"authenticate= returned a {type(principal).__name__}, not a Principal or None.")


def check_allowed(
    may: MayFunction | None, principal: Principal, pending: PendingDecision, action: DecisionAction
) -> bool:
    """Return what a policy says. Raises ``CallbackFailed`` if it raises an exception."""
    try:
        return is_allowed(may, principal, pending, action)
    except Exception as error:
        raise CallbackFailed("may= raised an exception.") from error


def _is_answer_of(decision: FoundDecision | None, principal: Principal | None, answer: Resolution | Unresolved) -> bool:
    """Return whether a decision has this answer by this person."""
    if principal is None or not isinstance(decision, ResolvedDecision):
        return False
    return decision.resolution == answer and is_same_principal(principal.id, decision.principal)


def _reply_to_late(decision: FoundDecision, principal: Principal | None, error: Exception | None = None) -> Reply:
    """Return the reply to a person who answers a decision that has ended."""
    if isinstance(decision, PendingDecision):
        end = "The agent withdrew this decision" if decision.withdrawn else "This decision has expired"
        text = f"{end}, so it is closed already. Your answer was not recorded."
        return Reply(ReplyKind.CLOSED, text, decision, error or DecisionExpired("The decision has ended."))
    if principal is not None and is_same_principal(principal.id, decision.principal):
        text = f"You have answered this decision already. {describe_answer(decision)} Nothing more was recorded."
    else:
        text = f"This decision is closed already. {describe_answer(decision)} Your answer was not recorded."
    return Reply(ReplyKind.ANSWERED, text, decision, error or AlreadyResolved("The decision is resolved."))


_APPROVED: Final = Reply(ReplyKind.FIRST_APPROVAL, "Your approval is recorded. Another person must approve, too.")
_APPROVED_BEFORE: Final = Reply(
    ReplyKind.ALREADY_APPROVED, "You have already approved this option. Another person must approve it."
)
_RECORDED_TEXT: Final = "Your answer is recorded."
_NOT_RECORDED: Final = "Your answer was not recorded."
_PERHAPS_RECORDED: Final = (
    "It is not certain that your answer was recorded. The same answer counts once if you repeat it."
)
_CLOSED_TEXT: Final = "This decision is closed already."
_TEXTS: Final[tuple[tuple[type[Exception], ReplyKind, str], ...]] = (
    (UnknownDecision, ReplyKind.UNKNOWN, "There is no such decision, or you may not answer it."),
    (BadToken, ReplyKind.NOT_ALLOWED, ""),
    (AlreadyResolved, ReplyKind.ANSWERED, _CLOSED_TEXT),
    (DecisionExpired, ReplyKind.CLOSED, _CLOSED_TEXT),
    (WrongDigest, ReplyKind.OTHER_DECISION, "This answer belongs to another envelope. Open this decision again."),
    (ResolutionError, ReplyKind.NOT_ACCEPTED, ""),
    (UnsignedAnswer, ReplyKind.UNSIGNED, ""),
    (
        StoreAltered,
        ReplyKind.UNAVAILABLE,
        "Another program changed the record of this decision. Do not rely on it, and tell whoever runs the agent.",
    ),
    (StoreFailed, ReplyKind.UNAVAILABLE, "The store of the decisions cannot be reached. Try again in a moment."),
    (
        CallbackFailed,
        ReplyKind.FAILED,
        "The program could not check who you are and what you may do. Try again, or tell whoever runs it.",
    ),
)
"""The sentence for a person, by exception. The first class that fits counts; an empty text is the exception's own."""
_FAILED_TEXT: Final = "The program failed. Try again, and tell whoever runs it if that does not help."
