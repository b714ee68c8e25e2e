"""A decision is put to its principal through the client, in both eras (section 6.3)."""

from __future__ import annotations

import asyncio
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, types
from mcp.shared.exceptions import MCPError

from emitter.decisions.decision_rates import DecisionMeasure
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision
from emitter.mcp import DecisionAsker
from emitter.mcp.asker import ElicitationModes, get_modes
from emitter.models import Hatches, Option, Question
from emitter.render import elicitation
from emitter.testing.sample_moments import VALID_MOMENT
from tests.mcp.asking import ANSWERS, ASK, RESOLVE, Releasing
from tests.mcp.talking import ERAS, Person, called, talk, wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json


INVALID = {
    "an option that is not there": Person("accept", choice="option:9"),
    "nothing chosen": Person("accept", choice=""),
    "nothing at all": Person("accept"),
    "no words": Person("accept", choice="free_text", answer=" "),
    "two things": Person("accept", choice="option:0", objection="But why?"),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("answer", "reported", "done"), ANSWERS.values(), ids=ANSWERS)
def test_a_tool_goes_on_with_the_answer(answer: Json, reported: Json, done: list[int], era: str) -> None:
    """Section 6.3: in one call, whatever the era; decline and cancel are no option, no veto and no consent."""
    releasing = Releasing(DecisionAsker(Ledger()))
    found = called(releasing.server(), era, ASK, {}, Person(**answer))

    assert found["structuredContent"] == reported
    assert releasing.done == done
    assert releasing.made == 1


@pytest.mark.parametrize("era", ERAS)
def test_the_form_holds_all_of_the_envelope(era: str) -> None:
    """As the renderer draws it: briefing, stem and reasonings in the message, the three answers in the schema."""
    person = Person("decline")
    called(Releasing(DecisionAsker(Ledger())).server(), era, ASK, {}, person)
    asked = person.asked[0]

    assert asked["message"] == elicitation.build_message(VALID_MOMENT)
    assert asked["requestedSchema"] == elicitation.build_form_schema(VALID_MOMENT)
    assert asked["mode"] == "form"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("person", INVALID.values(), ids=INVALID)
def test_an_answer_that_is_none_is_refused_and_the_decision_stands(person: Person, era: str) -> None:
    """A typed error, and nothing happens."""
    releasing = Releasing(DecisionAsker(Ledger()))
    found = called(releasing.server(), era, ASK, {}, person)

    assert found["isError"]
    assert releasing.done == []
    assert len(releasing.asking.ledger.pending()) == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_closed_hatch_cannot_be_invoked(era: str) -> None:
    """Section 8.1 the other way round: what the envelope does not offer is not taken."""
    shut = Question(
        stem=VALID_MOMENT.question.stem,
        options=VALID_MOMENT.question.options,
        recommended_idx=0,
        hatches=Hatches(free_text=False, dialogue=False),
    )
    moment = VALID_MOMENT.model_copy(update={"question": shut})
    releasing = Releasing(DecisionAsker(Ledger()), make=lambda: moment)
    found = called(releasing.server(), era, ASK, {}, Person("accept", choice="dialogue", objection="Why?"))

    assert found["isError"]
    assert "does not allow a veto" in found["content"][0]["text"]


def test_a_client_that_does_not_do_what_it_said_leaves_the_decision_open() -> None:
    """It is unresolved: dropped is its own reason, and told to the ledger with the channel."""

    async def refuses(_context: Any, _params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32600, message="Not now.")

    releasing = Releasing(DecisionAsker(Ledger()))
    found = called(releasing.server(), "legacy", ASK, {}, refuses)

    assert found["structuredContent"] == {"status": "Unresolved", "reason": "dropped"}
    assert releasing.asking.ledger.rates().count(DecisionMeasure.UNANSWERED) == 1


def test_a_stateless_client_that_refuses_ends_its_own_call() -> None:
    """Nothing was answered, and the decision is open."""

    async def refuses(_context: Any, _params: Any) -> types.ErrorData:
        return types.ErrorData(code=-32600, message="Not now.")

    async def script(client: Client) -> None:
        with pytest.raises(MCPError, match="Not now"):
            await client.call_tool(ASK, {})

    releasing = Releasing(DecisionAsker(Ledger()))
    talk(releasing.server(), "2026-07-28", script, refuses)

    assert (len(releasing.asking.ledger.pending()), releasing.done) == (1, [])


