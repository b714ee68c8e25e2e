"""What the integrations share: ids of calls, and what an agent reads of an error."""

from __future__ import annotations

import asyncio
import importlib
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.authority import Authority
from emitter.authority.guard.call_ids import make_call_id
from emitter.decisions import answer_in_words, open_dialogue, select_option
from emitter.errors import (
    AlreadyUsed,
    ApprovalPending,
    AuthorityError,
    ConfirmExpired,
    ConfirmRevoked,
    InputError,
    LimitExceeded,
    MissingExtra,
    OtherCall,
    Unfinished,
    WorkflowStopped,
)
from emitter.integrations.approvals import Rejected, Returned, Waiting, amake_call, make_call
from emitter.stores import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.models import BindingMoment

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
IDS = st.tuples(TEXT, TEXT, TEXT, st.integers(0, 20))


@given(IDS, IDS)
def test_two_calls_never_share_an_id(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    """Whatever a thread, a message or a call is named; and every id can be one of a guarded call."""
    first, second = (
        make_call_id(("any", thread), message, call, position=position).value
        for thread, message, call, position in (one, other)
    )
    assert (first == second) == (one == other)
    assert 0 < len(first) <= 256


@pytest.mark.parametrize("part", ["", None, 7])
@pytest.mark.parametrize("place", range(3))
def test_a_call_without_an_id_is_refused(part: Any, place: int) -> None:
    """It could not be recognised when it is repeated."""
    parts: list[Any] = ["thread", "message", "call"]
    parts[place] = part
    with pytest.raises(InputError, match="gave this tool call no id"):
        make_call_id((parts[0],), parts[1], parts[2])


def guarded(**options: Any) -> tuple[Authority, Any, list[str]]:
    """Return an authority, a guarded tool, and what it was called with."""
    authority, sent = Authority(options.pop("store", None), **options.pop("authority", {})), list[str]()

    def send(to: str) -> str:
        sent.append(to)
        if to == "nobody":
            raise KeyboardInterrupt
        return to

    return authority, authority.guard(send, **options), sent


def resolve(authority: Authority, how: Any) -> None:
    """Resolve the only decision that waits."""
    (pending,) = authority.ledger.pending()
    authority.ledger.resolve(pending.decision_id, how(pending.moment))


def test_a_call_waits_and_is_made_once() -> None:
    """What waits can be shown by any client."""
    authority, tool, sent = guarded()
    waiting = make_call(tool, "c1", {"to": "ada"})
    assert isinstance(waiting, Waiting)
    assert waiting.to_json()["decision_id"] == authority.ledger.pending()[0].decision_id
    assert waiting.to_json()["binding_moment"] == waiting.pending.moment.to_json()

    resolve(authority, lambda moment: select_option(moment, 0))
    assert make_call(tool, "c1", {"to": "ada"}) == asyncio.run(amake_call(tool, "c1", {"to": "ada"})) == Returned("ada")
    assert sent == ["ada"]


def test_a_call_that_was_broken_off_is_not_repeated() -> None:
    """The agent reads that nobody knows what came of it."""
    authority, tool, sent = guarded()
    make_call(tool, "c1", {"to": "nobody"})
    resolve(authority, lambda moment: select_option(moment, 0))
    with pytest.raises(KeyboardInterrupt):
        make_call(tool, "c1", {"to": "nobody"})

    again = make_call(tool, "c1", {"to": "nobody"})
    assert isinstance(again, Rejected)
    assert "nothing was done" not in again.message
    assert sent == ["nobody"]


@pytest.mark.parametrize("answer", [answer_in_words, open_dialogue])
def test_words_that_cannot_be_read_are_not_made_up(answer: Callable[[BindingMoment, str], Any]) -> None:
    """Another process has them, and keeps them to itself. Only an objection forbids the call."""
    store = MemoryStore()
    authority, tool, _ = guarded(store=store)
    make_call(tool, "c1", {"to": "ada"})
    resolve(authority, lambda moment: answer(moment, "Call her."))
    (decision,) = {tool.propose("c1", to="ada").pending.decision_id}
    authority.ledger.delete_words(decision)

    rejected = make_call(tool, "c1", {"to": "ada"})
    assert isinstance(rejected, Rejected)
    assert "cannot be read here" in rejected.message
    assert "Call her" not in rejected.message
    assert ("Do not make the same call again" in rejected.message) == (answer is open_dialogue)


ERRORS: dict[str, tuple[AuthorityError, str]] = {
    "another argument": (OtherCall("A different call.", pointer="/parameters/to", hint="A"), "Its argument 'to' was"),
    "another call": (OtherCall("A different call.", pointer="/function", hint="A"), "Nothing was done."),
    "expired": (ConfirmExpired("The confirm has expired.", hint="A"), "the person is then asked again"),
    "revoked": (ConfirmRevoked("The confirm was revoked.", hint="A"), "was taken back, and nothing was done"),
    "stopped": (WorkflowStopped("The workflow was stopped.", hint="A"), "was stopped, and nothing was done"),
    "done": (AlreadyUsed("Not retained: see its receipt.", is_done=True, hint="A"), "succeeded"),
    "failed": (AlreadyUsed("It did not succeed.", hint="A"), "did not succeed. If the call is still needed"),
    "unfinished": (Unfinished("The action 'c1' of the workflow 'w1'.", hint="A"), "not known whether it took effect"),
    "any other": (LimitExceeded("The limit is 5.", hint="A"), "The limit is 5. The call was not made."),
}


@pytest.mark.parametrize(("error", "words"), ERRORS.values(), ids=ERRORS)
def test_an_agent_reads_what_it_can_do(error: AuthorityError, words: str) -> None:
    """And none of the hints for a programmer."""

    class Failing:
        def call(self, *_: object, **__: object) -> None:
            raise error

    tool: Any = Failing()
    rejected = make_call(tool, "c1", {})
    assert isinstance(rejected, Rejected)
    assert words in rejected.message
    assert not rejected.message.endswith(" A")


def test_a_tool_that_waits_for_another_tool_is_not_waiting_itself() -> None:
    """Its call has begun, so pausing the agent for it would promise a repetition that does not happen."""
    authority, inner, _ = guarded()

    def outer() -> str:
        return str(inner.call("inner", to="ada"))

    tool = authority.guard(outer)
    make_call(tool, "outer", {})
    resolve(authority, lambda moment: select_option(moment, 0))
    with pytest.raises(ApprovalPending):
        make_call(tool, "outer", {})


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("acp", "acp", "acp"),
        ("langchain", "langgraph", "langchain"),
        ("langchain", "langchain", "langchain"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("claude_agent", "claude_agent_sdk", "claude-agent"),
        ("ag_ui", "ag_ui", "ag-ui"),
        ("openai_agents", "agents", "openai-agents"),
    ],
)
def test_a_missing_package_is_named(module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    integration = f"emitter.integrations.{module}"
    for name in [name for name in sys.modules if name == integration or name.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra, match=re.escape(f"pip install 'llm-emitter[{extra}]'")):
        importlib.import_module(integration)


def test_a_thread_whose_task_is_cancelled_begins_no_call() -> None:
    """A sync tool runs in a thread, which asyncio cannot interrupt: it looks whether somebody waits for it."""
    reached, cancelled = threading.Event(), threading.Event()

    class Hook:
        def before_execute(self, _: object) -> None:
            reached.set()
            cancelled.wait(60)

    options = {"ask": lambda pending: select_option(pending.moment, 0), "authority": {"hooks": [Hook()]}}
    authority, tool, sent = guarded(**options)

    async def run() -> None:
        task = asyncio.create_task(amake_call(tool, "1", {"to": "a"}))
        await asyncio.to_thread(reached.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    asyncio.run(run())  # which waits for the thread
    assert (sent, authority.receipts(), authority.unfinished_actions()) == ([], (), ())
