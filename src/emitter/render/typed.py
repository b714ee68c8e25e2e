"""What a person types to answer: a number for an option, a letter and words for a veto. Anything else is no answer.

Source: draft-morrison-binding-moment-envelope-00, sections 6.3 and 8.2 ("a labelled multiple-choice block").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from emitter.decide import dialogue, free_text, selected
from emitter.errors import BadResolution, NoSuchOption
from emitter.render.layout import HATCHES, OFFER, HatchKind, open_hatches

if TYPE_CHECKING:
    from emitter.decide import Resolution
    from emitter.kinds import BindingMoment
    from emitter.wire import Json

_NUMBER = re.compile(r"(0|[1-9][0-9]{0,8})[.)]?")
_LETTER = re.compile(r"([a-z])(?:[.:)]\s*|\s+|$)(.*)", re.IGNORECASE | re.DOTALL)
_KINDS = {each.key: kind for kind, each in HATCHES.items()}
_WORDS = {HatchKind.FREE_TEXT: "your answer", HatchKind.DIALOGUE: "your objection"}


def typed(moment: BindingMoment, reply: Json) -> Resolution:
    """Return what a typed reply says.

    Raises ``BadResolution`` for one that says nothing, ``NoSuchOption``, or ``HatchClosed``.
    """
    if not isinstance(reply, str):
        raise BadResolution("A typed reply is a text.", hint=may_type(moment))
    said = reply.strip()
    if number := _NUMBER.fullmatch(said):
        return _numbered(moment, int(number[1]))
    letter = _LETTER.match(said)
    kind = None if letter is None else _KINDS.get(letter[1].lower())
    if letter is None or kind is None:
        raise BadResolution("That is no answer.", hint=may_type(moment))
    return free_text(moment, letter[2]) if kind is HatchKind.FREE_TEXT else dialogue(moment, letter[2])


def topic(reply: str) -> str | None:
    """Return what a typed line asks for detail on (``m the second finding``); None for a line that does not."""
    letter = _LETTER.match(reply.strip())
    return letter[2].strip() if letter is not None and letter[1].lower() == OFFER.key else None


def _numbered(moment: BindingMoment, number: int) -> Resolution:
    try:
        return selected(moment, number - 1)
    except NoSuchOption as error:
        raise NoSuchOption("There is no option of that number.", hint=may_type(moment)) from error


def may_type(moment: BindingMoment, *, detail: bool = False) -> str:
    """Return one sentence that says what can be typed; ``detail`` says whether detail can be asked for."""
    question = moment.question
    numbers = [str(index + 1) for index, _ in enumerate(question.options)]
    vetoes = [f"{each.key} and {_WORDS[each.kind]}" for each in open_hatches(question.hatches)]
    if detail:
        vetoes.append(f"{OFFER.key} and what you want to know more about")
    *first, last = [f"{', '.join(numbers[:-1])} or {numbers[-1]} to choose", *vetoes]
    return f"Type {', '.join(first)}, or {last}." if first else f"Type {last}."
