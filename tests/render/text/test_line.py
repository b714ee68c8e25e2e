"""Text of others on a line of ours: nothing works, nothing is lost, and what languages need stays."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.render.safe_text import (
    MAX_JOINERS,
    MAX_MARKS,
    MAX_WORD_WIDTH,
    cell_width,
    split_word,
    to_single_line,
    wrap_text,
)
from tests.work import count_lines, examples

if TYPE_CHECKING:
    from collections.abc import Callable

LAW = settings(max_examples=examples(100))
NO = "\ufffd"
STAYS: dict[str, str] = {
    "Persian, which needs a non-joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Bengali, a joiner before the virama": "\u09b0\u200d\u09cd\u09af\u09be\u09ac",
    "Sinhala, a joiner after it": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "Malayalam, a joiner at the end of a word": "\u0d05\u0d35\u0d28\u0d4d\u200d",
    "Hebrew with points and accents": "\u05e9\u05c1\u05b8\u0596\u05dc\u05d5\u05b9\u05dd",
    "Burmese": "\u1000\u103b\u103d\u1014\u103a\u102f\u1015\u103a",
    "Vietnamese in pieces": "Vie\u0323\u0302t Nam",
    "Mongolian with a selector": "\u1820\u180b",
    "a Japanese name with a selector": "\u8fbb\U000e0100",
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "a rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "a coder with a tone of skin": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "a keycap": "2\ufe0f\u20e3",
    "a text-style heart": "\u2764\ufe0e",
    "our own replacement": f"a {NO} b",
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS.keys())
def test_what_languages_need_stays(text: str) -> None:
    """A joiner, a selector or a mark that belongs there is no attack."""
    assert to_single_line(text) == text


GOES: dict[str, tuple[str, str]] = {
    "a joiner between Latin letters": ("pa\u200dy", f"pa{NO}y"),
    "a non-joiner between Latin letters": ("pa\u200cy", f"pa{NO}y"),
    "two joiners": ("\u0645\u200c\u200c\u062e", f"\u0645{NO}{NO}\u062e"),
    "a joiner with nothing before": ("\u200d\u0645", f"{NO}\u0645"),
    "a joiner between Persian and Latin": ("\u0645\u200cx", f"\u0645{NO}x"),
    "a non-joiner between emoji": ("\U0001f468\u200c\U0001f469", f"\U0001f468{NO}\U0001f469"),
    "a joiner from emoji to text": ("\U0001f468\u200dx", f"\U0001f468{NO}x"),
    "a selector on a letter": ("a\ufe0f", f"a{NO}"),
    "two selectors": ("\u2764\ufe0f\ufe0f", f"\u2764\ufe0f{NO}"),
    "bytes hidden in selectors": ("\U0001f600\U000e0158\U000e0155", f"\U0001f600{NO}{NO}"),
    "an undefined selector": ("\u2764\ufe00", f"\u2764{NO}"),
    "a flag of tags": ("\U0001f3f4\U000e0067\U000e007f", f"\U0001f3f4{NO}{NO}"),
    "marks in a heap": (f"Z{chr(0x301) * 20}a", f"Z{chr(0x301) * MAX_MARKS}{NO * (20 - MAX_MARKS)}a"),
    "a mark on nothing": ("a \u0338b", f"a {NO}b"),
    "a mark on a replacement": ("\u202e\u0338", f"{NO}{NO}"),
    "a grapheme joiner": ("a\u034fb", f"a{NO}b"),
    "letters that draw nothing": ("\u3164\u115f\uffa0\u2800", NO * 4),
    "a soft hyphen": ("pass\u00adword", f"pass{NO}word"),
    "every control": ("".join(map(chr, range(0x7F, 0x85))), NO * 6),
    "private use": ("\ue000\U00100000", NO * 2),
    "no character": ("\ufdd0\U0003ffff", NO * 2),
    "isolates and marks of direction": ("\u2066\u2067\u2068\u2069\u200e\u200f\u061c", NO * 7),
    "an ANSI sequence": ("\x1b[31mred\x1b]0;t\x07", f"{NO}[31mred{NO}]0;t{NO}"),
}


@pytest.mark.parametrize(("text", "shown"), GOES.values(), ids=GOES.keys())
def test_what_cannot_be_seen_is_replaced_by_what_can(text: str, shown: str) -> None:
    """One replacement for each, so that nobody is told less than there was."""
    assert to_single_line(text) == shown


AWKWARD = st.sampled_from(
    [
        *"ab1#* \u0301\u0336\u20dd\u200c\u200d\u200b\ufe0f\ufe0e\U000e0101\u180b\u1820\u0627\u06a9\u0930\u094d\u0915",
        *"\u1000\u103a\u102c\u2764\U0001f468\U0001f3fb\u4e00\u3164\u034f\u2028\x1b\u202e\ud800\U000e0041\u17b4\ufffd",
    ]
)
TEXTS = st.text(AWKWARD, max_size=40) | st.text(max_size=40)


@LAW
@given(TEXTS)
def test_a_line_is_safe_and_stays_as_it_is(text: str) -> None:
    """Neutralising twice is neutralising once; what is left is one line of visible characters and joiners."""
    shown = to_single_line(text)
    kinds = {unicodedata.category(each) for each in shown if each not in "\u200c\u200d"}

    assert to_single_line(shown) == shown
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert len(shown.splitlines()) <= 1


@LAW
@given(TEXTS, st.integers(1, 8))
def test_nothing_is_dropped_and_wrapping_changes_nothing(text: str, width: int) -> None:
    """As many characters as there were, spaces aside; rows put together are the line, and are as safe."""
    shown = to_single_line(text)
    rows = wrap_text(shown, width)

    assert len("".join(shown.split())) == len("".join(text.split()))
    assert "".join("".join(rows).split()) == "".join(shown.split())
    assert [to_single_line(row) for row in rows] == rows


@LAW
@given(TEXTS, st.integers(4, 12))
def test_a_row_is_no_wider_than_asked(text: str, width: int) -> None:
    """Only a cluster that alone is wider has more; one has at most nine characters of two cells, and marks."""
    for row in wrap_text(to_single_line(text), width):
        assert cell_width(row) <= width or " " not in row
        assert cell_width(row) <= 2 * (MAX_JOINERS + 1) * (MAX_MARKS + 1)


WIDTHS = {
    "": 0,
    "abc": 3,
    "\u65e5\u672c": 4,
    "e\u0301": 1,
    "\U0001f600": 2,
    "\u2764\ufe0f": 2,
    "\u0645\u06cc\u200c\u062e": 3,
}


@pytest.mark.parametrize(("text", "width"), WIDTHS.items(), ids=map(ascii, WIDTHS))
def test_wide_characters_count_twice(text: str, width: int) -> None:
    """As a terminal shows them."""
    assert cell_width(text) == width


def test_a_wide_word_is_parted_by_cells() -> None:
    """Half as many characters fit."""
    assert list(map(len, to_single_line("\u65e5" * 250).split())) == [MAX_WORD_WIDTH // 2, MAX_WORD_WIDTH // 2, 50]


def test_a_mark_stays_with_its_letter() -> None:
    """A word is parted between what is one character to its reader."""
    assert list(split_word("ae\u0301b", 2)) == ["ae\u0301", "b"]
    assert wrap_text("ae\u0301b cd", 2) == ["ae\u0301", "b", "cd"]


def test_a_measure_of_others_is_used() -> None:
    """A window may count its cells otherwise."""
    assert wrap_text("abcd ef", 4, lambda text: 2 * len(text)) == ["ab", "cd", "ef"]


def test_no_text_has_no_rows() -> None:
    """An empty line is the caller's to draw."""
    assert wrap_text("", 10) == []


LONG: dict[str, Callable[[int], str]] = {
    "one word": lambda size: "x" * size,
    "marks": lambda size: "\u0301" * size,
    "marked letters": lambda size: "a\u0301" * (size // 2),
    "joined emoji": lambda size: "\U0001f468\u200d" * (size // 2),
    "joined letters": lambda size: "\u0645\u200c" * (size // 2),
    "wide": lambda size: "\u65e5" * size,
    "words": lambda size: "ab " * (size // 3),
    "controls": lambda size: "\x1b" * size,
}


@pytest.mark.parametrize("made", LONG.values(), ids=LONG.keys())
def test_a_long_text_takes_its_time_and_no_more(made: Callable[[int], str]) -> None:
    """The work grows as the text does, where a second loop over it would make it grow as its square."""
    small, large = (count_lines(lambda size=size: to_single_line(made(size))) for size in (5_000, 20_000))  # type: ignore[misc]

    assert large < 6 * small + 1_000
    assert max(map(cell_width, to_single_line(made(200_000)).split())) <= MAX_WORD_WIDTH
