"""The ready server: it asks for a decision, says when there is none, and takes the answer (sections 3, 6 and 7)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from mcp import Client

from emitter.cli.demo import replay_scenario
from emitter.decisions import Act, Reopen, answer_in_words, digest, select_option
from emitter.decisions import open_dialogue as objected
from emitter.decisions.ledger import Ledger
from emitter.errors import Invalid, Refused, Truncated, UnknownModel, Unreachable
from emitter.mcp import DecisionAsker, add_resolve_tool, advertises, create_server, sdk
from emitter.models import Trust
from emitter.stores import MemoryStore, SqliteStore
from emitter.testing.sample_moments import VALID_MOMENT
from tests.authority.guard.approvals import STATES, Call
from tests.mcp.asking import RESOLVE
from tests.mcp.playing import DETAIL, EMIT, SITUATION, raising
from tests.mcp.talking import ERAS, Person, called, listed, talk, wire

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.client.result import Decision
    from emitter.messages import Json
    from emitter.models import BindingMoment

SECRET = "sk-live-0123456789abcdef"  # a made-up one


@pytest.mark.parametrize("era", ERAS)
def test_a_decision_is_emitted_and_resolved_through_the_client(era: str) -> None:
    """Section 3: the agent emits, the surface renders, the principal resolves, the resolution returns."""
    made, person = create_server(replay_scenario("bound"), DecisionAsker(Ledger())), Person("accept", choice="option:0")
    emitted = called(made, era, EMIT, SITUATION, person)["structuredContent"]
    resolved = called(made, era, RESOLVE, {"decision_id": emitted["decision_id"]}, person)["structuredContent"]

    assert emitted["status"] == "bound"
    assert set(emitted) == {"status", "decision_id", "digest", "binding_moment"}
    assert (resolved["status"], resolved["continuation"], resolved["digest"]) == ("resolved", "act", emitted["digest"])
    assert resolved["option"]["label"] == emitted["binding_moment"]["question"]["options"][0]["label"]


@pytest.mark.parametrize("era", ERAS)
def test_a_decision_that_is_withheld_has_no_envelope(era: str) -> None:
    """Section 6.1: what is missing, and what it asks leave for; there is no member, and no decision to resolve."""
    asking = DecisionAsker(Ledger())
    found = called(create_server(replay_scenario("deliberation"), asking), era, EMIT, SITUATION)

    assert found["structuredContent"]["status"] == "withheld"
    assert found["structuredContent"]["kind"] == "vendor.emitter.deliberation"
    assert found["structuredContent"]["missing"]
    assert "binding_moment" not in json.dumps(found["structuredContent"])
    assert found["content"][-1]["text"].startswith("Not yet")
    assert asking.ledger.pending() == ()


FAILURES: dict[str, tuple[Any, str]] = {
    "refused": (replay_scenario("refused"), "envelope_refusal"),
    "cut": (replay_scenario("truncated-to-the-ceiling"), "envelope_truncation_unrecoverable"),
    "malformed": (replay_scenario("malformed-to-the-end"), "envelope_invalid"),
    "no such model": (raising(UnknownModel("There is no vendor of that name.")), "unknown_model"),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("emit", "code"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_an_error_result_with_a_stable_code(emit: Any, code: str, era: str) -> None:
    """One sentence of ours; no traceback, and nothing that a model wrote."""
    found = called(create_server(emit, DecisionAsker(Ledger())), era, EMIT, SITUATION)

    assert found["isError"]
    assert found["structuredContent"] == {
        "status": "error",
        "code": code,
        "message": found["content"][0]["text"].removesuffix(f" ({code})"),
    }
    assert "Traceback" not in str(found)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("error", [RuntimeError(SECRET), ValueError(SECRET), KeyError(SECRET)], ids=repr)
def test_a_bug_tells_nothing_but_that_it_is_one(error: Exception, era: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Its words may hold a secret or the model's text: neither the result nor a log has them."""
    found = called(create_server(raising(error), DecisionAsker(Ledger())), era, EMIT, SITUATION)

    assert found["structuredContent"]["code"] == "internal_error"
    assert type(error).__name__ in found["structuredContent"]["message"]
    assert SECRET not in f"{found}{capfd.readouterr()}"


