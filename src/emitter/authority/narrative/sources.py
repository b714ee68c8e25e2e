"""Find the sources of a call in a sentence: its materials and readings, by the words of their names.

A source counts as named if a noun phrase has a word of its name and none of another source's: of the "package leaflet"
that is "the leaflet" and "the attached package leaflet", but neither "the buyer's leaflet" nor "the leaflet author".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.checks.text import word_set
from emitter.visible_text import visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KNOWN_SOURCE: Final = "callsource"
"""The word that stands for a source of the call in the phrases of the lexicon."""
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019]s\b)?")
_PART: Final = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
"""A part of a name in camel case, or before a number."""
_WITHIN_PHRASE: Final = re.compile(r"[\s*_-]{1,4}")
_FUNCTION_WORDS: Final = word_set(
    "a about all an and any are as at both but by can does each either every for from had has have her his i if in "
    "into is it its may my no nor not of off on once one or our out per since so such that the their then these they "
    "this those though to under until was we were what when where which while who will with would you your"
)
_NEUTRAL_WORDS: Final = word_set(
    "above actual attached cited complete current enclosed entire given latest latter mentioned original own "
    "present printed provided published quoted same submitted supplied uploaded updated very whole written dr "
    "mr mrs ms prof"
)
"""Words before a noun that do not make it another source."""
_FILE_WORDS: Final = word_set(
    "com csv doc docx html http https jpeg jpg json md net org pdf png rtf txt www xls xlsx xml"
)


def name_words(names: Iterable[str]) -> tuple[frozenset[str], ...]:
    """Return the words of each name, without those that say nothing."""
    return tuple(dict.fromkeys(filter(None, map(_read_name, names))))


def _read_name(name: str) -> frozenset[str]:
    visible = visible_text(name)
    words = {_fold(word) for pattern in (_WORD, _PART) for word in pattern.findall(visible)}
    return frozenset(words - _FUNCTION_WORDS - _FILE_WORDS)


def mark_sources(sentence: str, names: Iterable[frozenset[str]], nouns: frozenset[str], verbs: frozenset[str]) -> str:
    """Return a sentence with ``KNOWN_SOURCE`` for each noun phrase that names a source of the call.

    Args:
        sentence: The visible text of a sentence.
        names: The words of each name.
        nouns: Words that name a source, such as "author". After a name they make it another source.
        verbs: Words that may follow a name although they are nouns, such as "reports".
    """
    sentence = re.sub(KNOWN_SOURCE, ";", sentence, flags=re.IGNORECASE)
    marked, place = list[str](), 0
    for phrase in _iter_phrases(sentence):
        words = [word[0].casefold() for word in phrase]
        # A verb in the third person or the past ends a name, also if it is a word of it: "the engineer notes".
        ends = (number for number, word in enumerate(words) if number and word in verbs and f"{word}s" not in verbs)
        noun_phrase = list(map(_fold, words[: next(ends, None)]))
        length = max((_name_length(noun_phrase, name) for name in names), default=0)
        following = words[length] if length < len(words) else ""
        if length and (not following or _can_follow(phrase[length - 1][0], following, nouns, verbs)):
            marked += (sentence[place : phrase[0].start()], KNOWN_SOURCE)
            place = phrase[length - 1].end()
    return "".join((*marked, sentence[place:]))


def _can_follow(name: str, word: str, nouns: frozenset[str], verbs: frozenset[str]) -> bool:
    """Return whether a word after the last one of a name leaves it the same source, as in "the minutes record"."""
    if name[-2:-1] in _APOSTROPHES:
        return True
    if word in verbs:  # a singular name before a bare verb is part of another: "the police record"
        return name[-1] in "sS" or f"{word}s" not in verbs
    return word not in nouns and (word in _ADVERBS or word.endswith(("s", "d", "ly")))


_ADVERBS: Final = word_set("also always further itself never now once only own still themselves then")
_APOSTROPHES: Final = ("'", "\u2019")


def _iter_phrases(sentence: str) -> Iterator[list[re.Match[str]]]:
    """Yield the words that stand together between function words and punctuation marks."""
    phrase = list[re.Match[str]]()
    for word in _WORD.finditer(sentence):
        if phrase and not _WITHIN_PHRASE.fullmatch(sentence, phrase[-1].end(), word.start()):
            yield phrase
            phrase = []
        if word[0].casefold() not in _FUNCTION_WORDS:
            phrase.append(word)
        elif phrase:
            yield phrase
            phrase = []
    if phrase:
        yield phrase


def _name_length(words: list[str], name: frozenset[str]) -> int:
    """Return how many words at the beginning of a phrase name a source; 0 if another word comes before the name."""
    length = 0
    for number, word in enumerate(words, start=1):
        if word in name:
            length = number if length or not word.isdecimal() else 0  # a number alone names nothing
        elif word not in _NEUTRAL_WORDS:
            break
    return length


def _fold(word: str) -> str:
    """Return a word without case, genitive and plural."""
    folded = re.sub(r"['\u2019]s$", "", word.casefold())
    return folded[:-1] if len(folded) > _SHORTEST_PLURAL and folded.endswith("s") and folded[-2] not in "su" else folded


_SHORTEST_PLURAL: Final = 3
