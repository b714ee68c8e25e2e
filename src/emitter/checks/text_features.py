"""Extract what a question is about: tokens, stems, concepts, negations, narrowing words and goals."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from emitter.checks.similarity_lexicon import (
    ARTICLES,
    ASIDES,
    CLAUSE_OPENERS,
    CONCEPT_GROUPS,
    CONDITION_OPENERS,
    CONNECTIVES,
    CURRENCIES,
    DISCOURSE_NOUNS,
    ENGLISH,
    FILLER_ADJECTIVES,
    FUNCTION_WORDS,
    INNER_NEGATORS,
    IRREGULAR_FORMS,
    NARROWING_WORDS,
    NEGATORS,
    NUMBERS,
    OBJECTION_WORDS,
    PHRASAL_VERBS,
    PHRASE_REPLACEMENTS,
    POSSESSIVE_MARK,
    POWERS_OF_TEN,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE_WORDS,
    SENTENCE_ADVERBS,
    UNSPACED_NEGATORS,
    VERBAL_FUNCTION_WORDS,
)
from emitter.visible_text import strip_accents, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NOT: Final = "not"
_WORDLESS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana and the Chinese characters."""
_MARKS: Final = "".join(chr(code) for code in range(0x300, 0xE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
"""What stands on or beside a letter, and belongs to its word."""
_LETTER: Final = rf"(?:(?![{_WORDLESS}])[\w{_MARKS}])"
_TOKEN: Final = re.compile(
    rf"(?P<wordless>[{_WORDLESS}]+)"
    rf"|(?P<hyphened>(?=[^\W\d_])(?=[\w-]{{0,40}}\d){_LETTER}{{1,40}}(?:-{_LETTER}{{1,40}})+)"
    rf"|(?P<number>\d+(?:[.,]\d+)*)(?:\s?(?P<times>{'|'.join(POWERS_OF_TEN)})\b|(?!\w))"
    rf"|(?P<sign>[$€£¥])"
    rf"|(?P<exact>[~@]?{_LETTER}+(?:[.@~]+{_LETTER}+)+|[~@]{_LETTER}+)"
    rf"|(?P<word>{_LETTER}+)",
    re.IGNORECASE,
)
_PHRASES: Final = tuple((re.compile(pattern, re.IGNORECASE), word) for pattern, word in PHRASE_REPLACEMENTS)
_UNSPACED_NEGATORS: Final = re.compile("|".join(UNSPACED_NEGATORS))
_GROUPED: Final = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_SENTENCE_END: Final = re.compile(r"[.!?:;\n]")
_LETTERS_ONLY: Final = re.compile(r"[^\W\d_]+")
_TITLE_CASE_SHARE: Final = 0.6
"""Where more of the words than this begin with a capital, a capital marks no name."""
_MIN_TITLE_WORDS: Final = 3
"""Words that it takes for that."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or a piece of a text without spaces.

    An ``exact`` one is a number, a name or an identifier; one that ``owns`` has the ending of an owner.
    """

    text: str
    exact: bool = False
    is_possessive: bool = False


def tokenize(text: str, size: int) -> tuple[Token, ...]:
    """Return the words of a text in linear time.

    A script without spaces between words yields pieces of ``size`` characters.
    """
    plain = _normalize(text)
    matches = tuple(_TOKEN.finditer(plain))
    names = not _is_titled(matches)
    found: list[Token] = []
    end = 0
    for match in matches:
        begins = not end or _SENTENCE_END.search(plain, end, match.start()) is not None
        if run := match["wordless"]:
            found.extend(map(Token, pieces(run, size)))
            found.extend(Token(NOT) for _ in _UNSPACED_NEGATORS.finditer(run))
        else:
            token = _make_token(match, names=names, begins=begins)
            found.append(
                replace(token, is_possessive=True) if plain.startswith(POSSESSIVE_MARK, match.end()) else token
            )
        end = match.end()
    return tuple(found)


def unspaced_runs(text: str) -> Iterator[str]:
    """Return the parts of a text whose script has no spaces between words."""
    return (match["wordless"] for match in _TOKEN.finditer(_normalize(text)) if match["wordless"])


def pieces(run: str, size: int) -> Iterator[str]:
    """Return the pieces of ``size`` characters of a run, overlapping; the run itself where it is shorter."""
    return (run[start : start + size] for start in range(max(1, len(run) - size + 1)))


def _normalize(text: str) -> str:
    plain = visible_text(text)
    for pattern, word in _PHRASES:
        plain = pattern.sub(word, plain)
    return plain


def _is_titled(matches: tuple[re.Match[str], ...]) -> bool:
    words = [match["word"] for match in matches if match["word"] and match["word"].casefold() not in FUNCTION_WORDS]
    return len(words) >= _MIN_TITLE_WORDS and sum(each[0].isupper() for each in words) > _TITLE_CASE_SHARE * len(words)


def _make_token(match: re.Match[str], *, names: bool, begins: bool) -> Token:
    if number := match["number"]:
        return Token(_normalize_number(number, POWERS_OF_TEN.get((match["times"] or "").casefold(), 0)), exact=True)
    if sign := match["sign"]:
        return Token(CURRENCIES[sign], exact=True)
    if exact := match["exact"] or match["hyphened"]:
        return Token(exact.casefold().lstrip("~@"), exact=True)
    return _make_word(match["word"], names=names, begins=begins)


def _make_word(raw: str, *, names: bool, begins: bool) -> Token:
    text = _normalize_spelling(raw.casefold())
    known = NUMBERS.get(text) or CURRENCIES.get(text)
    if known or _LETTERS_ONLY.fullmatch(raw) is None:
        return Token(known or text, exact=known is not None or not raw.isalpha())
    if len(raw) == 1:
        return Token(text, exact=raw.isupper() and raw != "I" and not begins)
    named = raw.isupper() or (raw[0].isupper() and not begins)
    return Token(text, exact=names and named and text not in FUNCTION_WORDS)


def _normalize_spelling(word: str) -> str:
    """Return a word as it is compared; a little word is known by its accents."""
    return word if word in FUNCTION_WORDS or word in NEGATORS else strip_accents(word)


def _normalize_number(raw: str, power: int) -> str:
    """Return a number in one form: 5,000 and 5k are 5000, 214,50 is 214.5; what has more points is a version."""
    digits = "".join(str(unicodedata.decimal(each, each)) for each in raw)
    plain = digits.replace(",", "") if _GROUPED.fullmatch(digits) else digits.replace(",", ".")
    whole, _, part = plain.partition(".")
    if "." in part:
        return plain
    part = part.ljust(power, "0")
    whole, part = (whole + part[:power]).lstrip("0") or "0", part[power:].rstrip("0")
    return f"{whole}.{part}" if part else whole


_ENDINGS: Final = (
    *("ications", "ication", "ifying", "ifies", "ified", "ations", "ation", "ating", "ments", "ment", "ating", "ated"),
    *("ates", "ings", "ions", "ying", "ify", "ate", "ing", "ion", "ies", "ied", "als", "al", "ed", "es", "ly", "s"),
)
_MIN_STEM: Final = 3
"""Letters that must be left; ``al`` leaves one more, so that ``legal`` stays itself."""
_MAX_OUR_LENGTH: Final = 5
"""Letters of a word in -our, at most, that has no -or beside it: hour, flour."""
_VOWELS: Final = frozenset("aeiou")
_MAX_WORD: Final = 40
"""Letters of a word that are looked at for its ending; a longer one is no word of English."""


def stem_word(word: str) -> str:
    """Return the stem of a case-folded word; a number, and a word of other letters than English, is its own."""
    if not word.isascii() or not word.isalpha() or len(word) > _MAX_WORD:
        return word
    word = IRREGULAR_FORMS.get(word, word)
    if len(word) <= _MIN_STEM:
        return word
    for ending in _ENDINGS:
        left = len(word) - len(ending)
        if word.endswith(ending) and left >= _MIN_STEM + (ending in {"al", "als"}) and _is_ending(word, ending):
            return _smooth(word[:left])
    return _smooth(word)


def _is_ending(word: str, ending: str) -> bool:
    """Return whether a final ``s`` is an ending: it is none in access, status and analysis."""
    return ending != "s" or word[-2] not in "sui"


def _smooth(stump: str) -> str:
    """Return a stump without what its forms differ in: a final e, y or i, or the second of two equal consonants.

    British and American spelling differ in the end of what is left: -is and -iz, -our and -or.
    """
    if len(stump) <= _MIN_STEM:
        return stump
    if stump[-1] in "eyi" or (stump[-1] == stump[-2] and stump[-1] not in _VOWELS):
        stump = stump[:-1]
    if stump.endswith("iz"):
        return f"{stump[:-1]}s"
    return f"{stump[:-2]}r" if stump.endswith("our") and len(stump) > _MAX_OUR_LENGTH else stump


def _build_concepts() -> dict[str, tuple[str, bool | None]]:
    known: dict[str, tuple[str, bool | None]] = {}
    for same, opposite in CONCEPT_GROUPS:
        words, others = same.split(), opposite.split()
        for word in (*words, *others):
            known[word] = (stem_word(words[0]), word in words if others else None)
    for word, meant in tuple(known.items()):
        known.setdefault(stem_word(word), meant)
    return known


_CONCEPTS: Final = _build_concepts()
"""By word, and by stem where no other word is it: the idea that it stands for, and on which side of it."""


def concept_of(word: str) -> tuple[str, bool | None]:
    """Return the idea that a case-folded word stands for, and on which side of it, where it has an opposite.

    A word of the table goes before another one that has the same stem: agreement is contract, and agree is approve.
    """
    found = _CONCEPTS.get(word) or _CONCEPTS.get(word.removesuffix("s"))
    if found:
        return found
    stump = stem_word(word)
    return _CONCEPTS.get(stump, (stump, None))


OBJECTING_STEMS: Final = frozenset(map(stem_word, OBJECTION_WORDS))


def is_function_word(word: str) -> bool:
    """Return whether a case-folded word adds nothing to what a question is about."""
    return word in FUNCTION_WORDS or word in NEGATORS


_VERBS: Final = {
    stem_word(verb): {particle: word for (each, particle), word in PHRASAL_VERBS.items() if each == verb}
    for verb, _ in PHRASAL_VERBS
}
_MAX_BETWEEN: Final = 4
"""Words that may stand between a verb and its particle."""


def join_phrasal_verbs(found: Sequence[Token]) -> tuple[Token, ...]:
    """Return the words of a text, each verb that has its particle after it as the word that says the same alone."""
    told: list[Token] = []
    taken: set[int] = set()
    for at, each in enumerate(found):
        if at in taken:
            continue
        particles = None if each.exact else _VERBS.get(stem_word(each.text))
        end = _particle(found, at, particles) if particles else None
        if particles and end is not None:
            taken.add(end)
            told.append(replace(each, text=particles[found[end].text]))
        else:
            told.append(each)
    return tuple(told)


def _particle(found: Sequence[Token], at: int, particles: dict[str, str]) -> int | None:
    """Return where the particle of a verb stands: next to it, or after its object and not before what it leads to."""
    for end in range(at + 1, min(at + 2 + _MAX_BETWEEN, len(found))):
        text = found[end].text
        if text in particles:
            apart = end > at + 1 and end + 1 < len(found) and not is_function_word(found[end + 1].text)
            return None if apart else end
        if text in PREPOSITIONS:
            return None
    return None


NARROWING_STEMS: Final = frozenset(map(stem_word, NARROWING_WORDS))
"""The stems of words that narrow what a question is about, or tie it to a condition."""
FILLER_STEMS: Final = frozenset(map(stem_word, FILLER_ADJECTIVES))
"""The stems of words that stand before another without saying which is meant."""
QUALIFIER_CONTEXT: Final = ENGLISH - VERBAL_FUNCTION_WORDS
"""Little words after which a word that is followed by another one says which of them is meant."""
_ASIDE: Final = re.compile("|".join(ASIDES), re.IGNORECASE)
_PRONOUN: Final = re.compile(rf"\b(?:{'|'.join(sorted(PRONOUNS))})\b", re.IGNORECASE)
_BREAK: Final = re.compile(
    rf"[,;:.?!]\s(?!\s*or\s)|\n|\s[-\u2013]\s|\u2014|\s(?=(?:{'|'.join(CLAUSE_OPENERS)})\b)",
    re.IGNORECASE,
)
"""Where a clause ends: never inside of a number."""


def strip_asides(text: str) -> str:
    """Return a text without the turns of phrase that change nothing of a question."""
    return _ASIDE.sub(" ", text)


def split_question_clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a stem that may ask what the whole does; none where a condition stands among them.

    What stands before a question does not change it. What comes after it may: a clause with a number or a narrowing
    word there binds all that precede it. An alternative that begins with or stays with what it is one to.
    """
    parts = [part for part in _BREAK.split(text) if part.strip()]
    read = [tokenize(part, 2) for part in parts]
    if len(parts) <= 1 or any(map(_is_condition, read)):
        return ()
    last = max((at for at, found in enumerate(read) if at and _is_binding(found)), default=0)
    return tuple(parts[last:])


def has_pronoun(text: str) -> bool:
    """Return whether a clause has a word that stands for what an earlier one names."""
    return _PRONOUN.search(text) is not None


def count_inner_negations(found: Iterable[Token], negators: frozenset[str]) -> int:
    """Return how many negators of a text turn a part of it only: with no, with without, or in a relative clause."""
    related, count = False, 0
    for at, each in enumerate(found):
        count += each.text in negators and (related or each.text in INNER_NEGATORS)
        related = related or (at > 0 and each.text in RELATIVE_WORDS)
    return count


def _is_condition(found: tuple[Token, ...]) -> bool:
    words = [each.text for each in found if each.text not in CONNECTIVES]
    telling = (
        word
        for word in words
        if not is_function_word(word) and stem_word(word) not in OBJECTING_STEMS | NARROWING_STEMS
    )
    return bool(words) and words[0] in CONDITION_OPENERS and any(telling)


def _is_binding(found: tuple[Token, ...]) -> bool:
    return any(stem_word(each.text) in NARROWING_STEMS or any(map(str.isdigit, each.text)) for each in found)


_TO: Final = frozenset({"to", "into", "with", "by", "nach", "zu", "mit", "durch"})
"""What leads to the other end of a move, a gift or an exchange."""
_DISCOURSE_STEMS: Final = frozenset(map(stem_word, DISCOURSE_NOUNS))
_MAX_DISTANCE: Final = 3
"""Words that are looked at for an ``of``."""
_BE: Final = frozenset({"be", "is", "are", "was", "were", "been", "get", "have", "has", "go", "stay", "remain"})
"""What comes after the whole of what a question is about."""
_ASKS: Final = frozenset({"should", "shall", "do", "does", "can", "may", "must", "will", "are", "is"})
"""What begins a question, before what it is about."""


def find_qualifiers(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    """Yield the words that say which is meant, with the word they say it of: legal team, and the manager of Dana's."""
    for at, (one, other) in enumerate(pairwise(ideas)):
        if one is None or other is None:
            continue
        if found[at].is_possessive:
            yield other, one
        if _is_qualifier(found, at):
            yield one, other


def find_heads(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    """Yield the words that are said to be of another, with that one: the summary of the survey, the bridge railings."""
    for at, of in enumerate(ideas):
        if of is None:
            continue
        if (head := _before_of(found, ideas, at)) is not None:
            yield head, of
        after = ideas[at + 1] if at + 1 < len(ideas) else None
        if after is not None and _is_noun(found, at + 1):
            yield after, of


def _before_of(found: Sequence[Token], ideas: Sequence[str | None], at: int) -> str | None:
    """Return the word before the ``of`` that leads to this one, past its article and one word between."""
    for back in range(at - 1, max(0, at - 1 - _MAX_DISTANCE), -1):
        if found[back].text == "of":
            return ideas[back - 1]
    return None


def _is_noun(found: Sequence[Token], at: int) -> bool:
    """Return whether a word that follows on another closes what a question is about: only ``be`` comes after it."""
    return at + 1 < len(found) and found[at + 1].text in _BE and not found[at].text.endswith("ly")


def find_adjuncts(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[frozenset[str]]:
    """Yield the words of each addition behind a preposition, once something is named.

    An addition that speaks of the talk ("from this point of view") is none, nor is a purpose ("to keep it clear").
    """
    for each in _additions(found, ideas):
        if each and all(stem_word(token.text) not in _DISCOURSE_STEMS for token, _ in each):
            yield frozenset(idea for _, idea in each)


def _additions(found: Sequence[Token], ideas: Sequence[str | None]) -> Iterator[list[tuple[Token, str]]]:
    """Yield the words of each addition: to the next preposition but past an ``of``, or to a verb of the question."""
    named = inside = False
    told: list[tuple[Token, str]] = []
    for at, (each, idea) in enumerate(zip(found, ideas, strict=True)):
        begins = each.text in PREPOSITIONS and not (inside and each.text == "of")
        if begins or each.text in VERBAL_FUNCTION_WORDS:
            yield told
            told, inside = [], begins and named and not _is_purpose(found, at)
        elif idea is not None:
            named = True
            told.extend([(each, idea)] if inside else [])
    yield told


def _is_purpose(found: Sequence[Token], at: int) -> bool:
    """Return whether a ``to`` begins a verb: an article comes after the next word."""
    return found[at].text == "to" and at + 2 < len(found) and found[at + 2].text in ARTICLES


def find_goal(found: Sequence[Token], ideas: Sequence[str | None]) -> frozenset[str]:
    """Return the first idea after each word that leads to one."""
    led: set[str] = set()
    waits = False
    for each, idea in zip(found, ideas, strict=True):
        if waits and idea is not None:
            led.add(idea)
        waits = each.text in _TO or (waits and idea is None)
    return frozenset(led)


def _is_qualifier(found: Sequence[Token], at: int) -> bool:
    """Return whether a word qualifies the next one: an owner without a name, or the start of a name."""
    if found[at].is_possessive:
        return not found[at].exact
    return _starts_addition(found, at) and stem_word(found[at].text) not in FILLER_STEMS


def _starts_addition(found: Sequence[Token], at: int) -> bool:
    """Return whether a word begins what is named: after an article or the like, or after what begins the question."""
    return at > 0 and (found[at - 1].text in QUALIFIER_CONTEXT or (at == 1 and found[0].text in _ASKS))


_PAIR, _TRIGRAM = 2, 3
"""Characters of a piece of a script without spaces: of a question, which is short, and of an objection."""


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """What a text is about: the ideas of its ``words``.

    ``exact`` are those of them that no other can stand for. ``turned`` says whether it is negated, an odd number of
    times, and ``inner`` the same of what turns a part of it only. ``sides`` is on which side of a pair of opposites it
    is, where it is on one only. ``scope`` are its narrowing words; ``narrowing`` are the words that say which of
    another is meant, each with that one; ``heads`` are the words that are said to be of another, each with that one;
    ``adjuncts`` are the words of each addition that says where, when, how or for whom. ``goal`` is what it leads to.
    """

    words: frozenset[str]
    exact: frozenset[str]
    is_negated: bool
    sides: frozenset[tuple[str, bool]]
    has_inner_negation: bool
    scope: frozenset[str]
    narrowing: frozenset[tuple[str, str]]
    heads: frozenset[tuple[str, str]]
    adjuncts: frozenset[frozenset[str]]
    goal: frozenset[str]

    def opposes(self, other: TextFeatures) -> bool:
        """Return whether one of the two says the contrary of the other; the contrary of the contrary is none."""
        flips = sum((word, not side) in other.sides for word, side in self.sides)
        return (self.is_negated != other.is_negated) != (flips % 2 == 1)

    def flipped(self, other: TextFeatures) -> frozenset[str]:
        """Return the ideas on whose other side the other one is."""
        return frozenset(word for word, side in self.sides if (word, not side) in other.sides)

    def reverses(self, other: TextFeatures) -> bool:
        """Return whether each leads to what the other speaks of and does not lead to: from A to B, and from B to A."""
        goals = (self.goal, other.goal)
        return all(goals) and self.goal.isdisjoint(other.goal) and self.goal <= other.words and other.goal <= self.words


def extract_features(text: str) -> TextFeatures:
    """Return the features of a text in linear time."""
    found = join_phrasal_verbs(tokenize(text, _PAIR))
    meant = {
        each: concept_of(each.text)
        for each in _content_tokens(found)
        if each.exact or each.text not in SENTENCE_ADVERBS
    }
    ideas = tuple(meant[each][0] if each in meant else None for each in found)
    sides = {(word, side) for word, side in meant.values() if side is not None}
    return TextFeatures(
        words=frozenset(word for word, _ in meant.values()),
        exact=frozenset(word for token, (word, _) in meant.items() if token.exact),
        is_negated=sum(each.text in NEGATORS for each in found) % 2 == 1,
        sides=frozenset((word, side) for word, side in sides if (word, not side) not in sides),
        has_inner_negation=count_inner_negations(found, NEGATORS) % 2 == 1,
        scope=frozenset(stem_word(each.text) for each in found) & NARROWING_STEMS,
        narrowing=frozenset(find_qualifiers(found, ideas)),
        heads=frozenset(find_heads(found, ideas)),
        adjuncts=frozenset(find_adjuncts(found, ideas)),
        goal=find_goal(found, ideas),
    )


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words; for scripts without spaces, pieces of three characters."""
    return frozenset(stem_word(each.text) for each in _content_tokens(tokenize(text, _TRIGRAM)))


def name_stems(text: str) -> frozenset[str]:
    """Return the stems of the names, numbers and identifiers in a text."""
    return frozenset(stem_word(each.text) for each in tokenize(text, _TRIGRAM) if each.exact)


def all_stems(text: str) -> frozenset[str]:
    """Return every stem of a text, and for scripts without spaces also the shorter pieces."""
    return content_stems(text).union(
        piece for run in unspaced_runs(text) for size in range(1, _TRIGRAM) for piece in pieces(run, size)
    )


def _content_tokens(found: Iterable[Token]) -> Iterable[Token]:
    return (each for each in found if each.exact or not is_function_word(each.text))
