"""Whether a synopsis leaves the decision open without saying so outright: section 5.1.

Its signs are weaker than those of ``synopsis``. They count only where no clause of the sentence holds a position, in
whatever form.
"""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from emitter.decide.lint.contrast import contrasts, lists, only_possible, parallels, poses
from emitter.decide.lint.cues.evenness import ECHOES, EVEN
from emitter.decide.lint.cues.handing import HANDS
from emitter.decide.lint.cues.pending import PENDING
from emitter.decide.lint.inflected import ACTS, participle
from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.position import commits, holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.decide.lint.text import Clause

_TURNS = lexicon("before until after whether that if when than as how what so")
_UNKNOWING = Phrases.of("without|until [first|having] knowing|seeing|hearing|having|known|seen|heard|more|further")
_WHO = lexicon("you they")
_DOES = ACTS - lexicon("have do choose pick select call judge answer advise need want find feel")
_IS = lexicon("is are get gets i we")
_SIGNS = HANDS | EVEN | PENDING


def leaves_open(parts: Sequence[Clause], said: Sequence[tuple[str, ...]]) -> bool:
    """Say whether a sentence has a sign of openness and no position, given its clauses and the main ones' words."""
    said = said or [each.words for each in parts]
    signs = [_open(words) for words in said]
    rest = [words for words, each in zip(said, signs, strict=True) if not each]
    if lists(parts):
        return True
    if poses(parts) or contrasts(parts):
        return not any(commits(words) for words in said)
    if parallels(parts) and not any(holds(words) or _done(words) for words in said):
        return True
    return (any(signs) or _unknowing(parts) or _echoes(parts)) and not any(
        holds(words) or _done(words) for words in rest
    )


def _open(words: Sequence[str]) -> bool:
    joined = words.index("and") if "and" in words else len(words)
    return (_SIGNS.within(words) or only_possible(words)) and not (commits(words) or _done(words[joined:]))


def _done(words: Sequence[str]) -> bool:
    """Say whether something is done in a clause: "… and is paid in full", "so I picked it", "you drive"."""
    said = takewhile(lambda word: word not in _TURNS, words)
    return any((one in _IS and participle(other)) or (one in _WHO and other in _DOES) for one, other in pairwise(said))


def _unknowing(parts: Sequence[Clause]) -> bool:
    return any(_UNKNOWING.begin(each.words) for each in parts)


def _echoes(parts: Sequence[Clause]) -> bool:
    return any(ECHOES.begin(each.words) for each in parts[1:])
