"""Split English text into sentences, clauses and words, and match phrases in it.

A phrase is a list of words: ``a|b`` is one of several, ``[a|b]`` is optional, ``..`` skips up to four words and ``...``
up to twelve. There is no repetition, so matching is linear in the text. Quotations are removed and contractions written
out ("don't" as "do not") before phrases are matched.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

GAPS = {"..": 4, "...": 12}
"""How many words each passes over at most."""


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class PhraseStep:
    """One of ``words`` after at most ``gap`` other words, or nothing if it is ``optional``."""

    words: frozenset[str]
    optional: bool = False
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases, indexed by the words they may begin with."""

    beginnings: Mapping[str, tuple[tuple[PhraseStep, ...], ...]]

    @classmethod
    def from_lines(cls, *lines: str) -> Phrases:
        """Parse phrases, one per line."""
        found: dict[str, list[tuple[PhraseStep, ...]]] = {}
        for line in lines:
            for word, steps in _parse_beginnings(_parse_steps(line)):
                found.setdefault(word, []).append(steps)
        return cls({word: tuple(each) for word, each in found.items()})

    def __or__(self, other: Phrases) -> Phrases:
        """Return the phrases of both."""
        both = self.beginnings.keys() | other.beginnings.keys()
        return Phrases({word: self.beginnings.get(word, ()) + other.beginnings.get(word, ()) for word in both})

    def startswith(self, words: Sequence[str], at: int = 0) -> bool:
        """Return whether a phrase matches at a position."""
        return at < len(words) and any(_matches(each, words, at) for each in self.beginnings.get(words[at], ()))

    def contains(self, words: Sequence[str]) -> bool:
        """Return whether a phrase matches anywhere."""
        return any(word in self.beginnings and self.startswith(words, at) for at, word in enumerate(words))

    def count(self, words: Sequence[str]) -> int:
        """Return at how many positions a phrase matches."""
        return sum(word in self.beginnings and self.startswith(words, at) for at, word in enumerate(words))

    def fullmatch(self, words: Sequence[str]) -> bool:
        """Return whether a phrase matches all words."""
        found = self.beginnings.get(words[0], ()) if words else ()
        return any(end == len(words) for steps in found for end in _match_ends(steps, words, 0))


def _parse_steps(line: str) -> tuple[PhraseStep, ...]:
    steps: list[PhraseStep] = []
    gap = 0
    for part in line.split():
        if part in GAPS:
            gap = GAPS[part]
            continue
        optional = part.startswith("[")
        steps.append(PhraseStep(frozenset(part.strip("[]").split("|")), optional, gap))
        gap = 0
    return tuple(steps)


def _parse_beginnings(steps: tuple[PhraseStep, ...]) -> Iterator[tuple[str, tuple[PhraseStep, ...]]]:
    for place, step in enumerate(steps):
        yield from ((word, steps[place:]) for word in step.words)
        if not step.optional:
            return


def _match_ends(steps: tuple[PhraseStep, ...], words: Sequence[str], at: int) -> Iterator[int]:
    if not steps:
        yield at
        return
    step, rest = steps[0], steps[1:]
    for place in range(at, min(at + step.gap + 1, len(words))):
        if words[place] in step.words:
            yield from _match_ends(rest, words, place + 1)
    if step.optional:
        yield from _match_ends(rest, words, at)


def _matches(steps: tuple[PhraseStep, ...], words: Sequence[str], at: int, number: int = 0) -> bool:
    """Return whether the steps from ``number`` on match. Most have no gaps or choices, and need no recursion."""
    count = len(words)
    for place in range(number, len(steps)):
        step = steps[place]
        if step.gap or step.optional:
            rest = range(at, min(at + step.gap + 1, count))
            if any(words[each] in step.words and _matches(steps, words, each + 1, place + 1) for each in rest):
                return True
            return step.optional and _matches(steps, words, at, place + 1)
        if at >= count or words[at] not in step.words:
            return False
        at += 1
    return True


