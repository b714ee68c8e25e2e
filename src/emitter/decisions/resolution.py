"""The principal's answer to a binding moment, its signature, and what the agent may do after it.

A resolution is a selected option, a free text or a dialogue (a veto on the question), and has the digest of the
envelope that it answers. ``continue_after`` turns it into a continuation: act, incorporate the answer, reopen the
question, or hold.

Source: draft-morrison-binding-moment-envelope-00, sections 6.2 and 6.3. The JSON form is this library's own.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never, cast

from emitter.decisions.canonical_json import (
    DIGEST_LENGTH,
    DIGEST_PATTERN,
    LONE_SURROGATE,
    CanonicalProfile,
    digest,
    digest_of,
    is_digest,
    normalize_json,
    parse_strict_json,
    require_moment,
)
from emitter.errors import (
    BadResolution,
    HatchClosed,
    NoSuchOption,
    NotCanonical,
    Tampered,
    UnsignedAnswer,
    WrongDigest,
)
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Collection

    from emitter.messages import Json
    from emitter.models import BindingMoment, Option

MAX_ANSWER_LENGTH: Final = 10_000
"""Maximum length of an answer or objection, in characters."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The option at ``index``, counted from 0."""

    digest: str
    index: int


@dataclass(frozen=True, slots=True)
class FreeText:
    """An answer in other words than the options. The question stands, and the options are revised."""

    digest: str
    answer: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A veto on the question itself, which reopens deliberation. ``objection`` may be empty."""

    digest: str
    objection: str


class UnresolvedReason(str, Enum):
    """The reason why nobody decided."""

    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    DECLINED = "declined"
    DROPPED = "dropped"
    """The host or surface never showed the envelope, or cannot return an answer."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Nobody decided. Do not read it as a choice or as consent."""

    digest: str
    reason: UnresolvedReason


Resolution: TypeAlias = Selected | FreeText | Dialogue
"""An answer of the principal: an option, their own words, or an objection to the question."""


class ResolutionOutcome(str, Enum):
    """The kind of a resolution."""

    SELECTED = "selected"
    FREE_TEXT = "free_text"
    DIALOGUE = "dialogue"

    @classmethod
    def of_resolution(cls, resolution: Resolution) -> ResolutionOutcome:
        """Return the kind of a resolution."""
        match resolution:
            case Selected():
                return cls.SELECTED
            case FreeText():
                return cls.FREE_TEXT
            case Dialogue():
                return cls.DIALOGUE
            case _:
                assert_never(resolution)


def select_option(moment: BindingMoment, index: int) -> Selected:
    """Return the selection of an option.

    Raises:
        NoSuchOption: The envelope has no option at ``index``.
        InputError: ``moment`` is not an envelope.
    """
    count = len(require_moment(moment).question.options)
    if type(index) is not int or not 0 <= index < count:
        described = index if type(index) is int else f"of type {type(index).__name__}"
        raise NoSuchOption(f"The envelope has no option {described}. It has {count} options, counted from 0.")
    return Selected(digest(moment), index)


def answer_in_words(moment: BindingMoment, answer: str) -> FreeText:
    """Return an answer in the principal's own words, unchanged.

    Raises:
        HatchClosed: The envelope does not allow free text.
        BadResolution: The answer has no visible character, or more than ``MAX_ANSWER_LENGTH``.
        InputError: ``moment`` is not an envelope.
    """
    if not require_moment(moment).question.hatches.free_text:
        raise HatchClosed("The envelope allows no answer other than its options.")
    return FreeText(digest(moment), _parse_answer(answer))


def open_dialogue(moment: BindingMoment, objection: str = "") -> Dialogue:
    """Return a veto on the question itself. An objection without visible characters becomes empty.

    Raises:
        HatchClosed: The envelope does not allow a veto on its question.
        BadResolution: The objection has more than ``MAX_ANSWER_LENGTH`` characters.
        InputError: ``moment`` is not an envelope.
    """
    if not require_moment(moment).question.hatches.dialogue:
        raise HatchClosed("The envelope does not allow a veto on its question.")
    return Dialogue(digest(moment), _parse_objection(objection))


def require_resolution(value: object) -> Resolution | Unresolved:
    """Return ``value`` if it is a resolution or ``Unresolved``. Raises ``BadResolution`` otherwise."""
    match value:
        case Selected() | FreeText() | Dialogue() | Unresolved(reason=UnresolvedReason()):
            return value
        case _:
            raise BadResolution(
                f"resolution is of type {type(value).__name__}; it must be Selected, FreeText, Dialogue, or "
                "Unresolved with a reason."
            )


