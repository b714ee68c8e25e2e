"""Verbs that mean something with a particle only: call off, turn down, look into."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from emitter.decide.handshake.lexicon import PREPOSITIONS
from emitter.decide.handshake.stem import is_empty, stem
from emitter.decide.handshake.synonyms import TOGETHER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.decide.handshake.tokens import Token

_VERBS: Final = {
    stem(verb): {particle: word for (each, particle), word in TOGETHER.items() if each == verb} for verb, _ in TOGETHER
}
_BETWEEN: Final = 4
"""Words that may stand between a verb and its particle."""


def joined(found: Sequence[Token]) -> tuple[Token, ...]:
    """Return the words of a text, each verb that has its particle after it as the word that says the same alone."""
    told: list[Token] = []
    taken: set[int] = set()
    for at, each in enumerate(found):
        if at in taken:
            continue
        particles = None if each.exact else _VERBS.get(stem(each.text))
        end = _particle(found, at, particles) if particles else None
        if particles and end is not None:
            taken.add(end)
            told.append(replace(each, text=particles[found[end].text]))
        else:
            told.append(each)
    return tuple(told)


def _particle(found: Sequence[Token], at: int, particles: dict[str, str]) -> int | None:
    """Return where the particle of a verb stands: next to it, or after its object and not before what it leads to."""
    for end in range(at + 1, min(at + 2 + _BETWEEN, len(found))):
        text = found[end].text
        if text in particles:
            apart = end > at + 1 and end + 1 < len(found) and not is_empty(found[end + 1].text)
            return None if apart else end
        if text in PREPOSITIONS:
            return None
    return None
