"""Decisions as the ledger returns them, and the store entries that they are saved in.

``PendingDecision`` is an open decision and ``ResolvedDecision`` a resolved one. ``Approval`` is the first of two
approvals, and ``Assignment`` names the principal who should answer; neither of them resolves anything.

A resolution's words are an entry of their own (``emitter.decisions.ledger_words``), so that they can be encrypted and
deleted. The resolution keeps a salted scrypt hash of them; the hash is slow so that short answers cannot be guessed
from the store.

Source: draft-morrison-binding-moment-envelope-00, sections 5.4 and 6.3.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from emitter.decisions.canonical_json import LONE_SURROGATE, digest
from emitter.decisions.envelope_parsing import MalformedEnvelope, parse_moment
from emitter.decisions.ledger_words import MissingWordsReason
from emitter.decisions.resolution import (
    Dialogue,
    FreeText,
    Resolution,
    ResolutionOutcome,
    Selected,
    continue_after,
    signed_approval,
    signed_selection,
    signing_digest,
)
from emitter.errors import BadResolution, InputError, StoreAltered
from emitter.events import format_timestamp
from emitter.messages import as_list
from emitter.models import BINDING_MOMENT
from emitter.stores import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.decisions.resolution import Continuation
    from emitter.messages import Json
    from emitter.models import BindingMoment


@dataclass(frozen=True, slots=True)
class UnreadableAnswer:
    """A free text or an objection whose words this ledger cannot read.

    ``outcome`` is the kind of answer, and ``reason`` is why the words are missing; see ``KeepWords``.
    """

    digest: str
    outcome: ResolutionOutcome
    reason: MissingWordsReason = field(default=MissingWordsReason.NOT_KEPT, compare=False)


RecordedResolution: TypeAlias = Resolution | UnreadableAnswer
"""A resolution as read from the store, possibly without its words."""


@dataclass(frozen=True, slots=True)
class PendingDecision:
    """A decision that was opened.

    Attributes:
        decision_id: The id of the decision.
        digest: The digest of the envelope.
        opened_at: When it was opened, in seconds since 1970.
        expires_at: When it expires, in seconds since 1970, or None if it stays open.
        actions: The digest of what each option does, or empty. They are not part of the envelope.
        expiry_recorded: The end without an answer is on record and stands, even if a clock is set back.
        withdrawn: The agent withdrew the decision, so ``expiry_recorded`` is True.
        signed: Only a signed answer counts, because the opening ledger verifies signatures.
        keys: The ids (RFC 7638 thumbprints) of the keys whose signature counts, or empty if they are not known.
        four_eyes: Two principals must approve an option that does something: see ``Ledger.approve``.
        assignee: The principal who should answer, or an empty string: see ``Ledger.assign``.
        subject: The digest of what the question is about, or an empty string: see ``Ledger.open``.
        created: This call of ``Ledger.open`` opened it, so nothing else has happened to it yet.
    """

    decision_id: str
    digest: str
    moment: BindingMoment
    agent: str
    opened_at: float
    expires_at: float | None = None
    actions: tuple[str | None, ...] = ()
    expiry_recorded: bool = field(default=False, compare=False)
    withdrawn: bool = field(default=False, compare=False)
    signed: bool = field(default=False, compare=False)
    keys: tuple[str, ...] = field(default=(), compare=False)
    four_eyes: bool = False
    assignee: str = field(default="", compare=False)
    subject: str = field(default="", compare=False)
    created: bool = field(default=False, compare=False)

    @property
    def reference(self) -> str:
        """The hash of the id, which events use.

        A guessable id can be recognised by its hash; an id that the ledger generated cannot.
        """
        return decision_reference(self.decision_id)

    def is_expired(self, now: float) -> bool:
        """Return whether the decision has expired at ``now``, in seconds since 1970."""
        return self.expiry_recorded or (self.expires_at is not None and now >= self.expires_at)

    def remaining_seconds(self, now: float) -> float | None:
        """Return the seconds until the decision expires, or None if it does not."""
        return None if self.expires_at is None else max(0.0, self.expires_at - now)

    def needs_two(self, resolution: Resolution) -> bool:
        """Return whether two principals must choose this option. One alone may refuse, or choose to do nothing."""
        if not self.four_eyes or not isinstance(resolution, Selected):
            return False
        return not any(self.actions) or self.actions[resolution.index] is not None


@dataclass(frozen=True, slots=True)
class Approval:
    """The first of two approvals of an option that does something. It resolves nothing.

    Attributes:
        principal: Who approved.
        index: The option, counted from 0.
        approved_at: When it was approved, in seconds since 1970.
        channel: The channel that the approval came by.
        signature: The signature of the approval, or None.
    """

    principal: str
    index: int
    approved_at: float
    channel: str = ""
    signature: str | None = None

    def statement(self, pending: PendingDecision) -> str:
        """Return the digest that the signature covers. It differs from the digest of any answer."""
        action = pending.actions[self.index] if pending.actions else None
        return signing_digest(
            pending.reference,
            pending.digest,
            signed_approval(self.index, action, self.principal),
            format_timestamp(self.approved_at),
            self.channel,
        )


@dataclass(frozen=True, slots=True)
class Assignment:
    """The assignment of a decision to the principal who should answer it. It is no permission to answer.

    Attributes:
        assignee: Who should answer. Empty if anybody should.
        principal: Who assigned it.
        assigned_at: When, in seconds since 1970.
        channel: The channel that the assignment came by.
    """

    assignee: str
    principal: str
    assigned_at: float
    channel: str = ""


@dataclass(frozen=True, slots=True)
class ResolvedDecision:
    """A decision that was resolved.

    Attributes:
        resolved_at: When it was resolved, in seconds since 1970.
        channel: The channel that the answer came by.
        already_resolved: It was resolved before this call. Act on a decision only if this is False.
        signature: The signature of the answer, or None. A ledger without ``check=`` has not verified it.
        principal: Who answered, as the surface named them, or an empty string.
        first_approval: The approval that came before, if two principals had to approve.
    """

    pending: PendingDecision
    resolution: RecordedResolution
    resolved_at: float
    channel: str = ""
    already_resolved: bool = False
    signature: str | None = None
    principal: str = ""
    first_approval: Approval | None = None

    @property
    def decision_id(self) -> str:
        """The id of the decision."""
        return self.pending.decision_id

    @property
    def continuation(self) -> Continuation:
        """The agent's permitted next step.

        Raises:
            BadResolution: The answer is a free text or an objection whose words this ledger cannot read. See
                ``resolution``: a refused question stays refused.
        """
        match self.resolution:
            case UnreadableAnswer(outcome=outcome, reason=missing):
                problem, hint = _MISSING_WORDS_ERRORS[missing]
                raise BadResolution(f"{_OUTCOME_TEXTS[outcome]} {problem}", hint=hint)
            case _:
                return continue_after(self.resolution, self.pending.moment)

    @property
    def action(self) -> str | None:
        """The action digest of the selected option, or None."""
        actions = self.pending.actions
        return actions[self.resolution.index] if isinstance(self.resolution, Selected) and actions else None


def pending_of(decision: PendingDecision | ResolvedDecision) -> PendingDecision:
    """Return a decision as it was opened."""
    return decision.pending if isinstance(decision, ResolvedDecision) else decision


_OUTCOME_TEXTS: Final = {
    ResolutionOutcome.SELECTED: "The principal chose an option.",
    ResolutionOutcome.FREE_TEXT: "The principal answered in their own words.",
    ResolutionOutcome.DIALOGUE: "The principal refused the question.",
}
_ASK_HINT: Final = (
    "Ask the principal for their words, and build Incorporate(moment, words) or Reopen(moment, words) yourself for an "
    "emission. A guarded call takes neither: one that was objected to stays refused, so change its arguments, or guard "
    "it with another operation=."
)
_MISSING_WORDS_ERRORS: Final = {
    MissingWordsReason.NOT_KEPT: (
        "Their words were not kept: the ledger that took the answer has words=None.",
        _ASK_HINT,
    ),
    MissingWordsReason.DELETED: ("Their words were kept for a limited time, and are deleted.", _ASK_HINT),
    MissingWordsReason.ENCRYPTED: (
        "Their words are encrypted, and this ledger has no key that decrypts them.",
        "Open the ledger with words=KeepWords(key=...).",
    ),
}


def decision_reference(decision_id: str) -> str:
    """Return the hash of a decision id that events use."""
    return hashlib.sha256(b"emitter.decision:" + decision_id.encode("utf-8", "surrogatepass")).hexdigest()


MARKER_ENTRY: Final = Entry("emitter.decision.noted", {}, {})
"""The entry for an event that is recorded once and has no content of its own."""
_EXPIRED_TYPE: Final = "emitter.decision.expired"
_RESOLVED_TYPE: Final = "emitter.decision.resolved"
_ALTERED_HINT: Final = "Another program or another release of emitter wrote to the store. See the ledger's log."
_OPENED_MEMBERS: Final = {
    "decisionId": (str,),
    "agent": (str,),
    "openedAt": (int, float),
    "expiresAt": (int, float, NoneType),
    "actions": (list,),
}
_SALT_PATTERN: Final = re.compile("([0-9a-f]{32})?")
_SCRYPT_COST: Final = 2**13
"""About 20 ms and 8 MB for each hash."""


def make_opened_entry(pending: PendingDecision) -> Entry:
    """Return the entry of a decision. It is complete, so that another process can resolve it."""
    members: dict[str, Json] = {
        "decisionId": pending.decision_id,
        "digest": pending.digest,
        "agent": pending.agent,
        "openedAt": pending.opened_at,
        "expiresAt": pending.expires_at,
        "actions": list(pending.actions),
    }
    if pending.signed:
        members["signed"] = True
    if pending.keys:
        members["keys"] = list(pending.keys)
    if pending.four_eyes:
        members["fourEyes"] = True
    if pending.subject:
        members["subject"] = pending.subject
    return Entry(BINDING_MOMENT, members, {"binding_moment": pending.moment.to_json()})


def parse_pending(entry: Entry) -> PendingDecision:
    """Parse the decision in an entry. Raises ``StoreAltered``."""
    members, moment = entry.outcome, parse_moment(entry.envelope.get("binding_moment"))
    if (
        isinstance(moment, MalformedEnvelope)
        or digest(moment) != members.get("digest")
        or not has_member_types(members, _OPENED_MEMBERS)
    ):
        raise StoreAltered("The stored decision is not the envelope that was opened.", hint=_ALTERED_HINT)
    return PendingDecision(
        decision_id=members["decisionId"],
        digest=members["digest"],
        moment=moment,
        agent=members["agent"],
        opened_at=members["openedAt"],
        expires_at=members["expiresAt"],
        actions=tuple(cast("list[str | None]", as_list(members["actions"]))),
        signed=members.get("signed") is True,
        keys=tuple(map(str, as_list(members.get("keys")))),
        four_eyes=members.get("fourEyes") is True,
        subject=str(members.get("subject", "")),
    )


_EXPIRED_MEMBERS: Final[Mapping[str, tuple[type, ...]]] = {"expiredAt": (int, float)}
_RESOLVED_MEMBERS: Final[Mapping[str, tuple[type, ...]]] = {
    "outcome": (str,),
    "digest": (str,),
    "resolvedAt": (int, float),
    "channel": (str,),
}
_ANSWERED_BY_MEMBERS: Final[Mapping[str, tuple[type, ...]]] = {"principal": (str,), "firstApproval": (str,)}
"""Members that not every resolution has."""
_WORDS_MEMBERS: Final = {**_RESOLVED_MEMBERS, "salt": (str,), "hash": (str,)}
_MEMBERS_BY_OUTCOME: Final = {
    ResolutionOutcome.SELECTED.value: {**_RESOLVED_MEMBERS, "index": (int,)},
    ResolutionOutcome.FREE_TEXT.value: _WORDS_MEMBERS,
    ResolutionOutcome.DIALOGUE.value: _WORDS_MEMBERS,
}


def has_member_types(members: Mapping[str, Json], types: Mapping[str, tuple[type, ...]]) -> bool:
    """Return whether all members are there with one of their types."""
    return all(name in members and type(members[name]) in allowed for name, allowed in types.items())


def make_expired_entry(expired_at: float, *, withdrawn: bool = False) -> Entry:
    """Return the entry of a decision that expired, or that the agent withdrew: it expires at once."""
    return Entry(_EXPIRED_TYPE, {"expiredAt": expired_at, **({"withdrawn": True} if withdrawn else {})}, {})


def is_expired_entry(entry: Entry) -> bool:
    """Return whether an entry records that a decision ended without an answer: it expired, or was withdrawn."""
    return entry.type == _EXPIRED_TYPE


def is_withdrawn_entry(entry: Entry) -> bool:
    """Return whether an entry records that the agent withdrew a decision."""
    return is_expired_entry(entry) and entry.outcome.get("withdrawn") is True


def make_resolved_entry(
    resolution: Resolution, resolved_at: float, channel: str, principal: str = "", first_approval: str | None = None
) -> Entry:
    """Return the entry of a resolution: an option's index, or a hash of the words.

    ``first_approval`` is the statement of the approval that came before.
    """
    members: dict[str, Json] = {
        "outcome": ResolutionOutcome.of_resolution(resolution).value,
        "digest": resolution.digest,
    }
    if isinstance(resolution, Selected):
        members["index"] = resolution.index
    else:
        salt = os.urandom(16)
        members |= {"salt": salt.hex(), "hash": _hash_words(resolution, salt)}
    if principal:
        members["principal"] = principal
    if first_approval is not None:
        members["firstApproval"] = first_approval
    return Entry(_RESOLVED_TYPE, {**members, "resolvedAt": resolved_at, "channel": channel}, {})


def sign_entry(entry: Entry, pending: PendingDecision, sign: Callable[[str], str]) -> Entry:
    """Return the entry of a resolution with a signature."""
    signature = sign(entry_signing_digest(entry, pending))
    if not isinstance(signature, str) or LONE_SURROGATE.search(signature):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            "sign= must return a string without lone surrogates.", hint="Return the signature of the digest."
        )
    return replace(entry, outcome={**entry.outcome, "signature": signature})


def read_signature(entry: Entry) -> str | None:
    """Return the signature of a resolution, or None."""
    signature = entry.outcome.get("signature")
    return signature if isinstance(signature, str) else None


def read_principal(entry: Entry) -> str:
    """Return who gave a resolution, or an empty string."""
    return str(entry.outcome.get("principal", ""))


def entry_signing_digest(entry: Entry, pending: PendingDecision) -> str:
    """Return the digest that the signature of a resolution covers."""
    members = entry.outcome
    if members["outcome"] == ResolutionOutcome.SELECTED.value:
        index: int = members["index"]
        action = pending.actions[index] if pending.actions else None
        answer = signed_selection(index, action, read_principal(entry), members.get("firstApproval"))
    else:
        answer = {name: members[name] for name in ("outcome", "salt", "hash", "principal") if name in members}
    return signing_digest(
        pending.reference, pending.digest, answer, format_timestamp(members["resolvedAt"]), members["channel"]
    )


def check_end_entry(entry: Entry, pending: PendingDecision) -> Entry:
    """Return the entry of a decision's end. Raises ``StoreAltered`` if it does not fit the decision."""
    members = entry.outcome
    if is_expired_entry(entry) and has_member_types(members, _EXPIRED_MEMBERS):
        return entry
    required = _MEMBERS_BY_OUTCOME.get(str(members.get("outcome")))
    optional = {name: types for name, types in _ANSWERED_BY_MEMBERS.items() if name in members}
    is_complete = (
        required is not None
        and has_member_types(members, {**required, **optional})
        and members["digest"] == pending.digest
        and members.get("index", 0) in range(len(pending.moment.question.options))
        and _SALT_PATTERN.fullmatch(members.get("salt", "")) is not None
    )
    if not is_complete:
        raise StoreAltered("The stored end of a decision is not what was written.", hint=_ALTERED_HINT)
    return entry


