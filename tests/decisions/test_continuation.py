"""What the agent may do after each resolution: the one thing that it means, for the one envelope that it answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from emitter.decisions import (
    Act,
    Dialogue,
    FreeText,
    Hold,
    Incorporate,
    Reopen,
    Selected,
    Unresolved,
    UnresolvedReason,
    answer_in_words,
    continue_after,
    digest,
    open_dialogue,
    select_option,
)
from emitter.errors import BadResolution, HatchClosed, InputError, NoSuchOption, WrongDigest
from emitter.models import BindingMoment, Hatches, Meta, Option, Question
from emitter.visible_text import is_blank

_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_OPTIONS = st.lists(st.builds(Option, label=_WORDS, reasoning=_WORDS), min_size=2, max_size=4)


@st.composite
def moments(draw: st.DrawFn) -> BindingMoment:
    """Draw a well-formed envelope."""
    options = tuple(draw(_OPTIONS))
    hatches = Hatches(free_text=draw(st.booleans()), dialogue=draw(st.booleans()))
    question = Question.ask(draw(_WORDS), options, draw(st.integers(0, len(options) - 1)), hatches)
    briefing = st.lists(_WORDS, max_size=3).map(tuple)
    meta = draw(st.none() | st.builds(Meta, decision_class=_WORDS))
    known: dict[str, Any] = {} if meta is None else {"meta": meta}
    return BindingMoment(
        synopsis=draw(_WORDS),
        findings=draw(briefing),
        recommendations=draw(briefing),
        offer=draw(_WORDS),
        question=question,
        **known,
    )


@st.composite
def answered(draw: st.DrawFn) -> tuple[BindingMoment, Any, Any]:
    """Draw an envelope, one of the resolutions that it takes or the lack of one, and what follows on it."""
    moment = draw(moments())
    index, words = draw(st.integers(0, len(moment.question.options) - 1)), draw(_WORDS)
    reason = draw(st.sampled_from(UnresolvedReason))
    said = "" if is_blank(words) else words
    found: list[tuple[Any, Any]] = [
        (select_option(moment, index), Act(moment, index)),
        (Unresolved(digest(moment), reason), Hold(moment, reason)),
    ]
    if moment.question.hatches.free_text and said:
        found.append((answer_in_words(moment, words), Incorporate(moment, words)))
    if moment.question.hatches.dialogue:
        found.append((open_dialogue(moment, words), Reopen(moment, said)))
    return moment, *draw(st.sampled_from(found))


@settings()
@given(answered())
def test_each_resolution_means_one_thing(drawn: tuple[BindingMoment, Any, Any]) -> None:
    """For every envelope and each resolution that it takes: the one continuation, with the envelope and the words."""
    moment, resolution, allowed = drawn
    found = continue_after(resolution, moment)
    assert found == allowed
    assert type(found) is type(allowed)
    assert found.moment == moment


@settings()
@given(answered(), moments())
def test_a_resolution_of_another_envelope_means_nothing(drawn: Any, other: BindingMoment) -> None:
    """Whatever it says, and however alike the envelopes are."""
    moment, resolution, _ = drawn
    assume(other != moment)
    with pytest.raises(WrongDigest):
        continue_after(resolution, other)
    slightly = moment.model_copy(update={"offer": f"{moment.offer}."})
    with pytest.raises(WrongDigest):
        continue_after(resolution, slightly)


OPEN = BindingMoment(
    synopsis="Do it.",
    findings=("A finding.",),
    recommendations=("Do it.",),
    offer="Ask.",
    question=Question.ask(
        "Should it be done?", [Option(label="Do it", reasoning="Now."), Option(label="Wait", reasoning="Later.")], 0
    ),
)
SHUT = OPEN.model_copy(
    update={"question": OPEN.question.model_copy(update={"hatches": Hatches(free_text=False, dialogue=False)})}
)
UNFIT: dict[str, tuple[BindingMoment, Any, type[Exception]]] = {
    "an option too many": (OPEN, Selected(digest(OPEN), 2), NoSuchOption),
    "an option below the first": (OPEN, Selected(digest(OPEN), -1), NoSuchOption),
    "a truth value for an option": (OPEN, Selected(digest(OPEN), True), NoSuchOption),
    "a text for an option": (OPEN, Selected(digest(OPEN), "0"), NoSuchOption),  # type: ignore[arg-type]
    "an answer that is not taken": (SHUT, FreeText(digest(SHUT), "Twice."), HatchClosed),
    "a veto that is not taken": (SHUT, Dialogue(digest(SHUT), "Why?"), HatchClosed),
    "an answer without words": (OPEN, FreeText(digest(OPEN), "\t"), BadResolution),
    "an answer that nobody can see": (OPEN, FreeText(digest(OPEN), "\u200b"), BadResolution),
    "an answer that is no text": (OPEN, FreeText(digest(OPEN), None), BadResolution),  # type: ignore[arg-type]
    "an objection that is no text": (OPEN, Dialogue(digest(OPEN), b"Why?"), BadResolution),  # type: ignore[arg-type]
    "no known reason": (OPEN, Unresolved(digest(OPEN), "timeout"), BadResolution),  # type: ignore[arg-type]
    "nothing": (OPEN, None, BadResolution),
    "the wire form of one": (OPEN, {"outcome": "selected", "digest": digest(OPEN), "index": 0}, BadResolution),
    "a continuation": (OPEN, Act(OPEN, 0), BadResolution),
}


@pytest.mark.parametrize(("moment", "resolution", "error"), UNFIT.values(), ids=UNFIT)
def test_what_an_envelope_does_not_take(moment: BindingMoment, resolution: Any, error: type[Exception]) -> None:
    """A typed error, and nothing that the agent could act on."""
    with pytest.raises(error):
        continue_after(resolution, moment)


@pytest.mark.parametrize("asked", [{}, OPEN.to_json(), None, "x"], ids=["empty", "wire form", "none", "text"])
def test_what_is_no_envelope_was_not_asked(asked: Any) -> None:
    """A typed error as well."""
    with pytest.raises(InputError, match="it must be a BindingMoment"):
        continue_after(select_option(OPEN, 0), asked)


def test_an_objection_that_nobody_can_see_is_the_empty_one() -> None:
    """However it was made."""
    assert continue_after(Dialogue(digest(OPEN), "\u200b\ufeff"), OPEN) == Reopen(OPEN, "")


def test_a_closed_hatch_takes_no_veto_but_votes() -> None:
    """And that nobody decided can be said of any envelope."""
    assert continue_after(select_option(SHUT, 1), SHUT) == Act(SHUT, 1)
    assert continue_after(Unresolved(digest(SHUT), UnresolvedReason.TIMEOUT), SHUT) == Hold(
        SHUT, UnresolvedReason.TIMEOUT
    )


def test_acting_is_on_the_option_that_was_chosen() -> None:
    """Not on the recommended one."""
    acting: Any = continue_after(select_option(OPEN, 1), OPEN)
    assert acting.option == OPEN.question.options[1] != OPEN.question.recommended


@pytest.mark.parametrize("reason", UnresolvedReason)
def test_that_nobody_decided_lets_nothing_happen(reason: UnresolvedReason) -> None:
    """Silence, a cancelled form, a declined one and a host that drops it: each holds, and none is consent."""
    assert continue_after(Unresolved(digest(OPEN), reason), OPEN) == Hold(OPEN, reason)


def test_an_objection_may_be_without_words() -> None:
    """A veto needs no reason."""
    assert continue_after(open_dialogue(OPEN), OPEN) == Reopen(OPEN, "")
