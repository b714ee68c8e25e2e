"""How much of what one text says another says too, by their content words.

``RESTATES`` is the threshold of the rules that use it: a text restates another when four fifths of its content words,
brought to their stems, are the other's, and it has at least three; or when they have the same ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.phrases import lexicon
from emitter.decide.lint.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RESTATES = 0.8
FEWEST = 3
COMPARED = 8
"""How many earlier texts a text is compared with at most, so that a list of any length is read in linear time."""

_EMPTY = lexicon("""
    a an the this that these those it its we us our ours i me my you your yours he she they them his her their is
    are was were be been being am do does did done has have had having will would shall should can could may might
    must ought to of in on at by for from with without into onto over under about as than then so and or but if when
    while because since although though until before after yes now today there here what which who whom how why
    where all both each every any some such same other one only also just very more most
""")
_ENDINGS = ("ments", "ment", "ings", "ing", "ies", "ied", "ions", "ion", "als", "al", "es", "ed", "s", "e", "y")
_SHORTEST = 3


def stem(word: str) -> str:
    """Return a word without its ending; what remains has three letters or more."""
    if not word.endswith(_ENDINGS):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return _without_e(word[: -len(ending)])
    return word


def _without_e(stemmed: str) -> str:
    """Return a stem as that of its verb is: "settlement" has the one of "settle"."""
    return stemmed[:-1] if stemmed.endswith("e") and len(stemmed) > _SHORTEST else stemmed


def content(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(stem(word) for word in words(text) if word not in _EMPTY)


def restates(one: frozenset[str], other: frozenset[str]) -> bool:
    """Say whether the first text adds almost nothing to the second."""
    return bool(one) and (one == other or (len(one) >= FEWEST and len(one & other) >= RESTATES * len(one)))


def repeats(texts: Iterable[str]) -> Iterator[int]:
    """Yield the places of the texts that restate one of the earlier ones."""
    earlier: set[frozenset[str]] = set()
    compared: list[frozenset[str]] = []
    for place, text in enumerate(texts):
        said = content(text)
        if said in earlier or any(restates(said, each) for each in compared):
            yield place
        elif said:
            earlier.add(said)
            compared += [said] if len(compared) < COMPARED else []
