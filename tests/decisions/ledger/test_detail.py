"""The offer is taken up without resolving anything: a request for detail, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from emitter.decisions import UnresolvedReason, select_option
from emitter.decisions.decision_rates import DecisionRates
from emitter.decisions.ledger_details import DetailRequest
from emitter.decisions.ledger_entries import PendingDecision
from emitter.decisions.ledger_words import MissingWordsReason
from emitter.errors import AlreadyResolved, BadResolution, DecisionExpired, InputError, UnknownDecision
from tests.decisions.ledger.asking import START, Hand, Told, moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.decisions.ledger import Ledger

ASKED = moment()


class Log(BaseModel):
    """A typed answer."""

    lines: list[str]


@dataclass
class Size:
    """Another."""

    bytes: int


def test_a_request_resolves_nothing(again: Callable[..., Ledger], clock: Hand, reported: Told) -> None:
    """It stands beside the decision, which is as open as before; so does its answer, in every process."""
    pending = again().open(ASKED, decision_id="d", expires_in=60)
    asked = again().ask_detail("d", "  the second finding ", channel="web")
    assert asked == DetailRequest("d", 1, "the second finding", START, "web")
    assert again().detail_requests() == again().detail_requests("d") == (asked,)
    clock.now += 5
    answered = again().answer_detail("d", 1, "It was measured at noon.")
    assert answered == DetailRequest("d", 1, "the second finding", START, "web", "It was measured at noon.", START + 5)
    assert (again().detail_requests("d"), again().detail_requests()) == ((answered,), ())
    assert again().find("d") == pending
    assert again().pending() == (pending,)
    assert again().rates() == DecisionRates(opened=1)
    about = {"agent": "agent", "decisionClass": "", "digest": pending.digest, "number": 1}
    assert reported.lines("decision.detail_asked") == [
        {**about, "channel": "web", "wordsUntil": START + 7 * 86_400},
    ]
    assert reported.lines("decision.detail_answered") == [about]
    assert isinstance(again().resolve("d", select_option(ASKED, 0)).pending, PendingDecision)


def test_the_decision_ends_as_it_would(again: Callable[..., Ledger], clock: Hand) -> None:
    """A request gives nobody more time, and a decision that has ended takes neither request nor answer."""
    for name in ("d", "e"):
        again().open(ASKED, decision_id=name, expires_in=60)
        again().ask_detail(name, "more")
    again().resolve("e", select_option(ASKED, 0))
    clock.now += 60
    for name, error in {"d": DecisionExpired, "e": AlreadyResolved, "nobody": UnknownDecision}.items():
        with pytest.raises(error):
            again().ask_detail(name, "still more")
        with pytest.raises(error):
            again().answer_detail(name, 1, "Too late.")
    assert again().record_unresolved("d", UnresolvedReason.DROPPED).reason is UnresolvedReason.TIMEOUT
    assert again().detail_requests() == ()
    assert [each.is_open for each in again().detail_requests("d")] == [True]


def test_the_same_topic_is_the_same_request(ledger: Ledger) -> None:
    """Until it is answered, so that a form that is sent twice asks once."""
    ledger.open(ASKED, decision_id="d")
    first = ledger.ask_detail("d", "the price")
    assert ledger.ask_detail("d", "the price") == first
    assert [ledger.ask_detail("d", each).number for each in ("", "the date", " ")] == [2, 3, 2]
    ledger.answer_detail("d", 1, "10 dollars.")
    assert ledger.ask_detail("d", "the price").number == 4
    assert [each.number for each in ledger.detail_requests("d")] == [1, 2, 3, 4]


def test_requests_are_bounded(ledger: Ledger) -> None:
    """Nobody fills a store with them."""
    ledger.open(ASKED, decision_id="d")
    for each in range(20):
        ledger.ask_detail("d", str(each))
    with pytest.raises(BadResolution, match="No more detail"):
        ledger.ask_detail("d", "one more")
    assert ledger.ask_detail("d", "7").number == 8


@pytest.mark.parametrize(
    ("given", "answer", "text"),
    [
        ("At noon.", "At noon.", "At noon."),
        (Log(lines=["a", "b"]), {"lines": ["a", "b"]}, '{\n  "lines": [\n    "a",\n    "b"\n  ]\n}'),
        (Size(12), {"bytes": 12}, '{\n  "bytes": 12\n}'),
        (["é"], ["é"], '[\n  "é"\n]'),
    ],
    ids=["text", "model", "dataclass", "json"],
)
def test_an_answer_is_a_text_or_typed(ledger: Ledger, given: object, answer: Any, text: str) -> None:
    """Surfaces show it as a text."""
    ledger.open(ASKED, decision_id="d")
    ledger.ask_detail("d")
    found = ledger.answer_detail("d", 1, given)
    assert (found.answer, found.text) == (answer, text)
    assert ledger.detail_requests("d") == (found,)


def test_the_first_answer_stands(ledger: Ledger) -> None:
    """The same again changes nothing; another one is refused."""
    ledger.open(ASKED, decision_id="d")
    ledger.ask_detail("d")
    first = ledger.answer_detail("d", 1, "At noon.")
    assert ledger.answer_detail("d", 1, "At noon.") == first
    with pytest.raises(AlreadyResolved):
        ledger.answer_detail("d", 1, "At night.")


@pytest.mark.parametrize(
    "given",
    ["", None, object(), float("nan"), "x" * 50_001, "\ud83d"],
    ids=["empty", "none", "object", "number", "long", "half"],
)
def test_what_is_no_answer_is_refused(ledger: Ledger, given: object) -> None:
    """What cannot be written as JSON, says nothing, or is too long."""
    ledger.open(ASKED, decision_id="d")
    ledger.ask_detail("d")
    with pytest.raises(InputError):
        ledger.answer_detail("d", 1, given)
    assert ledger.detail_requests("d")[0].is_open


@pytest.mark.parametrize("number", [0, 2, -1, "1", None, True])
def test_an_answer_is_to_a_request(ledger: Ledger, number: Any) -> None:
    """To one that was made."""
    ledger.open(ASKED, decision_id="d")
    ledger.ask_detail("d")
    with pytest.raises(UnknownDecision):
        ledger.answer_detail("d", number, "At noon.")


@pytest.mark.parametrize("topic", [None, 1, "x" * 2001, "\ud83d"], ids=repr)
def test_a_topic_is_a_short_text(ledger: Ledger, topic: Any) -> None:
    """Anything else is refused."""
    ledger.open(ASKED, decision_id="d")
    with pytest.raises(BadResolution):
        ledger.ask_detail("d", topic)
    assert ledger.detail_requests("d") == ()


def test_a_topic_is_kept_as_words_are(again: Callable[..., Ledger]) -> None:
    """Where they are not, the agent elsewhere knows that detail was asked for, and not of what."""
    here = again(words=None)
    here.open(ASKED, decision_id="d")
    assert here.ask_detail("d", "the price").topic == "the price"
    assert here.detail_requests("d")[0].topic == "the price"
    assert again().detail_requests("d")[0].topic is MissingWordsReason.NOT_KEPT
