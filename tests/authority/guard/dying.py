"""A process that dies amid a guarded call: it counts its steps, and kills itself at one of them.

Its steps are what it asks of the store, what it writes from before it until after it, and every place in somebody
else's code.
"""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.authority import Authority, Effects, brief_from_template
from emitter.errors import ApprovalPending
from tests.authority.guard.parts import approve, resolved

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.authority import ApprovalRequest
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.models import BindingMoment
    from emitter.stores import NewEntry, SqliteStore, StoredEntry

CALL = "c1"
HOOKS = ("before_confirm", "after_confirm", "before_execute", "after_execute", "emit_receipt")


@dataclass
class Fate:
    """Counts the steps of a process, notes what it comes to, and kills it at the step numbered ``at``."""

    file: Path
    at: int = 0
    steps: int = 0

    def step(self, name: str) -> None:
        """Come to a place."""
        self.steps += 1
        if self.steps == self.at:
            add(self.file / "killed", name)
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(self, name: str) -> Callable[[object], None]:
        """Return what is called at a hook."""
        return lambda _: self.step(name)


@dataclass
class Mortal:
    """A store that comes to a step before whatever is asked of it, and after and amid what it writes."""

    store: SqliteStore
    fate: Fate

    def find(self, *place: str) -> Any:
        """Look something up."""
        self.fate.step("find")
        return self.store.find(*place)

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Keep something."""
        return self._around(
            "once", lambda: self.store.get_or_create(run_id, correlation_id, lambda: self._around("make", make))
        )

    def forget(self, *place: str) -> None:
        """Delete something."""
        self._around("forget", lambda: self.store.forget(*place))

    def append(self, *given: Any) -> Any:
        """Add to a log."""
        return self._around("append", lambda: self.store.append(*given))

    def events(self, *given: Any) -> Any:
        """Read a log."""
        self.fate.step("events")
        return self.store.events(*given)

    def _around(self, name: str, act: Callable[[], Any]) -> Any:
        self.fate.step(f"before {name}")
        found = act()
        self.fate.step(f"after {name}")
        return found


class Hooks:
    """All hooks of an act, each of them a step."""

    def __init__(self, fate: Fate) -> None:
        for name in HOOKS:
            setattr(self, name, fate.hook(name))


def add(file: Path, text: str) -> None:
    """Add a line to a file in one write, so that it is there whatever becomes of this process."""
    lines = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(lines, text.encode() + b"\n")
    os.close(lines)


@dataclass
class Sender:
    """A tool with two effects, and whoever is called around it: each of them comes to a step."""

    fate: Fate

    def send(self, to: str, body: str) -> dict[str, str]:
        """Add two lines to a file."""
        self.fate.step("tool: before")
        add(self.fate.file / "effects", f"first to {to}")
        self.fate.step("tool: between")
        add(self.fate.file / "effects", f"second, {body}")
        self.fate.step("tool: after")
        return {"sent": to}

    async def asend(self, to: str, body: str) -> dict[str, str]:
        """Do the same after a while."""
        await asyncio.sleep(0)
        return self.send(to, body)

    def ask(self, pending: PendingDecision) -> Any:
        """Note who was asked, and approve."""
        add(self.fate.file / "asked", pending.decision_id)
        self.fate.step("ask")
        return approve(pending)

    def brief(self, asked: ApprovalRequest) -> BindingMoment:
        """Write the envelope."""
        self.fate.step("brief")
        return brief_from_template(asked)

    def describe(self, _: object) -> Effects:
        """Tell what was done."""
        self.fate.step("describe")
        return Effects(side_effects={"sent": 1})


SETTINGS: dict[str, Any] = {
    "name": "send",
    "target": lambda given: str(given["to"]),
    "spends": lambda _: {"budget_usd": 5},
}
"""How the tool is guarded, whoever guards it."""


def guarded(store: Any, fate: Fate, *, way: str) -> tuple[Authority, Callable[[], Any]]:
    """Return an authority, and what makes the call in one of the ways that there are."""
    authority, sender = Authority(store, hooks=[Hooks(fate)]), Sender(fate)  # type: ignore[list-item]  # it has five
    settings = {**SETTINGS, "brief": sender.brief, "describe": sender.describe}
    if way == "asked":
        guard: Any = authority.guard(sender.send, ask=sender.ask, **settings)
        return authority, lambda: guard.call(CALL, "mom", body="hi")
    waits: Any = authority.guard(sender.asend, **settings)
    return authority, lambda: _waiting(authority, waits, fate)


def _waiting(authority: Authority, guard: Any, fate: Fate) -> Any:
    """Make the call, have its decision resolved where it waits, and make it again."""

    async def call() -> Any:
        return await guard.call(CALL, "mom", body="hi")

    try:
        return asyncio.run(call())
    except ApprovalPending as pending:
        fate.step("resolving")
        resolved(authority, pending.decision_id)
    return asyncio.run(call())


def read(folder: Path, name: str) -> list[str]:
    """Return the lines of a file, none where it is not there."""
    file = folder / name
    return file.read_text().splitlines() if file.exists() else []
