"""What a surface sends back: one of the three resolutions, of the envelope that was shown; or an error, or nothing.

Source: draft-morrison-binding-moment-envelope-00, sections 3, 4 and 6.3.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from emitter.decide import Dialogue, FreeText, Selected, Unresolved, digest
from emitter.errors import HatchClosed, ResolutionError
from emitter.testing.surfaces.require import refuses, require, returns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.kinds import BindingMoment
    from emitter.testing.surfaces.subject import Subject
    from emitter.wire import Json

ANSWER = "2 of them, but not today (see: 1)"
"""An answer in one's own words that begins like the choice of an option."""
OBJECTION = "What about the other customers?"
FORGED: tuple[Json, ...] = (
    *(None, True, False, -1, 1.5, [], [0], {}, {"action": "accept"}, {"index": 99}, {"selected": "0"}),
    *("", " ", "\n", "yes", "y", "ok", "approve", "recommended", "0", "-1", "1.5", "1 2", "\u0661", "99", "null", "{}"),
)
"""Replies that answer nothing, on any surface."""
UNNAMED: tuple[Json, ...] = (0, 1, "1", "2", {"index": 0}, {"selected": 0}, {"dialogue": ""}, {"free_text": "Neither."})
"""Replies that do not name the envelope, so may be to another."""


def selection(subject: Subject[Any], moment: BindingMoment) -> None:
    """§6.3: choosing an option comes back as the choice of this option of this envelope."""
    for index, _ in enumerate(moment.question.options):
        returns(subject, moment, subject.select(subject.draw(moment), index), Selected(digest(moment), index))


def own_words(subject: Subject[Any], moment: BindingMoment) -> None:
    """§6.3: an answer in one's own words comes back as it was given; where the hatch is closed, it is refused."""
    if moment.question.hatches.free_text:
        reply = subject.answer(subject.draw(moment), ANSWER)
        returns(subject, moment, reply, FreeText(digest(moment), ANSWER))
    else:
        refuses(subject, moment, lambda: subject.answer(subject.draw(moment), ANSWER), HatchClosed)


def objection(subject: Subject[Any], moment: BindingMoment) -> None:
    """§6.3: the veto on the question comes back with its objection, or with none; where it is closed, it is refused."""
    if not moment.question.hatches.dialogue:
        refuses(subject, moment, lambda: subject.object(subject.draw(moment), OBJECTION), HatchClosed)
        return
    for text in (OBJECTION, ""):
        returns(subject, moment, subject.object(subject.draw(moment), text), Dialogue(digest(moment), text))


def out_of_range(subject: Subject[Any], moment: BindingMoment) -> None:
    """§6.3: the choice of an option that is not there is refused."""
    for index in (len(moment.question.options), 99):
        refuses(subject, moment, partial(subject.select, subject.draw(moment), index), ResolutionError)


def forged(subject: Subject[Any], moment: BindingMoment) -> None:
    """§6.3: what is no answer is refused or unresolved, and is never consent."""
    _nothing(subject, moment, FORGED)


def unnamed(subject: Subject[Any], moment: BindingMoment) -> None:
    """§3: on a surface whose replies name their envelope, one that does not is refused."""
    _nothing(subject, moment, UNNAMED)


def foreign(subject: Subject[Any], moment: BindingMoment, other: BindingMoment) -> None:
    """§3: an envelope takes only replies to itself."""
    refuses(subject, moment, lambda: subject.select(subject.draw(other), 0), ResolutionError)
    if moment.question.hatches.free_text and other.question.hatches.free_text:
        refuses(subject, moment, lambda: subject.answer(subject.draw(other), ANSWER), ResolutionError)
    if moment.question.hatches.dialogue and other.question.hatches.dialogue:
        refuses(subject, moment, lambda: subject.object(subject.draw(other), OBJECTION), ResolutionError)


def _nothing(subject: Subject[Any], moment: BindingMoment, replies: Iterable[Json]) -> None:
    for reply in replies:
        try:
            found = subject.read(moment, reply)
        except ResolutionError:
            continue
        require(isinstance(found, Unresolved), f"the reply {reply!r} was taken for {type(found).__name__}")
