"""What the principal said to earlier envelopes, as a new one is asked for.

Source: draft-morrison-binding-moment-envelope-00, section 6.2: a veto on the question is a genuine reopening, a free
answer is taken up. The earlier envelope is a model's text and stands in a fence; the principal's words are theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias, assert_never, cast

from emitter.arguments import listed
from emitter.decide import (
    Act,
    Continuation,
    Dialogue,
    FreeText,
    Hold,
    Incorporate,
    Reopen,
    Selected,
    Unresolved,
    dialogue,
    digest,
    free_text,
    selected,
)
from emitter.errors import InputError
from emitter.kinds import DELIBERATION, BindingMoment
from emitter.prompt import fenced

if TYPE_CHECKING:
    from emitter.kinds import Option, Question
    from emitter.prompt import Prompts

After: TypeAlias = Continuation | Iterable[Continuation]
"""One continuation, or several, the earliest first."""

_EARLIER = "your earlier envelope"
_NO_WORDS = "(They gave no reason. Find out what is wrong with the question before you ask another.)"


def heard(prompts: Prompts, after: tuple[Continuation, ...]) -> tuple[str, ...]:
    """Return what the model reads of them."""
    return tuple(_heard(prompts, each) for each in after)


def vetoes(after: tuple[Continuation, ...]) -> tuple[Reopen, ...]:
    """Return the vetoes on a question among them."""
    return tuple(each for each in after if isinstance(each, Reopen))


def continuations(given: object) -> tuple[Continuation, ...]:
    """Return them as they were given; raises ``InputError`` for what is none, and where nobody decided."""
    if isinstance(given, Act | Incorporate | Reopen | Hold):
        given = (given,)
    if isinstance(given, BindingMoment | Selected | FreeText | Dialogue | Unresolved):
        raise InputError(f"after is a {type(given).__name__}.", hint="Pass continue_after(resolution, moment).")
    found = tuple(map(_fitting, listed("after", given, (str, bytes), "what continue_after returned")))
    if len({digest(each.moment) for each in found}) < len(found):
        raise InputError(
            "after holds two answers to one envelope.", hint="An envelope is answered once: pass that one."
        )
    return found


def _fitting(given: object) -> Continuation:
    """Return a continuation that its envelope takes; one that is made by hand may be any."""
    if not isinstance(given, Act | Incorporate | Reopen | Hold) or not isinstance(
        cast("object", given.moment), BindingMoment
    ):
        raise InputError(f"after holds a {type(given).__name__}.", hint="Pass what continue_after returned.")
    match given:
        case Act(moment, index):
            selected(moment, index)
        case Incorporate(moment, answer):
            free_text(moment, answer)
        case Reopen(moment, objection):
            dialogue(moment, objection)
        case Hold():
            raise InputError(
                "after holds a decision that nobody made.", hint="Ask the principal again, or leave it out."
            )
        case _:
            assert_never(given)
    return given


def _heard(prompts: Prompts, after: Continuation) -> str:
    question = _asked(after.moment.question)
    match after:
        case Act(index=index, option=option):
            said = fenced(_option(option), "option", _EARLIER)
            return prompts.fill("chosen", question=question, number=str(index + 1), option=said)
        case Incorporate(answer=answer):
            return prompts.fill("answer", question=question, answer=answer)
        case Reopen(objection=objection):
            said = objection if objection.strip() else _NO_WORDS
            return prompts.fill("objection", question=question, objection=said, deliberation=DELIBERATION)
        case Hold():
            raise TypeError("a decision that nobody made is told to nobody")
        case _:
            assert_never(after)


def _asked(question: Question) -> str:
    options = (f"{index}. {_option(each)}" for index, each in enumerate(question.options, start=1))
    return fenced("\n".join([_line(question.stem), *options]), "question", _EARLIER)


def _option(option: Option) -> str:
    return f"{_line(option.label)}: {_line(option.reasoning)}"


def _line(text: str) -> str:
    """Return a text on one line, as surfaces show it: it can begin no option of its own."""
    return " ".join(text.split())
