"""The matrix: each row of the tables on each wire in each way, and a share of them with a form of the caller's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.checking import check
from tests.faults.known_bugs import marks
from tests.faults.row import WAYS, WIRES, Cell, Row
from tests.faults.table_answers import ANSWERS
from tests.faults.table_limits import LIMITS
from tests.faults.table_network import NETWORK
from tests.faults.table_service import SERVICE

if TYPE_CHECKING:
    from tests.faults.asking import Asking

TABLE: dict[str, Row] = {**ANSWERS, **SERVICE, **NETWORK, **LIMITS}
AS_A_FORM = (
    *("clean", "cut-then-whole", "cut-but-valid", "refused-with-a-valid-text", "violating-then-whole", "type-mismatch"),
    *("malformed-to-the-end", "fenced", "twice-and-different", "in-words-after-violating", "429-after-7-seconds"),
    *("not-json", "error-under-200", "dropped-midway"),
)
"""The rows that are also asked for a pydantic model of the caller's own."""


def cells() -> list[object]:
    """Return every cell; one that is not played, or known to be red, says why."""
    made = [Cell(fault, wire, way) for fault in TABLE for wire in WIRES for way in WAYS]
    made += [Cell(fault, wire, way, "form") for fault in AS_A_FORM for wire in WIRES for way in WAYS]
    return [pytest.param(each, marks=marks(each, TABLE[each.fault]), id=str(each)) for each in made]


@pytest.mark.filterwarnings("ignore:.* is not a valid FinishReason:UserWarning")  # google's SDK reads streams itself
@pytest.mark.parametrize("cell", cells())
def test_fault(cell: Cell, asking: Asking) -> None:
    """The outcome, every verdict and event, every request and every token are as the row says."""
    row = TABLE[cell.fault].on(cell.wire, cell.way)
    check(cell, row, asking.ask(cell, row))
