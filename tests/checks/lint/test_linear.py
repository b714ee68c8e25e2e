"""The work is linear in the envelope, whatever stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import pytest

from emitter.checks import lint
from emitter.checks.english import MAX_READ, count_sentences, has_visible_text, split_clauses, split_words
from emitter.checks.question_rules import _RHETORIC
from emitter.checks.synopsis import _DEFERRING, _OUTRANKS, _SIGNS
from tests.checks.lint.labelled import moment

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTE = 1_000_000
HOSTILE = {
    "sentences": "We should probably hold it, because it depends on the bank. ",
    "spaces": " ",
    "full stops": ".",
    "spaced stops": ". ",
    "marks and brackets": ".)",
    "lines": "\n ",
    "stops and lines": ".\n",
    "initials": "A. ",
    "wide stops": "\u3002",
    "quotes": '"',
    "open quotes": "“",
    "single quotes": " 'a",
    "apostrophes": "a'",
    "quotes in words": " 'a'a",
    "commas": ",a",
    "numbers": "1,",
    "one word": "a",
    "accents": "e\u0301\u0301",
    "the beginning of phrases": "either both whether more it is ",
    "conditions": "if you value ",
    "choices": "hold or ",
    "orders": "and hold ",
    "invisible": "\u200b",
    "emoji": "\U0001f9d1\u200d\U0001f4bb",
}
READERS: dict[str, Callable[[str], object]] = {
    "clauses": split_clauses,
    "words": split_words,
    "sentences": count_sentences,
    "shown": has_visible_text,
}


def many(piece: str, length: int) -> str:
    """Return so many characters of a piece, ended by something else, so that no run ends well."""
    return (piece * (length // len(piece) + 1))[: length - 1] + "x"


class Counted(list[str]):
    """Words that count how often one is looked at."""

    looks = 0

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        """Return a word, and count."""
        self.looks += 1
        return super().__getitem__(at)


@pytest.mark.parametrize(
    "phrases", [_DEFERRING, _OUTRANKS, _SIGNS, _RHETORIC], ids=["deferring", "outranking", "open", "rhetoric"]
)
@pytest.mark.parametrize("piece", HOSTILE)
def test_each_word_costs_a_bounded_number_of_looks(piece: str, phrases: Any) -> None:
    """Twice the words are looked at twice as often, and each a few hundred times at most."""
    said = split_words(HOSTILE[piece] * 40) or ["x"]
    once, twice = Counted(said), Counted(said * 2)
    phrases.contains(once)
    phrases.contains(twice)
    assert once.looks <= twice.looks <= 2 * once.looks + 2000
    assert twice.looks <= 400 * len(twice)


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_in_any_slot_is_read(piece: str) -> None:
    """It is judged by its beginning, in no more time than that takes."""
    text, start = many(HOSTILE[piece], MEGABYTE), many(HOSTILE[piece], MEGABYTE)[:MAX_READ]
    slots: list[Callable[[str], dict[str, Any]]] = [
        lambda said: {"synopsis": said},
        lambda said: {"stem": said},
        lambda said: {"recommendations": (said, "Sell.")},
        lambda said: {"findings": (said, "Rain.", "Sun.")},
    ]
    for slot in slots:
        assert _rules(slot(text)) >= _rules(slot(start)) - {"one-line"}


def _rules(slots: dict[str, Any]) -> set[str]:
    return {each.rule.value for each in lint(moment(**slots))}


def test_many_findings_are_compared_with_few() -> None:
    """Ten thousand findings are read, and those told again found."""
    told = tuple(f"Crate {each} holds {each} pears." for each in range(10_000))
    found = lint(moment(findings=(*told, told[-1])))
    assert [each.slot for each in found] == ["/findings", "/findings/10000"]
