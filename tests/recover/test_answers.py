"""Real answers that are no JSON: read where they are whole, and never where they are cut."""

from __future__ import annotations

from tests.recover.answers import agreement, answers, corrections
from tests.shared import lines

READ_AT_LEAST = 26
"""Of the 27 real answers that are almost JSON: 16 were read when quotations and formulas were not."""
WORDS_AT_MOST, CHARACTERS_AT_MOST = 1, 4
"""The corrections that the words around 3,536 answers buy, and the control characters in them."""


def test_what_is_whole_is_read_and_what_is_cut_is_not() -> None:
    """Nothing is read out of a cut answer, and nothing that does not stand in the answer out of any."""
    texts = list(answers(lines("sob.jsonl.xz")))
    read = [each for each in texts if hasattr(each.outcome, "value")]

    assert {each.kind for each in read} == {"almost"}
    assert len(read) >= READ_AT_LEAST
    assert [each.invented() for each in read if each.invented()] == []


def test_corrections_are_few() -> None:
    """The rules about words and control characters ask hardly any of the models again."""
    words, characters = corrections(lines("sob.jsonl.xz"))

    assert words.total() <= WORDS_AT_MOST
    assert characters.total() <= CHARACTERS_AT_MOST


def test_agreement_counts_leaves_at_their_places() -> None:
    """A value is right only where the truth has it."""
    assert agreement({"a": 1, "b": [2, 3]}, {"a": 1, "b": [3, 3], "c": {}}) == (2, 4)
