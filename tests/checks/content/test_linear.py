"""The work of the checks is linear in the envelope, whatever it contains; it is counted and not timed."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.checks import DEFAULT_CHECKS
from emitter.checks.lexicon import PhraseAutomaton, load_lexicon
from emitter.checks.text import MAX_READ, count_sentences, is_unreadable, normalize_text, split_tokens
from tests.checks.content.labelled import moment

MEGABYTE = 1_000_000
HOSTILE = {
    "sentences": "We should probably hold it, because it depends on the bank. ",
    "spaces": " ",
    "full stops": ".",
    "spaced stops": ". ",
    "lines": "\n ",
    "initials": "A. ",
    "wide stops": "\u3002",
    "quotes": '"',
    "open quotes": "“",
    "single quotes": " 'a",
    "apostrophes": "a'",
    "commas": ",a",
    "numbers": "1,",
    "one word": "a",
    "accents": "e\u0301\u0301",
    "the beginning of phrases": "either both whether more it is ",
    "optional words": "i we would do still personally also ",
    "orders": "and hold ",
    "asterisks": "*a",
    "invisible": "\u200b",
    "emoji": "\U0001f9d1\u200d\U0001f4bb",
}
READERS = {
    "tokens": split_tokens,
    "sentences": count_sentences,
    "blank": is_unreadable,
    "wording": normalize_text,
    "lexicon": lambda text: load_lexicon("english").automaton.find(split_tokens(text)),
}
"""What reads a text, for the report of times."""


def repeat(piece: str, length: int) -> str:
    """Return so many characters of a piece, with another one at the end, so that no run ends well."""
    return (piece * (length // len(piece) + 1))[: length - 1] + "x"


@pytest.mark.parametrize("piece", HOSTILE)
def test_each_token_costs_one_step(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that leads to a known state costs a look-up; new states stop coming, however long the text."""
    automaton = load_lexicon("english").automaton
    built: list[object] = []
    advance = PhraseAutomaton._advance

    def counting(self: PhraseAutomaton, state: Any, token: str | None) -> Any:
        built.append(token)
        return advance(self, state, token)

    monkeypatch.setattr(PhraseAutomaton, "_advance", counting)
    tokens = split_tokens(piece * 200)
    automaton.find(tokens)
    first = len(built)
    automaton.find(tokens * 4)

    assert first <= len(tokens)
    assert len(built) - first <= 60


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_text_is_checked_by_its_beginning(piece: str) -> None:
    """A megabyte in a slot is found to be what its beginning is, except for what only a whole text can be."""
    text = repeat(piece, MEGABYTE)
    for slot in ("synopsis", "stem"):
        whole, start = (_rules({slot: each}) for each in (text, text[:MAX_READ]))
        assert whole | {"slot-blank"} == start | {"slot-blank"}


def _rules(slots: dict[str, Any]) -> set[str]:
    return {finding.rule for checker in DEFAULT_CHECKS for finding in checker(moment(**slots))}


def test_long_labels_that_differ_late_are_no_twins() -> None:
    """What only the beginning shows is no reason to refuse."""
    assert "option-twin" not in _rules({"labels": ("a" * MAX_READ + "b", "a" * MAX_READ + "c")})


def test_many_findings_are_compared_once_each() -> None:
    """Ten thousand findings are read, and the repeated one is found."""
    texts = tuple(f"Crate {index} holds {index} pears." for index in range(10_000))
    rules = {finding.pointer for checker in DEFAULT_CHECKS for finding in checker(moment(findings=(*texts, texts[-1])))}
    assert rules == {"/findings", "/findings/10000"}
