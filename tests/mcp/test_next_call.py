"""A decision is resolved by the argument of the next call (section 6.3), and resolved once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from emitter.decisions import answer_in_words, digest, open_dialogue, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.resolution import RESOLUTION_SCHEMA
from emitter.mcp import DecisionAsker
from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp.asking import ASK, RESOLVE, SELECTED, Releasing
from tests.mcp.talking import ERAS, Person, called, listed

if TYPE_CHECKING:
    from emitter.messages import Json


@pytest.mark.parametrize("era", ERAS)
def test_without_elicitation_the_answer_is_the_argument_of_the_next_call(era: str) -> None:
    """Section 6.3: the decision is handed over, and resolved by whoever brings the principal's answer."""
    releasing = Releasing(DecisionAsker(Ledger()))
    server = releasing.server()
    handed = called(server, era, ASK, {})["structuredContent"]
    waiting = called(server, era, RESOLVE, {"decision_id": handed["decision_id"]})
    resolution = {**SELECTED, "digest": digest(VALID_MOMENT)}
    found = called(server, era, RESOLVE, {"decision_id": handed["decision_id"], "resolution": resolution})

    assert handed["binding_moment"] == VALID_MOMENT.to_json()
    assert waiting["structuredContent"]["status"] == "pending"
    assert "this client cannot ask" in waiting["content"][-1]["text"]
    assert found["structuredContent"] == {
        "status": "resolved",
        "decision_id": handed["decision_id"],
        "digest": digest(VALID_MOMENT),
        "continuation": "act",
        "option": {"index": 1, "label": VALID_MOMENT.question.options[1].label},
        "channel": "mcp-tool",
        "repeated": False,
        "resolution": resolution,
    }


