"""Find the loop in which a cut answer ended."""

from __future__ import annotations

_MAX_SEARCHED = 16_384
_MIN_LENGTH = 300
"""The shortest loop in characters. Shorter repetitions are ordinary text, such as a row of zeros or dashes."""
_MIN_TURNS = 3


def ends_in_loop(text: str) -> bool:
    """Return whether the end of a text is blank, or repeats the same characters at least three times.

    The last repetition may be cut. The work is linear in the length that is searched. A repetition with a counter in it
    is not found, because nothing distinguishes it from the rows of a table.
    """
    tail = text[-_MAX_SEARCHED:]
    if len(tail) - len(tail.rstrip()) >= _MIN_LENGTH:
        return True
    backwards = tail[::-1]
    return any(
        period + matched >= max(_MIN_LENGTH, _MIN_TURNS * period)
        for period, matched in enumerate(_prefix_matches(backwards))
        if period
    )


def _prefix_matches(text: str) -> list[int]:
    """Return for each position how many characters from there are those from the beginning (the Z function)."""
    matches, left, right = [0] * len(text), 0, 0
    for index in range(1, len(text)):
        length = min(right - index, matches[index - left]) if index < right else 0
        while index + length < len(text) and text[length] == text[index + length]:
            length += 1
        matches[index] = length
        if index + length > right:
            left, right = index, index + length
    return matches