def test_an_answer_to_another_question_is_not_taken_for_this_one() -> None:
    """In the stateless era the client sends answers by name: one of another decision is asked for again."""
    asking = DecisionAsker(Ledger())
    pending, other = asking.ledger.open(VALID_MOMENT), asking.ledger.open(VALID_MOMENT)

    async def script(client: Client) -> Any:
        first = await client.session.call_tool(RESOLVE, {"decision_id": other.decision_id}, allow_input_required=True)
        answers = {
            name: types.ElicitResult(action="accept", content={"choice": "option:0"})
            for name in wire(first)["inputRequests"]
        }
        return await client.session.call_tool(
            RESOLVE, {"decision_id": pending.decision_id}, input_responses=answers, allow_input_required=True
        )

    found = talk(Releasing(asking).server(), "2026-07-28", script, Person("decline"))

    assert wire(found)["resultType"] == "input_required"
    assert isinstance(asking.ledger.find(pending.decision_id), PendingDecision)


def test_an_answer_of_another_kind_is_refused() -> None:
    """A list of roots is no decision."""
    asking = DecisionAsker(Ledger())
    pending = asking.ledger.open(VALID_MOMENT)

    async def script(client: Client) -> Any:
        arguments = {"decision_id": pending.decision_id}
        first = await client.session.call_tool(RESOLVE, arguments, allow_input_required=True)
        answers: Mapping[str, Any] = {name: types.ListRootsResult(roots=[]) for name in wire(first)["inputRequests"]}
        return await client.session.call_tool(RESOLVE, arguments, input_responses=dict(answers))

    found = talk(Releasing(asking).server(), "2026-07-28", script, Person("decline"))

    assert wire(found)["structuredContent"]["code"] == "bad_resolution"


@pytest.mark.parametrize("era", ERAS)
def test_a_decision_that_is_withheld_is_not_put(era: str) -> None:
    """Section 6.1: the agent's veto; the client is asked nothing."""
    person = Person("accept", choice="option:0")
    found = called(Releasing(DecisionAsker(Ledger()), make=lambda: None).server(), era, ASK, {}, person)

    assert found["structuredContent"] == {"status": "not posed"}
    assert person.asked == []


@pytest.mark.parametrize("era", ERAS)
def test_many_are_asked_at_once(era: str) -> None:
    """Twenty calls, twenty decisions, each with its own answer."""
    made = iter(range(20))

    def make() -> Any:
        number = next(made)
        options = tuple(Option(label=f"{what} number {number}", reasoning="r") for what in ("Ship", "Hold"))
        return VALID_MOMENT.model_copy(update={"question": Question.ask("Which?", options, 0)})

    async def answers(_context: Any, params: Any) -> types.ElicitResult:
        number = int(re.findall(r"number (\d+)", params.message)[0])
        return types.ElicitResult(action="accept", content={"choice": f"option:{number % 2}"})

    releasing = Releasing(DecisionAsker(Ledger()), make=make)

    async def script(client: Client) -> list[Any]:
        return await asyncio.gather(*(client.call_tool(ASK, {}) for _ in range(20)))

    found = talk(releasing.server(), era, script, answers)

    assert {wire(each)["structuredContent"]["status"] for each in found} == {"Selected"}
    assert sorted(releasing.done) == [0] * 10 + [1] * 10
    assert releasing.made == 20
    assert len(releasing.asking.ledger.pending()) == 0


CAPABILITIES: dict[str, tuple[Json, ElicitationModes]] = {
    "nothing": ({}, ElicitationModes(form=False, url=False)),
    "bare": ({"elicitation": {}}, ElicitationModes(form=True, url=False)),
    "form": ({"elicitation": {"form": {}}}, ElicitationModes(form=True, url=False)),
    "url": ({"elicitation": {"url": {}}}, ElicitationModes(form=False, url=True)),
    "both": ({"elicitation": {"form": {}, "url": {}}}, ElicitationModes(form=True, url=True)),
}


@pytest.mark.parametrize(("declared", "expected"), CAPABILITIES.values(), ids=CAPABILITIES)
def test_what_a_client_can_ask_is_read_from_what_it_declares(declared: Json, expected: ElicitationModes) -> None:
    """A bare ``elicitation`` means forms, as it did before there were modes."""
    capabilities = types.ClientCapabilities.model_validate(declared)

    assert get_modes(SimpleNamespace(client_capabilities=capabilities, protocol_version="2026-07-28")) == expected


def test_in_the_older_era_there_must_be_a_way_back_to_the_client() -> None:
    """Over HTTP without sessions there is none, whatever the client can do."""
    capabilities = types.ClientCapabilities.model_validate({"elicitation": {}})
    session = SimpleNamespace(can_send_request=False)
    context = SimpleNamespace(client_capabilities=capabilities, protocol_version="2025-11-25", session=session)

    assert get_modes(context) == ElicitationModes(form=False, url=False)
