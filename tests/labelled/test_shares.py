"""The interval of a share, and how it is shown."""

from __future__ import annotations

import pytest

from tests.labelled.shares import shown, wilson


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [(0, 10, (0.0, 0.2775)), (5, 10, (0.2366, 0.7634)), (10, 10, (0.7225, 1.0)), (81, 263, (0.2553, 0.3662))],
)
def test_wilson(part: int, whole: int, expected: tuple[float, float]) -> None:
    """The interval is the published one (Newcombe 1998, table I, method 3, for 81 of 263)."""
    assert wilson(part, whole) == pytest.approx(expected, abs=1e-4)


def test_a_share_is_shown_with_its_interval() -> None:
    """As the fraction that it is, and the ends to three places."""
    assert shown(5, 10) == "5/10 [0.237, 0.763]"
