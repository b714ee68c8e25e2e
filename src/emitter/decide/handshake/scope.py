"""What narrows a question, which makes another one of it, and what merely stands before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.decide.handshake.lexicon import (
    ACTS,
    ASIDES,
    CONDITIONS,
    ENGLISH,
    FILLING,
    INNER,
    JOINING,
    LIMITING,
    REASONS,
    REFERRING,
    RELATIVE,
)
from emitter.decide.handshake.stem import OBJECTING_STEMS, is_empty, stem
from emitter.decide.handshake.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.decide.handshake.tokens import Token

SCOPE: Final = frozenset(map(stem, LIMITING))
"""The stems of words that narrow what a question is about, or tie it to a condition."""
FILLERS: Final = frozenset(map(stem, FILLING))
"""The stems of words that stand before another without saying which is meant."""
LEADING: Final = ENGLISH - ACTS
"""Little words after which a word that is followed by another one says which of them is meant."""
_ASIDE: Final = re.compile("|".join(ASIDES), re.IGNORECASE)
_REFERS: Final = re.compile(rf"\b(?:{'|'.join(sorted(REFERRING))})\b", re.IGNORECASE)
_BREAK: Final = re.compile(
    rf"[,;:.?!]\s(?!\s*or\s)|\n|\s[-\u2013]\s|\u2014|\s(?=(?:{'|'.join(REASONS)})\b)",
    re.IGNORECASE,
)
"""Where a clause ends: never inside of a number."""


def without_asides(text: str) -> str:
    """Return a text without the turns of phrase that change nothing of a question."""
    return _ASIDE.sub(" ", text)


def clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a stem that may ask what the whole does; none where a condition stands among them.

    What stands before a question does not change it. What comes after it may: a clause with a number or a narrowing
    word there binds all that precede it. An alternative that begins with or stays with what it is one to.
    """
    parts = [part for part in _BREAK.split(text) if part.strip()]
    read = [tokens(part, 2) for part in parts]
    if len(parts) <= 1 or any(map(_is_condition, read)):
        return ()
    last = max((at for at, found in enumerate(read) if at and _binds(found)), default=0)
    return tuple(parts[last:])


def refers(text: str) -> bool:
    """Tell whether a clause has a word that stands for what an earlier one names."""
    return _REFERS.search(text) is not None


def inner_negations(found: Iterable[Token], negators: frozenset[str]) -> int:
    """Return how many negators of a text turn a part of it only: with no, with without, or in a relative clause."""
    related, count = False, 0
    for at, each in enumerate(found):
        count += each.text in negators and (related or each.text in INNER)
        related = related or (at > 0 and each.text in RELATIVE)
    return count


def _is_condition(found: tuple[Token, ...]) -> bool:
    words = [each.text for each in found if each.text not in JOINING]
    telling = (word for word in words if not is_empty(word) and stem(word) not in OBJECTING_STEMS | SCOPE)
    return bool(words) and words[0] in CONDITIONS and any(telling)


def _binds(found: tuple[Token, ...]) -> bool:
    return any(stem(each.text) in SCOPE or any(map(str.isdigit, each.text)) for each in found)
