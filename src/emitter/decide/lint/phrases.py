"""A small language for phrases, matched word by word in a bounded number of steps.

A phrase is words with spaces between. ``a|b`` is one of several, ``[a|b]`` one that may be missing, ``..`` stands for
up to four words of any kind and ``...`` for up to twelve. There is no repetition, so that no text makes a phrase try
more than a bounded number of places, and a whole text costs one look-up a word: the work is linear whatever stands
there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

GAPS = {"..": 4, "...": 12}
"""How many words each passes over at most."""


def lexicon(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Step:
    """One of ``words``, after at most ``gap`` others; or nothing, where it is ``optional``."""

    words: frozenset[str]
    optional: bool = False
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases, looked up by the words they may begin with."""

    beginnings: Mapping[str, tuple[tuple[Step, ...], ...]]

    @classmethod
    def of(cls, *lines: str) -> Phrases:
        """Return the phrases of some lines, one a line."""
        found: dict[str, list[tuple[Step, ...]]] = {}
        for line in lines:
            for word, steps in _beginnings(_steps(line)):
                found.setdefault(word, []).append(steps)
        return cls({word: tuple(each) for word, each in found.items()})

    def __or__(self, other: Phrases) -> Phrases:
        """Return the phrases of both."""
        both = self.beginnings.keys() | other.beginnings.keys()
        return Phrases({word: self.beginnings.get(word, ()) + other.beginnings.get(word, ()) for word in both})

    def begin(self, words: Sequence[str], at: int = 0) -> bool:
        """Say whether one of the phrases stands at a place."""
        return at < len(words) and any(_stands(each, words, at) for each in self.beginnings.get(words[at], ()))

    def within(self, words: Sequence[str]) -> bool:
        """Say whether one of the phrases stands anywhere."""
        return any(word in self.beginnings and self.begin(words, at) for at, word in enumerate(words))

    def count(self, words: Sequence[str]) -> int:
        """Return at how many places one of the phrases stands."""
        return sum(word in self.beginnings and self.begin(words, at) for at, word in enumerate(words))

    def fill(self, words: Sequence[str]) -> bool:
        """Say whether the words are one of the phrases, from the first to the last."""
        found = self.beginnings.get(words[0], ()) if words else ()
        return any(end == len(words) for steps in found for end in _ends(steps, words, 0))


def _steps(line: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    gap = 0
    for part in line.split():
        if part in GAPS:
            gap = GAPS[part]
            continue
        optional = part.startswith("[")
        steps.append(Step(frozenset(part.strip("[]").split("|")), optional, gap))
        gap = 0
    return tuple(steps)


def _beginnings(steps: tuple[Step, ...]) -> Iterator[tuple[str, tuple[Step, ...]]]:
    for place, step in enumerate(steps):
        yield from ((word, steps[place:]) for word in step.words)
        if not step.optional:
            return


def _ends(steps: tuple[Step, ...], words: Sequence[str], at: int) -> Iterator[int]:
    if not steps:
        yield at
        return
    step, rest = steps[0], steps[1:]
    for place in range(at, min(at + step.gap + 1, len(words))):
        if words[place] in step.words:
            yield from _ends(rest, words, place + 1)
    if step.optional:
        yield from _ends(rest, words, at)


def _stands(steps: tuple[Step, ...], words: Sequence[str], at: int, number: int = 0) -> bool:
    """Say whether the steps from a number on stand at a place; most have neither gaps nor choices, and no recursion."""
    count = len(words)
    for place in range(number, len(steps)):
        step = steps[place]
        if step.gap or step.optional:
            rest = range(at, min(at + step.gap + 1, count))
            if any(words[each] in step.words and _stands(steps, words, each + 1, place + 1) for each in rest):
                return True
            return step.optional and _stands(steps, words, at, place + 1)
        if at >= count or words[at] not in step.words:
            return False
        at += 1
    return True
