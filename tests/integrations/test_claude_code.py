"""Claude Code's own tools, guarded by name: the real Claude Code runs them, against the simulated vendor."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.decisions import open_dialogue, select_option
from emitter.errors import InputError, StoreFailed
from emitter.stores import MemoryStore
from emitter.testing import simulator

claude_agent_sdk = pytest.importorskip("claude_agent_sdk")
sys.path.append(str(Path(__file__).parents[2] / "examples"))
import scripted_claude  # noqa: E402

from emitter.integrations import claude_agent  # noqa: E402
from emitter.integrations.claude_agent import GuardHooks, resume  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from emitter.authority import GuardOptions
    from emitter.decisions.ledger_entries import PendingDecision

GUARDED: dict[str, GuardOptions] = {"Bash": {}, "Write": {}}


class Desk:
    """Claude Code with two of its tools guarded, in a folder, and a script of calls."""

    def __init__(self, folder: Path, *calls: tuple[str, str, dict[str, Any]], at_once: int = 1) -> None:
        self.folder, self.session = folder, ""
        self.read: dict[str, tuple[str, bool]] = {}
        self.authority = Authority()
        script = lambda read: [call for call in calls if call[0] not in read][:at_once]  # noqa: E731
        self.answers = scripted_claude.ToolCalls(script)
        self.start()

    def start(self) -> None:
        """Run until a call is deferred."""
        self._run(None)

    def resume(self) -> None:
        """Continue the session."""
        self._run(self.session)

    def pending(self) -> PendingDecision:
        """Return the one call that waits."""
        (pending,) = self.authority.ledger.pending()
        return pending

    def approve(self) -> None:
        """Approve the call that waits, and continue."""
        pending = self.pending()
        self.authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))
        self.resume()

    def receipts(self) -> list[str]:
        """Return what the receipts say."""
        return [each.result.value for each in self.authority.receipts()]

    def _run(self, session: str | None) -> None:
        with simulator(answers=self.answers, check_schemas=False) as vendor:
            options = claude_agent_sdk.ClaudeAgentOptions(
                hooks=GuardHooks(self.authority, GUARDED).hooks,
                allowed_tools=list(GUARDED),
                cwd=self.folder,
                model="claude-sonnet-5-5",
                env=scripted_claude.environment(vendor, self.folder),
            )
            start = resume(options, session) if session else claude_agent_sdk.query(prompt="Tidy up.", options=options)
            asyncio.run(self._watch(start))

    async def _watch(self, messages: AsyncIterator[Any]) -> None:
        async for message in messages:
            if isinstance(message, claude_agent_sdk.ResultMessage):
                self.session = message.session_id
            for block in getattr(message, "content", ()):
                if isinstance(block, claude_agent_sdk.ToolResultBlock):
                    words = scripted_claude.text({"content": block.content})
                    self.read[block.tool_use_id.partition("-")[0]] = words, bool(block.is_error)


def test_what_was_approved_runs_once(tmp_path: Path) -> None:
    """A command and a file, each after its own question, each with a receipt; what is not guarded just runs."""
    file = tmp_path / "notes.txt"
    desk = Desk(
        tmp_path,
        ("call1", "Bash", {"command": "echo done >> log", "description": "Log it"}),
        ("call2", "Write", {"file_path": str(file), "content": "Minutes"}),
        ("call3", "Read", {"file_path": str(file)}),
    )
    assert not (tmp_path / "log").exists()
    assert "echo done >> log" in desk.pending().moment.findings[0]

    desk.approve()
    assert (tmp_path / "log").read_text() == "done\n"
    assert not file.exists()

    desk.approve()
    assert file.read_text() == "Minutes"
    assert "Minutes" in desk.read["call3"][0]
    assert desk.receipts() == ["success", "success"]
    assert desk.authority.unfinished_actions() == ()


def test_what_was_refused_does_not_run(tmp_path: Path) -> None:
    """Claude reads the person's words, and may ask about another command."""
    desk = Desk(
        tmp_path, ("call1", "Bash", {"command": "rm -rf log"}), ("call2", "Bash", {"command": "echo kept > log"})
    )
    pending = desk.pending()
    desk.authority.ledger.resolve(pending.decision_id, open_dialogue(pending.moment, "Keep the log."))
    desk.resume()

    assert "The person refused the question: Keep the log." in desk.read["call1"][0]
    assert desk.read["call1"][1]
    desk.approve()
    assert (tmp_path / "log").read_text() == "kept\n"
    assert desk.receipts() == ["success"]


def test_a_command_that_fails_has_a_receipt_that_says_so(tmp_path: Path) -> None:
    """And it is not run again."""
    desk = Desk(tmp_path, ("call1", "Bash", {"command": "echo x >> log; exit 3"}))
    desk.approve()

    assert (tmp_path / "log").read_text() == "x\n"
    assert desk.receipts() == ["failure"]
    assert desk.read["call1"][1]


