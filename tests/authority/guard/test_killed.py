"""``kill -9`` at every point of a guarded call: nothing runs twice, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects
from emitter.errors import AlreadyUsed
from emitter.stores import SqliteStore
from tests.authority.guard.dying import CALL, HOOKS, Fate, guarded, read
from tests.authority.guard.killing import ROUNDS, STRIDES, UNFINISHED
from tests.authority.guard.parts import proven
from tests.launching import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
EFFECTS = ["first to mom", "second, hi"]
OTHERS = {"brief", "tool: before", "tool: between", "tool: after", "describe", *HOOKS}
"""Places in somebody else's code at which a process dies too."""
LEAST = 55
"""Points of one call: more would be no mistake, and less that some are left out."""
WAYS = ("asked", "waiting")
"""A sync tool, with somebody to ask; and an async one, whose call is made again once its decision was resolved."""

if not hasattr(os, "fork"):
    pytest.skip("this system forks no processes", allow_module_level=True)


@dataclass
class Deaths:
    """A place in which a call was broken off, how its process ended, and what a process after it reported."""

    way: str
    folder: Path
    status: int
    reported: dict[str, Any]

    @property
    def at(self) -> str:
        """Where it was killed; empty where it was left alone."""
        return (read(self.folder, "killed") or [""])[-1]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Path, subprocess.Popen[str]]]]:
    """Begin all of it at once, for the processes wait for the disk more than they work."""
    programs = [("everywhere", way) for way in WAYS] + [("often", "asked")]
    begun: dict[str, tuple[Path, subprocess.Popen[str]]] = {}
    for how, way in programs:
        folder = tmp_path_factory.mktemp(f"{how}-{way}")
        command = launch("tests.authority.guard.killing", how, str(folder), way)
        begun[f"{how} {way}"] = folder, subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        yield begun
    finally:
        for _, program in begun.values():
            program.kill()
            program.communicate()


def deaths(running: dict[str, tuple[Path, subprocess.Popen[str]]], name: str) -> list[Deaths]:
    """Return what became of each call."""
    folder, program = running[name]
    out, _ = program.communicate(timeout=600)
    lines = [json.loads(line) for line in out.splitlines()]
    assert program.returncode == 0
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return [Deaths(name.split()[1], folder / str(at), status, reported) for (at, status), reported in pairs]


def look(death: Deaths) -> None:
    """See that the act was done once or may have been begun, that its decision stands, and that the chain holds."""
    effects = read(death.folder, "effects")
    assert effects == EFFECTS[: len(effects)]
    with SqliteStore(death.folder / "store.db") as store:
        authority = Authority(store)
        look_at_decision(death, store)
        if "unfinished" in death.reported:
            settled(death, authority)
        else:
            assert death.reported["value"] == {"sent": "mom"}
            assert effects == EFFECTS
        proven(authority)
        (receipt,) = authority.receipts()
        assert receipt.intent_ref == CALL
        made_no_more(death, store)
    assert read(death.folder, "effects") == effects


def look_at_decision(death: Deaths, store: SqliteStore) -> None:
    """See that one decision was opened and resolved once, and that nobody is asked what they answered."""
    reported = [each["payload"]["message"] for each in store.events("emitter.ledger")]
    assert sorted(reported) == ["decision.opened", "decision.resolved"]
    assert len(set(read(death.folder, "asked"))) <= 1
    assert death.reported["asked"] <= (not death.reported["stood"])


def settled(death: Deaths, authority: Authority) -> None:
    """See that the act is listed, that nobody has run it since, and settle it."""
    (intent,) = authority.unfinished_actions()
    assert intent.intent_id == death.reported["unfinished"] == CALL
    assert death.reported["begun"] == [CALL]
    assert death.reported["asked"] == 0
    authority.resolve_unfinished(
        intent.workflow_id, CALL, Effects(side_effects={"seen": len(read(death.folder, "effects"))})
    )


def made_no_more(death: Deaths, store: SqliteStore) -> None:
    """See that the call, once it has its receipt, is neither asked about nor made again."""
    before = [read(death.folder, name) for name in ("effects", "asked")]
    _, call = guarded(store, Fate(death.folder), way=death.way)
    if "unfinished" in death.reported:
        with pytest.raises(AlreadyUsed):
            call()
    else:
        assert call() == {"sent": "mom"}
    assert [read(death.folder, name) for name in ("effects", "asked")] == before


@pytest.mark.parametrize("way", WAYS)
def test_killed_at_every_point(running: Any, way: str) -> None:
    """From the first on, until a process is left alone; whoever comes next ends the call, or finds it unfinished."""
    *killed, last = deaths(running, f"everywhere {way}")

    assert {each.status for each in killed} == {-signal.SIGKILL}
    assert (last.status, last.at) == (0, "")
    assert len(killed) >= LEAST // STRIDES[way]
    for each in [*killed, last]:
        look(each)
        assert ("unfinished" in each.reported) == bool(each.reported["begun"])
    unfinished = {each.at for each in killed if "unfinished" in each.reported}
    assert not unfinished & {"ask", "brief", "resolving", *HOOKS}
    if STRIDES[way] == 1:
        assert {each.at for each in killed} >= OTHERS | ({"resolving"} if way == "waiting" else {"ask"})
        assert unfinished >= {"tool: before", "tool: between", "tool: after", "describe"}


def test_killed_again_and_again(running: Any) -> None:
    """At steps that were drawn, one process after the other in one place: what each left, the next goes on with."""
    found = deaths(running, "often asked")

    assert len(found) == ROUNDS
    for each in found:
        assert each.status in {0, UNFINISHED}
        assert len(read(each.folder, "killed")) > 0
        assert len(set(read(each.folder, "asked"))) == 1
        look(each)
