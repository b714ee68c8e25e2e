"""The message of a validator or check, with every piece of the refused document struck out.

The model is told what the caller's code says of its answer, without the answer. A message is compared with the document
letter by letter, whatever its case, accents and punctuation. Four or more letters or digits in a row that both hold are
struck out, unless a string in the caller's own code holds them. Where that cannot be decided, such as for escaped text,
the whole message is withheld.
"""

from __future__ import annotations

import base64
import math
import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from emitter.schema.author import NUMBER, SHORTEST, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.schema.author import Author
    from emitter.wire import Json

LONGEST = 300
"""A message is cut after so many characters."""
GAP = "…"
"""What stands in the place of a piece that was struck out."""

_MOST_TEXT = 200_000
_LONGEST_WORD = 24
"""A longer word that is not of the caller's code is no word: it may spell the document in another alphabet."""
_SHORT = 1000
_LARGE = 2**63
_DIGITS = 3
"""Numbers of fewer digits are left."""
_NEAR = 0.06
"""Numbers nearer than this may be one, rounded."""
_ESCAPED = re.compile(r"\\\S|%[0-9A-Fa-f]{2}|&#?\w+;")
_WORD = re.compile(r"\w+")
_GAPS = re.compile(rf"{GAP}(?:[\W_]*{GAP})+")


def without(message: str, document: Json, author: Callable[[], Author], names: frozenset[str]) -> str | None:
    """Return ``message`` as one line without a piece of ``document``; None where nothing is left that says something.

    ``names`` are the property names that the schema knows, which are the caller's.
    """
    line = " ".join(message.split()).encode(errors="replace").decode()
    line = line if len(line) <= LONGEST else f"{line[:LONGEST]}{GAP}"
    texts, numbers = _material(document, names)
    if not line or sum(map(len, texts)) > _MOST_TEXT:
        return None
    struck = _places_to_strike(line, texts, numbers, author())
    return None if struck is None else _rest_of(line, struck)


def _places_to_strike(line: str, texts: list[str], numbers: list[str], author: Author) -> set[int] | None:
    """Return the places in ``line`` that are struck out; None where the line cannot be trusted."""
    own = _places_of_author(line, [*texts, *numbers], author)
    if any(not own.issuperset(range(*each.span())) for each in _ESCAPED.finditer(line)):
        return None
    spans = [
        *_shared(line, texts, numbers, own),
        *_symbol_texts(line, texts, own),
        *_odd_numbers(line, numbers, author, own),
    ]
    spans += [each.span() for each in _WORD.finditer(line) if _is_long(each, own)]
    places = {place for span in spans for place in range(*span)}
    for word in _WORD.finditer(line):  # no part of a word is left
        if not places.isdisjoint(range(*word.span())):
            places.update(range(*word.span()))
    return places


def _places_of_author(line: str, texts: list[str], author: Author) -> frozenset[int]:
    """Return the places where the author's phrases stand; a whole text or number of the document counts for none."""
    said = {_letters(each) for each in texts}
    digits = {_digits(each) for each in texts if NUMBER.fullmatch(each)}
    places: set[int] = set()
    for phrase in author.phrases:
        at = line.find(phrase)
        if at < 0 or _letters(phrase) in said or (NUMBER.fullmatch(phrase) and _digits(phrase) in digits):
            continue
        while at >= 0:
            places.update(range(at, at + len(phrase)))
            at = line.find(phrase, at + 1)
    return frozenset(places)


