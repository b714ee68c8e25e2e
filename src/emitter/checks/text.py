"""Normalize text, split it into words and sentences, and tell whether it is English.

Text is read as a reader sees it (``emitter.visible_text``): invisible characters, look-alike letters, case and
typographic marks make no difference.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from emitter.visible_text import INVISIBLE_CHARACTERS, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


MAX_READ: Final = 5_000
"""The number of characters of a text that are checked, which bounds the time. A usual slot is far shorter."""
MARK: Final = "^"
"""The token between two clauses, and at both ends of a text."""
_QUOTATION: Final = re.compile(
    r"\"[^\"\n]{1,300}\"|\u201c[^\u201c\u201d\n]{1,300}\u201d|\u201e[^\u201e\u201c\u201d\n]{1,300}[\u201c\u201d]"
    r"|\u00ab[^\u00ab\u00bb\n]{1,300}\u00bb|(?<![\w'])'[^'\n]{1,300}'(?!\w)"
)
_APOSTROPHES: Final = str.maketrans("\u2019\u2018\u02bc", "'''")
_CONTRACTION: Final = re.compile(r"([^\W\d_]+)'([^\W\d_]+)")
_CONTRACTIONS: Final = {"can't": "can not", "won't": "will not", "shan't": "shall not", "let's": "let us"}
_TAILS: Final = {"re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am"}
_CONTRACTING: Final = word_set("it that this there here what who he she how where which")
"""The words before which ``'s`` is "is". Elsewhere it is a genitive and left out."""
_IN_NUMBER: Final = re.compile(r"[.,:](?<=\d[.,:])(?=\d)")
_SEPARATORS: Final = str.maketrans(
    dict.fromkeys("-_'\"`*/\\&+=<>|~@#$%{}", " ")
    | dict.fromkeys(".!;:()[]\n\u2026\u2013\u2014\uff0c\u3002\uff01\u060c\u061b", MARK)
    | dict.fromkeys("\uff1f\u061f", "?")
)