VERBS = word_set("""
    abandon abort accept acknowledge acquire act activate add adjourn adjust admit adopt advance advertise advise
    agree align allocate allow amend announce answer apologise apologize appeal append apply appoint approve archive
    arrange ask assign attach attend audit authorise authorize automate avoid award back ban begin bill bind block
    book borrow bring build buy call cancel cap capture carry carve cease change charge check choose clean clear
    close collect combine commission commit compensate complete concede conduct confirm connect contact continue
    convert copy correct cover create cull cut deactivate debit decline decommission deduct defer delay delegate
    delete delist deliver demand deny deploy deposit destroy dial dig direct disable discard disclose discharge
    discontinue disconnect dismiss dispatch display dispose dispute distribute divert divide do donate double
    downgrade draft drain draw drive drop duplicate earmark edit eliminate email employ enable encrypt end enforce
    engage enrol enroll enter escalate escrow establish evacuate evict exclude execute exercise exit expand expel
    expire export extend extract fail fall fell file fill finance finish fine fire fit fix flag fly forbid forgive
    forward found free freeze fund gate gather get give go grant grow halt hand have hedge hide hire hold honour
    honor host ignore implement import impose improve include increase inform insert inspect install instruct insure
    integrate interview introduce invest invite invoice isolate issue join keep kill launch lay lead lease leave
    lend let levy license lift limit liquidate list litigate load lock log lower mail maintain make manage mandate
    mark match measure meet merge migrate mirror mitigate mothball mount move name notify offer omit onboard open
    operate opt order outsource override overrule pack park pass patch pause pay permit phase pick pilot pin place
    plan plant pledge point post postpone prepare prescribe present press print proceed process procure produce
    prohibit promote protect prove provide provision prune publish pull purchase purge push put quarantine quit
    quote raise ramp rate reactivate read reallocate reassign rebase rebook rebuild recall receive recommend record
    recruit redact redeploy redirect reduce refer refinance refuse refund register reinstate reissue reject relaunch
    release relocate remain remove rename renew renovate rent reopen reorder repair repay repeal replace replant
    reply report repost represent reprice reprint request require reschedule rescind reserve reset resign resolve
    respond restart restore restrict restructure resume retain retire retitle retract return reuse revert revise
    revoke reward rewrite ring roll rotate route run sack sail save scale schedule scrap seal secure seed seek
    select sell send separate serve set settle share shelve ship shorten shrink shut sign simplify skip slow sow
    spend spin split sponsor stage standardise standardize start state stay stick stop store strike submit subscribe
    substitute sue supply support surrender suspend swap switch take target tax teach tear tell tender terminate
    test thank tie tighten top track trade train transfer transition travel treat trial trigger trim triple triage
    turn unblock uninstall unlock unpublish unsubscribe update upgrade uphold upload use vacate vaccinate validate
    anonymise anonymize bake boil brush cook cool cross debug downsize dry heat immunise immunize inject mow paint
    phone polish rehire repaint resurface retrain reword rezone ride rinse stitch strengthen sublet sweep tow unload
    unpack vary veto visit void vote wait waive walk warn wash weaken wear wind wipe wire withdraw withhold wrap write
    yield
""")
UNDECIDED_VERBS = word_set("""
    analyse analyze assess be consider debate decide deliberate determine discuss evaluate explore feel figure hear
    investigate know learn look ponder rather reconsider reflect remember revisit see study think understand weigh
""")
"""Verbs that leave the decision where it was."""
UNDECIDED_MODAL_VERBS = UNDECIDED_VERBS | word_set(
    "choose pick review wait consult gather ask examine meet want vary depend hinge"
)
"""Those that leave it there when it is said of somebody that they should."""
MODALS = word_set("should must shall will ought need needs")
SUBORDINATE = word_set(
    "because since although though unless whereas while which who whose where as if when once given provided despite "
    "until after before with without whatever wherever whenever however whichever for"
)
"""The words a clause begins with that supports another, or limits it."""
CLAUSE_BREAKS = word_set("because since although though unless whereas while which who whose where")
"""Those that begin such a clause without a comma."""
LEADING_LINKS = word_set(
    "so and but then therefore thus hence still yet instead please accordingly also now just simply kindly "
    "therefore consequently nonetheless nevertheless today tonight tomorrow immediately first "
    "honestly overall ultimately personally currently generally frankly really"
)
"""What may stand before an imperative."""
DETERMINERS = word_set(
    "the a an it them this that these those our your his her its their all both every each no him us me any"
)
NOT_VERBS = (
    SUBORDINATE
    | LEADING_LINKS
    | DETERMINERS
    | word_set("""
    or is are was were am be been do does did has have had can could may might must shall should will would not i
    you he she we they who whom what why how whether either neither nor than that there here of in on at by to from
    into onto over under about between among across through during within against per via like near off out up down
    again further too very more most less least even only also ever never perhaps maybe possibly probably likely
    such same other another some many several few much enough half quite rather almost
""")
)
"""Words that no imperative is, so that a determiner after any other word makes that word one."""
ACTION_VERBS = VERBS - UNDECIDED_VERBS
"""The verbs that change something."""
_IRREGULAR_PARTICIPLES = word_set("""
    begun bound bought brought built borne carved caught cut dealt drawn dug driven fallen flown forbidden forgiven
    found frozen given gone ground grown held hidden hired kept laid led left lent let lit lost made meant met paid
    put quit read rebuilt repaid run rung said sent set shrunk shut sold spent split spun stopped struck stuck sung
    swapped taken taught told torn thrown tied undone upheld withdrawn withheld won wound written
""")
_Y = "y"


