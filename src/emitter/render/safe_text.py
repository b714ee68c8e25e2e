# ruff: noqa: RUF001  the tables hold lookalike characters
"""Make untrusted text safe to show.

The functions replace control, bidirectional and invisible characters, keep text on one line, wrap it to a
width, and warn about labels that look like another option, a veto or a mark of the interface.

Sources: Unicode Technical Reports 36 and 39; RFC 5892, appendix A (joiners); UTS 51 (emoji).
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emitter.visible_text import (
    CYRILLIC_LOOKALIKES,
    GREEK_CAPITAL_LOOKALIKES,
    GREEK_LOOKALIKES,
    INVISIBLE_CHARACTERS,
    STYLED_LETTERS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

REPLACEMENT = "\ufffd"
MAX_MARKS = 6
"""Combining marks allowed on one character. Burmese and pointed Hebrew need five."""
MAX_JOINERS = 8
"""Joiners allowed in one cluster. The longest emoji of Unicode has four."""
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_MARKS = frozenset({"Mn", "Mc", "Me"})
_JOINERS = frozenset("\u200c\u200d")
_EMOJI_JOINER = "\u200d"
_VIRAMA = 9
"""The combining class of the sign that may precede a joiner."""
_JOINER_SCRIPTS = (
    (0x0600, 0x08FF),  # Arabic, Syriac, N'Ko, Mandaic
    (0x0900, 0x0DFF),  # Devanagari to Sinhala
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0x1B00, 0x1B7F),  # Balinese
    (0xA840, 0xA9DF),  # Phags-pa to Javanese
    (0xFB50, 0xFEFC),  # forms of Arabic letters
    (0x11000, 0x11FFF),  # Brahmi and its descendants
)
_PICTOGRAPHS = ((0x2190, 0x27FF), (0x2900, 0x2BFF), (0x1F000, 0x1FAFF))
_KEYCAPS_AND_SIGNS = ((0x23, 0x23), (0x2A, 0x2A), (0x30, 0x39), (0xA9, 0xAE), (0x203C, 0x2139), (0x3030, 0x3299))
_MONGOLIAN = ((0x1820, 0x18AA),)
_IDEOGRAPHS = ((0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_VARIATION_BASES: dict[str, tuple[tuple[int, int], ...]] = {
    **{chr(code): () for code in range(0xFE00, 0xFE0E)},
    **dict.fromkeys("\ufe0e\ufe0f", (*_PICTOGRAPHS, *_KEYCAPS_AND_SIGNS)),
    **dict.fromkeys("\u180b\u180c\u180d\u180f", _MONGOLIAN),
    **{chr(code): _IDEOGRAPHS for code in range(0xE0100, 0xE01F0)},
}
"""The characters that each variation selector may follow."""


def sanitize_clusters(word: str) -> list[str]:
    """Split a word into clusters that can be separated, and replace each unsafe character."""
    if word.isascii() and word.isprintable():
        return list(word)
    builder = _ClusterBuilder()
    for character, following in zip(word, f"{word[1:]} ", strict=True):
        builder.add(character, following)
    return builder.clusters


@dataclass(slots=True)
class _ClusterBuilder:
    """Builds clusters and counts the marks and joiners on the last character."""

    clusters: list[str] = field(default_factory=list[str])
    last: str = ""
    marks: int = 0
    joiners: int = 0

    def add(self, character: str, following: str) -> None:
        if character in _VARIATION_BASES:
            self.append(character, allowed=self._accepts_selector(character))
        elif character in _JOINERS:
            self._add_joiner(character, following)
        elif (category := unicodedata.category(character)) in _MARKS and character not in INVISIBLE_CHARACTERS:
            self._add_mark(character)
        elif category in _UNSAFE or character in INVISIBLE_CHARACTERS:
            self._start_cluster(REPLACEMENT)
        elif self.last in _JOINERS:
            self.marks = 0
            self.append(character, allowed=True)
        else:
            self._start_cluster(character)

    def append(self, character: str, *, allowed: bool) -> None:
        if not allowed:
            self._start_cluster(REPLACEMENT)
            return
        self.clusters[-1] += character
        self.last = character

    def _start_cluster(self, character: str) -> None:
        self.clusters.append(character)
        self.last = character
        self.marks = self.joiners = 0

    def _accepts_selector(self, character: str) -> bool:
        return bool(self.last) and _in_ranges(self.last, _VARIATION_BASES[character])

    def _add_joiner(self, character: str, following: str) -> None:
        emoji = character == _EMOJI_JOINER and self._follows_pictograph() and _in_ranges(following, _PICTOGRAPHS)
        allowed = self.joiners < MAX_JOINERS and (emoji or self._is_within_word(following))
        self.append(character, allowed=allowed)
        self.joiners += allowed

    def _follows_pictograph(self) -> bool:
        return self.last == "\ufe0f" or (bool(self.last) and _in_ranges(self.last, _PICTOGRAPHS))

    def _is_within_word(self, following: str) -> bool:
        if not (self.last and _in_ranges(self.last, _JOINER_SCRIPTS)):
            return False
        if unicodedata.combining(self.last) == _VIRAMA:
            return True
        if not _in_ranges(following, _JOINER_SCRIPTS):
            return False
        before, after = unicodedata.category(self.last), unicodedata.category(following)
        virama = unicodedata.combining(following) == _VIRAMA and before[0] == "L"
        return before[0] in "LM" and following not in INVISIBLE_CHARACTERS and (after[0] == "L" or virama)

    def _add_mark(self, character: str) -> None:
        self.marks += 1
        self.append(character, allowed=self.last not in {"", REPLACEMENT} and self.marks <= MAX_MARKS)


def _in_ranges(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(character) <= last for first, last in ranges)


MAX_WORD_WIDTH = 200
"""Terminal cells. A longer word is split."""


def to_single_line(text: str) -> str:
    """Return ``text`` on one line, with unsafe characters replaced and white space collapsed."""
    return " ".join(piece for word in text.split() for piece in split_word(word, MAX_WORD_WIDTH))


def to_safe_lines(text: str) -> list[str]:
    """Return the lines of ``text``, each made safe by ``to_single_line``, with their indents."""
    return [f"{' ' * min(len(line) - len(line.lstrip(' ')), 40)}{to_single_line(line)}" for line in text.splitlines()]


def quote(text: str) -> str:
    """Return ``text`` in quotation marks on one line, so that it cannot pass for the program's own words."""
    return json.dumps(to_single_line(text), ensure_ascii=False)


