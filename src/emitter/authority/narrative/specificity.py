"""The general specificity: no number, date, name or identifier, and nobody addressed.

A measurement is the measurement rule's, which finds it in any text. Numbers that name something general are let pass
("type 2 diabetes", "COVID-19", "section 4"), and so are small ones that are spelt out. Names of persons are found by
their titles and by common given names only. All of it is ours; RFC-0010 names only the level.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.particular import ADDRESSED
from emitter.decide.lint.phrases import Phrases, lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.authority.narrative.reading import Clause, Sentence

_NUMBERED: Final = lexicon("""
    type stage phase grade class category level step chapter section article part figure table version schedule form
    iso iec rfc en din ieee tls http windows rule appendix annex basel euro vitamin formula apollo boeing airbus
    python factor group unit line lane regulation directive act
""")
_NAMING: Final = re.compile(r"[a-z]{1,9}-?\d{1,2}[a-z]?|[a-z]\d[a-z]\d{1,2}|\d{1,2}[dgk]")
_GREAT: Final = lexicon("hundred thousand million billion dozen")
_COUNTED: Final = lexicon("""
    a one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty
    ninety several
""") - {"several"}
_TENS: Final = lexicon(
    "eleven thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy "
    "eighty ninety"
)
_DAYS: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_MONTHS: Final = "january|february|march|april|month|may|june|july|august|september|october|november|december"
_DATES: Final = Phrases.of(
    f"last|next|this|on|since|until|by {_DAYS}",
    f"in|since|until|by|last|next|of|early|late|mid {_MONTHS}",
    "last|next week|month|year|night|quarter|summer|winter|spring|autumn",
    "this morning|week|month|year|afternoon|evening",
    "yesterday|tomorrow|tonight",
)
_MONTH_NAMES: Final = frozenset(_MONTHS.split("|")) - {"month"}
_TITLES: Final = lexicon("""
    mr mrs ms miss mx dr prof professor herr frau sir dame judge inspector captain sergeant colonel senator president
    mayor
""")
_GIVEN: Final = lexicon("""
    anna maria john mary james robert michael william david richard joseph thomas charles daniel matthew anthony
    donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob gary
    nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander patrick jack dennis
    jerry tyler aaron jose adam nathan henry peter zachary kyle noah ethan jeremy walter christian keith roger sean
    patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley
    kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia dorothy amy
    kathleen angela shirley emma brenda pamela nicole samantha katherine christine helen debra rachel carolyn janet
    catherine heather diane olivia julie joyce victoria ruth virginia lauren kelly christina joan evelyn judith
    andrea hannah megan cheryl jacqueline martha madison teresa gloria sara janice ann kathryn abigail sophia
    frances alice judy isabella julia denise amber marilyn danielle beverly brittany theresa diana natalie sofia
    ahmed mohammed muhammad ali omar fatima aisha hassan ibrahim yusuf wei ming li chen yuki hiroshi kenji priya
    rahul amit raj anil sanjay olga ivan dmitri natasha elena carlos juan luis miguel pedro lucia giulia marco luca
    giovanni pierre jean luc claire sophie hans klaus jürgen jurgen ingrid lars sven astrid katarzyna piotr jan
    anders johan eva lena
""")
_UNLESS: Final = lexicon(
    "christian jack will mark grace virginia victoria georgia carol heather amber gloria ali li jan"
)
"""Names that are words or places too: these need a surname after them."""
_NAMES: Final = _TITLES | _GIVEN
_NAMED_WITH_MORE: Final = _TITLES | _UNLESS


def specifics(sentence: Sentence, measured: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where a sentence is specific, apart from what is ``measured``."""
    for clause in sentence.clauses:
        for at in range(len(clause.words)):
            if _is_specific(clause, at) and not _inside(clause.places[at], measured):
                yield clause.places[at]


def _is_specific(clause: Clause, at: int) -> bool:
    word, words = clause.words[at], clause.words
    return (
        word in ADDRESSED
        or "@" in word
        or _is_number(words, at)
        or (word in _DATES.beginnings and _DATES.begin(words, at) and _is_date(clause, at))
        or _is_person(clause, at)
    )


def _is_number(words: Sequence[str], at: int) -> bool:
    word, before = words[at], words[at - 1] if at else ""
    if any(each.isdigit() for each in word):
        return before not in _NUMBERED and _NAMING.fullmatch(word) is None
    first, _, rest = word.partition("-")
    return (word in _GREAT and before in _COUNTED) or word in _TENS or (first in _TENS and rest in _COUNTED)


def _is_date(clause: Clause, at: int) -> bool:
    """Say whether what looks like a date is none of a word: "by may" is no month, "by May" is."""
    following = clause.words[at + 1] if at + 1 < len(clause.words) else ""
    return following not in _MONTH_NAMES or at + 1 in clause.capitals


def _is_person(clause: Clause, at: int) -> bool:
    word = clause.words[at]
    if at not in clause.capitals or word not in _NAMES:
        return False
    named = at + 1 in clause.capitals
    return named if word in _NAMED_WITH_MORE else True


def _inside(place: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    """Say whether a place is in one of some spans, which are in their order and apart."""
    last = bisect_left(spans, (place[1], 0)) - 1
    return last >= 0 and spans[last][1] > place[0]
