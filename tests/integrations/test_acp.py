"""An agent and a client of the ACP's own SDK, over a pipe: what the person chooses in the dialog is what happens."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.decisions import answer_in_words, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.principals import Principal
from emitter.errors import BadResolution
from emitter.integrations.approvals import Rejected, Returned, Waiting
from emitter.testing.sample_moments import VALID_MOMENT

acp = pytest.importorskip("acp", reason="agent-client-protocol is not installed")
from emitter.integrations.acp import build_options, call_tool, request_permission  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from emitter.integrations.approvals import CallOutcome


class Editor(acp.Client):  # type: ignore[misc]  # it is Any where the SDK is not installed
    """A client whose person makes these choices: an option's id, None to close the dialog, or what happens first."""

    def __init__(self, *choices: Any) -> None:
        self.choices = list(choices)
        self.asked: list[Any] = []

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        """Choose."""
        self.asked.append((session_id, tool_call, options))
        choice = self.choices.pop(0)
        if callable(choice):
            choice = choice()
        outcome = {"outcome": "selected", "optionId": choice} if choice is not None else {"outcome": "cancelled"}
        return acp.RequestPermissionResponse.model_validate({"outcome": outcome})


class Assistant(acp.Agent):  # type: ignore[misc]  # as above
    """An agent whose prompt runs a function with its connection."""

    def __init__(self, work: Callable[[Any], Awaitable[Any]]) -> None:
        self.work = work
        self.results: list[Any] = []

    def on_connect(self, conn: Any) -> None:
        """Keep the connection."""
        self.client = conn

    async def prompt(self, *_: Any, **__: Any) -> Any:
        """Do it."""
        try:
            self.results.append(await self.work(self.client))
        except BadResolution as error:
            self.results.append(error)
        return acp.PromptResponse(stop_reason="end_turn")


def talk(editor: Editor, work: Callable[[Any], Awaitable[Any]]) -> Any:
    """Connect the client and an agent, and return what the agent makes of a prompt."""

    async def run() -> Any:
        streams = [await asyncio.open_connection(sock=each) for each in socket.socketpair()]
        (agent_in, agent_out), (client_in, client_out) = streams
        assistant = Assistant(work)
        agent = asyncio.create_task(acp.run_agent(assistant, agent_out, agent_in))
        async with acp.connect_to_agent(editor, client_out, client_in) as client:
            await client.prompt(session_id="s1", prompt=[acp.text_block("Tidy up.")])
        for writer in (client_out, agent_out):
            writer.close()
            await writer.wait_closed()
        await agent
        return assistant.results[0]

    return asyncio.run(run())


class Office:
    """A guarded tool, and an editor."""

    def __init__(self, *choices: Any, **guard: Any) -> None:
        self.now, self.sent = 1_000_000.0, list[str]()
        self.authority, self.editor = Authority(clock=lambda: self.now), Editor(*choices)

        def send(to: str) -> str:
            """Send an e-mail."""
            self.sent.append(to)
            return f"sent to {to}"

        self.tool = self.authority.guard(send, **guard)

    def call(self, to: str = "ada", call_id: str = "call_1", **how: Any) -> CallOutcome:
        """Have the agent make a call."""
        outcome: CallOutcome = talk(
            self.editor, lambda client: call_tool(client, "s1", self.tool, call_id, {"to": to}, **how)
        )
        return outcome


def test_a_servers_id_is_another_call_in_another_message() -> None:
    """And the same call if the turn is repeated."""
    office, whom = Office("option:0", "option:0", "option:0"), ["ada", "bob", "ada"]
    for turn, who in enumerate(whom):
        for _ in range(2):
            assert office.call(who, message_id=f"turn-{turn}") == Returned(f"sent to {who}")

    assert (office.sent, len(office.editor.asked)) == (whom, 3)


CHOICES: dict[str, tuple[str, str]] = {
    "another option": ("option:1", "The person chose: Leave it undone"),
    "a veto": ("dialogue", "The person refused the question: no reason given"),
}


