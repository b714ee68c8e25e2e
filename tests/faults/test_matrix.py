"""The matrix: the rows of the tables on each wire in each way, and a share of them with a form of the caller's own.

Unless everything is wanted, a row is played once on each wire, in each way once or more, and on every cell for which
it makes an exception.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.faults.checking import check
from tests.faults.known_bugs import marks
from tests.faults.row import WAYS, WIRES, Cell, Row
from tests.faults.table_answers import ANSWERS
from tests.faults.table_limits import LIMITS
from tests.faults.table_network import NETWORK
from tests.faults.table_service import SERVICE
from tests.work import covering

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
    chosen = {Cell(*each) for each in covering(TABLE, WIRES, WAYS)}
    made = [Cell(*each) for each in product(TABLE, WIRES, WAYS)]
    made = [each for each in made if each in chosen or _is_exceptional(each)]
    made += [Cell(*each, "form") for each in covering(AS_A_FORM, WIRES, WAYS)]
    return [pytest.param(each, marks=marks(each, TABLE[each.fault]), id=str(each)) for each in made]


def _is_exceptional(cell: Cell) -> bool:
    """Tell whether the row has something to say of just this cell, or cannot be played in every way."""
    row, words = TABLE[cell.fault], {cell.wire, cell.way, *WAYS[cell.way]}
    return bool(row.without) or any(" " in key and words.issuperset(key.split()) for key in row.but)


@pytest.mark.filterwarnings("ignore:.* is not a valid FinishReason:UserWarning")  # google's SDK reads streams itself
@pytest.mark.parametrize("cell", cells())
def test_fault(cell: Cell, asking: Asking) -> None:
    """The outcome, every verdict and event, every request and every token are as the row says."""
    row = TABLE[cell.fault].on(cell.wire, cell.way)
    check(cell, row, asking.ask(cell, row))