def cell_width(text: str) -> int:
    """Return the number of terminal cells that ``text`` takes at most."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def split_word(word: str, max_width: int, measure: Callable[[str], int] = cell_width) -> Iterator[str]:
    """Yield the pieces of a word, each at most ``max_width`` cells wide and at least one cluster long."""
    if measure is cell_width and word.isascii() and word.isprintable():
        yield from (word[start : start + max_width] for start in range(0, len(word), max_width))
        return
    piece, width = "", 0
    for cluster in sanitize_clusters(word):
        cluster_width = measure(cluster)
        if piece and width + cluster_width > max_width:
            yield piece
            piece, width = "", 0
        piece, width = piece + cluster, width + cluster_width
    if piece:
        yield piece


_EMOJI_SELECTOR = "\ufe0f"
"""Current terminals draw the character before it two cells wide, older ones one cell wide."""


def _character_width(character: str) -> int:
    if character == _EMOJI_SELECTOR:
        return 1
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrap_text(text: str, width: int, measure: Callable[[str], int] = cell_width) -> list[str]:
    """Wrap a line into rows of at most ``width`` cells.

    Rows break at spaces. A word wider than a row starts a row and is broken. A character wider than ``width`` gets its
    own row. Empty text has no rows.
    """
    rows: list[str] = []
    room = 0
    for word in text.split():
        pieces = list(split_word(word, width, measure))
        for piece in pieces:
            piece_width = measure(piece)
            if rows and len(pieces) == 1 and piece_width < room:
                rows[-1] += f" {piece}"
                room -= piece_width + 1
            else:
                rows.append(piece)
                room = width - piece_width
    return rows


_MORE_LOOKALIKES = (
    "β=b γ=y օ=o ո=n ս=u հ=h ı=i ℓ=l 0=o 1=l i=l |=l !=l ‐=- ‑=- ‒=- –=- —=- ―=- −=- ‘=' ’=' “=' ”=' `=' 【=[ 】=]"
)
_SKELETON_TABLE = str.maketrans(
    CYRILLIC_LOOKALIKES
    | GREEK_LOOKALIKES
    | {capital: letter.lower() for capital, letter in GREEK_CAPITAL_LOOKALIKES.items()}
    | STYLED_LETTERS
    | {pair[0]: pair[2] for pair in _MORE_LOOKALIKES.split()}
    | dict.fromkeys([*map(chr, range(0x300, 0x370)), "\ufffd"], "")
)
_FOLDING_PASSES = 3
"""Some capitals fold to a letter that folds again, such as ``İ`` to ``i`` to ``l``."""


def to_skeleton(text: str) -> str:
    """Return the visual skeleton of ``text``. Texts with the same skeleton look alike."""
    folded = unicodedata.normalize("NFKD", text)
    for _ in range(_FOLDING_PASSES):
        folded = unicodedata.normalize("NFKD", folded.translate(_SKELETON_TABLE).casefold())
    return folded.replace("rn", "m").replace("vv", "w")


def to_compact_skeleton(text: str) -> str:
    """Return the skeleton of ``text`` without spaces and final punctuation."""
    return "".join(to_skeleton(text.rstrip(" .!?:;,…")).split())


_RECOMMENDED_SKELETON = to_compact_skeleton("recommended")
_ENDORSEMENT_WORDS = "|".join(
    map(to_compact_skeleton, ("recommended", "preferred", "suggested", "default", "selected", "best", "approved"))
)
_ENDORSEMENT_TAG = re.compile(rf"[(\[{{<*]\s*(?:{_ENDORSEMENT_WORDS})\s*[)\]}}>*]")
_ENDORSEMENT_SYMBOL = re.compile("[★☆⭐🌟✪✯✔✓✅☑🗸👍]")
_POINTER_PREFIX = re.compile(r"\s*(?:[❯▶►➤➜→»*●◉•]|>(?!\s*\d)|\(\s*[*x]\s*\)|\[\s*[*x]\s*\])", re.IGNORECASE)
_LIST_KEY = re.compile("[\\W_]*?([^\\W_])(?:\ufe0f?\u20e3|\\s*[.):\\]}>]+(?!\\w)|\\s+-+\\s)")
_OPTION_HEADING = re.compile(
    rf"\W*(?:{'|'.join(map(to_skeleton, ('option', 'choice', 'choose')))})\W*([^\W_])\s*(?:[.):\]}}>-]+(?!\w)|\Z)"
)
"""Matches skeletons that imitate this library's own headings and buttons."""
_SYMBOL_CATEGORIES = frozenset({"No", "So"})