def test_a_session_without_a_deferred_call_cannot_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor can one whose call was made: Claude Code would wait for a prompt, for ever."""
    desk = Desk(tmp_path, ("call1", "Bash", {"command": "echo x >> log"}))
    desk.approve()
    monkeypatch.setattr(claude_agent, "START_SECONDS", 1.0)
    with pytest.raises(InputError, match="has no deferred call"):
        desk.resume()

    assert (tmp_path / "log").read_text() == "x\n"


def test_a_hook_that_raises_denies_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a client that may run every command: here the question of a dropped call cannot be withdrawn."""

    async def fail(*_: Any, **__: Any) -> None:
        raise StoreFailed("The disk is full.")

    monkeypatch.setattr("emitter.decisions.ledger.Ledger.awithdraw", fail)
    commands = [(f"call{number}", "Bash", {"command": f"touch file{number}"}) for number in (1, 2)]
    desk = Desk(tmp_path, *commands, at_once=2)

    assert list(tmp_path.glob("file*")) == []
    assert desk.receipts() == []


def test_a_command_runs_in_the_directory_it_was_approved_for(tmp_path: Path) -> None:
    """A session that is continued begins in its first directory, wherever it was when the person was asked."""
    desk = Desk(
        tmp_path,
        ("call1", "Bash", {"command": "mkdir sub && cd sub"}),
        ("call2", "Bash", {"command": "touch file"}),
    )
    desk.approve()
    assert f"{tmp_path}/sub" in "".join(desk.pending().moment.findings)
    desk.approve()

    assert list(tmp_path.rglob("file")) == []
    assert "A different call was proposed under this id." in desk.read["call2"][0]


CALL: Any = {"session_id": "s1", "cwd": "/work", "tool_name": "Bash", "tool_input": {"command": "make"}}


async def ask(authority: Authority, **call: Any) -> dict[str, Any]:
    """Ask the hook whether a call may be made, as Claude Code does."""
    (matcher,) = GuardHooks(authority, GUARDED).hooks["PreToolUse"]
    output: Any = await matcher.hooks[0]({**CALL, **call}, "t1", {"signal": None})
    return output.get("hookSpecificOutput", {})


def approved(store: Any) -> Authority:
    """Return an authority with an approved call."""
    authority = Authority(store)
    assert asyncio.run(ask(authority))["permissionDecision"] == "defer"
    (pending,) = authority.ledger.pending()
    authority.ledger.resolve(pending.decision_id, select_option(pending.moment, 0))
    return authority


def test_a_call_whose_process_died_is_listed_and_not_run_again() -> None:
    """Between the permission and the result: nobody knows whether it ran."""
    store = MemoryStore()
    authority = approved(store)
    allowed = asyncio.run(ask(authority))
    assert (allowed["permissionDecision"], allowed["updatedInput"]) == ("allow", CALL["tool_input"])

    again = asyncio.run(ask(Authority(store)))
    assert again["permissionDecision"] == "deny"
    assert len(Authority(store).unfinished_actions()) == 1


async def make(authority: Authority, **changed: Any) -> None:
    """Have the call allowed and made, as Claude Code does, which runs what the last hook returned."""
    hooks = GuardHooks(authority, GUARDED).hooks
    await hooks["PreToolUse"][0].hooks[0](CALL, "t1", {"signal": None})
    made: Any = {**CALL, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "built"}, **changed}
    await hooks["PostToolUse"][0].hooks[0](made, "t1", {"signal": None})


def test_a_call_that_another_hook_changed_has_no_receipt_of_success() -> None:
    """What was approved was not made."""
    authority = approved(MemoryStore())
    asyncio.run(make(authority, tool_input={"command": "make all"}))
    (receipt,) = authority.receipts()
    assert (receipt.result.value, receipt.error) == ("failure", "InputChanged")


def test_a_call_that_was_made_is_denied_with_its_result() -> None:
    """From a transcript before the act; and under its id no other call is made."""
    authority = approved(MemoryStore())
    asyncio.run(make(authority))
    replayed = asyncio.run(ask(authority))
    assert replayed["permissionDecision"] == "deny"
    assert '{"stdout":"built"}' in replayed["permissionDecisionReason"]

    edited = asyncio.run(ask(authority, tool_input={"command": "make all"}))
    assert edited["permissionDecision"] == "deny"
    assert len(authority.receipts()) == 1


@pytest.mark.parametrize("name", ["Read", "BashOutput"])
def test_a_tool_of_another_name_is_left_alone(name: str) -> None:
    """The matcher is a pattern; the name counts."""
    authority = Authority()
    assert asyncio.run(ask(authority, tool_name=name)) == {}
    assert authority.ledger.pending() == ()


def test_a_question_that_cannot_be_asked_denies_the_call() -> None:
    """Claude Code would run a tool whose hook raised."""

    class Broken(MemoryStore):
        def get_or_create(self, *_: Any, **__: Any) -> Any:
            raise StoreFailed("The disk is full.")

    denied = asyncio.run(ask(Authority(Broken())))
    assert denied["permissionDecision"] == "deny"
    assert "could not be put to a person" in denied["permissionDecisionReason"]