def parse_resolution(entry: Entry) -> RecordedResolution:
    """Return the resolution in an entry, without words."""
    envelope, outcome = str(entry.outcome["digest"]), ResolutionOutcome(entry.outcome["outcome"])
    if outcome is ResolutionOutcome.SELECTED:
        return Selected(envelope, entry.outcome["index"])
    return UnreadableAnswer(envelope, outcome)


def is_entry_of(entry: Entry, resolution: Resolution) -> bool:
    """Return whether an entry was made from this resolution."""
    members = entry.outcome
    if members["outcome"] != ResolutionOutcome.of_resolution(resolution).value:
        return False
    if isinstance(resolution, Selected):
        return bool(members["index"] == resolution.index)
    return hmac.compare_digest(str(members["hash"]), _hash_words(resolution, bytes.fromhex(members["salt"])))


def resolution_words(resolution: FreeText | Dialogue) -> str:
    """Return the principal's words."""
    return resolution.answer if isinstance(resolution, FreeText) else resolution.objection


def resolution_from_words(answer: UnreadableAnswer, words: str) -> FreeText | Dialogue:
    """Return the resolution with its words."""
    kind = FreeText if answer.outcome is ResolutionOutcome.FREE_TEXT else Dialogue
    return kind(answer.digest, words)


