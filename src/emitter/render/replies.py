"""Parse a surface's reply into a resolution.

Replies are lines that a person typed, the fields of a form, or the value of a button. A reply that says two
things at once, or that answers another envelope, is rejected.

Source: draft-morrison-binding-moment-envelope-00, sections 6.3 and 8.2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emitter.decisions import answer_in_words, digest, open_dialogue, select_option
from emitter.decisions.resolution import ResolutionOutcome
from emitter.errors import BadResolution, NoSuchOption, WrongDigest
from emitter.messages import as_mapping
from emitter.render.layout import DETAIL_OFFER, HATCHES, HatchKind, open_hatches

if TYPE_CHECKING:
    from emitter.decisions import Resolution
    from emitter.messages import Json
    from emitter.models import BindingMoment

_TYPED_NUMBER = re.compile(r"(0|[1-9][0-9]{0,8})[.)]?")
_TYPED_LETTER = re.compile(r"([a-z])(?:[.:)]\s*|\s+|$)(.*)", re.IGNORECASE | re.DOTALL)
_HATCH_BY_KEY = {hatch.key: kind for kind, hatch in HATCHES.items()}
_REPLY_WORDS = {HatchKind.FREE_TEXT: "your answer", HatchKind.DIALOGUE: "your objection"}


def parse_typed_reply(moment: BindingMoment, reply: Json) -> Resolution:
    """Return the resolution that a typed line means, or raise ``ResolutionError``."""
    if not isinstance(reply, str):
        raise BadResolution("A typed reply must be text.", hint=typing_instructions(moment))
    text = reply.strip()
    if number := _TYPED_NUMBER.fullmatch(text):
        return _select_number(moment, int(number[1]))
    letter = _TYPED_LETTER.match(text)
    kind = None if letter is None else _HATCH_BY_KEY.get(letter[1].lower())
    if letter is None or kind is None:
        raise BadResolution("The reply is not an answer.", hint=typing_instructions(moment))
    return veto(moment, kind, letter[2])


def veto(moment: BindingMoment, kind: HatchKind, words: str) -> Resolution:
    """Return the resolution of a veto, or raise ``BadResolution`` or ``HatchClosed``."""
    return answer_in_words(moment, words) if kind is HatchKind.FREE_TEXT else open_dialogue(moment, words)


def parse_typed_topic(reply: str) -> str | None:
    """Return the topic of a typed request for detail, such as ``m the second finding``, or None."""
    letter = _TYPED_LETTER.match(reply.strip())
    return letter[2].strip() if letter is not None and letter[1].lower() == DETAIL_OFFER.key else None


def _select_number(moment: BindingMoment, number: int) -> Resolution:
    try:
        return select_option(moment, number - 1)
    except NoSuchOption as error:
        raise NoSuchOption(f"There is no option {number}.", hint=typing_instructions(moment)) from error


def typing_instructions(moment: BindingMoment, *, detail: bool = False) -> str:
    """Return one sentence that lists what a person can type, with or without the request for detail."""
    question = moment.question
    numbers = [str(index + 1) for index, _ in enumerate(question.options)]
    vetoes = [f"{hatch.key} and {_REPLY_WORDS[hatch.kind]}" for hatch in open_hatches(question.hatches)]
    if detail:
        vetoes.append(f"{DETAIL_OFFER.key} and what you want to know more about")
    *first, last = [f"{', '.join(numbers[:-1])} or {numbers[-1]} to choose", *vetoes]
    return f"Type {', '.join(first)}, or {last}." if first else f"Type {last}."


CHOICE = "choice"
"""The form field that holds the choice."""
TOPIC = "topic"
"""The form field that holds the topic of a request for detail."""
DETAIL = "detail"
"""The form choice, and the button outcome, that asks for detail. It resolves nothing."""
MAX_ANSWER_LENGTH = 3000
"""Characters that the fields of a form accept."""
_OPTION_VALUE = re.compile(r"option:(0|[1-9]\d{0,8})", re.ASCII)


VETO_FIELDS = {hatch.outcome: hatch.field for hatch in HATCHES.values()}
"""The form field that holds the words of each veto."""


def button_value(envelope_digest: str, outcome: ResolutionOutcome, index: int | None = None) -> dict[str, Json]:
    """Return the value of a button: the envelope's digest, the outcome and the option's index."""
    value: dict[str, Json] = {"digest": envelope_digest, "outcome": outcome.value}
    return value if index is None else {**value, "index": index}


def encode_choice(outcome: ResolutionOutcome, index: int | None = None) -> str:
    """Return the value of a form's choice: ``option:0``, ``free_text`` or ``dialogue``."""
    return outcome.value if index is None else f"option:{index}"


