"""Which words of a question say more of another one: which is meant, what of it, where, when, how and for whom.

Each is told by the little words around it; nothing else of a sentence is read.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from emitter.decide.handshake.lexicon import ACTS, ARTICLES, DISCOURSE, PREPOSITIONS
from emitter.decide.handshake.scope import FILLERS, LEADING
from emitter.decide.handshake.stem import stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decide.handshake.tokens import Token

_TO: Final = frozenset({"to", "into", "with", "by", "nach", "zu", "mit", "durch"})
"""What leads to the other end of a move, a gift or an exchange."""
_DISCOURSE: Final = frozenset(map(stem, DISCOURSE))
_PAST: Final = 3
"""Words that are looked at for an ``of``."""
_BE: Final = frozenset({"be", "is", "are", "was", "were", "been", "get", "have", "has", "go", "stay", "remain"})
"""What comes after the whole of what a question is about."""
_ASKS: Final = frozenset({"should", "shall", "do", "does", "can", "may", "must", "will", "are", "is"})
"""What begins a question, before what it is about."""


def which(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    """Yield the words that say which is meant, with the word they say it of: legal team, and the manager of Dana's."""
    for at, (one, other) in enumerate(pairwise(ideas)):
        if one is None or other is None:
            continue
        if found[at].owns:
            yield other, one
        if _tells_which(found, at):
            yield one, other


def heads(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    """Yield the words that are said to be of another, with that one: the summary of the survey, the bridge railings."""
    for at, of in enumerate(ideas):
        if of is None:
            continue
        if (head := _before_of(found, ideas, at)) is not None:
            yield head, of
        after = ideas[at + 1] if at + 1 < len(ideas) else None
        if after is not None and _is_noun(found, at + 1):
            yield after, of


def _before_of(found: Sequence[Token], ideas: Sequence[str | None], at: int) -> str | None:
    """Return the word before the ``of`` that leads to this one, past its article and one word between."""
    for back in range(at - 1, max(0, at - 1 - _PAST), -1):
        if found[back].text == "of":
            return ideas[back - 1]
    return None


def _is_noun(found: Sequence[Token], at: int) -> bool:
    """Tell whether a word that follows on another closes what a question is about: only ``be`` comes after it."""
    return at + 1 < len(found) and found[at + 1].text in _BE and not found[at].text.endswith("ly")


def adjuncts(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[frozenset[str]]:
    """Yield the words of each addition behind a preposition, once something is named.

    An addition that speaks of the talk ("from this point of view") is none, nor is a purpose ("to keep it clear").
    """
    for each in _additions(found, ideas):
        if each and all(stem(token.text) not in _DISCOURSE for token, _ in each):
            yield frozenset(idea for _, idea in each)


def _additions(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[list[tuple[Token, str]]]:
    """Yield the words of each addition: to the next preposition but past an ``of``, or to a verb of the question."""
    named = inside = False
    told: list[tuple[Token, str]] = []
    for at, (each, idea) in enumerate(zip(found, ideas, strict=True)):
        begins = each.text in PREPOSITIONS and not (inside and each.text == "of")
        if begins or each.text in ACTS:
            yield told
            told, inside = [], begins and named and not _is_purpose(found, at)
        elif idea is not None:
            named = True
            told.extend([(each, idea)] if inside else [])
    yield told


def _is_purpose(found: Sequence[Token], at: int) -> bool:
    """Tell whether a ``to`` begins a verb: an article comes after the next word."""
    return found[at].text == "to" and at + 2 < len(found) and found[at + 2].text in ARTICLES


def goal(found: Sequence[Token], ideas: Sequence[str | None]) -> frozenset[str]:
    """Return the first idea after each word that leads to one."""
    led: set[str] = set()
    waits = False
    for each, idea in zip(found, ideas, strict=True):
        if waits and idea is not None:
            led.add(idea)
        waits = each.text in _TO or (waits and idea is None)
    return frozenset(led)


def _tells_which(found: Sequence[Token], at: int) -> bool:
    """Tell whether a word says which of the next is meant: an owner that has no name, or what begins what is named."""
    if found[at].owns:
        return not found[at].exact
    return _begins(found, at) and stem(found[at].text) not in FILLERS


def _begins(found: Sequence[Token], at: int) -> bool:
    """Tell whether a word begins what is named: after an article or the like, or after what begins the question."""
    return at > 0 and (found[at - 1].text in LEADING or (at == 1 and found[0].text in _ASKS))
