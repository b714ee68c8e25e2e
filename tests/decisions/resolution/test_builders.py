"""The three answers, bound to the envelope they answer: draft-morrison-binding-moment-envelope-00, section 6."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.decisions.canonical_json import digest
from emitter.decisions.resolution import (
    MAX_ANSWER_LENGTH,
    Dialogue,
    FreeText,
    Selected,
    answer_in_words,
    open_dialogue,
    select_option,
)
from emitter.errors import BadResolution, HatchClosed, InputError, NoSuchOption, ResolutionError
from emitter.visible_text import is_blank
from tests.decisions.resolution.moments import moment

NAMED = digest(moment())


def test_each_answer_names_the_envelope() -> None:
    """A resolution carries the digest, and what was answered as it was given."""
    assert select_option(moment(), 1) == Selected(NAMED, 1)
    assert answer_in_words(moment(), " Half of it.\n") == FreeText(NAMED, " Half of it.\n")
    assert open_dialogue(moment(), "Whose payment?") == Dialogue(NAMED, "Whose payment?")
    assert open_dialogue(moment()) == Dialogue(NAMED, "")
    assert select_option(moment("Hold the payment."), 1).digest != NAMED


@pytest.mark.parametrize("index", [2, 3, -1, True, False, "0", 0.0, None, 2**70], ids=repr)
def test_an_option_that_is_not_there(index: Any) -> None:
    """Only an integer in the range of the options is a vote."""
    with pytest.raises(NoSuchOption, match="It has 2 options, counted from 0"):
        select_option(moment(), index)


def test_a_closed_hatch_takes_nothing() -> None:
    """Section 5.8: each hatch is open on its own, and a closed one cannot be used."""
    with pytest.raises(HatchClosed):
        answer_in_words(moment(hatches=(False, True)), "Half of it.")
    with pytest.raises(HatchClosed):
        open_dialogue(moment(hatches=(True, False)))
    assert isinstance(answer_in_words(moment(hatches=(True, False)), "Half of it."), FreeText)
    assert isinstance(open_dialogue(moment(hatches=(False, True))), Dialogue)
    assert isinstance(select_option(moment(hatches=(False, False)), 0), Selected)


BLANK = [
    *("", " ", "\n\t", "\u2003", "\u200b", "\u202e", "\ufeff", "\u3164\u2800", "\x00", "\ue000"),
    *("\u0301", "\ufe0f\u034f", " \u200d\u115f\u1160\uffa0"),
]


@pytest.mark.parametrize("answer", BLANK, ids=ascii)
def test_an_answer_needs_words(answer: str) -> None:
    """What nobody can see is no answer, and as an objection it is the empty one."""
    with pytest.raises(BadResolution, match="no visible text"):
        answer_in_words(moment(), answer)
    assert open_dialogue(moment(), answer).objection == ""
    assert is_blank(answer)


@pytest.mark.parametrize("answer", ["x", "?", "0", "\u5426", "\u200b!", "\U0001f44d\ufe0f", "+"], ids=ascii)
def test_one_character_that_is_seen_is_an_answer(answer: str) -> None:
    """In any script, or as a sign; and it is kept with all that was given."""
    assert answer_in_words(moment(), answer).answer == answer
    assert open_dialogue(moment(), answer).objection == answer
    assert not is_blank(answer)


@pytest.mark.parametrize(
    "given", [{}, moment().to_json(), None, moment().question], ids=["empty", "wire form", "none", "part"]
)
def test_what_is_no_envelope_takes_nothing(given: Any) -> None:
    """The wire form is none yet: it is read first."""
    for builder, said in ((select_option, 0), (answer_in_words, "Half."), (open_dialogue, "Why?")):
        with pytest.raises(InputError, match="it must be a BindingMoment") as caught:
            builder(given, said)  # type: ignore[operator]
        assert "Parse" in caught.value.hint


@pytest.mark.parametrize(
    "words", ["hunter2" * 10_000, "x" * (MAX_ANSWER_LENGTH + 1), "hunter2 \ud800"], ids=["7", "1", "half"]
)
def test_words_are_bounded_and_whole(words: str) -> None:
    """Too many characters, or half of one, are refused by every way in, without a word of them."""
    for refuse in (answer_in_words, open_dialogue):
        with pytest.raises(BadResolution, match="at most 10,000 characters without lone surrogates") as caught:
            refuse(moment(), words)
        assert isinstance(caught.value, ResolutionError)
        assert "hunter2" not in str(caught.value)


def test_the_longest_words_are_taken() -> None:
    """The bound itself is allowed, in characters and not in bytes."""
    longest = "\U0001f600" * MAX_ANSWER_LENGTH

    assert answer_in_words(moment(), longest).answer == longest
    assert open_dialogue(moment(), longest).objection == longest