@dataclass(frozen=True, slots=True)
class OptionText:
    """An option as it is shown."""

    key: str
    label: str
    reasoning: str
    recommended: bool


def label_warnings(options: tuple[OptionText, ...], vetoes: Iterable[tuple[str, str]]) -> Iterator[str | None]:
    """Yield a warning, or None, for each option. ``vetoes`` holds the keys and names of the vetoes."""
    vetoes = tuple(vetoes)
    letters = {to_skeleton(key) for key, _ in vetoes}
    reserved = letters.union(option.key for option in options)
    names = [to_compact_skeleton(part) for _, name in vetoes for part in name.split(":")]
    skeletons = [to_compact_skeleton(option.label) for option in options]
    for index, (option, skeleton) in enumerate(zip(options, skeletons, strict=True)):
        duplicates = [
            other.key for place, other in enumerate(options) if place != index and skeletons[place] == skeleton
        ]
        warnings = [
            *_duplicate_warnings(duplicates),
            *_endorsement_warnings(option),
            *_key_warnings(option, letters, reserved),
            *_veto_warnings(skeleton, names),
        ]
        yield "; ".join(warnings) or None


def _duplicate_warnings(keys: list[str]) -> Iterator[str]:
    if keys:
        yield f"looks like option{'s' if len(keys) > 1 else ''} {' and '.join(keys)}"


def _endorsement_warnings(option: OptionText) -> Iterator[str]:
    if not option.recommended and (
        _RECOMMENDED_SKELETON in to_compact_skeleton(option.label)
        or _has_endorsement(option.label)
        or _has_endorsement(option.reasoning)
    ):
        yield "claims to be recommended; it is not"
    if _POINTER_PREFIX.match(option.label):
        yield "begins with a mark that is not ours"


def _has_endorsement(text: str) -> bool:
    return bool(_ENDORSEMENT_SYMBOL.search(text) or _ENDORSEMENT_TAG.search(to_skeleton(text)))


def _key_warnings(option: OptionText, letters: set[str], reserved: set[str]) -> Iterator[str]:
    """Warn if a text starts with another key, or if the label is a reserved key."""
    keys = {key for text in (option.label, option.reasoning) if (key := _leading_key(text)) is not None}
    is_other = len(option.label) == 1 and _lookalike_key(option.label) in reserved - {option.key}
    if is_other or any(key in letters or (key.isdigit() and key != option.key) for key in keys):
        yield "begins with a key that is not its own"


def _leading_key(text: str) -> str | None:
    """Return the letter or digit that starts ``text`` like the number of a list item."""
    if text and unicodedata.category(text[0]) in _SYMBOL_CATEGORIES and (alone := _lookalike_key(text[0])).isalnum():
        return alone
    match = _OPTION_HEADING.match(to_skeleton(text)) or _LIST_KEY.match(unicodedata.normalize("NFKC", text))
    return None if match is None else _lookalike_key(match[1])


def _lookalike_key(character: str) -> str:
    """Return the key that a character looks like: ``1`` for the letter l or a circled digit."""
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    folded = to_skeleton(character)
    return "1" if folded == "l" else folded


def _veto_warnings(label: str, names: list[str]) -> Iterator[str]:
    if any(name in label for name in names):
        yield "looks like a veto; it is an option"
    if not label:
        yield "has no words"