def resolution_to_json(resolution: Resolution | Unresolved) -> dict[str, Json]:
    """Return the wire form; see ``RESOLUTION_SCHEMA``. Raises ``BadResolution`` for another value."""
    checked = require_resolution(resolution)
    match checked:
        case Selected(digest=envelope, index=index):
            return {"outcome": "selected", "digest": envelope, "index": index}
        case FreeText(digest=envelope, answer=answer):
            return {"outcome": "free_text", "digest": envelope, "answer": answer}
        case Dialogue(digest=envelope, objection=objection):
            return {"outcome": "dialogue", "digest": envelope, "objection": objection}
        case Unresolved(digest=envelope, reason=reason):
            return {"outcome": "unresolved", "digest": envelope, "reason": reason.value}
        case _:
            assert_never(checked)


def resolution_from_json(value: Json) -> Resolution | Unresolved:
    """Parse a wire form. Raises ``BadResolution`` if it is invalid.

    ``continue_after`` checks that the envelope has that option or allows that veto.
    """
    match _require_json(value):
        case {"outcome": "selected", "digest": envelope, "index": index, **more} if not more:
            return Selected(_parse_digest(envelope), _parse_index(index))
        case {"outcome": "free_text", "digest": envelope, "answer": answer, **more} if not more:
            return FreeText(_parse_digest(envelope), _parse_answer(answer))
        case {"outcome": "dialogue", "digest": envelope, "objection": objection, **more} if not more:
            return Dialogue(_parse_digest(envelope), _parse_objection(objection))
        case {"outcome": "unresolved", "digest": envelope, "reason": reason, **more} if not more:
            return Unresolved(_parse_digest(envelope), _parse_reason(reason))
        case _:
            raise BadResolution("This is not the wire form of a resolution.", hint=_FORMS_HINT)


_FORMS_HINT: Final = (
    "Pass outcome selected with an index, free_text with an answer, dialogue with an objection, or unresolved with a"
    " reason, each with the envelope's digest and no other member."
)


def _require_json(value: Json) -> Json:
    try:
        return normalize_json(value)
    except NotCanonical as error:
        raise BadResolution(f"The resolution is not plain JSON. {error.reason}") from None


def _parse_digest(value: Json) -> str:
    if not is_digest(value):
        raise BadResolution("The digest must be sha256: and 64 lower-case hexadecimal digits.")
    return value


def _parse_index(value: Json) -> int:
    if type(value) is not int or value < 0:
        raise BadResolution("The index must be the number of an option, counted from 0.")
    return value


def _parse_answer(value: Json) -> str:
    answer = _parse_text(value)
    if is_blank(answer):
        raise BadResolution("The answer has no visible text.")
    return answer


def _parse_objection(value: Json) -> str:
    objection = _parse_text(value)
    return "" if is_blank(objection) else objection


def _parse_text(value: Json) -> str:
    if not isinstance(value, str) or len(value) > MAX_ANSWER_LENGTH or LONE_SURROGATE.search(value):
        raise BadResolution(
            f"An answer must be a string of at most {MAX_ANSWER_LENGTH:,} characters without lone surrogates."
        )
    return value


def _parse_reason(value: Json) -> UnresolvedReason:
    if value not in (choices := [reason.value for reason in UnresolvedReason]):
        raise BadResolution(f"The reason is unknown. Pass one of {', '.join(choices)}.")
    return UnresolvedReason(value)


def _variant_schema(outcome: str, description: str, **own: Json) -> dict[str, Json]:
    members = {
        "outcome": {"type": "string", "enum": [outcome]},
        "digest": {"type": "string", "pattern": DIGEST_PATTERN, "maxLength": DIGEST_LENGTH},
        **own,
    }
    return {
        "type": "object",
        "description": description,
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


RESOLUTION_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "description": "The resolution of a binding moment; the digest identifies the envelope that was answered.",
    "anyOf": [
        _variant_schema(
            "selected",
            "The principal chose an option.",
            index={"type": "integer", "minimum": 0, "description": "The option, counted from 0."},
        ),
        _variant_schema(
            "free_text",
            "The principal answered the question in words of their own.",
            answer={"type": "string", "minLength": 1, "maxLength": MAX_ANSWER_LENGTH},
        ),
        _variant_schema(
            "dialogue",
            "The principal refused the question; the objection may be empty.",
            objection={"type": "string", "maxLength": MAX_ANSWER_LENGTH},
        ),
        _variant_schema(
            "unresolved",
            "Nobody decided, and that is no consent.",
            reason={"type": "string", "enum": [each.value for each in UnresolvedReason]},
        ),
    ],
}
"""The wire form as JSON Schema 2020-12, without ``$schema``, so that it can be part of a tool's argument schema.

It accepts what ``resolution_from_json`` accepts, except that it cannot require visible text in an answer.
"""


@dataclass(frozen=True, slots=True)
class Act:
    """The agent may do what ``option`` says, and nothing else: the principal selected it.

    The option may be to do nothing. Compare ``ResolvedDecision.action`` with the action that you proposed.
    """

    moment: BindingMoment
    index: int

    @property
    def option(self) -> Option:
        """The selected option."""
        return self.moment.question.options[self.index]


@dataclass(frozen=True, slots=True)
class Incorporate:
    """Take up the principal's ``answer`` and go on. The question stands, its options do not."""

    moment: BindingMoment
    answer: str