def _hash_words(resolution: FreeText | Dialogue, salt: bytes) -> str:
    return hashlib.scrypt(resolution_words(resolution).encode(), salt=salt, n=_SCRYPT_COST, r=8, p=1).hex()


_APPROVED_TYPE: Final = "emitter.decision.approved"
_APPROVED_MEMBERS: Final[Mapping[str, tuple[type, ...]]] = {
    "digest": (str,),
    "index": (int,),
    "principal": (str,),
    "approvedAt": (int, float),
    "channel": (str,),
}


def approval_key(decision: str, index: int) -> str:
    """Return the store key of the first approval of an option."""
    # One key for each option: of two principals who approve at the same time, the store makes one the first.
    return f"approved:{decision}:{index}"


def make_approval_entry(approval: Approval, pending: PendingDecision) -> Entry:
    """Return the entry of a first approval."""
    members = {
        "digest": pending.digest,
        "index": approval.index,
        "principal": approval.principal,
        "approvedAt": approval.approved_at,
        "channel": approval.channel,
    }
    signature = {} if approval.signature is None else {"signature": approval.signature}
    return Entry(_APPROVED_TYPE, {**members, **signature}, {})


def parse_approval(entry: Entry, pending: PendingDecision, index: int) -> Approval:
    """Return the first approval of an option. Raises ``StoreAltered`` if the entry is none."""
    members = entry.outcome
    is_approval = entry.type == _APPROVED_TYPE and has_member_types(members, _APPROVED_MEMBERS)
    if not is_approval or members["digest"] != pending.digest or members["index"] != index or not members["principal"]:
        raise StoreAltered("The stored approval of a decision is not what was written.")
    signature = members.get("signature")
    return Approval(
        members["principal"],
        index,
        members["approvedAt"],
        members["channel"],
        signature if isinstance(signature, str) else None,
    )


