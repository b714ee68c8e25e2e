"""The grammar modes of a narrative policy: attributive, hedged and educational.

Source: RFC-0010, NarrativePolicy. The RFC names the modes; the rules that recognize them are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.lexicon import (
    ACCORDING,
    AGENTS,
    BACK,
    BARE,
    BE,
    BODIES,
    FIGURES,
    GOES_ON,
    INFERS,
    MINE,
    NO_CLAIM,
    NO_SUBJECT,
    NOT_THERE,
    NOUNS_TOO,
    OWN,
    QUOTED,
    RECORDS,
    ROLES,
    SAYS,
    SOURCES,
    SPEAKS,
    SPEAKS_OF,
)
from emitter.checks.english import Phrases, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from emitter.authority.narrative.text import Clause, Sentence

_VERBS = SAYS | SPEAKS | RECORDS
_BETWEEN = frozenset({"has", "have", "also", "further", "do", "does", "did", "not", "then", "had", "even"})
_INSERTED = frozenset({",", "\u201d", '"', ")", "\u2013", "\u2014"})
_WHO = frozenset({"which", "who", "others"})
_SPEAKER_WORDS = SOURCES | BACK | _WHO
_SPEAKING = SOURCES | QUOTED | FIGURES
_SILENT = OWN | NO_SUBJECT | BE
_UNNAMED = BARE | NO_SUBJECT
_NEXT = 3
_SPEAKER_LOOK_BACK = 5
_LOOK_ON = 8
_FAR_ON = 30
_HEADING = 2
"""So many words without a full stop say nothing."""


def is_claim(sentence: Sentence) -> bool:
    """Say whether a sentence says something that somebody may be asked for."""
    if sentence.asks or (not sentence.end and sentence.length <= _HEADING):
        return False
    return not NO_CLAIM.startswith(sentence.clauses[0].words)


def is_attributed(sentence: Sentence, *, named: bool) -> bool:
    """Say whether a sentence names a source, or points back to one that was ``named`` before."""
    opening = sentence.clauses[0].words[-1]
    spoken = [each for each in sentence.clauses if not each.quoted]
    leads_up = len(sentence.clauses) > 1
    return is_introduced(sentence) or any(
        _names(each, opening, named=named) or names_framed_source(each, leads_up=leads_up) for each in spoken
    )


def _names(clause: Clause, opening: str, *, named: bool) -> bool:
    words = clause.words
    return any(
        (word in ACCORDING.beginnings and ACCORDING.startswith(words, at) and not _mine(words, at))
        or (word in _VERBS and _speaks(clause, at, opening, named=named))
        for at, word in enumerate(words)
    )


def _mine(words: Sequence[str], at: int) -> bool:
    """Say whether what is named for a source is the speaker, nobody, or the text itself."""
    following = words[at + 1 : at + _LOOK_ON]
    return any(MINE.startswith(following, place) for place in range(1, 4)) or bool(NOT_THERE & set(following))


def _speaks(clause: Clause, at: int, opening: str, *, named: bool) -> bool:
    words, place = clause.words, _subject(clause.words, at)
    if place < 0:
        return clause.mark in _INSERTED and _speaks_from_afar(words, at, opening)
    if (
        not (is_own_saying(clause, place) or _may_speak(words, place, named=named))
        or "what" in words[max(0, at - _SPEAKER_LOOK_BACK) : at]
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
    return word in _SPEAKER_WORDS or word.endswith(ROLES) or named or is_own_saying(clause, place)


def _speaker(clause: Clause, place: int, at: int) -> bool:
    """Say whether a subject, or what shortly stands before it, can speak: "the note on the door tells"."""
    words = clause.words
    if _known(clause, place) or not _SPEAKING.isdisjoint(words[max(0, at - _SPEAKER_LOOK_BACK) : at]):
        return True
    return words[place] in BODIES or (words[at] not in INFERS and words[place].endswith(AGENTS))


def _subject(words: Sequence[str], at: int) -> int:
    """Return where the word stands whose verb this may be; -1 where there is none."""
    place = at - 1
    while place >= max(0, at - _SPEAKER_LOOK_BACK) and (words[place] in _BETWEEN or words[place].endswith("ly")):
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


SAYINGS = word_set("""
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
_FRAMED_SPEAKERS = SOURCES | QUOTED | {_NAME, _TRADE}
_S = "|".join(sorted(_FRAMED_SPEAKERS))
_WHOSE = "|".join(sorted(_FRAMED_SPEAKERS - {"authority"}))
_SAYING = "|".join(sorted(SAYINGS))
_OWN = "[own] [first|last|main|final|official|latest]"
_IS = "is|are|was|were"
_TOLD = "told|warned|advised|informed|reminded|assured|promised"
_WRITTEN = "written|printed|laid|set|spelled|spelt|put|carved|engraved|stated|noted|recorded"
_SURE_FRAMES = (
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
_OPENINGS = Phrases.from_lines(
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
_FRAMES = Phrases.from_lines(
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
    f"{_S} {_IS}|remains|remain|remained [quite|very|also|still|now] {_SURE_FRAMES} that",
    f"{_S} {_IS} [quite|very|also|still|now] silent|clear|explicit about|on",
    f"{_S} {_IS} on record that|as|saying",
    f"{_S} has|have|had no|little doubt|quarrel that|with",
    f"{_S} 's {_OWN} {_SAYING} [{_IS}] that",
    f"{_S} {_SAYING} {_IS} that",
)
_OWNED = Phrases.from_lines(f"{_S} ['s] {_OWN} {_SAYING}")
_OF = Phrases.from_lines(f"{_SAYING} of|from|by [the|a|an] .. {_S}")
_THAT = Phrases.from_lines(f"{_IS} that")
_SOURCE = frozenset({"source", "sources"})
_MINE = frozenset({"my", "our"})
_NO_TRADES = word_set("exist persist resist insist consist assist twist list mist fist waist wrist career beer")
_FRAME_LOOK_BACK = 4
_LEAD_IN = 8
"""So many words at most stand before a colon that brings what somebody said."""


def names_framed_source(clause: Clause, *, leads_up: bool) -> bool:
    """Say whether a clause names a source without a verb of saying; ``leads_up`` says that it is not all there is."""
    words = mark_names(clause)
    if leads_up and _OPENINGS.startswith(words[: _first(words, "that")]):
        return True
    return any(
        word in _FRAMES.beginnings and words[max(0, at - 1)] not in _MINE and _FRAMES.startswith(words, at)
        for at, word in enumerate(words)
    )


def _first(words: Sequence[str], word: str) -> int:
    return words.index(word) if word in words else len(words)


def is_introduced(sentence: Sentence) -> bool:
    """Say whether a clause names what a source said, and a later one brings it: "the surveyor's finding: ..."."""
    return any(_introduces(sentence, place) for place in range(len(sentence.clauses) - 1))


def is_own_saying(clause: Clause, place: int) -> bool:
    """Say whether a word is what a source says: "the court's summary"."""
    if clause.words[place] not in SAYINGS:
        return False
    words = mark_names(clause, max(0, place - _FRAME_LOOK_BACK), place + 1)
    return any(_OWNED.startswith(words, at) for at in range(len(words) - 1))


def mark_names(clause: Clause, start: int = 0, stop: int | None = None) -> tuple[str, ...]:
    """Return the words of a clause, or some of them, with marks for its names and for trades."""
    return tuple(
        _NAME if place in clause.capitals and place else _TRADE if _is_trade(word) else word
        for place, word in enumerate(clause.words[start:stop], start)
    )


def _is_trade(word: str) -> bool:
    return word.endswith(ROLES) and word not in _NO_TRADES


def _introduces(sentence: Sentence, place: int) -> bool:
    clause, following = sentence.clauses[place], sentence.clauses[place + 1 :]
    words = mark_names(clause)
    if clause.quoted or len(words) > _LEAD_IN:
        return False
    if following[0].mark == ":" and words[-1] in _SOURCE:
        return bool(_FRAMED_SPEAKERS & set(mark_names(following[0])))
    if not (_OWNED.contains(words) or _OF.contains(words)):
        return False
    return following[0].mark == ":" or any(_THAT.startswith(each.words) for each in following)


MODALS = word_set("may might can could")
_NOUNS = word_set("a an the his her its their of tin nobody none nothing")
ADVERBS = word_set("""
    perhaps maybe possibly probably potentially conceivably presumably supposedly apparently arguably seemingly
    reportedly allegedly sometimes often usually generally typically frequently occasionally commonly mostly likely
    unlikely rarely seldom
""")
"""Adverbs, and the two adjectives, that hedge where they stand."""
_CUES = Phrases.from_lines(
    "seems|seem|seemed|appears|appear|appeared|suggests|suggest|suggested|tends|tend|tended",
    "in certain|many|most|rare|such cases",
    "not [yet] necessarily|always|every|everyone|everybody|all|clear|certain|known|settled|sure",
    "unclear|uncertain|unknown|possible|probable|plausible|conceivable|doubtful|debated|disputed",
    "depends|depend|depending",
    "looks|look|sounds|sound|feels|seems as if|though",
    "looks|look|sounds|sound like",
    "is|are|was|were|be [often|widely|generally] thought|believed|assumed|expected|said|rumoured|reported|suspected",
    "thought|believed to",
    "or may|might not",
    "as far as",
    "more or less",
    "a|some|the|any|slight|small|real|strong possibility|chance|prospect|likelihood",
    "evidence|picture|findings|results is|are|remains [still] mixed|inconclusive|limited|weak|thin",
    "inconclusive|ambiguous|contested|controversial|speculative|tentative",
    "opinions|views|accounts|estimates|experts vary|differ|diverge|disagree",
    "remains|remain to be seen",
    "open question",
    "one possible|reading|interpretation",
)
HEDGES = _CUES | Phrases.from_lines("|".join(ADVERBS))
_SURE_PHRASES = Phrases.from_lines(
    "definitely|certainly|undoubtedly|unquestionably|absolutely|surely|indisputably",
    "guarantee|guarantees|guaranteed",
    "no|without [a|any] doubt|question",
    "for sure|certain",
    "beyond [any|all] doubt",
    "no matter what",
)
_SOME = word_set("time day way point reason")
"""What "some" leaves nothing open of."""
_NOT_SURE = word_set("not never hardly nobody")


def is_hedged(sentence: Sentence) -> bool:
    """Say whether a sentence has a hedge, and nothing that takes it back."""
    said = [each.words for each in sentence.clauses]
    return any(map(contains_hedge, said)) and not any(map(_is_sure, said))


def contains_hedge(words: Sequence[str]) -> bool:
    """Say whether some words have a hedge."""
    return HEDGES.contains(words) or any(
        _is_modal(words, at) if word in MODALS else word == "some" and not _SOME & set(words[at + 1 : at + 2])
        for at, word in enumerate(words)
    )


def _is_modal(words: Sequence[str], at: int) -> bool:
    following = words[at + 1 : at + 2]
    negated = words[at] in {"can", "could"} and following == ("not",)
    return not negated and not (at and words[at - 1] in _NOUNS) and following != ("of",)


def _is_sure(words: Sequence[str]) -> bool:
    return any(
        word in _SURE_PHRASES.beginnings
        and _SURE_PHRASES.startswith(words, at)
        and not _NOT_SURE & set(words[max(0, at - 2) : at])
        for at, word in enumerate(words)
    )


ADDRESSED: Final = word_set("you your yours yourself yourselves")
_CASE: Final = (
    "patient|patients|applicant|applicants|customer|customers|client|clients|claimant|claimants|borrower|borrowers|"
    "tenant|tenants|employee|employees|student|students|candidate|candidates|driver|defendant|user|member|policyholder|"
    "case|cases|claim|claims|transaction|transactions|invoice|invoices|result|results|account|accounts|report|reports|"
    "scan|scans|image|images|photo|photos|x-ray|contract|contracts|document|documents|order|orders|request|requests|"
    "lesion|mole|rash|tumour|tumor|sample|samples|specimen|biopsy|policy|loan|loans|application|applications|file|"
    "values|value|readings|reading|test|tests|payment|payments|receipt|email|message|letter|complaint|shipment|"
    "parcel|product|device|property|house|vehicle|car|person|individual|child|man|woman|company|firm|"
    "clause|lease|agreement|deed|estate|decision|ruling|dispute|incident|accident|injury|diagnosis|prescription|charge|"
    "bill|quote|offer|bid|deal|portfolio|purchase|refund|ticket|booking|flight|delivery|package|machine|server|alert|"
    "filing|return|statement|record|records|submission|essay|candidate's|symptoms|signature|passport|batch|situation"
)
_ADJECTIVE: Final = (
    "particular|specific|lab|blood|test|medical|legal|individual|same|very|new|old|young|female|male|latest|last|"
    "first|second|credit|bank|tax|insurance|last|suspicious|pending|current"
)
_HANDED: Final = "uploaded|submitted|attached|enclosed|supplied|provided|described|forwarded|pasted|sent|shared"
_HANDED_WORDS: Final = frozenset(_HANDED.split("|"))
_ON: Final = word_set("by to with in for on at from as of about and or that when through under")
_NO_NOUN: Final = word_set(
    "is are was were be been being has have had can may will when if as not and or often also to"
)
_POINTS: Final = Phrases.from_lines(
    f"this|that|these|those [{_ADJECTIVE}] [{_ADJECTIVE}] {_CASE}",
    f"our|my [{_ADJECTIVE}] {_CASE}",
    "in|of|for|on|with this|that|the [particular|specific|present|current|given|very] case",
    "the [very] present|current|instant case|matter|claim|application|patient|dispute|request|applicant",
    f"the .. {_CASE} at hand|issue",
    f"the [{_ADJECTIVE}] {_CASE} in question|issue",
    f"the [{_ADJECTIVE}] {_CASE} above|below|here|attached|enclosed|submitted|provided|uploaded|shown",
    f"the attached|enclosed|uploaded|submitted|aforementioned|above-mentioned|said [{_ADJECTIVE}] {_CASE}",
    "the case at hand",
    "this|that|these|those specific|particular",
    "i [have] looked|reviewed|checked|examined|analysed|analyzed|compared|assessed|inspected",
    f"that|which was|were|is|you {_HANDED}",
    "my",
    "in|on the photo|image|scan|screenshot|attachment|upload|x-ray",
    "in the situation described|given|shown",
)
_NEAR: Final = 3
"""So many words after "the" at most stands what says that it was handed over: "the two figures provided"."""


def find_particulars(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield where a sentence addresses somebody, or points at a case."""
    for clause in sentence.clauses:
        for at, word in enumerate(clause.words):
            if word in ADDRESSED or _points(clause.words, at):
                yield clause.places[at]


def _points(words: Sequence[str], at: int) -> bool:
    word = words[at]
    if word in _HANDED_WORDS:
        return (
            words[0] == "the"
            and 0 < at <= _NEAR
            and words[at - 1] not in _NO_NOUN
            and not _ON & set(words[at + 1 : at + 2])
        )
    if word == "that" and at > 0 and words[at - 1] not in _ON:
        return False
    return words == ("here",) or (word in _POINTS.beginnings and _POINTS.startswith(words, at))
