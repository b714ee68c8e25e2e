"""Whether the synopsis commits: section 5.1, with the tie of section 5.7 that is named and broken.

A synopsis defers when one of its main clauses defers explicitly and no other one states a position. Clauses that
support or limit another ("although it is unclear whether …") are not asked. It is decided for English; of a sentence in
another language only a question is seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.cues import answers, heads, knowledge
from emitter.decide.lint.cues.handing import HANDS
from emitter.decide.lint.openness import leaves_open
from emitter.decide.lint.phrases import lexicon
from emitter.decide.lint.position import commits, holds, offers, orders, then_does, then_orders, without_leads
from emitter.decide.lint.text import Clause, clauses, plain
from emitter.decide.lint.verbs import CUTS, MODALS, SUBORDINATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.decide.lint.phrases import Phrases

_QUESTION = ("?", "\uff1f", "\u061f", "\u2047", "\u203d")
_CLOSERS = ")]}\u00bb\u201d\u2019\"'\u300d\u300f\uff09 \t\r\n.!…"
_DECIDING = knowledge.CANNOT | knowledge.MORE_WORK | answers.MENU | knowledge.CONSULT
_DEFERRING = _DECIDING | answers.DEPENDS | answers.EITHER | knowledge.UNCLEAR | answers.MIGHT | knowledge.WEIGH
"""What defers in the sentence's first part; after a colon or a semicolon only what is said of deciding itself does."""
_BREAKS = frozenset(";:\u2014\u2013")
_TITLE = 2
"""Before a colon so many words at most are a title, and no part of the sentence."""
_ASKED = frozenset({"which", "who", "whose", "where"})
"""What begins a clause that supports another, but not a sentence."""
_ASKING = lexicon("say tell know decide determine judge see clear unclear sure certain obvious unknown on of to about")
"""After these it is a question, and belongs to what is said."""
_FINITE = MODALS | lexicon("may might could can would is are was were has have had")
"""What follows "that" where it begins such a clause too."""
_YOURS = answers.YOURS | HANDS
"""What hands the decision over also where it begins like a clause that supports another: "whichever you prefer"."""
_OUTRANKS = answers.TIES | answers.YOURS | knowledge.PUTS_OFF
"""Those that an imperative in the same clause does not take back."""


def defers(synopsis: str) -> bool:
    """Say whether a synopsis defers the decision rather than stating it."""
    if asks(synopsis):
        return True
    parts = clauses(synopsis)
    if sum(answers.VALUES.count(each.words) for each in parts) > 1:
        return True
    head = len(_until_break(parts))
    found = [*((each, _DEFERRING) for each in main(parts[:head])), *((each, _DECIDING) for each in main(parts[head:]))]
    deferring = [_defers(words, phrases) for words, phrases in found]
    if any(deferring):
        return not any(commits(words) for (words, _), deferred in zip(found, deferring, strict=True) if not deferred)
    return leaves_open(parts, [words for words, _ in found])


def drifts(synopsis: str) -> bool:
    """Say whether a synopsis that defers nothing explicitly speaks of deciding and states no position to be seen."""
    if defers(synopsis):
        return False
    found = list(main(clauses(synopsis)))
    return any(heads.LOOSE.within(words) for words in found) and not any(holds(words) for words in found)


def asks(text: str) -> bool:
    """Say whether a text ends as a question."""
    return plain(text).rstrip(_CLOSERS).endswith(_QUESTION)


def main(parts: Sequence[Clause]) -> Iterator[tuple[str, ...]]:
    """Yield the words of the clauses that stand by themselves, without what supports them."""
    for part in parts:
        words = without_leads(part.words)
        asked = not part.mark and words[:1] and words[0] in _ASKED
        if words and (asked or words[0] not in SUBORDINATE or _YOURS.begin(words)):
            yield tuple(_uncut(words))


def _uncut(words: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(words):
        relative = word == "that" and words[place - 1] != "so" and not _FINITE.isdisjoint(words[place + 1 : place + 2])
        supports = word in CUTS and not (word in _ASKED and words[place - 1] in _ASKING)
        if place and (supports or relative):
            return
        yield word


def _until_break(parts: Sequence[Clause]) -> Sequence[Clause]:
    """Return the clauses before the first colon, semicolon or dash that divides the sentence."""
    for place, part in enumerate(parts):
        if part.mark in _BREAKS and sum(len(each.words) for each in parts[:place]) > _TITLE:
            return parts[:place]
    return parts


def _defers(words: Sequence[str], phrases: Phrases) -> bool:
    if heads.SETTLED.begin(words):
        return False
    if heads.ALONE.fill(words) or _OUTRANKS.within(words) or offers(words):
        return True
    if heads.HEADS.begin(words):
        return not then_does(words)
    if heads.MULLS.begin(words):
        return not then_orders(words)
    return not orders(words) and phrases.within(words)
