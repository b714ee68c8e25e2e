"""What a text says, as far as questions and objections are compared.

Numbers, names, negation and opposites are kept apart from the other words: each of them alone makes another question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.decide.handshake.lexicon import DRESSING, NEGATORS
from emitter.decide.handshake.parts import adjuncts, goal, heads, which
from emitter.decide.handshake.phrases import joined
from emitter.decide.handshake.scope import SCOPE, inner_negations
from emitter.decide.handshake.stem import idea, is_empty, stem
from emitter.decide.handshake.tokens import pieces, runs, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.decide.handshake.tokens import Token

_PAIR, _TRIGRAM = 2, 3
"""Characters of a piece of a script without spaces: of a question, which is short, and of an objection."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a text is about: the ideas of its ``words``.

    ``exact`` are those of them that no other can stand for. ``turned`` says whether it is negated, an odd number of
    times, and ``inner`` the same of what turns a part of it only. ``sides`` is on which side of a pair of opposites it
    is, where it is on one only. ``scope`` are its narrowing words; ``narrowing`` are the words that say which of
    another is meant, each with that one; ``heads`` are the words that are said to be of another, each with that one;
    ``adjuncts`` are the words of each addition that says where, when, how or for whom. ``goal`` is what it leads to.
    """

    words: frozenset[str]
    exact: frozenset[str]
    turned: bool
    sides: frozenset[tuple[str, bool]]
    inner: bool
    scope: frozenset[str]
    narrowing: frozenset[tuple[str, str]]
    heads: frozenset[tuple[str, str]]
    adjuncts: frozenset[frozenset[str]]
    goal: frozenset[str]

    def opposes(self, other: Said) -> bool:
        """Tell whether one of the two says the contrary of the other; the contrary of the contrary is none."""
        flips = sum((word, not side) in other.sides for word, side in self.sides)
        return (self.turned != other.turned) != (flips % 2 == 1)

    def flipped(self, other: Said) -> frozenset[str]:
        """Return the ideas on whose other side the other one is."""
        return frozenset(word for word, side in self.sides if (word, not side) in other.sides)

    def reverses(self, other: Said) -> bool:
        """Tell whether each leads to what the other speaks of and does not lead to: from A to B, and from B to A."""
        goals = (self.goal, other.goal)
        return all(goals) and self.goal.isdisjoint(other.goal) and self.goal <= other.words and other.goal <= self.words


def said(text: str) -> Said:
    """Return what a text says, in a time that grows as the text does."""
    found = joined(tokens(text, _PAIR))
    meant = {each: idea(each.text) for each in _telling(found) if each.exact or each.text not in DRESSING}
    ideas = tuple(meant[each][0] if each in meant else None for each in found)
    sides = {(word, side) for word, side in meant.values() if side is not None}
    return Said(
        words=frozenset(word for word, _ in meant.values()),
        exact=frozenset(word for token, (word, _) in meant.items() if token.exact),
        turned=sum(each.text in NEGATORS for each in found) % 2 == 1,
        sides=frozenset((word, side) for word, side in sides if (word, not side) not in sides),
        inner=inner_negations(found, NEGATORS) % 2 == 1,
        scope=frozenset(stem(each.text) for each in found) & SCOPE,
        narrowing=frozenset(which(found, ideas)),
        heads=frozenset(heads(found, ideas)),
        adjuncts=frozenset(adjuncts(found, ideas)),
        goal=goal(found, ideas),
    )


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that tell something; of a script without spaces, pieces of three characters."""
    return frozenset(stem(each.text) for each in _telling(tokens(text, _TRIGRAM)))


def named(text: str) -> frozenset[str]:
    """Return the stems of the names, numbers and identifiers of a text."""
    return frozenset(stem(each.text) for each in tokens(text, _TRIGRAM) if each.exact)


def held(text: str) -> frozenset[str]:
    """Return every stem that a text holds: its own, and of a script without spaces the shorter pieces too."""
    return stems(text).union(piece for run in runs(text) for size in range(1, _TRIGRAM) for piece in pieces(run, size))


def _telling(found: Iterable[Token]) -> Iterable[Token]:
    return (each for each in found if each.exact or not is_empty(each.text))
