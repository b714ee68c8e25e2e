"""How many sentences a text is, in any script that ends them with a mark.

Where it is doubtful whether a full stop ends a sentence (after an abbreviation, an initial, a number that may be an
ordinal), it does only before a word that mostly begins one: a sentence too few is the cheaper mistake.
"""

from __future__ import annotations

import re
import unicodedata

from emitter.decide.lint.phrases import lexicon
from emitter.decide.lint.text import READ, plain

_END = re.compile(
    r"(?P<mark>[.!?…\u061f\u06d4\u0964\u0965]++)[)\]}\u00bb\u201d\u2019\"']*+"
    r"|[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\uff09\u201d\u2019]*+"
    r"|\n[^\S\n]*+\n|\n(?=\s*+[-*\u2022])"
)
"""Marks that a space follows, those of the scripts that put none, an empty line, and an item of a list."""
_FOLLOWING = re.compile(r"\s++(\S\w{0,20})?+|\Z")
_LAST = re.compile(r"([^\W_]+(?:\.[^\W_]+)*)\Z")
_LOOK_BACK = 24
"""How many characters before a full stop are looked at for an abbreviation."""

_TITLES = lexicon("dr mr mrs ms mx prof st messrs rev hon gen col capt lt sgt gov sen rep pres fr sr sra hr herr")
_SHORT = lexicon(
    "e.g eg i.e ie cf vs v etc al approx ca c no nos nr fig figs sec secs art ch p pp vol ed eds ext para est max min "
    "inc ltd co corp llc plc bros dept assn univ jr sr ph.d m.d b.a m.a u.s u.k u.n e.u d.c a.m p.m b.c a.d "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun "
    "z.b d.h u.a o.ä bzw ggf evtl abs mio mrd str tel incl excl resp temp avg"
)
_STARTERS = lexicon(
    "the a an this that these those it its we i you he she they there here our my your his her their if when while "
    "because since although but and so then however therefore otherwise in on at for to as after before until do "
    "does did is are was were should shall can could will would what which who how why where please not no yes"
)
_ORDINAL = 2
"""A whole number of so many digits at most may be an ordinal, as some languages write them."""


def sentences(text: str) -> int:
    """Return how many sentences a text is; 0 for one that shows nothing."""
    spoken = plain(text)
    count = start = 0
    for end in _END.finditer(spoken):
        if _ends(spoken, end):
            count += shown(spoken[start : end.end()])
            start = end.end()
    return count + shown(spoken[start:])


def shown(text: str) -> bool:
    """Say whether a text has a letter, a digit or a symbol that can be seen."""
    return any(unicodedata.category(each)[0] in "LNS" and each not in _INVISIBLE for each in text[:READ])


_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and symbols that show nothing."""


def _ends(text: str, end: re.Match[str]) -> bool:
    after = _FOLLOWING.match(text, end.end())
    if end["mark"] is None or after is None:
        return end["mark"] is None
    following = after[1]
    if not following or following[0].islower():
        return not following
    if end["mark"] != ".":
        return True
    before = _LAST.search(text[max(0, end.start() - _LOOK_BACK) : end.start()])
    return before is None or _closes(before[1], following)


def _closes(word: str, following: str) -> bool:
    """Say whether a word with a full stop closes a sentence before another word that is no lower-case one."""
    known = word.casefold()
    if known in _TITLES:
        return False
    doubtful = known in _SHORT or (len(word) == 1 and word != "I") or (word.isdecimal() and len(word) <= _ORDINAL)
    return not doubtful or following.casefold() in _STARTERS