@dataclass(frozen=True, slots=True)
class Reopen:
    """Deliberate again: the question was refused and must not be asked again. ``objection`` may be empty.

    The next envelope is checked by ``emitter.decisions.reopening``.
    """

    moment: BindingMoment
    objection: str


@dataclass(frozen=True, slots=True)
class Hold:
    """The agent may do nothing, because nobody decided, for this ``reason``. That is not consent."""

    moment: BindingMoment
    reason: UnresolvedReason


Continuation: TypeAlias = Act | Incorporate | Reopen | Hold
"""The next step that an answer allows the agent."""


def continue_after(resolution: Resolution | Unresolved, moment: BindingMoment) -> Continuation:
    """Return what the agent may do now.

    Args:
        resolution: The principal's answer.
        moment: The envelope that was asked.

    Raises:
        WrongDigest: The resolution answers another envelope.
        NoSuchOption: The envelope has no such option.
        HatchClosed: The envelope does not allow that answer.
        BadResolution: ``resolution`` is not a resolution, or its words are invalid.
        InputError: ``moment`` is not an envelope.
    """
    checked = require_resolution(resolution)
    if checked.digest != digest(moment):
        raise WrongDigest("The resolution answers another envelope.")
    match checked:
        case Selected(index=index):
            return Act(moment, select_option(moment, index).index)
        case FreeText(answer=answer):
            return Incorporate(moment, answer_in_words(moment, answer).answer)
        case Dialogue(objection=objection):
            return Reopen(moment, open_dialogue(moment, objection).objection)
        case Unresolved(reason=reason):
            return Hold(moment, reason)
        case _:
            assert_never(checked)


AnswerVerifier: TypeAlias = Callable[[str, str | None], object]
"""Checks the digest of an answer and its signature. Raises ``Tampered`` if the signature is invalid."""


def known_keys(verifier: AnswerVerifier | None) -> tuple[str, ...]:
    """Return the ids of the keys that ``SignatureVerifier.verify_answer`` knows, or nothing for another verifier."""
    keys: object = getattr(getattr(verifier, "__self__", None), "keys", None)
    return tuple(map(str, cast("Mapping[str, object]", keys))) if isinstance(keys, Mapping) else ()


def signing_key_id(signature: str | None) -> str | None:
    """Return the id of the key that a detached JWS names, unverified, or None."""
    header = (signature or "").partition(".")[0]
    try:
        key_id: Json = parse_strict_json(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["kid"]
    except (NotCanonical, ValueError, LookupError, TypeError):
        return None
    return key_id if isinstance(key_id, str) else None


def check_two_keys(keys: Collection[str], first: str | None, second: str | None) -> None:
    """Raise ``UnsignedAnswer`` if one key signed both approvals, although several keys are known."""
    # With a single known key, a service signs for all principals, and only their names tell them apart.
    if len(keys) > 1 and signing_key_id(first) == signing_key_id(second):
        raise UnsignedAnswer(
            "Two principals must approve, and both approvals are signed by one key.",
            hint="Let another principal approve, with their own key.",
        )


def signing_digest(decision: str, envelope: str, answer: Mapping[str, Json], answered_at: str, channel: str) -> str:
    """Return the digest of an answer, which the principal signs.

    Args:
        decision: The reference of the decision, as events have it.
        envelope: The digest of the envelope.
        answer: An option with the digest of its action, or a salted hash of the words.
        answered_at: The time in ISO 8601.
        channel: The channel that the answer came by.
    """
    members = {
        "type": "emitter.answer",
        "decision": decision,
        "envelope": envelope,
        "at": answered_at,
        "channel": channel,
    }
    return digest_of({**members, "answer": dict(answer)}, CanonicalProfile.WIRE)


def signed_selection(
    index: int, action: str | None, principal: str = "", first_approval: str | None = None
) -> Mapping[str, Json]:
    """Return the signed part of a selection: the option, its action, who chose it, and the approval before it."""
    members: dict[str, Json] = {"outcome": "selected", "index": index, "action": action}
    named = {"principal": principal} if principal else {}
    return {**members, **named, **({} if first_approval is None else {"firstApproval": first_approval})}


def signed_approval(index: int, action: str | None, principal: str) -> Mapping[str, Json]:
    """Return the signed part of a first approval."""
    # Another outcome than "selected", so that a first approval's signature cannot be replayed as a resolution.
    return {**signed_selection(index, action, principal), "outcome": "approved"}


def verify_answer(verifier: AnswerVerifier, statement: str, signature: str | None) -> None:
    """Raise ``UnsignedAnswer`` if an answer has no valid signature."""
    try:
        verifier(statement, signature)
    except Tampered as error:
        raise UnsignedAnswer(
            f"{error.args[0]} It authorizes nothing.",
            hint="Make a new call, and answer it with `emitter resolve --sign KEY` or a Ledger(sign=...).",
        ) from None