def test_an_approved_call_is_made_once() -> None:
    """With a receipt; made again, it returns what it returned, and nobody is asked."""
    office = Office("option:0")

    assert [office.call(), office.call()] == [Returned("sent to ada")] * 2
    assert office.sent == ["ada"]
    assert len(office.authority.receipts()) == len(office.editor.asked) == 1


@pytest.mark.parametrize(("choice", "words"), CHOICES.values(), ids=CHOICES.keys())
def test_a_call_that_is_refused_is_not_made(choice: str, words: str) -> None:
    """The agent reads what the person chose."""
    office = Office(choice)
    outcome = office.call()

    assert isinstance(outcome, Rejected)
    assert words in outcome.message
    assert office.sent == []


def test_a_closed_dialog_decides_nothing() -> None:
    """The question stays open, and is asked again when the call is made again."""
    office = Office(None, "option:0")
    assert isinstance(office.call(), Waiting)
    assert len(office.authority.ledger.pending()) == 1
    assert office.call() == Returned("sent to ada")


def test_a_dialog_that_was_open_too_long_runs_nothing() -> None:
    """The question expired before the person pressed."""

    def late() -> str:
        office.now += 61
        return "option:0"

    office = Office(late, expires_in=60)
    outcome = office.call()

    assert isinstance(outcome, Rejected)
    assert "Nobody answered" in outcome.message
    assert office.sent == []


def test_an_answer_elsewhere_counts() -> None:
    """It came while the dialog was open, in words that a dialog has no place for."""

    def meanwhile() -> str:
        (pending,) = office.authority.ledger.pending()
        office.authority.ledger.resolve(pending.decision_id, answer_in_words(pending.moment, "Call her."))
        return "option:0"

    office = Office(meanwhile)
    outcome = office.call()

    assert isinstance(outcome, Rejected)
    assert "Call her." in outcome.message
    assert office.sent == []


@pytest.mark.parametrize("choice", ["option:2", "free_text", "allow_always", "", "option:00"])
def test_an_option_that_was_not_offered_is_refused(choice: str) -> None:
    """The question stays open."""
    office = Office(choice)

    assert isinstance(office.call(), BadResolution)
    assert (office.sent, len(office.authority.ledger.pending())) == ([], 1)


def test_the_dialog_shows_the_whole_decision() -> None:
    """Each option with its kind, and nothing that would approve more than this call."""
    office = Office(None)
    office.call("ada_*x*")
    ((session_id, tool_call, options),) = office.editor.asked
    text = tool_call.content[0].content.text

    assert (session_id, tool_call.tool_call_id) == ("s1", "call_1")
    assert [(each.option_id, each.kind) for each in options] == [
        ("option:0", "allow_once"),
        ("option:1", "reject_once"),
        ("dialogue", "reject_once"),
    ]
    assert "recommended" in options[1].name
    assert r"ada\_\*x\*" in text
    assert "own words" not in text
    assert tool_call.field_meta["digest"] == office.authority.ledger.pending()[0].digest


def test_a_question_without_effects_has_no_refusals() -> None:
    """Its options are answers of one rank."""
    ledger, editor = Ledger(), Editor("option:1")
    pending = ledger.open(VALID_MOMENT)
    decision = talk(editor, lambda client: request_permission(client, "s1", ledger, pending, tool_call_id="c1"))

    assert {each.kind for each in build_options(pending) if each.option_id != "dialogue"} == {"allow_once"}
    assert decision.resolution == select_option(VALID_MOMENT, 1)
    assert decision.channel == "acp"


def test_two_people_approve_in_their_own_editors() -> None:
    """Their names are recorded; the first approval decides nothing."""
    office = Office("option:0", "option:0", "option:0", four_eyes=True)
    waiting = [office.call(principal=Principal("alice")) for _ in range(2)]

    assert all(isinstance(each, Waiting) for each in waiting)
    assert office.call(principal=Principal("bob")) == Returned("sent to ada")
    assert office.sent == ["ada"]