def has_gerund_form(word: str) -> bool:
    """Return whether a word is a verb's form in "-ing"."""
    return word.endswith("ing") and _is_base(word[:-3])


def has_participle_form(word: str) -> bool:
    """Return whether a word is a verb's past participle."""
    regular = word.endswith("ed") and (_is_base(word[:-2]) or (word.endswith("ied") and word[:-3] + _Y in ACTION_VERBS))
    return word in _IRREGULAR_PARTICIPLES or regular


def _is_base(stem: str) -> bool:
    """Return whether a verb is left without its ending: with an "e" put back, or a doubled letter made one."""
    return (
        stem in ACTION_VERBS or stem + "e" in ACTION_VERBS or (stem[-1:] == stem[-2:-1] and stem[:-1] in ACTION_VERBS)
    )


MAX_READ = 10_000
"""How many characters of a text are read; what a slot says in one sentence stands well before."""
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'"})
_OPENING_QUOTE = re.compile(r"[\"“„«「『]|(?<!\S)'")
_CLOSING_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』"}
_QUOTATION_WORD = "Q"
"""What stands for a quotation: a name."""
_TERMINATORS = ".!?…"
_TOKEN = re.compile(
    r"[^\W_]+(?:['.][^\W_]+|[,:]\d+)*"
    r"|(?<=\w{3})\.(?=\s+[^\sa-z]|\s*\Z)"
    r"|[,;:()\[\]!?…\n\u2013\u2014]|[\u3002\uff01\uff1f\u060c\u061b\u061f]|(?<=\s)-(?=\s)"
)
"""Words, full stops that may end a sentence, and other marks: with dashes, and those of Chinese and Arabic."""
_CONTRACTED = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "let's": ("let", "us"),
    "okay": ("ok",),
}
_CONTRACTION_TAILS = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_IS_CONTRACTING = frozenset(
    {"it", "that", "this", "there", "here", "what", "who", "he", "she", "how", "where", "which"}
)
"""The words whose ``'s`` is "is"; any other's is a genitive, which is left off."""


@dataclass(frozen=True, slots=True)
class TextClause:
    """The words between two punctuation marks, and the mark before them, if any."""

    words: tuple[str, ...]
    mark: str = ""


def strip_quotations(text: str) -> str:
    """Normalise the apostrophes of a text, and replace each closed quotation by a name."""
    return "".join(_without_quotations(text[:MAX_READ].translate(_APOSTROPHES).strip()))


