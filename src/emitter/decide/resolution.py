"""The principal's answer: exactly one of three, bound to the envelope it answers; or none, which is no consent.

Source: draft-morrison-binding-moment-envelope-00, section 6.3. Selecting an option is a vote, a free text an amendment,
a dialogue the motion to refer the question back. The draft asks that the three can be told apart and leaves the wire
form open: the one here is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias, assert_never

from emitter.decide.blank import is_blank
from emitter.decide.canonical import HALF_PAIR, conform
from emitter.decide.digest import DIGEST_CHARS, DIGEST_PATTERN, digest, envelope, is_digest
from emitter.errors import BadResolution, HatchClosed, NoSuchOption, NotCanonical

if TYPE_CHECKING:
    from emitter.kinds import BindingMoment
    from emitter.wire import Json

MAX_ANSWER: Final = 10_000
"""The longest answer or objection, in characters."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The option at ``index``, counted from 0, of the envelope with this ``digest``."""

    digest: str
    index: int


@dataclass(frozen=True, slots=True)
class FreeText:
    """An answer that is none of the options: the question stands, the answers are revised."""

    digest: str
    answer: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The question itself is refused, and deliberation is reopened; ``objection`` may be empty."""

    digest: str
    objection: str


class Unanswered(str, Enum):
    """Why there is no resolution."""

    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    DECLINED = "declined"
    DROPPED = "dropped"
    """The host or the surface never showed it, or cannot answer."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Nobody decided. It is never an option and never consent."""

    digest: str
    reason: Unanswered


Resolution: TypeAlias = Selected | FreeText | Dialogue


def selected(moment: BindingMoment, index: int) -> Selected:
    """Return the vote for an option; raises ``NoSuchOption``, or ``InputError`` for what is no envelope."""
    count = len(envelope(moment).question.options)
    if type(index) is not int or not 0 <= index < count:
        raise NoSuchOption(f"There is no option at that index; the envelope has {count}, counted from 0.")
    return Selected(digest(moment), index)


def free_text(moment: BindingMoment, answer: str) -> FreeText:
    """Return an answer in the principal's own words; raises ``HatchClosed``, or ``BadResolution`` for no words.

    It is kept as it was given, may have up to ``MAX_ANSWER`` characters, and has one that can be seen: see
    ``emitter.decide.blank``. Raises ``InputError`` for what is no envelope.
    """
    if not envelope(moment).question.hatches.free_text:
        raise HatchClosed("The envelope takes no answer other than its options.")
    return FreeText(digest(moment), _answer(answer))


def dialogue(moment: BindingMoment, objection: str = "") -> Dialogue:
    """Return the veto on the question itself; raises ``HatchClosed``, or ``BadResolution`` for too many words.

    An objection in which nothing can be seen is the empty one. Raises ``InputError`` for what is no envelope.
    """
    if not envelope(moment).question.hatches.dialogue:
        raise HatchClosed("The envelope does not take a veto on its question.")
    return Dialogue(digest(moment), _objection(objection))


def checked(given: object) -> Resolution | Unresolved:
    """Return what was given, if it is a resolution or the lack of one: it may have come from untyped code.

    Raises ``BadResolution`` for anything else.
    """
    match given:
        case Selected() | FreeText() | Dialogue() | Unresolved(reason=Unanswered()):
            return given
        case _:
            raise BadResolution(
                "It is no resolution: neither a selection, nor a text, nor an objection, nor the lack of all three."
            )


def to_json(resolution: Resolution | Unresolved) -> dict[str, Json]:
    """Return the wire form, see ``RESOLUTION_SCHEMA``; raises ``BadResolution`` for what is no resolution."""
    known = checked(resolution)
    match known:
        case Selected(digest=named, index=index):
            return {"outcome": "selected", "digest": named, "index": index}
        case FreeText(digest=named, answer=answer):
            return {"outcome": "free_text", "digest": named, "answer": answer}
        case Dialogue(digest=named, objection=objection):
            return {"outcome": "dialogue", "digest": named, "objection": objection}
        case Unresolved(digest=named, reason=reason):
            return {"outcome": "unresolved", "digest": named, "reason": reason.value}
        case _:
            assert_never(known)


