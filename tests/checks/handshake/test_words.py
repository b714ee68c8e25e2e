"""Which words count as one: forms, synonyms and verbs with a particle."""

from __future__ import annotations

from collections import Counter

import pytest

from emitter.checks.similarity_lexicon import CONCEPT_GROUPS, IRREGULAR_FORMS, PHRASAL_VERBS
from emitter.checks.text_features import concept_of, is_function_word, join_phrasal_verbs, stem_word, tokenize

WORDS = [(same.split()[0], word) for same, other in CONCEPT_GROUPS for word in (*same.split(), *other.split())]


def texts(text: str) -> list[str]:
    """Return the words of a text, its verbs and particles put together."""
    return [each.text for each in join_phrasal_verbs(tokenize(text, 2))]


def test_no_word_stands_in_the_table_twice() -> None:
    """Nor is one of its ideas the name of two lines."""
    assert [word for word, times in Counter(word for _, word in WORDS).items() if times > 1] == []
    assert len({concept_of(same.split()[0])[0] for same, _ in CONCEPT_GROUPS}) == len(CONCEPT_GROUPS)


def test_each_word_of_the_table_is_its_own_idea_in_one_and_in_many() -> None:
    """No other word with the same stem takes it away, and it tells something."""
    assert [word for first, word in WORDS if concept_of(word)[0] != stem_word(first)] == []
    assert [
        word
        for first, word in WORDS
        if concept_of(f"{word}s")[0] != stem_word(first) and f"{word}s" not in IRREGULAR_FORMS
    ] == ["fund"]
    assert [word for _, word in WORDS if is_function_word(word)] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("agreement", "contract"), ("agree", "approve"), ("agreements", "contract"), ("sold", "selling")),
        *(("used", "use"), ("cancellation", "cancelled"), ("acquisition", "acquired"), ("retesting", "retested")),
        *(("organise", "organized"), ("harbour", "harbors"), ("repeated", "repetition"), ("candidates", "applicant")),
    ],
)
def test_forms_of_a_word_and_words_of_one_meaning_are_one(one: str, other: str) -> None:
    """By the ending, by the table of forms, or by that of synonyms."""
    assert concept_of(one)[0] == concept_of(other)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("agreement", "agree"),
        ("repeat", "repeal"),
        ("hour", "hor"),
        ("carrying", "car"),
        ("role", "roll"),
    ],
)
def test_words_that_only_look_alike_are_two(one: str, other: str) -> None:
    """Where they share a stem, or would."""
    assert concept_of(one)[0] != concept_of(other)[0]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        pytest.param("call off the strike", "cancel the strike", id="beside it"),
        pytest.param("called it off", "cancel it", id="past a pronoun"),
        pytest.param("tear the old wall down", "demolish the old wall", id="past an object"),
        pytest.param("send the parcel back to us", "return the parcel to us", id="before a word that tells nothing"),
        pytest.param("send the parcel back home", "send the parcel back home", id="before one that does"),
        pytest.param("call the guard on duty off", "call the guard on duty off", id="past a preposition"),
        pytest.param(
            "send the very long and heavy parcel back", "send the very long and heavy parcel back", id="far away"
        ),
        pytest.param("look into the box", "investigate the box", id="whatever comes after it"),
        pytest.param("call off", "cancel", id="at the end"),
        pytest.param("call", "call", id="without one"),
        pytest.param("wave off", "wave off", id="with another one"),
    ],
)
def test_a_verb_with_its_particle_is_one_word(text: str, read: str) -> None:
    """The particle stands beside the verb, or after its object."""
    assert texts(text) == read.split()


def test_a_name_is_no_verb() -> None:
    """What must be exact is left as it is."""
    assert texts("ask Call off duty") == ["ask", "call", "off", "duty"]


def test_each_verb_and_particle_is_put_together() -> None:
    """None is a name of the same verb in another line, and no stem hides one."""
    for (verb, particle), word in PHRASAL_VERBS.items():
        assert texts(f"{verb} {particle}") == [word]
