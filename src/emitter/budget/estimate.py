"""Token counts without a tokenizer: one that is never too low, and one that is never too high.

A tokenizer splits text into words, groups of up to three digits, marks and blanks, and then each word into what it
knows of it. How many such pieces there are is counted here over classes of bytes, in a few linear passes.
"""

from __future__ import annotations

_SMALL = b"abcdefghijklmnopqrstuvwxyz"
_CAPITAL = _SMALL.upper()
_VOWELS = b"aeiouAEIOU"
_CONSONANTS = bytes(set(_SMALL + _CAPITAL) - set(_VOWELS))
_DIGITS = b"0123456789"
_MARKS = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_BREAKS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f"
_CONTROLS = bytes(set(range(32)) - set(_BREAKS)) + b"\x7f"
_BEYOND = bytes(range(0x80, 0x100))


def _classes(**members: bytes) -> bytes:
    """Return a translation that writes each byte as the one letter of its class, the rest as a mark."""
    table = bytearray(b"." * 256)
    for letter, those in members.items():
        for each in those:
            table[each] = ord(letter)
    return bytes(table)


_KINDS = _classes(a=_SMALL, A=_CAPITAL, d=_DIGITS, s=b" ", n=_BREAKS, c=_CONTROLS, x=_BEYOND)
_IS_LETTER = _classes(l=_SMALL + _CAPITAL)
_IS_DIGIT = _classes(l=_DIGITS)
_IS_CONSONANT = _classes(l=_CONSONANTS)
_IS_MARK = _classes(l=_MARKS)
_IS_WORD = _classes(l=bytes(set(range(256)) - set(_BREAKS + _CONTROLS + b" ")))
_IS_BLANK = _classes(l=b" ")

# Thousandths of a token. Fitted against o200k_base (a linear programme: the least sum that is below no sample) on
# prose, code, JSON, 26 languages and random text of each class, then rounded up. Random text decides: a letter
# costs what it costs in base64, a consonant cluster what it costs in an anagram.
_PER_WORD = 800
_PER_SMALL = 270
_PER_CAPITAL = 350
_PER_CLUSTER = 1200
_PER_LONG = 1000
_PER_MARK = 740
_PER_MARKS = 280
_PER_CONTROL = 1140
_PER_BLANK = 20

# By the first byte of a character in UTF-8: the script decides. The worst of random text in it.
_BY_FIRST_BYTE = (
    (b"\xc2", 2000),
    (b"\xc3", 1150),
    (bytes(range(0xC4, 0xCE)), 2000),
    (b"\xce\xcf", 1200),
    (b"\xd0\xd1", 1200),
    (bytes(range(0xD2, 0xD7)), 2000),
    (b"\xd7\xd8\xd9", 1200),
    (bytes(range(0xDA, 0xE0)), 2000),
    (b"\xe0", 2200),
    (b"\xe1\xe2\xe3", 3000),
    (bytes(range(0xE5, 0xEA)), 2100),
    (b"\xe4\xee\xef", 3000),
    (bytes(range(0xEA, 0xEE)), 2500),
    (bytes(range(0xF0, 0xF5)), 4000),
)


def most(text: str) -> int:
    """Return a number of tokens that ``text`` does not exceed.

    About twice the true count of prose and JSON, up to five times that of other scripts.
    """
    data = text.encode(errors="replace")
    thousandths = _plain(data) + (0 if data.isascii() else _beyond(data))
    return min(len(data), 1 + thousandths // 1000)


def least(text: str) -> int:
    """Return a number of tokens that ``text`` reaches, with any tokenizer that keeps words apart.

    Those of all the vendors do: no token reaches over a blank from one word into the next. In text without
    blanks, letters in a row stand for a word; a token may hold two of them (``://www``), so half are counted.
    """
    data = text.encode(errors="replace")
    return max(_starts(data.translate(_IS_WORD)), _starts(data.translate(_IS_LETTER)) // 2)


def _plain(data: bytes) -> int:
    """Return the thousandths of tokens of what is ASCII."""
    kinds = data.translate(_KINDS)
    tally = kinds.count
    letters = data.translate(_IS_LETTER)
    words = _starts(letters) + tally(b"aA")
    digits, numbers = tally(b"d"), _starts(data.translate(_IS_DIGIT))
    blanks = data.translate(_IS_BLANK)
    # A blank before a word or a mark belongs to it; before anything else it is a token of its own.
    alone = tally(b"sd") + tally(b"sx") + tally(b"sc") + (b"." + blanks).count(b".ll") + tally(b"n")
    return (
        words * _PER_WORD
        + letters.count(b"llllllll") * _PER_LONG
        + tally(b"a") * _PER_SMALL
        + tally(b"A") * _PER_CAPITAL
        + data.translate(_IS_CONSONANT).count(b"lll") * _PER_CLUSTER
        + (digits + 2 * numbers) * 1000 // 3
        + tally(b".") * _PER_MARK
        + _starts(data.translate(_IS_MARK)) * _PER_MARKS
        + tally(b"c") * _PER_CONTROL
        + tally(b"s") * _PER_BLANK
        + alone * 1000
    )


def _beyond(data: bytes) -> int:
    """Return the thousandths of tokens of what is not ASCII."""
    count = data.count
    return sum(rate * count(first) for firsts, rate in _BY_FIRST_BYTE for first in firsts)


def _starts(runs: bytes) -> int:
    """Return how many runs of ``l`` there are."""
    return (b"." + runs).count(b".l")
