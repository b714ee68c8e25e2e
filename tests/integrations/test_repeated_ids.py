"""Model servers whose tool-call ids are not unique: each call that is meant is asked about, and made once.

Source: vllm #50295, cloudflare/ai #526, open-webui #28570.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.authority.guard import call_ids
from emitter.decisions import select_option
from emitter.errors import InputError
from tests.integrations.agents import CLAUDE, PARALLEL, find_conversation

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integrations.agents import Conversation

IDS: dict[str, Callable[[int, int], str]] = {
    "unique": lambda turn, index: f"call_{turn}_{index}",
    "restarting in each turn": lambda _, index: f"call_{index}",
    "constant": lambda *_: "remind:0",
}
"""The ids of a server's calls, by the turn and the call's place in it."""
CASES = [*itertools.product(PARALLEL, IDS), *itertools.product(CLAUDE, ["constant"])]


class Office:
    """A conversation, the reminders that were sent, and a person who approves."""

    def __init__(self, framework: str, authority: Authority | None = None) -> None:
        self.authority, self.sent = authority or Authority(), list[str]()
        self.kind = find_conversation(framework)
        self.chat = self.begin()

    def begin(self) -> Conversation:
        """Return a new conversation."""

        def remind(who: str) -> str:
            """Remind somebody."""
            self.sent.append(who)
            return f"reminded {who}"

        return self.kind(self.authority, remind)

    def approve(self) -> int:
        """Approve what waits, and return how much that was."""
        pending = self.authority.ledger.pending()
        for each in pending:
            self.authority.ledger.resolve(each.decision_id, select_option(each.moment, 0))
        return len(pending)


@pytest.mark.parametrize(("framework", "ids"), CASES)
def test_each_turn_is_asked_about_and_done_once(framework: str, ids: str) -> None:
    """Also if the model says the same again; and a replay of the last turn does nothing."""
    office, whom = Office(framework), ["ada", "bob", "ada"]
    for turn, who in enumerate(whom):
        office.chat.say(f"Remind {who}.", [(IDS[ids](turn, 0), who)])
        assert office.approve() == 1
        office.chat.resume()
        assert office.chat.results[-1] == f"reminded {who}"
    assert office.sent == whom

    office.chat.replay()
    assert (office.approve(), office.sent) == (0, whom)
    assert "reminded ada" in office.chat.results[-1]
    assert len(office.authority.receipts()) == 3


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("framework", [*[name for name in PARALLEL if "openai" not in name], "claude_agent"])
def test_each_step_of_one_turn_is_asked_about_and_done_once(framework: str, ids: str) -> None:
    """The OpenAI Agents SDK itself refuses a model that uses an id again in one run."""
    office, whom = Office(framework), ["ada", "bob", "ada"]
    steps = [[(IDS[ids](0, index), who)] for index, who in enumerate(whom)]
    office.chat.say("Remind them all.", *steps)
    for done in range(3):
        assert (office.sent, office.approve()) == (whom[:done], 1)
        office.chat.resume()

    assert (office.sent, office.approve()) == (whom, 0)
    assert office.chat.results == [f"reminded {who}" for who in whom]


@pytest.mark.parametrize("framework", [*PARALLEL, "claude_agent"])
def test_another_conversation_is_another_call(framework: str) -> None:
    """Two people say the same, and their model uses the same id."""
    office = Office(framework)
    for number in (1, 2):
        chat = office.begin()
        if framework.startswith("langchain"):
            chat.thread = {"configurable": {"thread_id": str(number)}}  # type: ignore[attr-defined]
        chat.say("Remind ada.", [("call_0", "ada")])
        assert office.approve() == 1
        chat.resume()

    assert office.sent == ["ada", "ada"]


@pytest.mark.parametrize("framework", [name for name in PARALLEL if "langchain" in name])
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("whom", [["ada", "ada"], ["ada", "bob"], ["ada", "bob", "ada"]], ids="-".join)
def test_parallel_calls_of_one_message_are_calls_of_their_own(framework: str, ids: str, whom: list[str]) -> None:
    """Also if nothing tells them apart. The other frameworks refuse a message with one id twice."""
    office = Office(framework)
    office.chat.say("Remind them.", [(IDS[ids](0, index), who) for index, who in enumerate(whom)])
    assert office.approve() == len(whom)
    office.chat.resume()
    assert sorted(office.sent) == sorted(whom)

    office.chat.replay()
    assert (office.approve(), sorted(office.sent)) == (0, sorted(whom))


@pytest.mark.parametrize("framework", ["pydantic_ai", "openai_agents"])
def test_parallel_calls_with_ids_of_their_own_are_two_calls(framework: str) -> None:
    """Even if they are about the same."""
    office = Office(framework)
    office.chat.say("Remind her twice.", [("call_0", "ada"), ("call_1", "ada")])
    assert office.approve() == 2
    office.chat.resume()
    assert office.sent == ["ada", "ada"]


@pytest.mark.parametrize("conversation", [{}, {"conversation_id": "c1"}], ids=["no id", "an id"])
def test_a_history_is_run_again(conversation: dict[str, Any]) -> None:
    """Runs that begin with the same messages are runs of their own, also under one conversation."""
    office = Office("pydantic_ai")
    chat: Any = office.chat
    for _ in range(2):
        chat.history, chat.passed = (b"[]", b""), conversation
        chat.say("Remind ada.", [("call_0", "ada")])
        assert office.approve() == 1
        chat.resume()
    assert office.sent == ["ada", "ada"]


@pytest.mark.parametrize("whom", [["ada", "ada"], ["ada", "bob"]], ids="-".join)
def test_claude_code_keeps_the_last_of_two_calls_with_one_id(whom: list[str]) -> None:
    """The question about the other is withdrawn, as with ids of their own."""
    office = Office("claude_agent")
    office.chat.say("Remind them.", [("call_0", who) for who in whom])
    assert office.approve() == 1
    office.chat.resume()

    assert (office.sent, office.chat.results) == (whom[-1:], [f"reminded {whom[-1]}"])
    assert office.authority.ledger.pending() == ()


def test_a_run_of_the_openai_agents_sdk_keeps_its_id_with_another_context() -> None:
    """A state is often loaded with a context of the process that loads it."""
    office = Office("openai_agents")
    chat: Any = office.chat
    chat.say("Remind ada.", [("call_0", "ada")])
    office.approve()
    chat.load_options = {"context_override": {"process": 2}}
    chat.resume()
    assert (office.sent, office.approve()) == (["ada"], 0)


def through_front_end(adapter: str, history: bytes) -> bytes:
    """Return a history as a front end gives it back."""
    pytest.importorskip("ag_ui")
    from pydantic_ai import ModelMessagesTypeAdapter  # noqa: PLC0415  may be missing
    from pydantic_ai.ui.ag_ui import AGUIAdapter  # noqa: PLC0415
    from pydantic_ai.ui.vercel_ai import VercelAIAdapter  # noqa: PLC0415

    kind: Any = {"AG-UI": AGUIAdapter, "Vercel": VercelAIAdapter}[adapter]
    messages = ModelMessagesTypeAdapter.validate_json(history)
    return ModelMessagesTypeAdapter.dump_json(kind.load_messages(kind.dump_messages(messages)))


@pytest.mark.parametrize("adapter", ["AG-UI", "Vercel"])
@pytest.mark.parametrize("how", ["the results", "a conversation id"])
def test_a_history_that_went_through_a_front_end_is_recognised(adapter: str, how: str) -> None:
    """It has neither the conversation's id nor those of its runs."""
    office = Office("pydantic_ai")
    chat: Any = office.chat
    chat.passed = {"conversation_id": "c1"} if how == "a conversation id" else {}
    for turn in range(2):
        # pydantic-ai itself takes a repeated id in a history of Vercel's for a call that was made.
        chat.say("Remind ada.", [("call_0" if adapter == "AG-UI" else f"call_{turn}", "ada")])
        waits = through_front_end(adapter, chat.history[0]), chat.history[1]
        for _ in range(2):
            chat.history = waits
            chat.resume(with_results=how == "the results")
            assert len(office.authority.ledger.pending()) == 1
            chat.history = waits
        assert office.approve() == 1
        chat.resume(with_results=how == "the results")
        assert office.sent == ["ada"] * (turn + 1)
        chat.history = through_front_end(adapter, chat.history[0]), b""
    assert len(office.authority.receipts()) == 2