def _shared(line: str, texts: list[str], numbers: list[str], own: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield where letters stand that the document has in the same order."""
    letters, places = _folded(line)
    there = "\n".join(spelled for each in (*texts, *numbers) for spelled in _spellings(each))
    for at in range(len(letters) - SHORTEST + 1):
        here = places[at : at + SHORTEST]
        if letters[at : at + SHORTEST] in there and not own.issuperset(range(here[0], here[-1] + 1)):
            yield here[0], here[-1] + 1


def _symbol_texts(line: str, texts: list[str], own: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield where a text of the document stands that is made of signs more than of letters."""
    folded = line.casefold()
    for text in {each.casefold() for each in texts if len(each) >= SHORTEST and len(_letters(each)) < SHORTEST}:
        at = folded.find(text) if len(folded) == len(line) else -1
        while at >= 0:
            if not own.issuperset(range(at, at + len(text))):
                yield at, at + len(text)
            at = folded.find(text, at + 1)


def _odd_numbers(line: str, numbers: list[str], author: Author, own: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Yield where numbers stand that may be some of the document, written otherwise."""
    there = {_digits(each) for each in numbers}
    for found in NUMBER.finditer(line):
        digits = _digits(found[0])
        if len(re.sub(r"\D", "", found[0])) < _DIGITS or own.issuperset(range(*found.span())):
            continue
        known = number_of(found[0]) in author.numbers and digits not in there
        if not known and any(_near(digits, each) for each in there):
            yield found.span()


def _is_long(word: re.Match[str], own: frozenset[int]) -> bool:
    return len(word[0]) > _LONGEST_WORD and not own.issuperset(range(*word.span()))


def _rest_of(line: str, struck: set[int]) -> str | None:
    if not struck:
        return line
    left = "".join(GAP if place in struck else sign for place, sign in enumerate(line))
    words = [each for each in re.findall(r"[^\W\d_]+", left) if len(each) >= _DIGITS]
    return _GAPS.sub(GAP, re.sub(f"{GAP}+", GAP, left)).strip() if len(words) > 1 else None


def _material(document: Json, names: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the document's texts, names that the schema does not know among them, and its numbers."""
    texts: list[str] = []
    numbers: list[str] = []
    pending: list[Any] = [document]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            texts.append(each)
            numbers.extend(NUMBER.findall(each[:_MOST_TEXT]))
        elif isinstance(each, Mapping):
            table = cast("Mapping[str, Json]", each)
            texts.extend(name for name in table if name not in names)
            pending.extend(table.values())
        elif isinstance(each, list):
            pending.extend(cast("list[Json]", each))
        elif isinstance(each, int | float) and not isinstance(each, bool):
            numbers.extend(_spellings_of_number(each))
    return texts, [each for each in dict.fromkeys(numbers) if _is_long_enough(each)]


def _is_long_enough(number: str) -> bool:
    return len(re.sub(r"\D", "", number)) >= _DIGITS or len(number) >= SHORTEST


def _spellings_of_number(number: float) -> Iterator[str]:
    yield repr(number)
    if isinstance(number, float) and math.isfinite(number):
        yield f"{number:f}"
    if abs(number) < _LARGE:
        yield from (f"{int(number):x}", f"{int(number):o}", f"{int(number):b}")


def _spellings(text: str) -> Iterator[str]:
    """Yield the letters of a text as they are, backwards, and as the usual codes of its bytes."""
    letters = _letters(text)
    yield letters
    if len(letters) >= SHORTEST:
        yield letters[::-1]
        data = text[:_SHORT].encode(errors="replace")
        yield from (data.hex(), _letters(base64.b64encode(data).decode()))


def _letters(text: str) -> str:
    return _folded(text)[0]


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text without case and accents, and the place of each."""
    pairs = [
        (letter, place)
        for place, sign in enumerate(text)
        for letter in (sign.lower() if sign.isascii() else unicodedata.normalize("NFKD", sign).casefold())
        if letter.isalnum()
    ]
    return "".join(each for each, _ in pairs), [place for _, place in pairs]


def _digits(number: str) -> str:
    """Return what a number is however its point, its groups and its size are written."""
    return re.sub(r"\D", "", number.partition("e")[0]).strip("0")


def _near(one: str, other: str) -> bool:
    """Tell whether two numbers may be the same, rounded, or in another unit of ten."""
    if not one or not other:
        return False
    first, second = (float(f"{each[0]}.{each[1:15]}") for each in (one, other))
    return any(abs(first * scale - second) <= _NEAR * second for scale in (0.1, 1, 10))
