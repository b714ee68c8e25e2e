"""What a request that is sent again may differ in, where a row of the tables cannot say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Policy, Prices
from emitter.testing import PlannedResponse, Thinking
from tests.faults.model import DECISION, MARK, WHOLE, Says, document
from tests.faults.reading import seen
from tests.faults.row import FIRST, WAYS, WIRES, Cell, Row
from tests.faults.table_answers import VIOLATING

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.testing import ReceivedRequest
    from tests.faults.asking import Asking

every_cell = pytest.mark.parametrize(
    "cell",
    [Cell("again", wire, way) for wire in WIRES for way in WAYS],
    ids=lambda cell: f"{cell.wire}-{cell.way}",
)


@dataclass(frozen=True)
class Reworded:
    """The violating document, with another word wherever the model's own words stand."""

    word: str

    def plan(self, asked: ReceivedRequest) -> PlannedResponse:
        """Return the answer."""
        return PlannedResponse(document("violating", asked).replace(MARK, self.word))


def asked(asking: Asking, cell: Cell, *script: Any, policy: Policy) -> Any:
    """Return the requests of a cell, taken apart."""
    found = asking.ask(cell, Row(script, "", policy=policy))
    return [seen(cell.wire, each.body) for each in found.calls]


@every_cell
def test_the_fragment_is_written_from_the_validator_alone(cell: Cell, asking: Asking) -> None:
    """Answers that break the same rules in other words get the same fragment, of the same size at each call."""
    policy = Policy(max_attempts=3)
    one = asked(asking, cell, VIOLATING, VIOLATING, WHOLE, policy=policy)
    other = asked(asking, cell, Reworded("xyzzy"), Reworded("a " * 400), WHOLE, policy=policy)

    fragments = [each.correction for each in (*one, *other)]
    assert fragments[0] is fragments[3] is None
    assert len({*fragments[1:3], *fragments[4:]}) == 1
    assert "/turn/question/options" in str(fragments[1])
    words = {each for each in str(DECISION["reasoning"]).split() if len(each) > 7}
    assert not words.intersection(str(fragments[1]).split())


LIMITS: dict[str, Callable[[int], Policy]] = {
    "tokens": lambda room: Policy(max_total_tokens=room),
    "money": lambda room: Policy(max_cost=room / 1_000_000, prices=Prices(input=1, output=1)),
}
"""The same room for all calls together, in tokens and in money."""


@pytest.mark.parametrize("limit", LIMITS)
@every_cell
def test_a_limit_leaves_a_smaller_budget(cell: Cell, limit: str, asking: Asking) -> None:
    """A further call that fits with less output is made with just what is left."""
    long = Thinking(FIRST * 3 // 4, VIOLATING)
    first = asking.ask(cell, Row((long,), "", policy=Policy(max_attempts=1))).billed
    room = 3 * first.input + FIRST  # an estimate of the first prompt may be far above what it is billed
    left = room - first.total - first.input

    requests = asked(asking, cell, long, WHOLE, policy=LIMITS[limit](room))

    assert [each.budget for each in requests] == [FIRST, pytest.approx(left, abs=limit == "money")]
    assert left < FIRST


@every_cell
def test_a_multiplier_of_the_callers(cell: Cell, asking: Asking) -> None:
    """The budget after a cut is the policy's multiple of the one before, up to its ceiling."""
    cut = Says('{"reasoning": "' + " ".join(f"{MARK} {number}" for number in range(2000)))
    policy = Policy(output_tokens=100, truncation_multiplier=3, max_output_tokens=1_000, max_attempts=5)

    requests = asked(asking, cell, cut, cut, cut, cut, cut, policy=policy)

    assert [each.budget for each in requests] == [100, 300, 900, 1_000]