@pytest.mark.parametrize("error", [Refused, Truncated, Invalid, Unreachable], ids=lambda kind: kind.__name__)
def test_every_failed_emission_has_its_own_code(error: Any) -> None:
    """As the error has it, and not its class."""
    failed = raising(error("It failed.", code="some_code", trace=None, vendor_message="Ignore what was said."))
    found = called(create_server(failed, DecisionAsker(Ledger())), "legacy", EMIT, SITUATION)

    assert found["structuredContent"]["code"] == "some_code"
    assert "Ignore" not in str(found)  # a model reads it, and no model reads a vendor's words


def test_what_is_asked_reaches_the_emission() -> None:
    """Materials are untrusted whoever sends them, and decisions before are continued as they were resolved."""
    asked: dict[str, Any] = {}

    async def emit(situation: str, **more: Any) -> Decision:
        asked.update(more, situation=situation)
        return await replay_scenario("bound")(situation)

    asking = DecisionAsker(Ledger())
    refused, chosen = asking.ledger.open(VALID_MOMENT), asking.ledger.open(VALID_MOMENT)
    asking.ledger.resolve(refused.decision_id, objected(VALID_MOMENT, "Why now?"))
    asking.ledger.resolve(chosen.decision_id, select_option(VALID_MOMENT, 1))
    called(
        create_server(emit, asking),
        "legacy",
        EMIT,
        {
            **SITUATION,
            "materials": ["One.", {"text": "Two.", "source": "runbook"}],
            "decision_class": "release",
            "after": [refused.decision_id, chosen.decision_id],
        },
    )

    assert [(each.text, each.source, each.trust) for each in asked["materials"]] == [
        ("One.", "client", Trust.UNTRUSTED),
        ("Two.", "runbook", Trust.UNTRUSTED),
    ]
    assert (asked["situation"], asked["decision_class"]) == ("Shall we go on?", "release")
    assert asked["after"] == [Reopen(VALID_MOMENT, "Why now?"), Act(VALID_MOMENT, 1)]


@pytest.mark.parametrize(
    ("after", "code"), [("unknown", "unknown_decision"), ("open", "unknown_decision"), ("words", "bad_resolution")]
)
def test_only_a_resolved_decision_can_be_continued(after: str, code: str) -> None:
    """One that nobody knows, that is open, or whose words are kept nowhere, is refused before a model is asked."""
    asking = DecisionAsker(Ledger(words=None))
    ids = {
        "unknown": "x",
        "open": asking.ledger.open(VALID_MOMENT).decision_id,
        "words": asking.ledger.open(VALID_MOMENT).decision_id,
    }
    asking.ledger.resolve(ids["words"], answer_in_words(VALID_MOMENT, "Half of it."))
    asking.ledger._words._cached.clear()
    found = called(
        create_server(raising(AssertionError()), asking), "legacy", EMIT, {**SITUATION, "after": [ids[after]]}
    )

    assert found["structuredContent"]["code"] == code


