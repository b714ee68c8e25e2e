"""What a caller hands over and does not hold is reported so, by a typed error, and nothing is kept or reported it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import UnresolvedReason, select_option
from emitter.decisions.ledger import Ledger
from emitter.errors import BadResolution, InputError
from emitter.models import BindingMoment
from emitter.stores import MemoryStore
from tests.decisions.ledger.asking import Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED = moment()
HALF = "\ud800"
NO_NAMES: list[Any] = [7, "", "a" * 129, HALF, [], b"a"]
NO_SPANS: list[Any] = ["5", [], 10**400, -(10**400), True, False, math.nan, math.inf, 0, -1.0, 1e300, 1 + 0j]
NO_ACTIONS: list[Any] = [
    *(("one for two",), "ab", b"ab", (1, 2), ("", None), ("x" * 513, None), (HALF, None)),
    *(2, None, {"a", "b"}, {0: "a", 1: "b"}, iter("ab")),
]


@pytest.mark.parametrize(
    "given", NO_SPANS, ids=lambda each: "a set" if isinstance(each, set) else repr(each)[:20].partition(" at 0x")[0]
)
def test_no_time_to_live(ledger: Ledger, reported: Told, given: Any) -> None:
    """It is a number of seconds that ends on a date."""
    with pytest.raises(InputError, match="expires_in"):
        ledger.open(ASKED, expires_in=given)
    assert (ledger.pending(), reported.events) == ((), [])


@pytest.mark.parametrize("name", ["agent", "decision_id"])
@pytest.mark.parametrize(
    "given", NO_NAMES, ids=lambda each: "a set" if isinstance(each, set) else repr(each)[:20].partition(" at 0x")[0]
)
def test_no_name(ledger: Ledger, reported: Told, name: str, given: Any) -> None:
    """It is a short text of whole characters."""
    with pytest.raises(InputError, match=name):
        ledger.open(ASKED, **{name: given})
    assert (ledger.pending(), reported.events) == ((), [])


@pytest.mark.parametrize(
    "given", NO_ACTIONS, ids=lambda each: "a set" if isinstance(each, set) else repr(each)[:20].partition(" at 0x")[0]
)
def test_no_actions(ledger: Ledger, reported: Told, given: Any) -> None:
    """They are a list of digests, or of None."""
    with pytest.raises(InputError, match="actions"):
        ledger.open(ASKED, actions=given)
    assert (ledger.pending(), reported.events) == ((), [])


QUESTION = ASKED.question
BROKEN: dict[str, Any] = {
    "an object": ASKED.to_json(),
    "nothing": None,
    "an index out of range": ASKED.model_copy(update={"question": QUESTION.model_copy(update={"recommended_idx": 9})}),
    "one option": ASKED.model_copy(update={"question": QUESTION.model_copy(update={"options": QUESTION.options[:1]})}),
    "no question": ASKED.model_copy(update={"question": None}),
    "a synopsis that is none": ASKED.model_copy(update={"synopsis": object()}),
    "half a character": ASKED.model_copy(update={"synopsis": HALF}),
    "no slot at all": BindingMoment.model_construct(),
}


@pytest.mark.parametrize("given", BROKEN.values(), ids=BROKEN)
def test_no_envelope(reported: Told, given: Any) -> None:
    """It is reported so before anything is kept, and the others' decisions stay at hand."""
    store = MemoryStore()
    ledger = Ledger(store, on_event=reported)
    good = ledger.open(ASKED)
    with pytest.raises(InputError):
        ledger.open(given, decision_id="d")
    assert ledger.pending() == Ledger(store).pending() == (good,)
    assert reported.messages() == ["decision.opened"]


def test_a_broken_envelope_is_reported_by_place(ledger: Ledger) -> None:
    """In the words with which a malformed one is discarded."""
    with pytest.raises(InputError, match="discarded as malformed: /question"):
        ledger.open(BROKEN["an index out of range"])


CALLS: dict[str, Callable[[Ledger], object]] = {
    "find a number": lambda ledger: ledger.find(5),  # type: ignore[arg-type]
    "find nothing": lambda ledger: ledger.find(None),  # type: ignore[arg-type]
    "resolve nothing": lambda ledger: ledger.resolve(None, select_option(ASKED, 0)),  # type: ignore[arg-type]
    "leave a list": lambda ledger: ledger.record_unresolved([], UnresolvedReason.TIMEOUT),  # type: ignore[arg-type]
    "a half channel": lambda ledger: ledger.resolve("d", select_option(ASKED, 0), channel=HALF),
    "rates of a number": lambda ledger: ledger.rates(5),  # type: ignore[arg-type]
    "rates of a class that is none": lambda ledger: ledger.rates("a", 5),  # type: ignore[arg-type]
    "vetoes of a number": lambda ledger: ledger.refused_digests(5),  # type: ignore[arg-type]
    "a store that is none": lambda _: Ledger("x"),  # type: ignore[arg-type]
    "a store's class": lambda _: Ledger(MemoryStore),  # type: ignore[arg-type]
    "a sink that is none": lambda _: Ledger(on_event=7),  # type: ignore[arg-type]
    "a clock that is none": lambda _: Ledger(clock=7.0),  # type: ignore[arg-type]
    "thresholds that are none": lambda _: Ledger(thresholds=None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_of_another_type(ledger: Ledger, reported: Told, call: Callable[[Ledger], object]) -> None:
    """Each call says so itself."""
    pending = ledger.open(ASKED, decision_id="d")
    with pytest.raises(InputError):
        call(ledger)
    assert ledger.find("d") == pending
    assert reported.messages() == ["decision.opened"]


@pytest.mark.parametrize(
    "given", [object(), None, "selected", {"outcome": "selected"}], ids=["object", "none", "text", "json"]
)
def test_no_resolution(ledger: Ledger, given: Any) -> None:
    """None of the three that there are."""
    pending = ledger.open(ASKED, decision_id="d")
    with pytest.raises(BadResolution):
        ledger.resolve("d", given)
    assert ledger.find("d") == pending
