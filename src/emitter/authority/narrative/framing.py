"""How a sentence names a source other than by a verb of saying: "to quote the ...", "the ...'s position is that".

Each of these is an attribution only with a source in its place: a word of ``SOURCES``, or a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.authority.narrative.sources import QUOTED, ROLES, SOURCES
from emitter.decide.lint.phrases import Phrases, lexicon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.authority.narrative.reading import Clause, Sentence

SAYINGS = lexicon("""
    position finding findings conclusion conclusions contention claim argument belief verdict advice warning complaint
    assessment impression understanding recollection memory version theory thesis stance feeling guess explanation
    reply response summary description message promise assurance statement admission recommendation view opinion
    consensus word news passage note remark sentence mention hint rule clause judgement judgment suspicion fear hope
    prediction estimate reasoning interpretation reading account testimony suggestion objection diagnosis ruling
    decision instruction instructions stipulation wording line point answer
""")
"""What somebody says, as a noun."""

_NAME = "*"
"""Stands for a word with a capital letter within a clause."""
_TRADE = "+"
"""Stands for the name of a trade."""
_SPEAKERS = SOURCES | QUOTED | {_NAME, _TRADE}
_S = "|".join(sorted(_SPEAKERS))
_WHOSE = "|".join(sorted(_SPEAKERS - {"authority"}))
_SAYING = "|".join(sorted(SAYINGS))
_OWN = "[own] [first|last|main|final|official|latest]"
_IS = "is|are|was|were"
_TOLD = "told|warned|advised|informed|reminded|assured|promised"
_WRITTEN = "written|printed|laid|set|spelled|spelt|put|carved|engraved|stated|noted|recorded"
_SURE = (
    "adamant|certain|sure|convinced|confident|clear|firm|emphatic|unequivocal|unanimous|sceptical|skeptical|agreed|"
    "satisfied|explicit|positive"
)
_KNOWS = (
    "knows|know|knew|says|say|said|tells|tell|told|recalls|recall|recalled|remembers|remember|remembered|saw|sees|see|"
    "heard|shows|show|reports|report|reported|writes|write|wrote|goes|go"
)
_RULES = (
    "policy|policies|protocol|procedure|rules|regulations|guidelines|instructions|agreement|report|log|manual|records"
)

_OPENINGS = Phrases.of(
    f"per * [..] [{_S}]",
    f"per .. {_RULES}",
    f"judging|reckoning by|from [the|its|their|a|an] .. {_S}",
    f"going by [the|its|their|a|an] .. {_S}",
    f"to go|judge by|from [the|its|their|a|an] .. {_S}",
    f"to quote|cite|paraphrase|echo|believe|trust|hear .. {_S}",
    f"if one|we|you [can|may|are|is] [to] believe|believes|trust|trusts .. {_S}",
    f"the way .. {_S} saw|sees|see|tells|tell|told|puts|put|remembers|remember|remembered|had|has|have it",
    f"from|by what .. {_S} [can|could] {_KNOWS}",
    f"as|so far as .. {_S} [can|could] {_KNOWS}",
)
"""What a clause opens with that leads up to another one."""

_FRAMES = Phrases.of(
    f"on the evidence|authority|word|testimony|showing|strength|advice of .. {_S}",
    f"in the eyes|mind|memory|version|telling|wording of .. {_S}",
    f"if .. {_S} {_IS} to be believed|trusted|credited",
    f"as .. {_WRITTEN} [down|out] in|on|by .. {_S}",
    f"it {_IS} {_WRITTEN} [down|out] in|on|by .. {_S} that",
    f"{_TOLD} [so] by .. {_S} that",
    f"readers|listeners|viewers|subscribers|visitors|buyers of|to .. {_S} {_IS} {_TOLD} that",
    f"there {_IS} [a|an|no|some] .. {_SAYING} of|from|by|in|at|on [the|a|an] .. {_S} that",
    f"{_SAYING} of|from|by|in|at [the|a|an] .. {_S} {_IS} that",
    f"{_SAYING} among .. {_IS} that",
    f"have|has|had it from|on [the|a|an] .. {_WHOSE} that",
    f"{_S} has|have|had it that",
    f"{_S} would have it that",
    f"{_S} {_IS}|remains|remain|remained [quite|very|also|still|now] {_SURE} that",
    f"{_S} {_IS} [quite|very|also|still|now] silent|clear|explicit about|on",
    f"{_S} {_IS} on record that|as|saying",
    f"{_S} has|have|had no|little doubt|quarrel that|with",
    f"{_S} 's {_OWN} {_SAYING} [{_IS}] that",
    f"{_S} {_SAYING} {_IS} that",
)

_OWNED = Phrases.of(f"{_S} ['s] {_OWN} {_SAYING}")
_OF = Phrases.of(f"{_SAYING} of|from|by [the|a|an] .. {_S}")
_THAT = Phrases.of(f"{_IS} that")
_SOURCE = frozenset({"source", "sources"})
_MINE = frozenset({"my", "our"})
_NO_TRADES = lexicon("exist persist resist insist consist assist twist list mist fist waist wrist career beer")
_LOOK_BACK = 4
_LEAD_IN = 8
"""So many words at most stand before a colon that brings what somebody said."""


def framed(clause: Clause, *, leads_up: bool) -> bool:
    """Say whether a clause names a source without a verb of saying; ``leads_up`` says that it is not all there is."""
    words = named(clause)
    if leads_up and _OPENINGS.begin(words[: _first(words, "that")]):
        return True
    return any(
        word in _FRAMES.beginnings and words[max(0, at - 1)] not in _MINE and _FRAMES.begin(words, at)
        for at, word in enumerate(words)
    )


def _first(words: Sequence[str], word: str) -> int:
    return words.index(word) if word in words else len(words)


def introduced(sentence: Sentence) -> bool:
    """Say whether a clause names what a source said, and a later one brings it: "the surveyor's finding: ..."."""
    return any(_introduces(sentence, place) for place in range(len(sentence.clauses) - 1))


def owned(clause: Clause, place: int) -> bool:
    """Say whether a word is what a source says: "the court's summary"."""
    if clause.words[place] not in SAYINGS:
        return False
    words = named(clause, max(0, place - _LOOK_BACK), place + 1)
    return any(_OWNED.begin(words, at) for at in range(len(words) - 1))


def named(clause: Clause, start: int = 0, stop: int | None = None) -> tuple[str, ...]:
    """Return the words of a clause, or some of them, with marks for its names and for trades."""
    return tuple(
        _NAME if place in clause.capitals and place else _TRADE if _is_trade(word) else word
        for place, word in enumerate(clause.words[start:stop], start)
    )


def _is_trade(word: str) -> bool:
    return word.endswith(ROLES) and word not in _NO_TRADES


def _introduces(sentence: Sentence, place: int) -> bool:
    clause, following = sentence.clauses[place], sentence.clauses[place + 1 :]
    words = named(clause)
    if clause.quoted or len(words) > _LEAD_IN:
        return False
    if following[0].mark == ":" and words[-1] in _SOURCE:
        return bool(_SPEAKERS & set(named(following[0])))
    if not (_OWNED.within(words) or _OF.within(words)):
        return False
    return following[0].mark == ":" or any(_THAT.begin(each.words) for each in following)