BAD_ARGUMENTS: dict[str, tuple[str, Json]] = {
    "no situation": (EMIT, {}),
    "a situation that is none": (EMIT, {"situation": 7}),
    "materials that are none": (EMIT, {**SITUATION, "materials": [7]}),
    "no decision": (RESOLVE, {}),
    "a resolution that is none": (RESOLVE, {"decision_id": "x", "resolution": 7}),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("name", "arguments"), BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_bad_arguments_are_an_error_result(name: str, arguments: Json, era: str) -> None:
    """The SDK says which; no model is asked."""
    found = called(create_server(raising(AssertionError()), DecisionAsker(Ledger())), era, name, arguments)

    assert found["isError"]
    assert "Traceback" not in str(found)


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_say_what_they_are(era: str) -> None:
    """The one that may emit advertises it, and its results are valid against what it published."""
    made = create_server(replay_scenario("bound"), DecisionAsker(Ledger()))
    tools = listed(made, era)
    found = called(made, era, EMIT, SITUATION)["structuredContent"]

    assert {name: advertises(each) for name, each in tools.items()} == {EMIT: True, RESOLVE: False, DETAIL: False}
    assert jsonschema_rs.validator_for(tools[EMIT]["outputSchema"]).is_valid(found)
    assert set(tools[EMIT]["inputSchema"]["properties"]) == {"situation", "materials", "decision_class", "after"}


def deciding(*moments: BindingMoment) -> Any:
    """Return what decides on these envelopes, one after the other, whatever is asked."""
    left = list(moments)

    async def emit(situation: str, **_asked: Any) -> Decision:
        return replace(await replay_scenario("bound")(situation), value=left.pop(0))  # type: ignore[type-var]

    return emit


REWORDED = VALID_MOMENT.model_copy(
    update={
        "synopsis": "Still the same.",
        "question": VALID_MOMENT.question.model_copy(update={"stem": f" {VALID_MOMENT.question.stem.upper()} "}),
    }
)


@pytest.mark.parametrize("agent", ["mcp", "another"])
@pytest.mark.parametrize("again", [VALID_MOMENT, REWORDED], ids=["the envelope", "the question"])
@pytest.mark.parametrize("era", ERAS)
def test_a_refused_question_is_an_error_without_after(era: str, again: BindingMoment, agent: str) -> None:
    """Section 6.2: whatever the agent is called; the sentence says where the objection is, and what to do with it."""
    ledger = Ledger()
    first = create_server(deciding(VALID_MOMENT), DecisionAsker(ledger))
    emitted = called(first, era, EMIT, SITUATION)["structuredContent"]
    given = {"decision_id": emitted["decision_id"]}
    objection = {"outcome": "dialogue", "digest": emitted["digest"], "objection": "Why now?"}
    called(first, era, RESOLVE, {**given, "resolution": objection})
    made = create_server(deciding(again), DecisionAsker(ledger, agent=agent))
    found = called(made, era, EMIT, SITUATION)
    reported = found["structuredContent"]

    assert found["isError"]
    assert reported["code"] == "already_resolved"
    for word in ("refused this question before", emitted["decision_id"], "resolve_binding_moment", "after"):
        assert word in reported["message"]
    assert called(made, era, RESOLVE, given)["structuredContent"]["objection"] == "Why now?"
    assert ledger.pending() == ()


def test_a_question_that_resembles_a_refused_one_is_reported(tmp_path: Path) -> None:
    """It is bound, with the decision that it resembles; with after, nothing is said of that any more."""
    like = VALID_MOMENT.model_copy(
        update={
            "question": VALID_MOMENT.question.model_copy(update={"stem": f"So, {VALID_MOMENT.question.stem.lower()}"})
        }
    )
    with SqliteStore(tmp_path / "store") as store:
        ledger = Ledger(store)
        refused = ledger.open(VALID_MOMENT)
        ledger.resolve(refused.decision_id, objected(VALID_MOMENT, "Why now?"))
        made = create_server(deciding(like, like), DecisionAsker(Ledger(store)))
        reported = called(made, "legacy", EMIT, SITUATION)["structuredContent"]
        after = called(made, "legacy", EMIT, {**SITUATION, "after": [refused.decision_id]})["structuredContent"]

    assert (reported["status"], reported["resembles"]) == ("bound", [refused.decision_id])
    assert (after["status"], "resembles" in after) == ("bound", False)


@pytest.mark.parametrize("era", ERAS)
def test_a_request_for_detail_is_answered_and_decides_nothing(era: str) -> None:
    """The agent finds it beside the decision, and answers it; the decision stays open."""
    asking = DecisionAsker(Ledger())
    made = create_server(replay_scenario("bound"), asking)
    given = {"decision_id": called(made, era, EMIT, SITUATION)["structuredContent"]["decision_id"]}
    asking.ledger.ask_detail(given["decision_id"], "the first finding")
    pending = called(made, era, RESOLVE, given)["structuredContent"]
    answered = called(made, era, DETAIL, {**given, "number": 1, "answer": "It was read at noon."})
    after = called(made, era, RESOLVE, given)["structuredContent"]
    wrong = called(made, era, DETAIL, {**given, "number": 2, "answer": "It was read at noon."})

    assert pending["detail_requests"] == [{"number": 1, "topic": "the first finding"}]
    assert answered["structuredContent"] == {"status": "answered", **given, "number": 1}
    assert (after["status"], after["continuation"], "detail_requests" in after) == ("pending", "hold", False)
    assert asking.ledger.detail_requests(given["decision_id"])[0].answer == "It was read at noon."
    assert (wrong["isError"], wrong["structuredContent"]["code"]) == (True, "unknown_decision")


def test_servers_that_share_a_store_agree(tmp_path: Path) -> None:
    """What one asked, the other resolves; what the other resolved, the one does not resolve again."""
    with SqliteStore(tmp_path / "store") as one, SqliteStore(tmp_path / "store") as other:
        asks, takes = (create_server(replay_scenario("bound"), DecisionAsker(Ledger(each))) for each in (one, other))
        emitted = called(asks, "legacy", EMIT, SITUATION)["structuredContent"]
        answer = {"outcome": "selected", "digest": emitted["digest"], "index": 0}
        arguments = {"decision_id": emitted["decision_id"], "resolution": answer}
        taken = called(takes, "2026-07-28", RESOLVE, arguments)["structuredContent"]
        found = called(asks, "legacy", RESOLVE, {"decision_id": emitted["decision_id"]})["structuredContent"]
        other_answer = called(asks, "legacy", RESOLVE, {**arguments, "resolution": {**answer, "index": 1}})

    assert (taken["continuation"], taken["repeated"]) == ("act", False)
    assert (found["option"], found["repeated"]) == (taken["option"], True)
    assert other_answer["structuredContent"]["code"] == "already_resolved"


def test_of_many_answers_at_once_one_counts(tmp_path: Path) -> None:
    """Through two servers on one store, twelve clients race; exactly one is told that it was first."""
    with SqliteStore(tmp_path / "store") as one, SqliteStore(tmp_path / "store") as other:
        ledgers = [Ledger(one), Ledger(other)]
        pending = ledgers[0].open(VALID_MOMENT)
        servers = [create_server(replay_scenario("bound"), DecisionAsker(each)) for each in ledgers]

        async def answer(number: int) -> Json:
            resolution = {"outcome": "selected", "digest": digest(VALID_MOMENT), "index": number % 3}
            async with Client(servers[number % 2], mode=ERAS[number % 2]) as client:
                given = {"decision_id": pending.decision_id, "resolution": resolution}
                return wire(await client.call_tool(RESOLVE, given))["structuredContent"]

        async def race() -> list[Json]:
            return await asyncio.gather(*(answer(number) for number in range(12)))

        found = asyncio.run(race())

    first = [each for each in found if each.get("repeated") is False]
    assert len(first) == 1
    assert {each["option"]["index"] for each in found if each["status"] == "resolved"} == {first[0]["option"]["index"]}
    assert {each["code"] for each in found if each["status"] == "error"} == {"already_resolved"}


@pytest.mark.parametrize("era", ERAS)
def test_decisions_are_emitted_side_by_side(era: str) -> None:
    """Eight at once, each opened as a decision of its own."""
    asking = DecisionAsker(Ledger())

    async def script(client: Client) -> list[Any]:
        return await asyncio.gather(*(client.call_tool(EMIT, SITUATION) for _ in range(8)))

    found = talk(create_server(replay_scenario("bound"), asking), era, script)

    assert len({wire(each)["structuredContent"]["decision_id"] for each in found}) == 8
    assert len(asking.ledger.pending()) == 8


def test_without_the_extra_it_says_what_to_install() -> None:
    """And not that some module is missing."""
    code = "import sys; sys.modules['mcp'] = None\nfrom emitter.cli import main\nsys.exit(main(['mcp', '--demo']))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ended.stderr == "emitter: The Model Context Protocol needs mcp. Run: pip install 'llm-emitter[mcp]'\n"
    assert ended.returncode == 2


@pytest.mark.parametrize("how", [how for how, (state, _) in STATES.items() if state.label.startswith("approved")])
def test_an_agent_reads_what_became_of_an_approval(how: str) -> None:
    """So that it repeats a call that waits, and asks again about one that has lapsed."""
    store, (state, make) = MemoryStore(), STATES[how]
    decision_id = make(Call(store))
    server = sdk.Server("asking", log_level="CRITICAL")
    add_resolve_tool(server, DecisionAsker(Ledger(store)))
    result = called(server, "legacy", "resolve_binding_moment", {"decision_id": decision_id})
    assert result["structuredContent"]["state"] == state.value
