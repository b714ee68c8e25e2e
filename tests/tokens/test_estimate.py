"""The estimates hold on both sides of the true count."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import tokens
from emitter.budget import estimate_max_tokens, estimate_min_tokens
from tests.tokens.samples import COUNTED, SAMPLES, at_hand

ALPHABETS = {
    "hex": "0123456789abcdef",
    "base64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "small letters": "abcdefghijklmnopqrstuvwxyz",
    "words": "abcdefghijklmnopqrstuvwxyz      ",
    "digits": "0123456789",
    "numbers": "0123456789,.- ",
    "ASCII": "".join(map(chr, range(32, 127))),
    "controls": "".join(map(chr, range(32))),
    "escapes": "\\u0123456789abcdef",
    "blanks": " \t\r\n",
    "Cyrillic": "".join(map(chr, range(0x410, 0x450))),
    "Greek": "".join(map(chr, range(0x391, 0x3CA))),
    "Arabic": "".join(map(chr, range(0x621, 0x64B))),
    "Devanagari": "".join(map(chr, range(0x905, 0x93A))),
    "Thai": "".join(map(chr, range(0xE01, 0xE2F))),
    "Hangul": "".join(map(chr, range(0xAC00, 0xD7A4))),
    "kana": "".join(map(chr, range(0x3041, 0x30FF))),
    "Han": "".join(map(chr, range(0x4E00, 0xA000))),
    "rare Han": "".join(map(chr, range(0x3400, 0x4DC0))),
    "emoji": "".join(map(chr, range(0x1F300, 0x1F650))),
    "box drawing": "".join(map(chr, range(0x2500, 0x2580))),
}


@pytest.mark.parametrize(("text", "o200k", "cl100k"), COUNTED)
def test_the_true_count_lies_between_the_estimates(text: str, o200k: int, cl100k: int) -> None:
    """No text has more tokens than ``most``, and with no tokenizer fewer than ``least``."""
    assert estimate_min_tokens(text) <= min(o200k, cl100k)
    assert o200k <= estimate_max_tokens(text)


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_random_text_of_a_kind_stays_below_the_estimate(alphabet: str) -> None:
    """Also of noise, 300 characters of each kind, the estimate is not below the true count."""
    at_hand("o200k_base")
    chance = random.Random(11)  # noqa: S311 - the same noise in every run
    for _ in range(20):
        text = "".join(chance.choices(alphabet, k=300))
        assert estimate_min_tokens(text) <= tokens.count_tokens(text, "o200k_base") <= estimate_max_tokens(text)


@given(st.lists(st.sampled_from(SAMPLES), max_size=5).map("".join))
def test_texts_put_together_stay_between_the_estimates(text: str) -> None:
    """What holds of parts holds of a text of several kinds."""
    at_hand("o200k_base")
    assert estimate_min_tokens(text) <= tokens.count_tokens(text, "o200k_base") <= estimate_max_tokens(text)


@given(st.text())
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    """The estimates are bounded by the bytes, in order, and know nothing as nothing."""
    assert 0 <= estimate_min_tokens(text) <= estimate_max_tokens(text) <= len(text.encode(errors="replace"))


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        pytest.param("The quick brown fox jumps over the lazy dog. " * 20, 2.3, id="prose"),
        pytest.param('{"name":"Alice Smith","active":true,"count":12},' * 20, 2.6, id="JSON"),
        pytest.param("1234567890, " * 40, 1.3, id="numbers"),
    ],
)
def test_the_estimate_is_no_mere_count_of_bytes(text: str, ratio: float) -> None:
    """On ordinary text the safe estimate is near the truth."""
    at_hand("o200k_base")
    assert estimate_max_tokens(text) <= ratio * tokens.count_tokens(text, "o200k_base")


@pytest.mark.parametrize("text", ["\ud800", "a\udfff b"], ids=["half a character", "in a text"])
def test_half_a_character_is_counted(text: str) -> None:
    """A lone surrogate, which no vendor takes, breaks no estimate."""
    assert 0 <= estimate_min_tokens(text) <= estimate_max_tokens(text)
