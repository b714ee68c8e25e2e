"""What a text looks like, and where what is seen was written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority.narrative.text import join_spaced_words, split_sentences, to_visible_text

SEEN = {
    "plain": ("Take 5 mg, now.", "Take 5 mg, now."),
    "invisible": ("T\u200ba\u2060k\u00ade", "Take"),
    "Cyrillic": ("T\u0430k\u0435 s\u0456x", "Take six"),
    "accents": ("na\u00efve \u00cdtem", "naive Item"),
    "full width": ("\uff34\uff41\uff4b\uff45", "Take"),
    "mathematical": ("\U0001d413\U0001d41a\U0001d424\U0001d41e", "Take"),
    "fractions": ("3\u00bd", "3 1/2"),
    "HTML": ("50&nbsp;mg<br>x", "50 mg\nx"),
    "Markdown": ("**5**_0_ `mg`", "50 mg"),
    "a name with an underscore": ("oracle_id", "oracle_id"),
    "an item": ("* one\n* two", "- one\n- two"),
    "TeX": ("50\\,\\text{mg}", "50 mg}"),
    "marks": ("\u201ea\u201d \u2018b\u2019 c\u2011d", "\u201ca\u201d 'b' c-d"),
    "Chinese stops": ("\u597d\u3002\u5417\uff1f", "\u597d. \u5417? "),
    "micro": ("5 \u00b5g", "5 \u03bcg"),
    "lines": ("a\r\nb\u2028c", "a \nb\nc"),
}


@pytest.mark.parametrize(("text", "expected"), SEEN.values(), ids=SEEN)
def test_what_is_seen(text: str, expected: str) -> None:
    """Letters that pass for others are these; what nobody sees is gone."""
    assert to_visible_text(text).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is f i f t y m g.", "It is fiftymg."),
        ("It is s.a.f.e now", "It is safe now"),
        ("I a m", "I a m"),
        ("sizes a b c de", "sizes a b c de"),
        ("f-i-f-t-y", "fifty"),
    ],
)
def test_letters_set_apart_are_closed_up(text: str, expected: str) -> None:
    """Where four or more stand alone in a row."""
    assert join_spaced_words(to_visible_text(text)).text == expected


@settings()
@given(st.text(max_size=80))
def test_every_character_seen_was_written_somewhere(text: str) -> None:
    """In the order of the text, and each with a character at least."""
    for seen in (to_visible_text(text), join_spaced_words(to_visible_text(text))):
        assert len(seen.text) == len(seen.starts) == len(seen.ends)
        assert list(seen.starts) == sorted(seen.starts)
        assert all(0 <= start < end <= len(text) for start, end in zip(seen.starts, seen.ends, strict=True))


@settings()
@given(st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=0x7F), max_size=40))
def test_plain_text_is_seen_as_it_is(text: str) -> None:
    """Character by character."""
    seen = to_visible_text(text)
    assert (seen.text, list(seen.starts)) == (text, list(range(len(text))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", 4),
        ("Dr. Meyer of St. Gallen, e.g. in Fig. 3, wrote to Acme Inc. about it.", 1),
        ("It ended, etc. The rest is known.", 2),
        ("one. two", 1),
        ("One; two.", 2),
        ("One;two.", 2),
        ("Plan B. It works.", 2),
        ("One.Two", 2),
        ("See example.com for 4.2 of it.", 1),
        ("Broken\nby hand", 1),
        ("Broken\n\nby hand", 2),
        ("- one\n- two\n3. three", 3),
        ("He said \u201cOne. Two.\u201d Then he left.", 3),
        ("An open \u201cquotation. Goes on.", 2),
        (" .;!\n", 0),
    ],
)
def test_sentences(text: str, expected: int) -> None:
    """A sentence too many rather than one too few, but no sentence begins in lower case."""
    assert len(list(split_sentences(to_visible_text(text).text))) == expected
