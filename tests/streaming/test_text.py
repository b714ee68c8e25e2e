"""The text of a string is the same in whatever pieces it comes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.streaming.scanner import StringUnescaper
from tests.streaming.forms import TEXTS
from tests.streaming.writing import cut, written
from tests.work import examples

RAW = st.text(st.sampled_from('\\\\\\u0123dD89abcCnté🙂"'), max_size=40)


def fed(pieces: list[str]) -> str:
    """Return the text that the pieces come to."""
    reading = StringUnescaper()
    return "".join(map(reading.feed, pieces))


@given(text=TEXTS, style=st.randoms(use_true_random=False), sizes=st.lists(st.integers(1, 7), min_size=1, max_size=3))
@settings()
def test_any_cut_gives_the_text(text: str, style: object, sizes: list[int]) -> None:
    """Escapes and pairs are put together again, wherever they are cut."""
    raw = written(text, style)[1:-1]  # type: ignore[arg-type]

    assert fed(cut(raw, sizes)) == fed([raw]) == text


@given(raw=RAW, sizes=st.lists(st.integers(1, 7), min_size=1, max_size=3))
@settings(max_examples=examples(300))
def test_what_is_no_text_is_cut_off_where_it_breaks(raw: str, sizes: list[int]) -> None:
    """Nothing is raised, no half a character comes out, and a valid text is reported as far as it is certain."""
    reported = fed([raw])

    assert fed(cut(raw, sizes)) == reported
    reported.encode()
    try:
        meant: str = json.loads(f'"{raw}"')
        meant.encode()
    except ValueError:
        return
    assert reported == meant


CUT_OFF: dict[str, tuple[str, str]] = {
    "half-a-pair": ("a\\ud83d", "a"),
    "pair": ("a\\ud83d\\ude42", "a🙂"),
    "two-first-halves": ("a\\ud83d\\ud83d\\ude42", "a"),
    "second-half-alone": ("a\\ude42b", "a"),
    "escaped-backslash-before-u": ("a\\\\ud83d", "a\\ud83d"),
    "unfinished": ("a\\", "a"),
    "unfinished-code": ("a\\u00", "a"),
    "no-escape": ("a\\xb", "a"),
    "line-end": ("a\nb", "a\nb"),
}


@pytest.mark.parametrize("name", CUT_OFF)
def test_where_a_text_ends(name: str) -> None:
    """What is not certain is held back; a bare line end, which is no JSON, does no harm."""
    raw, text = CUT_OFF[name]

    assert fed([raw]) == fed(list(raw)) == text