MAX_ASSIGNMENTS: Final = 100
"""Maximum number of assignments of one decision."""
_ASSIGNED_TYPE: Final = "emitter.decision.assigned"
_ASSIGNED_MEMBERS: Final[Mapping[str, tuple[type, ...]]] = {
    "assignee": (str,),
    "principal": (str,),
    "assignedAt": (int, float),
    "channel": (str,),
}


def assignment_key(decision: str, number: int) -> str:
    """Return the store key of an assignment. The first one has the number 1."""
    return f"assigned:{decision}:{number}"


def make_assignment_entry(assignment: Assignment) -> Entry:
    """Return the entry of an assignment."""
    members = (assignment.assignee, assignment.principal, assignment.assigned_at, assignment.channel)
    return Entry(_ASSIGNED_TYPE, dict(zip(_ASSIGNED_MEMBERS, members, strict=True)), {})


def parse_assignment(entry: Entry | None) -> Assignment:
    """Return an assignment. Raises ``StoreAltered`` if the entry is none."""
    if entry is None or entry.type != _ASSIGNED_TYPE or not has_member_types(entry.outcome, _ASSIGNED_MEMBERS):
        raise StoreAltered("The stored assignment of a decision is not what was written.")
    return Assignment(*(entry.outcome[name] for name in _ASSIGNED_MEMBERS))
