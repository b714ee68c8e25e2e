"""Whether an epistemic modal governs the main clause of the synopsis: section 5.1, as a warning.

The main clause is the first that stands by itself, up to what supports it. A modal in a clause that supports it ("hold,
as the number may be wrong") is none of ours: doubt about a fact is no doubt about the decision.
"""

from __future__ import annotations

from itertools import pairwise, takewhile

from emitter.decide.lint.phrases import Phrases
from emitter.decide.lint.synopsis import main
from emitter.decide.lint.text import Clause, clauses
from emitter.decide.lint.verbs import SUBORDINATE

_ADVERBS = Phrases.of(
    "probably",
    "likely",
    "presumably",
    "arguably",
    "conceivably",
    "perhaps",
    "maybe",
    "possibly",
    "apparently",
    "supposedly",
    "seemingly",
    "unlikely",
    "in all likelihood|probability",
    "seems|seem|appears|appear [as|like|to|that|right|best|wise|reasonable|sensible|prudent]",
    "looks|look like|as",
)
_MODALS = frozenset({"may", "might", "could"})
_BOUNDARY = frozenset(";:\u2014\u2013.!?…(\n-")
_SEEMING = frozenset({"looks", "look", "seems", "seem", "appears", "appear"})
_DEPENDENT = SUBORDINATE - {"for"} | {"that", "so", "but", "whether", "than"}


def wavers(synopsis: str) -> bool:
    """Say whether the main clause of a synopsis is under an epistemic modal."""
    words = _main_words(clauses(synopsis))
    supposed = any(
        word in _MODALS and place and words[place + 1 : place + 2] != ["not"] for place, word in enumerate(words)
    )
    return supposed or _ADVERBS.within(words)


def _main_words(parts: list[Clause]) -> list[str]:
    """Return the words of the main clause, and of what hangs on it by a comma."""
    leading = next((place for place, each in enumerate(parts) if any(main([each]))), 0)
    follow = takewhile(
        lambda each: each.mark not in _BOUNDARY and each.words[0] not in _DEPENDENT, parts[leading + 1 :]
    )
    return [word for each in (*parts[leading : leading + 1], *follow) for word in _independent(each)]


def _independent(part: Clause) -> list[str]:
    cuts = (
        place
        for place, (before, word) in enumerate(pairwise(part.words), 1)
        if word in _DEPENDENT and before not in _SEEMING
    )
    return list(part.words[: next(cuts, None)])