def test_a_history_without_any_id_says_what_to_pass() -> None:
    """In place of a new question for each approval."""
    office = Office("pydantic_ai")
    chat: Any = office.chat
    chat.say("Remind ada.", [("call_0", "ada")])
    chat.history = through_front_end("AG-UI", chat.history[0]), chat.history[1]
    office.approve()
    with pytest.raises(InputError, match="Pass conversation_id="):
        chat.resume(with_results=False)
    assert (office.sent, office.authority.ledger.pending()) == ([], ())


@pytest.mark.parametrize("framework", PARALLEL)
def test_what_an_earlier_release_asked_is_answered_and_done_once(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its calls had the server's id alone. A later message with that id makes another call."""
    office = Office(framework)
    with monkeypatch.context() as earlier:
        earlier.setattr(call_ids.CallIds, "choose", lambda _, call_id, __: call_id.earlier)
        office.chat.say("Remind ada.", [("call_0", "ada")])
    (pending,) = office.authority.ledger.pending()
    office.chat.resume()
    assert office.authority.ledger.pending() == (pending,)

    office.approve()
    office.chat.resume()
    office.chat.replay()
    assert (office.sent, office.chat.results[-1]) == (["ada"], "reminded ada")

    for _ in range(2):
        office.chat.say("Remind ada again.", [("call_0", "ada")])
        assert office.approve() == 1
        office.chat.resume()
    assert office.sent == ["ada"] * 3


def test_a_call_that_an_earlier_release_made_is_not_taken_for_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its result is old, whoever uses its id next."""
    office = Office("langchain")
    with monkeypatch.context() as earlier:
        earlier.setattr(call_ids.CallIds, "choose", lambda _, call_id, __: call_id.earlier)
        office.chat.say("Remind ada.", [("call_0", "ada")])
        office.approve()
        office.chat.resume()
    office.chat.say("Remind ada.", [("call_0", "ada")])
    assert office.approve() == 1


FRAMEWORK_MODULES = ["acp", "ag_ui", "claude_agent", "langchain", "openai_agents", "pydantic_ai"]
MAKES_CALL = {"make_call", "amake_call", "apropose", "find_obstacle", "choose_id"}
"""Functions that make calls or ask about them under an id."""
FOREIGN = re.compile(r"\b(tool_call_id|tool_use_id|toolCallId|tool_use|item\.call_id)\b|\[.id.\]")
"""How a framework's own id is written."""


@pytest.mark.parametrize("name", FRAMEWORK_MODULES)
def test_no_integration_makes_a_call_under_a_servers_id(name: str) -> None:
    """What it calls ``call_id`` was made by ``make_call_id``, and nothing else goes to a guarded tool."""
    module = importlib.import_module(f"emitter.integrations.{name}")
    tree = ast.parse(inspect.getsource(module))
    parameters = [each for each in ast.walk(tree) if isinstance(each, ast.arg) and each.arg == "call_id"]
    assert {ast.unparse(each.annotation or each) for each in parameters} <= {"CallId"}

    for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
        function = ast.unparse(call.func)
        assert function not in {"CallId", "tool.call", "tool.propose", "self._tool.call", "self._tool.propose"}
        if function.rpartition(".")[2] in MAKES_CALL:
            plain = [each for each in call.args if isinstance(each, ast.Name | ast.Attribute | ast.Subscript)]
            assert not [each for each in plain if FOREIGN.search(ast.unparse(each))]
    made = [ast.unparse(each) for each in ast.walk(tree) if isinstance(each, ast.Assign)]
    named = [each for each in made if each.startswith("call_id = ")]
    assert all(re.search(r"make_call_id\(|_(find|get)_call_id\b|identify\(", each) for each in named)