def split_clauses(text: str) -> list[TextClause]:
    """Return the clauses of a text, split at commas, colons, dashes, brackets and sentence ends."""
    found: list[TextClause] = []
    words: list[str] = []
    mark = ""
    for each in _TOKEN.finditer(strip_quotations(text)):
        token = each.group()
        if token[0].isalnum():
            words += _expand_token(token, first=not words and not found)
            continue
        found += [TextClause(tuple(words), mark)] if words else []
        words, mark = [], token
    return [*found, TextClause(tuple(words), mark)] if words else found


def split_words(text: str) -> list[str]:
    """Return the words of a text, including those in quotations."""
    spoken = text[:MAX_READ].translate(_APOSTROPHES)
    return [word for each in _TOKEN.findall(spoken) if each[0].isalnum() for word in _expand_token(each, first=True)]


def _expand_token(token: str, *, first: bool) -> tuple[str, ...]:
    if token == "May" and not first:  # noqa: S105 - the month, which is no modal
        return ("month",)
    word = token.casefold()
    if word in _CONTRACTED:
        return _CONTRACTED[word]
    if "'" not in word:
        return (word,)
    if word.endswith("n't"):
        return (word[:-3], "not")
    stem, _, tail = word.rpartition("'")
    if tail == "s":
        return (stem, "is") if stem in _IS_CONTRACTING else (stem,)
    return (stem, _CONTRACTION_TAILS[f"'{tail}"]) if f"'{tail}" in _CONTRACTION_TAILS else (word,)


def _without_quotations(text: str) -> Iterator[str]:
    start = place = 0
    last = {close: text.rfind(close) for close in {*_CLOSING_QUOTES.values()}}
    while (opening := _OPENING_QUOTE.search(text, place)) is not None:
        end = _find_closing(text, opening.start(), last)
        place = opening.end()
        if end < 0 or (opening.start() == 0 and end == len(text) - 1):
            continue
        yield text[start : opening.start()]
        yield f"{_QUOTATION_WORD}." if text[end - 1] in _TERMINATORS else _QUOTATION_WORD
        start = place = end + 1
    yield text[start:]


def _find_closing(text: str, opening: int, last: dict[str, int]) -> int:
    """Return where the quotation ends that begins at a place; -1 where none does."""
    mark = text[opening]
    if mark != "'":
        close = _CLOSING_QUOTES[mark]
        return text.find(close, opening + 1) if last[close] > opening else -1
    end = text.find("'", opening + 1)
    while end > 0 and text[end - 1].isalnum() and text[end + 1 : end + 2].isalnum():
        end = text.find("'", end + 1)
    return -1 if end < 0 or text[end - 1].isspace() else end


_SENTENCE_END = re.compile(
    r"(?P<mark>[.!?…\u061f\u06d4\u0964\u0965]++)[)\]}\u00bb\u201d\u2019\"']*+"
    r"|[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\uff09\u201d\u2019]*+"
    r"|\n[^\S\n]*+\n|\n(?=\s*+[-*\u2022])"
)
"""Marks that a space follows, those of the scripts that put none, an empty line, and an item of a list."""
_FOLLOWING = re.compile(r"\s++(\S\w{0,20})?+|\Z")
_LAST = re.compile(r"([^\W_]+(?:\.[^\W_]+)*)\Z")
_LOOK_BACK = 24
"""How many characters before a full stop are looked at for an abbreviation."""
_TITLES = word_set("dr mr mrs ms mx prof st messrs rev hon gen col capt lt sgt gov sen rep pres fr sr sra hr herr")
_SHORT = word_set(
    "e.g eg i.e ie cf vs v etc al approx ca c no nos nr fig figs sec secs art ch p pp vol ed eds ext para est max min "
    "inc ltd co corp llc plc bros dept assn univ jr sr ph.d m.d b.a m.a u.s u.k u.n e.u d.c a.m p.m b.c a.d "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun "
    "z.b d.h u.a o.ä bzw ggf evtl abs mio mrd str tel incl excl resp temp avg"
)
_STARTERS = word_set(
    "the a an this that these those it its we i you he she they there here our my your his her their if when while "
    "because since although but and so then however therefore otherwise in on at for to as after before until do "
    "does did is are was were should shall can could will would what which who how why where please not no yes"
)
_ORDINAL = 2
"""A whole number of so many digits at most may be an ordinal, as some languages write them."""


