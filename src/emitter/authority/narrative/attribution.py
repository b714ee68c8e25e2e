"""The attributive mode: every sentence that says something says who says so.

A source is a document, a body or a person, however general; the speaker, everybody, nobody and "the facts" are none.
What the text says of itself ("this is no advice") claims nothing. Which words make an attribution is ours: RFC-0011
gives two, "According to ..." and "Documentation indicates ...".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.authority.narrative.framing import framed, introduced, owned
from emitter.authority.narrative.sources import (
    ACCORDING,
    AGENTS,
    BACK,
    BARE,
    BE,
    BODIES,
    FIGURES,
    GOES_ON,
    MINE,
    NO_CLAIM,
    NO_SUBJECT,
    NOT_THERE,
    OWN,
    QUOTED,
    ROLES,
    SOURCES,
)
from emitter.authority.narrative.speech import INFERS, NOUNS_TOO, RECORDS, SAYS, SPEAKS, SPEAKS_OF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.authority.narrative.reading import Clause, Sentence

_VERBS = SAYS | SPEAKS | RECORDS
_BETWEEN = frozenset({"has", "have", "also", "further", "do", "does", "did", "not", "then", "had", "even"})
_INSERTED = frozenset({",", "\u201d", '"', ")", "\u2013", "\u2014"})
_WHO = frozenset({"which", "who", "others"})
_SPEAKERS = SOURCES | BACK | _WHO
_SPEAKING = SOURCES | QUOTED | FIGURES
_SILENT = OWN | NO_SUBJECT | BE
_UNNAMED = BARE | NO_SUBJECT
_NEXT = 3
_LOOK_BACK = 5
_LOOK_ON = 8
_FAR_ON = 30
_HEADING = 2
"""So many words without a full stop say nothing."""


def claims(sentence: Sentence) -> bool:
    """Say whether a sentence says something that somebody may be asked for."""
    if sentence.asks or (not sentence.end and sentence.length <= _HEADING):
        return False
    return not NO_CLAIM.begin(sentence.clauses[0].words)


def attributed(sentence: Sentence, *, named: bool) -> bool:
    """Say whether a sentence names a source, or points back to one that was ``named`` before."""
    opening = sentence.clauses[0].words[-1]
    spoken = [each for each in sentence.clauses if not each.quoted]
    leads_up = len(sentence.clauses) > 1
    return introduced(sentence) or any(
        _names(each, opening, named=named) or framed(each, leads_up=leads_up) for each in spoken
    )


def _names(clause: Clause, opening: str, *, named: bool) -> bool:
    words = clause.words
    return any(
        (word in ACCORDING.beginnings and ACCORDING.begin(words, at) and not _mine(words, at))
        or (word in _VERBS and _speaks(clause, at, opening, named=named))
        for at, word in enumerate(words)
    )


def _mine(words: Sequence[str], at: int) -> bool:
    """Say whether what is named for a source is the speaker, nobody, or the text itself."""
    following = words[at + 1 : at + _LOOK_ON]
    return any(MINE.begin(following, place) for place in range(1, 4)) or bool(NOT_THERE & set(following))


def _speaks(clause: Clause, at: int, opening: str, *, named: bool) -> bool:
    words, place = clause.words, _subject(clause.words, at)
    if place < 0:
        return clause.mark in _INSERTED and _speaks_from_afar(words, at, opening)
    if (
        not (owned(clause, place) or _may_speak(words, place, named=named))
        or "what" in words[max(0, at - _LOOK_BACK) : at]
    ):
        return False
    if words[at] in SAYS:
        return _speaker(clause, place, at) and (words[at] not in NOUNS_TOO or _has_object(words, at))
    return _known(clause, place) and _quotes(words, at, place) if words[at] in RECORDS else _tells(clause, at, place)


def _speaks_from_afar(words: Sequence[str], at: int, opening: str) -> bool:
    """Say whether a verb that a clause begins with has its subject after it, or before what was inserted."""
    following = "".join(words[at + 1 : at + 2])
    if words[at] in SAYS and following and following not in OWN:
        return True
    return opening in SOURCES and _has_object(words, at)


def _tells(clause: Clause, at: int, place: int) -> bool:
    if _known(clause, place) and _has_object(clause.words, at):
        return True
    return _speaker(clause, place, at) and _quotes(clause.words, at, place)


def _quotes(words: Sequence[str], at: int, place: int) -> bool:
    """Say whether what follows a verb is what somebody said: "... shows that"."""
    following = words[at + 1 : at + (_LOOK_ON if words[place] in SOURCES else _NEXT)]
    return ("that" in following and following[:2] != ("so", "that")) or (words[at] in RECORDS and "no" in following[:2])


def _has_object(words: Sequence[str], at: int) -> bool:
    following = words[at + 1 : at + 2]
    if following and (words[at], following[0]) in SPEAKS_OF:
        return True
    return (
        not GOES_ON & set(following) or words[at + 1 : at + 3] == ("in", "that") or "that" in words[at : at + _FAR_ON]
    )


def _known(clause: Clause, place: int) -> bool:
    """Say whether a subject is one that speaks: a source, a trade, a name."""
    word = clause.words[place]
    named = place in clause.capitals and place > 0
    return word in _SPEAKERS or word.endswith(ROLES) or named or owned(clause, place)


def _speaker(clause: Clause, place: int, at: int) -> bool:
    """Say whether a subject, or what shortly stands before it, can speak: "the note on the door tells"."""
    words = clause.words
    if _known(clause, place) or not _SPEAKING.isdisjoint(words[max(0, at - _LOOK_BACK) : at]):
        return True
    return words[place] in BODIES or (words[at] not in INFERS and words[place].endswith(AGENTS))


def _subject(words: Sequence[str], at: int) -> int:
    """Return where the word stands whose verb this may be; -1 where there is none."""
    place = at - 1
    while place >= max(0, at - _LOOK_BACK) and (words[place] in _BETWEEN or words[place].endswith("ly")):
        place -= 1
    return place


def _may_speak(words: Sequence[str], place: int, *, named: bool) -> bool:
    subject = words[place]
    if subject == "others" and words[place - 1] == "and":
        return True
    if subject in BACK:
        return named
    if subject in FIGURES:
        return place > 0 and words[place - 1] not in _UNNAMED
    return subject not in _SILENT and not _ours(words, place)


def _ours(words: Sequence[str], place: int) -> bool:
    """Say whether a subject is the text itself: "this summary says"."""
    return words[place] in {"text", "service", "overview", "note"} and words[max(0, place - 1)] in {"this", "our"}
