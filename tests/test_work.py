"""A thinned grid leaves out combinations, and no value of any axis."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from tests import work
from tests.work import covering

AXES = [range(7), "abcd", (True, False)]


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_a_thinned_grid_covers_what_it_promises(strength: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any values of so many axes stand together in a cell."""
    monkeypatch.setattr(work, "FULL", False)
    cells = covering(*AXES, strength=strength)

    for axes in combinations(range(len(AXES)), strength):
        found = {tuple(cell[axis] for axis in axes) for cell in cells}
        assert found == set(product(*(AXES[axis] for axis in axes)))
    assert len(cells) <= {1: 7, 2: 30, 3: 56}[strength]


@pytest.mark.parametrize("strength", [1, 2])
def test_a_full_grid_has_every_cell(strength: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the axes."""
    monkeypatch.setattr(work, "FULL", True)

    assert covering(*AXES, strength=strength) == list(product(*AXES))