def count_sentences(text: str) -> int:
    """Return the number of sentences in a text; 0 if nothing is visible."""
    spoken = strip_quotations(text)
    count = start = 0
    for end in _SENTENCE_END.finditer(spoken):
        if _ends_sentence(spoken, end):
            count += has_visible_text(spoken[start : end.end()])
            start = end.end()
    return count + has_visible_text(spoken[start:])


def has_visible_text(text: str) -> bool:
    """Return whether a text has a visible letter, digit or symbol."""
    return any(unicodedata.category(each)[0] in "LNS" and each not in _INVISIBLE_LETTERS for each in text[:MAX_READ])


_INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and symbols that show nothing."""


def _ends_sentence(text: str, end: re.Match[str]) -> bool:
    after = _FOLLOWING.match(text, end.end())
    if end["mark"] is None or after is None:
        return end["mark"] is None
    following = after[1]
    if not following or following[0].islower():
        return not following
    if end["mark"] != ".":
        return True
    before = _LAST.search(text[max(0, end.start() - _LOOK_BACK) : end.start()])
    return before is None or _closes_sentence(before[1], following)


def _closes_sentence(word: str, following: str) -> bool:
    """Return whether a word with a full stop closes a sentence before another word that is no lower-case one."""
    known = word.casefold()
    if known in _TITLES:
        return False
    doubtful = known in _SHORT or (len(word) == 1 and word != "I") or (word.isdecimal() and len(word) <= _ORDINAL)
    return not doubtful or following.casefold() in _STARTERS


RESTATEMENT_THRESHOLD = 0.8
MIN_CONTENT_WORDS = 3
MAX_COMPARED = 8
"""How many earlier texts a text is compared with at most, so that a list of any length is read in linear time."""
_EMPTY_WORDS = word_set("""
    a an the this that these those it its we us our ours i me my you your yours he she they them his her their is
    are was were be been being am do does did done has have had having will would shall should can could may might
    must ought to of in on at by for from with without into onto over under about as than then so and or but if when
    while because since although though until before after yes now today there here what which who whom how why
    where all both each every any some such same other one only also just very more most
""")
_ENDINGS = ("ments", "ment", "ings", "ing", "ies", "ied", "ions", "ion", "als", "al", "es", "ed", "s", "e", "y")
_MIN_STEM = 3


def strip_ending(word: str) -> str:
    """Return a word without its ending, with at least three letters left."""
    if not word.endswith(_ENDINGS):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return _without_e(word[: -len(ending)])
    return word


def _without_e(stemmed: str) -> str:
    """Return a stem as that of its verb is: "settlement" has the one of "settle"."""
    return stemmed[:-1] if stemmed.endswith("e") and len(stemmed) > _MIN_STEM else stemmed


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    return frozenset(strip_ending(word) for word in split_words(text) if word not in _EMPTY_WORDS)


def restates(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether the first text adds almost nothing to the second."""
    return bool(one) and (
        one == other or (len(one) >= MIN_CONTENT_WORDS and len(one & other) >= RESTATEMENT_THRESHOLD * len(one))
    )


def find_repeats(texts: Iterable[str]) -> Iterator[int]:
    """Yield the positions of texts that restate an earlier one."""
    earlier: set[frozenset[str]] = set()
    compared: list[frozenset[str]] = []
    for place, text in enumerate(texts):
        said = content_stems(text)
        if said in earlier or any(restates(said, each) for each in compared):
            yield place
        elif said:
            earlier.add(said)
            compared += [said] if len(compared) < MAX_COMPARED else []
