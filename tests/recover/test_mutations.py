"""No mutation of an answer makes recovery invent, finish, or read what was taken back."""

from __future__ import annotations

import os

import pytest

from tests.recover.mutations import FULL, mutation, wrong

COUNT = FULL if os.environ.get("EMITTER_TESTS") == "full" else 3_000
PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_mutations(part: int) -> None:
    """What is read stands in the text, whole, outside thinking blocks, and is not retracted."""
    found = [(index, wrong(mutation(index))) for index in range(part, COUNT, PARTS)]
    assert [each for each in found if each[1]] == []
