"""Labels that pass for something else: for another option, for a mark or a key of ours, for a veto.

Nothing is refused or changed for it: the surface shows the option, and beside it a sentence of ours.

Source: Unicode Technical Standard 39, by ``emitter.decide.confusables``: labels that differ in more than case, spaces
and such letters are told apart.
"""
# ruff: noqa: RUF001  the table is of characters that pass for others

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.decide.confusables import CYRILLIC, DRAWN, GREEK, GREEK_CAPITALS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OTHERS = (
    "β=b γ=y օ=o ո=n ս=u հ=h ı=i ℓ=l 0=o 1=l i=l |=l !=l ‐=- ‑=- ‒=- –=- —=- ―=- −=- ‘=' ’=' “=' ”=' `=' 【=[ 】=]"
)
_FOLDS = str.maketrans(
    CYRILLIC
    | GREEK
    | {capital: letter.lower() for capital, letter in GREEK_CAPITALS.items()}
    | DRAWN
    | {pair[0]: pair[2] for pair in _OTHERS.split()}
    | dict.fromkeys([*map(chr, range(0x300, 0x370)), "\ufffd"], "")
)
_PASSES = 3
"""Until nothing changes: a capital folds to a letter that folds, such as İ to i and to l."""


def fold(text: str) -> str:
    """Return what ``text`` looks like: two texts of the same fold pass for each other."""
    folded = unicodedata.normalize("NFKD", text)
    for _ in range(_PASSES):
        folded = unicodedata.normalize("NFKD", folded.translate(_FOLDS).casefold())
    return folded.replace("rn", "m").replace("vv", "w")


def solid(text: str) -> str:
    """Return the fold of ``text`` without its spaces and what ends a sentence."""
    return "".join(fold(text.rstrip(" .!?:;,…")).split())


_CLAIM = solid("recommended")
_TAGS = "|".join(map(solid, ("recommended", "preferred", "suggested", "default", "selected", "best", "approved")))
_TAGGED = re.compile(rf"[(\[{{<*]\s*(?:{_TAGS})\s*[)\]}}>*]")
_MARKED = re.compile("[★☆⭐🌟✪✯✔✓✅☑🗸👍]")
_POINTED = re.compile(r"\s*(?:[❯▶►➤➜→»*●◉•]|>(?!\s*\d)|\(\s*[*x]\s*\)|\[\s*[*x]\s*\])", re.IGNORECASE)
_KEYED = re.compile("[\\W_]*?([^\\W_])(?:\ufe0f?\u20e3|\\s*[.):\\]}>]+(?!\\w)|\\s+-+\\s)")
_NAMED = re.compile(
    rf"\W*(?:{'|'.join(map(fold, ('option', 'choice', 'choose')))})\W*([^\W_])\s*(?:[.):\]}}>-]+(?!\w)|\Z)"
)
"""In the words of our own headings and buttons; of a folded text."""
_SYMBOLS = frozenset({"No", "So"})


@dataclass(frozen=True, slots=True)
class Label:
    """An option as it is shown: the key that chooses it, its two texts, and whether it is the recommended one."""

    key: str
    label: str
    reasoning: str
    recommended: bool


def warnings(options: tuple[Label, ...], vetoes: Iterable[tuple[str, str]]) -> Iterator[str | None]:
    """Yield for each option what a person is to be told about it; ``vetoes`` are the keys and names of the hatches."""
    known = tuple(vetoes)
    letters = {fold(key) for key, _ in known}
    taken = letters.union(each.key for each in options)
    names = [solid(part) for _, name in known for part in name.split(":")]
    solids = [solid(each.label) for each in options]
    for index, each in enumerate(options):
        twins = [other.key for place, other in enumerate(options) if place != index and solids[place] == solids[index]]
        said = [*_twins(twins), *_claims(each), *_keys(each, letters, taken), *_vetoes(solids[index], names)]
        yield "; ".join(said) or None


def _twins(keys: list[str]) -> Iterator[str]:
    if keys:
        yield f"looks like option{'s' if len(keys) > 1 else ''} {' and '.join(keys)}"


def _claims(option: Label) -> Iterator[str]:
    if not option.recommended and (_CLAIM in solid(option.label) or _boasts(option.label) or _boasts(option.reasoning)):
        yield "claims to be recommended; it is not"
    if _POINTED.match(option.label):
        yield "begins with a mark that is not ours"


def _boasts(text: str) -> bool:
    return bool(_MARKED.search(text) or _TAGGED.search(fold(text)))


def _keys(option: Label, letters: set[str], taken: set[str]) -> Iterator[str]:
    """Yield that a text begins with another's key, or that the label is one that is taken."""
    keys = {key for text in (option.label, option.reasoning) if (key := _key(text)) is not None}
    is_other = len(option.label) == 1 and _passes_for(option.label) in taken - {option.key}
    if is_other or any(key in letters or (key.isdigit() and key != option.key) for key in keys):
        yield "begins with a key that is not its own"


def _key(text: str) -> str | None:
    """Return the letter or digit that ``text`` begins with as an item of a list does."""
    if text and unicodedata.category(text[0]) in _SYMBOLS and (alone := _passes_for(text[0])).isalnum():
        return alone
    found = _NAMED.match(fold(text)) or _KEYED.match(unicodedata.normalize("NFKC", text))
    return None if found is None else _passes_for(found[1])


def _passes_for(character: str) -> str:
    """Return the key that a character looks like: 1 for the letter l, or for a digit in a circle."""
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    folded = fold(character)
    return "1" if folded == "l" else folded


def _vetoes(label: str, names: list[str]) -> Iterator[str]:
    if any(name in label for name in names):
        yield "looks like a veto; it is an option"
    if not label:
        yield "has no words"
