"""Cells that are red because of a bug that is known: each turns its test red again once the bug is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.faults.row import WAYS

if TYPE_CHECKING:
    from tests.faults.row import Cell, Row


@dataclass(frozen=True)
class Bug:
    """What is wrong, in which rows, and on the cells that have all the words of ``on``."""

    why: str
    faults: tuple[str, ...]
    on: str


KNOWN: tuple[Bug, ...] = ()
"""What is known to be wrong; best when empty."""


def marks(cell: Cell, row: Row) -> list[pytest.MarkDecorator]:
    """Return what is known of a cell beforehand: that there is none, or that it is red for now."""
    words = {cell.wire, cell.way, *WAYS[cell.way]}
    without = row.on(cell.wire, cell.way).without
    if cell.way in without:
        return [pytest.mark.skip(reason=without[cell.way])]
    bugs = (each.why for each in KNOWN if cell.fault in each.faults and words.issuperset(each.on.split()))
    return [pytest.mark.xfail(strict=True, reason=why) for why in bugs]