def split_tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, with commas, question marks and a ``MARK`` between clauses.

    Contractions are written out. Quotations are replaced by the word "q", because they quote somebody else.
    """
    plain = visible_text(text[:MAX_READ]).casefold().strip()
    if not plain.isascii():
        plain = plain.translate(_APOSTROPHES)
    if '"' in plain or " '" in plain or not plain.isascii():
        inner = _QUOTATION.sub(" q ", plain)
        plain = plain if inner.strip() == "q" else inner
    if "'" in plain:
        plain = _CONTRACTION.sub(_expand_contraction, plain)
    plain = _IN_NUMBER.sub("", plain).replace(" - ", MARK).replace("cannot", "can not").translate(_SEPARATORS)
    tokens = plain.replace(MARK, f" {MARK} ").replace(",", " , ").replace("?", f" ? {MARK} ").split()
    tokens.insert(0, MARK)
    if tokens[-1] != MARK:
        tokens.append(MARK)
    return tokens


def _expand_contraction(contraction: re.Match[str]) -> str:
    word, tail = contraction[1], contraction[2]
    if contraction[0] in _CONTRACTIONS:
        return _CONTRACTIONS[contraction[0]]
    if tail == "t" and word.endswith("n"):
        return f"{word[:-1]} not"
    if tail == "s":
        return f"{word} is" if word in _CONTRACTING else word
    return f"{word} {_TAILS[tail]}" if tail in _TAILS else word


_ENGLISH_WORDS: Final = word_set(
    "after and are because been before but by can could does each every for from had have he her his how if into is it "
    "its may might must not of our she should than that the their then there these they this to until was we were what "
    "when which while who will with would you your"
)
"""Words that every longer English text has, and few texts in other languages."""
_MIN_ENGLISH_WORDS: Final = 10
"""Fewer words do not show their language."""
_LEAST_ENGLISH_SHARE: Final = 0.08
"""The least share of function words. English decisions have 0.2 to 0.5, those in other languages next to none."""


def is_english(tokens: Iterable[str]) -> bool:
    """Return whether the tokens of a text are English, or too few to tell. Words of other scripts always tell."""
    words = [token for token in tokens if token[0].isalpha()]
    if 2 * sum(len(word) for word in words if not word.isascii()) > sum(map(len, words)):
        return False
    return len(words) < _MIN_ENGLISH_WORDS or sum(
        word in _ENGLISH_WORDS for word in words
    ) >= _LEAST_ENGLISH_SHARE * len(words)


_LETTER: Final = re.compile(r"[^\W_]")


def is_unreadable(text: str) -> bool:
    """Return whether a text has no visible letter, digit or symbol.

    Unlike in ``visible_text.is_blank``, punctuation alone does not count as text. After ``MAX_READ`` characters only
    letters and digits count.
    """
    first = text[:1]
    if first.isalnum() and first not in INVISIBLE_CHARACTERS:
        return False
    visible = any(
        unicodedata.category(character)[0] in "LNS" and character not in INVISIBLE_CHARACTERS
        for character in set(text[:MAX_READ])
    )
    return not visible and _LETTER.search(text, MAX_READ) is None


_QUOTES: Final = re.compile(r"(?<!\w)[\"'`“”„‟«»‹›‘’‚]+|[\"'`“”„‟«»‹›‘’‚]+(?!\w)")  # noqa: RUF001
"""Quotation marks at the edge of a word; an apostrophe within one belongs to it."""
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\1(?![\w*])")
"""Text between asterisks, which Markdown emphasizes. A single asterisk may be a wildcard."""
_CLOSING: Final = re.compile(r"[.,;:!?…](?<![.,;:!?…]{2})[.,;:!?…]*(?=\s|$)")
"""Marks at the end of a word. Only the first of a row begins a match, so that a long row is read once."""


def normalize_text(text: str) -> str:
    """Return a text in a form that is equal for texts that differ in presentation only.

    Case, white space, invisible and look-alike characters, Markdown emphasis, quotation marks around words, and
    punctuation after them are ignored. Everything else counts, such as the dot of ``.env`` or ``1.5``.
    """
    plain = visible_text(text[:MAX_READ]).casefold()
    if not plain.isascii() or "*" in plain or '"' in plain or "'" in plain or "`" in plain:
        plain = _QUOTES.sub(" ", _EMPHASIS.sub(r"\2", plain))
    return " ".join(_CLOSING.sub("", plain).split()) + text[MAX_READ:]


_SENTENCE_END: Final = re.compile(
    r"[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\uff09\u201d\u2019]*+|[!?]++(?=[\u3040-\u30ff\u4e00-\u9fff])"
    r"|(?P<stop>[.!?…\u061f\u06d4\u0964\u0965]++)[)\]}\u00bb\u201d\u2019\"']*+"
    r"|\n[^\S\n]*+\n|\n(?=\s*+[-*\u2022])"
)
"""A mark before a space, a mark of a script without spaces, an empty line, or a list item."""
_INNER_END: Final = re.compile(r"[.!?][)\]}\"']*\s|\n")
_FOLLOWING: Final = re.compile(r"\s++(\S\w{0,20})?+|\Z")
_LAST_WORD: Final = re.compile(r"([^\W_]+(?:\.[^\W_]+)*)\Z")
_LOOK_BACK: Final = 24
_TITLES: Final = word_set(
    "dr mr mrs ms mx prof st messrs rev hon gen col capt lt sgt gov sen rep pres fr sr sra hr herr"
)
_ABBREVIATIONS: Final = word_set(
    "e.g eg i.e ie cf vs v etc al approx ca c no nos nr fig figs sec secs art ch p pp vol ed eds ext para est max min "
    "inc ltd co corp llc plc bros dept assn univ jr sr ph.d m.d b.a m.a u.s u.k u.n e.u d.c a.m p.m b.c a.d "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun "
    "z.b d.h u.a o.ä bzw ggf evtl abs mio mrd str tel incl excl inkl exkl zzgl resp temp avg"
)
_STARTERS: Final = word_set(
    "the a an this that these those it its we i you he she they there here our my your his her their if when while "
    "because since although but and so then however therefore otherwise in on at for to as after before until do "
    "does did is are was were should shall can could will would what which who how why where please not no yes"
)
"""Words that start a sentence even after an abbreviation."""
_MAX_ORDINAL_DIGITS: Final = 2


def count_sentences(text: str) -> int:
    """Return the number of sentences in a text; 0 if nothing is visible.

    Abbreviations, ordinals and ellipses end no sentence, and a quotation counts as a name.
    """
    plain = visible_text(text[:MAX_READ]).strip()
    if plain.isascii() and _INNER_END.search(plain) is None:
        return int(not is_unreadable(plain))
    plain = _replace_quotations(plain)
    count = start = 0
    for end in _SENTENCE_END.finditer(plain):
        if not plain[start : end.start()].strip():
            start = end.end()
        elif _ends_sentence(plain, end):
            count += not is_unreadable(plain[start : end.end()])
            start = end.end()
    return count + (not is_unreadable(plain[start:]))


def _replace_quotations(text: str) -> str:
    inner = _QUOTATION.sub(lambda quotation: "Q." if quotation[0][-2] in ".!?…" else "Q", text)
    return text if inner in {"Q", "Q."} else inner


def _ends_sentence(text: str, end: re.Match[str]) -> bool:
    after = _FOLLOWING.match(text, end.end())
    if end["stop"] is None or after is None:
        return end["stop"] is None
    following = after[1]
    if not following or following[0].islower():
        return not following
    if end["stop"] != ".":
        return True
    before = _LAST_WORD.search(text[max(0, end.start() - _LOOK_BACK) : end.start()])
    return before is None or _closes_sentence(before[1], following)


def _closes_sentence(word: str, following: str) -> bool:
    """Return whether a word with a full stop closes a sentence before a word that is not in lower case."""
    known = word.casefold()
    if known in _TITLES:
        return False
    doubtful = (
        known in _ABBREVIATIONS
        or (len(word) == 1 and word != "I")
        or (word.isdecimal() and len(word) <= _MAX_ORDINAL_DIGITS)
    )
    return not doubtful or following.casefold() in _STARTERS