def of_json(value: Json) -> Resolution | Unresolved:
    """Return what a wire form says, whatever ``value`` is; raises ``BadResolution``.

    Whether the envelope has that option or offers that veto is not asked here: see ``continue_after``.
    """
    match _plain(value):
        case {"outcome": "selected", "digest": named, "index": index, **more} if not more:
            return Selected(_named(named), _index(index))
        case {"outcome": "free_text", "digest": named, "answer": answer, **more} if not more:
            return FreeText(_named(named), _answer(answer))
        case {"outcome": "dialogue", "digest": named, "objection": objection, **more} if not more:
            return Dialogue(_named(named), _objection(objection))
        case {"outcome": "unresolved", "digest": named, "reason": reason, **more} if not more:
            return Unresolved(_named(named), _unanswered(reason))
        case _:
            raise BadResolution("This is none of the forms that a resolution has.", hint=_FORMS)


_FORMS: Final = (
    "They are outcome selected with an index, free_text with an answer, dialogue with an objection, and unresolved with"
    " a reason; each with the envelope's digest, and with no other member."
)


def _plain(value: Json) -> Json:
    try:
        return conform(value)
    except NotCanonical as error:
        raise BadResolution(f"A resolution is plain JSON. {error.reason}") from None


def _named(given: Json) -> str:
    if not is_digest(given):
        raise BadResolution("The digest of a resolution is sha256: and 64 lower-case hexadecimal digits.")
    return given


def _index(given: Json) -> int:
    if type(given) is not int or given < 0:
        raise BadResolution("The index of a resolution is the number of an option, counted from 0.")
    return given


def _answer(given: Json) -> str:
    answer = _words(given)
    if is_blank(answer):
        raise BadResolution("An answer in one's own words needs some.")
    return answer


def _objection(given: Json) -> str:
    objection = _words(given)
    return "" if is_blank(objection) else objection


def _words(given: Json) -> str:
    if not isinstance(given, str) or len(given) > MAX_ANSWER or HALF_PAIR.search(given):
        raise BadResolution(f"Words of one's own are a text of at most {MAX_ANSWER:,} characters, each a whole one.")
    return given


def _unanswered(given: Json) -> Unanswered:
    if given not in (known := [each.value for each in Unanswered]):
        raise BadResolution(f"The reason of what is unresolved is one of {', '.join(known)}.")
    return Unanswered(given)


def _form(outcome: str, about: str, **own: Json) -> dict[str, Json]:
    members = {
        "outcome": {"type": "string", "enum": [outcome]},
        "digest": {"type": "string", "pattern": DIGEST_PATTERN, "maxLength": DIGEST_CHARS},
        **own,
    }
    return {
        "type": "object",
        "description": about,
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


RESOLUTION_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "description": "How a binding moment was resolved; the digest is that of the envelope that was answered.",
    "anyOf": [
        _form(
            "selected",
            "The principal chose an option.",
            index={"type": "integer", "minimum": 0, "description": "The option, counted from 0."},
        ),
        _form(
            "free_text",
            "The principal answered the question in words of their own.",
            answer={"type": "string", "minLength": 1, "maxLength": MAX_ANSWER},
        ),
        _form(
            "dialogue",
            "The principal refused the question; the objection may be empty.",
            objection={"type": "string", "maxLength": MAX_ANSWER},
        ),
        _form(
            "unresolved",
            "Nobody decided, which is no consent.",
            reason={"type": "string", "enum": [each.value for each in Unanswered]},
        ),
    ],
}
"""The wire form as JSON Schema 2020-12, without ``$schema``, so that it can stand inside a tool's argument schema.

It takes whatever ``of_json`` takes; what it cannot say is that something of an answer must be seen.
"""