def parse_button_reply(moment: BindingMoment, value: Json) -> Resolution:
    """Return the resolution that a button's value and its veto field mean, or raise ``ResolutionError``."""
    members = as_mapping(value)
    check_digest(moment, members.get("digest"))
    try:
        outcome = ResolutionOutcome(members.get("outcome"))
    except ValueError:
        known = ", ".join(outcome.value for outcome in ResolutionOutcome)
        raise BadResolution(f"The outcome of a reply must be one of {known}.") from None
    return _build_resolution(moment, outcome, members.get("index"), members)


def parse_form_reply(moment: BindingMoment, fields: Json) -> Resolution:
    """Return the resolution that the fields of a form mean, or raise ``ResolutionError``."""
    outcome, index = _decode_choice(as_mapping(fields).get(CHOICE))
    for other, field in VETO_FIELDS.items():
        if other is not outcome and _read_field(fields, field).strip():
            raise BadResolution(
                "The form holds a choice and the words of another answer.", hint="Choose or write, not both."
            )
    return _build_resolution(moment, outcome, index, fields)


def parse_detail_request(moment: BindingMoment, reply: Json) -> str | None:
    """Return the topic of a request for detail ("" for all), None for another reply, or raise ``ResolutionError``."""
    members = as_mapping(reply)
    if DETAIL not in (members.get(CHOICE), members.get("outcome")):
        return None
    check_digest(moment, members.get("digest"))
    if any(_read_field(members, field).strip() for field in VETO_FIELDS.values()):
        raise BadResolution("The reply asks for detail and also holds an answer.", hint="Ask or answer, not both.")
    return _read_field(members, TOPIC)


def check_digest(moment: BindingMoment, named_digest: Json) -> None:
    """Raise ``BadResolution`` if a reply names no envelope, and ``WrongDigest`` if it names another one."""
    if not isinstance(named_digest, str):
        raise BadResolution("The reply does not name the envelope that it answers: its digest must be text.")
    if named_digest != digest(moment):
        raise WrongDigest("The reply answers another envelope: its digest is not this one's.")


def _decode_choice(choice: Json) -> tuple[ResolutionOutcome, int | None]:
    if isinstance(choice, str):
        if option := _OPTION_VALUE.fullmatch(choice):
            return ResolutionOutcome.SELECTED, int(option[1])
        if choice in VETO_FIELDS:
            return ResolutionOutcome(choice), None
    raise BadResolution("The form holds no choice that it offers.", hint="Choose an option or a veto.")


def _build_resolution(moment: BindingMoment, outcome: ResolutionOutcome, index: Json, fields: Json) -> Resolution:
    if outcome is ResolutionOutcome.SELECTED:
        return select_option(moment, index)
    return veto(moment, HatchKind(outcome.value), _read_field(fields, VETO_FIELDS[outcome]))


def _read_field(fields: Json, field: str) -> str:
    """Return a field's text; a missing field is empty."""
    words: object = as_mapping(fields).get(field)
    if not isinstance(words, str | None):
        raise BadResolution(f"The field {field} must be text, not {type(words).__name__}.")
    return words or ""