CONTINUATIONS: dict[str, tuple[Json, Json]] = {
    "act": (
        {"outcome": "selected", "index": 0},
        {"option": {"index": 0, "label": VALID_MOMENT.question.options[0].label}},
    ),
    "incorporate": ({"outcome": "free_text", "answer": "Half of it."}, {"answer": "Half of it."}),
    "reopen": ({"outcome": "dialogue", "objection": "Why now?"}, {"objection": "Why now?"}),
    "hold": ({"outcome": "unresolved", "reason": "timeout"}, {"reason": "timeout", "status": "unresolved"}),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("continuation", CONTINUATIONS)
def test_the_three_can_be_told_apart_and_from_none(continuation: str, era: str) -> None:
    """Section 6.3: the agent's correct continuation differs in each case, and is named."""
    given, reported = CONTINUATIONS[continuation]
    asking = DecisionAsker(Ledger())
    pending = asking.ledger.open(VALID_MOMENT)
    arguments = {"decision_id": pending.decision_id, "resolution": {**given, "digest": pending.digest}}
    found = called(Releasing(asking).server(), era, RESOLVE, arguments)["structuredContent"]

    assert found["continuation"] == continuation
    assert {name: found[name] for name in reported} == reported


REFUSED: dict[str, tuple[Json, str]] = {
    "another envelope": ({**SELECTED, "digest": f"sha256:{'0' * 64}"}, "wrong_digest"),
    "an option that is not there": ({**SELECTED, "index": 3}, "no_such_option"),
    "none of the three": ({"outcome": "approved", "digest": digest(VALID_MOMENT)}, "bad_resolution"),
    "a member more": ({**SELECTED, "answer": "And more."}, "bad_resolution"),
    "nothing": ({}, "bad_resolution"),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("resolution", "code"), REFUSED.values(), ids=REFUSED)
def test_a_resolution_that_is_none_is_an_error_result_with_its_code(resolution: Json, code: str, era: str) -> None:
    """And nothing happens: the decision is still open."""
    asking = DecisionAsker(Ledger())
    pending = asking.ledger.open(VALID_MOMENT)
    found = called(
        Releasing(asking).server(), era, RESOLVE, {"decision_id": pending.decision_id, "resolution": resolution}
    )

    assert found["isError"]
    assert found["structuredContent"]["code"] == code
    assert found["content"][0]["text"] == f"{found['structuredContent']['message']} ({code})"
    assert asking.ledger.find(pending.decision_id) == pending


@pytest.mark.parametrize("era", ERAS)
def test_a_decision_is_resolved_once(era: str) -> None:
    """The same answer again is repeated, another is refused, and an unknown id is unknown."""
    asking = DecisionAsker(Ledger())
    pending = asking.ledger.open(VALID_MOMENT)
    server = Releasing(asking).server()
    first, again, other, unknown = (
        called(server, era, RESOLVE, {"decision_id": decision_id, "resolution": {**SELECTED, "index": index}})
        for decision_id, index in (
            (pending.decision_id, 1),
            (pending.decision_id, 1),
            (pending.decision_id, 0),
            ("x", 0),
        )
    )

    assert [each["structuredContent"].get("repeated") for each in (first, again)] == [False, True]
    assert other["structuredContent"]["code"] == "already_resolved"
    assert unknown["structuredContent"]["code"] == "unknown_decision"


@pytest.mark.parametrize("era", ERAS)
def test_what_is_resolved_is_not_asked_again(era: str) -> None:
    """Whichever way it was resolved, another asker is reported."""
    asking, person = DecisionAsker(Ledger()), Person("accept", choice="option:0")
    pending = asking.ledger.open(VALID_MOMENT)
    asking.ledger.resolve(pending.decision_id, select_option(VALID_MOMENT, 1), channel="terminal")
    found = called(Releasing(asking).server(), era, RESOLVE, {"decision_id": pending.decision_id}, person)

    assert person.asked == []
    assert found["structuredContent"]["option"]["index"] == 1
    assert found["structuredContent"]["channel"] == "terminal"


@pytest.mark.parametrize("era", ERAS)
def test_what_is_over_is_not_asked(era: str) -> None:
    """It is unresolved, and an answer that comes all the same is refused."""
    times = iter([0.0, *[100.0] * 20])
    asking, person = (
        DecisionAsker(Ledger(clock=lambda: next(times)), expires_in=1.0),
        Person("accept", choice="option:0"),
    )
    pending = asyncio.run(asking.open(VALID_MOMENT))
    server = Releasing(asking).server()
    found = called(server, era, RESOLVE, {"decision_id": pending.decision_id}, person)
    late = called(server, era, RESOLVE, {"decision_id": pending.decision_id, "resolution": SELECTED})

    assert person.asked == []
    assert found["structuredContent"]["reason"] == "timeout"
    assert late["structuredContent"]["code"] == "decision_expired"


@pytest.mark.parametrize("era", ERAS)
def test_words_that_are_kept_nowhere_are_not_made_up(era: str) -> None:
    """Section 12: another process finds that words were given, and not which."""
    store_of = Ledger(words=None)
    asking = DecisionAsker(store_of)
    pending = store_of.open(VALID_MOMENT)
    store_of.resolve(pending.decision_id, answer_in_words(VALID_MOMENT, "Half of it."))
    store_of._words._cached.clear()
    found = called(Releasing(asking).server(), era, RESOLVE, {"decision_id": pending.decision_id})

    assert found["isError"]
    assert found["structuredContent"]["code"] == "bad_resolution"


@pytest.mark.parametrize("era", ERAS)
def test_a_veto_whose_words_are_kept_nowhere_stays_a_veto(era: str) -> None:
    """The question is refused all the same; why, the agent has to ask."""
    store_of = Ledger(words=None)
    pending = store_of.open(VALID_MOMENT)
    store_of.resolve(pending.decision_id, open_dialogue(VALID_MOMENT, "Is the backup complete?"))
    store_of._words._cached.clear()
    found = called(Releasing(DecisionAsker(store_of)).server(), era, RESOLVE, {"decision_id": pending.decision_id})

    assert not found["isError"]
    assert found["structuredContent"]["continuation"] == "reopen"
    assert "objection" not in found["structuredContent"]


def test_the_resolution_is_an_argument_with_its_schema() -> None:
    """So that a host's model knows how to write it."""
    reported = listed(Releasing(DecisionAsker(Ledger())).server(), "legacy")[RESOLVE]["inputSchema"]

    assert reported["properties"]["resolution"]["anyOf"] == RESOLUTION_SCHEMA["anyOf"]
    assert reported["required"] == ["decision_id"]
