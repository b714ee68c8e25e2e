"""What a surface of JSON sends back, read in one place: which envelope, which of the three, the principal's words.

Source: draft-morrison-binding-moment-envelope-00, section 6.3: exactly one of three. A reply that says two things at
once, or that names no envelope, answers nothing.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from emitter.decide import dialogue, digest, free_text, selected
from emitter.errors import BadResolution, WrongDigest
from emitter.wire import mapping

if TYPE_CHECKING:
    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.wire import Json

ANSWER = "answer"
OBJECTION = "objection"
CHOICE = "choice"
"""The fields of a form."""

TOPIC = "topic"
"""The field of a form that says what the principal wants to know more about."""
DETAIL = "detail"
"""The choice of a form, and the outcome that a button carries, that asks for detail and resolves nothing."""

LONGEST_ANSWER = 3000
"""In characters; what the fields of a form hold a person to."""

_OPTION = re.compile(r"option:(0|[1-9]\d{0,8})", re.ASCII)


class Outcome(str, Enum):
    """Which of the three a reply says."""

    SELECTED = "selected"
    FREE_TEXT = "free_text"
    DIALOGUE = "dialogue"


FIELDS = {Outcome.FREE_TEXT: ANSWER, Outcome.DIALOGUE: OBJECTION}
"""Which field of a form holds the words of a veto."""


def answering(of: str, outcome: Outcome, index: int | None = None) -> dict[str, Json]:
    """Return what a button carries: the digest ``of`` the envelope, the outcome, and the option's index."""
    said: dict[str, Json] = {"digest": of, "outcome": outcome.value}
    return said if index is None else {**said, "index": index}


def named(outcome: Outcome, index: int | None = None) -> str:
    """Return the value of a form's choice: ``option:0`` and so on, ``free_text`` or ``dialogue``."""
    return outcome.value if index is None else f"option:{index}"


def answered(moment: BindingMoment, said: Json) -> Resolution:
    """Return what a button's members say, with the words in the field of its veto.

    Raises ``BadResolution``, ``WrongDigest``, ``NoSuchOption`` or ``HatchClosed``.
    """
    given = mapping(said)
    for_this(moment, given.get("digest"))
    try:
        outcome = Outcome(given.get("outcome"))
    except ValueError:
        raise BadResolution(f"A reply's outcome is one of {', '.join(each.value for each in Outcome)}.") from None
    return _resolution(moment, outcome, given.get("index"), given)


def chosen(moment: BindingMoment, fields: Json) -> Resolution:
    """Return what the fields of a form say; raises as ``answered``, and ``BadResolution`` for two things at once."""
    given = mapping(fields)
    outcome, index = _named(given.get(CHOICE))
    _alone(given, outcome)
    return _resolution(moment, outcome, index, given)


def asked_for(moment: BindingMoment, said: Json) -> str | None:
    """Return the topic that a form's fields or a button's members ask for detail on, empty for all of the decision.

    Return None where they ask for no detail. Raises ``BadResolution`` and ``WrongDigest`` as ``answered`` does, and
    ``BadResolution`` where words of an answer were written as well.
    """
    given = mapping(said)
    if DETAIL not in (given.get(CHOICE), given.get("outcome")):
        return None
    for_this(moment, given.get("digest"))
    if any(_words(given, field).strip() for field in FIELDS.values()):
        raise BadResolution("Detail was asked for, and words of an answer were written.", hint="Do one of the two.")
    return _words(given, TOPIC)


def for_this(moment: BindingMoment, named_digest: Json) -> None:
    """Raise ``WrongDigest`` where a reply is for another envelope, and ``BadResolution`` where it names none."""
    if not isinstance(named_digest, str):
        raise BadResolution("The reply does not name the envelope that it answers.")
    if named_digest != digest(moment):
        raise WrongDigest("The reply answers another envelope.")


def _named(choice: Json) -> tuple[Outcome, int | None]:
    if isinstance(choice, str):
        if option := _OPTION.fullmatch(choice):
            return Outcome.SELECTED, int(option[1])
        if choice in FIELDS:
            return Outcome(choice), None
    raise BadResolution("Nothing that the form offers was chosen.", hint="Choose an option or a veto.")


def _alone(fields: Json, outcome: Outcome) -> None:
    for each, field in FIELDS.items():
        if each is not outcome and _words(fields, field).strip():
            raise BadResolution(
                "One thing was chosen and the words of another were written.", hint="Choose, or write: not both."
            )


def _resolution(moment: BindingMoment, outcome: Outcome, index: Json, given: Json) -> Resolution:
    match outcome:
        case Outcome.SELECTED:
            return selected(moment, index)
        case Outcome.FREE_TEXT:
            return free_text(moment, _words(given, ANSWER))
        case Outcome.DIALOGUE:
            return dialogue(moment, _words(given, OBJECTION))
        case _:
            assert_never(outcome)


def _words(given: Json, field: str) -> str:
    """Return a field's text; an empty one for a field that was left out, or emptied."""
    words: object = mapping(given).get(field)
    if words is None:
        return ""
    if not isinstance(words, str):
        raise BadResolution(f"The field {field} takes text.")
    return words
