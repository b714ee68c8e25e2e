"""Decisions as the ledger returns them, and the store entries that they are saved in.

``PendingDecision`` is an open decision, ``ResolvedDecision`` a resolved one, and ``DetailRequest`` a request of the
principal for more detail, which resolves nothing.

A resolution's words are an entry of their own (``emitter.decisions.ledger_words``), so that they can be encrypted and
deleted. The resolution keeps a salted scrypt hash of them; the hash is slow so that short answers cannot be guessed
from the store.

Source: draft-morrison-binding-moment-envelope-00, sections 5.4 and 6.3.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from emitter.decisions.canonical_json import LONE_SURROGATE, digest, signed_selection, signing_digest
from emitter.decisions.envelope_parsing import MalformedEnvelope, parse_moment
from emitter.decisions.ledger_words import MissingWordsReason
from emitter.decisions.resolution import Dialogue, FreeText, Resolution, ResolutionOutcome, Selected, continue_after
from emitter.errors import BadResolution, InputError, StoreAltered
from emitter.events import format_timestamp
from emitter.messages import as_list
from emitter.models import BINDING_MOMENT
from emitter.stores import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.decisions.ledger_approvals import Approval
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
        """What the agent may do now.

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


_OUTCOME_TEXTS: Final = {
    ResolutionOutcome.SELECTED: "The principal chose an option.",
    ResolutionOutcome.FREE_TEXT: "The principal answered in their own words.",
    ResolutionOutcome.DIALOGUE: "The principal refused the question.",
}
_ASK_HINT: Final = (
    "Ask the principal for their words, or build Incorporate(moment, words) or Reopen(moment, words) yourself."
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


def words_key(decision: str, number: int | None = None) -> str:
    """Return the store key of the words of a resolution or of a detail request."""
    return f"words:{decision}" if number is None else f"words:{decision}:{number}"


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
_SELECTED_MEMBERS: Final = {**_RESOLVED_MEMBERS, "index": (int,)}
_WORDS_MEMBERS: Final = {**_RESOLVED_MEMBERS, "salt": (str,), "hash": (str,)}


def has_member_types(members: Mapping[str, Json], types: Mapping[str, tuple[type, ...]]) -> bool:
    """Return whether all members are there with one of their types."""
    return all(name in members and type(members[name]) in allowed for name, allowed in types.items())


def make_expired_entry(expired_at: float) -> Entry:
    """Return the entry of a decision that expired."""
    return Entry(_EXPIRED_TYPE, {"expiredAt": expired_at}, {})


def make_withdrawn_entry(withdrawn_at: float) -> Entry:
    """Return the entry of a decision that the agent withdrew: it expires at once."""
    return Entry(_EXPIRED_TYPE, {"expiredAt": withdrawn_at, "withdrawn": True}, {})


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
    types_by_outcome = {
        outcome.value: _SELECTED_MEMBERS if outcome is ResolutionOutcome.SELECTED else _WORDS_MEMBERS
        for outcome in ResolutionOutcome
    }
    types = types_by_outcome.get(str(members.get("outcome")))
    count = len(pending.moment.question.options)
    named = {name: types for name, types in _ANSWERED_BY_MEMBERS.items() if name in members}
    is_complete = (
        types is not None and has_member_types(members, {**types, **named}) and members["digest"] == pending.digest
    )
    if (
        not is_complete
        or members.get("index", 0) not in range(count)
        or _SALT_PATTERN.fullmatch(members.get("salt", "")) is None
    ):
        raise StoreAltered("The stored end of a decision is not what was written.", hint=_ALTERED_HINT)
    return entry


def parse_resolution(entry: Entry) -> RecordedResolution:
    """Return the resolution in an entry, without words."""
    envelope, outcome = str(entry.outcome["digest"]), ResolutionOutcome(entry.outcome["outcome"])
    return (
        Selected(envelope, entry.outcome["index"])
        if outcome is ResolutionOutcome.SELECTED
        else UnreadableAnswer(envelope, outcome)
    )


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
    return (
        FreeText(answer.digest, words)
        if answer.outcome is ResolutionOutcome.FREE_TEXT
        else Dialogue(answer.digest, words)
    )


def _hash_words(resolution: FreeText | Dialogue, salt: bytes) -> str:
    return hashlib.scrypt(resolution_words(resolution).encode(), salt=salt, n=_SCRYPT_COST, r=8, p=1).hex()


MAX_DETAIL_REQUESTS: Final = 20
"""Maximum number of requests for one decision."""
_DETAIL_REQUEST_TYPE: Final = "emitter.decision.detail_asked"
_DETAIL_ANSWER_TYPE: Final = "emitter.decision.detail_answered"


@dataclass(frozen=True, slots=True)
class DetailRequest:
    """A request for detail on a decision, such as "tell me more about ...". It resolves nothing.

    Attributes:
        decision_id: The decision, which is open.
        number: The number of the request within the decision, counted from 1.
        topic: What the principal wants to know more about; empty for all of it. A ``MissingWordsReason`` if this ledger
            cannot read it.
        asked_at: When it was made, in seconds since 1970.
        channel: The channel it came by.
        answer: The agent's answer, a string or JSON, or None.
        answered_at: When it was answered, in seconds since 1970.
    """

    decision_id: str
    number: int
    topic: str | MissingWordsReason
    asked_at: float
    channel: str = ""
    answer: Json = None
    answered_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether it has no answer yet."""
        return self.answered_at is None

    @property
    def text(self) -> str:
        """The answer as text, or an empty string. JSON is indented."""
        return "" if self.answer is None else format_answer(self.answer)


def format_answer(answer: Json) -> str:
    """Return an answer as text. JSON is indented."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)


def detail_request_key(decision: str, number: int) -> str:
    """Return the store key of a request."""
    return f"detail:{decision}:{number}"


def detail_answer_key(decision: str, number: int) -> str:
    """Return the store key of the answer to a request."""
    return f"detailed:{decision}:{number}"


def make_detail_request_entry(asked_at: float, channel: str) -> Entry:
    """Return the entry of a request. Its topic is stored like the principal's words."""
    return Entry(_DETAIL_REQUEST_TYPE, {"askedAt": asked_at, "channel": channel}, {})


def make_detail_answer_entry(answer: Json, answered_at: float) -> Entry:
    """Return the entry of an answer."""
    return Entry(_DETAIL_ANSWER_TYPE, {"answeredAt": answered_at}, {"answer": answer})


def read_asked_at(entry: Entry) -> float:
    """Return when a request was made."""
    return _read_time(entry, _DETAIL_REQUEST_TYPE, "askedAt")


def read_detail_answer(entry: Entry) -> Json:
    """Return the answer in an entry."""
    _read_time(entry, _DETAIL_ANSWER_TYPE, "answeredAt")
    return entry.envelope.get("answer")


def build_detail_request(
    decision_id: str, number: int, topic: str | MissingWordsReason, request_entry: Entry, answer_entry: Entry | None
) -> DetailRequest:
    """Return a request with its answer, if there is one. Raises ``StoreAltered``."""
    asked_at, channel = read_asked_at(request_entry), str(request_entry.outcome.get("channel", ""))
    if answer_entry is None:
        return DetailRequest(decision_id, number, topic, asked_at, channel)
    answered_at = _read_time(answer_entry, _DETAIL_ANSWER_TYPE, "answeredAt")
    return DetailRequest(decision_id, number, topic, asked_at, channel, read_detail_answer(answer_entry), answered_at)


def _read_time(entry: Entry, entry_type: str, name: str) -> float:
    seconds: Json = entry.outcome.get(name)
    if entry.type != entry_type or isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise StoreAltered("The stored detail request is not what was written.")
    return float(seconds)
