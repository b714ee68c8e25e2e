"""A process that is killed at any point: nothing is done twice, and each act is receipted, or listed as unfinished."""

from __future__ import annotations

import json
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects
from emitter.authority.chain import verify_chain
from emitter.errors import AlreadyUsed, Unfinished
from emitter.stores import SqliteStore
from tests.authority.execution.making import act, work
from tests.authority.execution.process import append, flow_of
from tests.work import FULL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., list[list[Any]]]
_KILLED = -signal.SIGKILL
_TIMES = 25 if FULL else 10


def lines(folder: Path) -> Counter[str]:
    """Return how often each act was done."""
    return Counter(json.loads(each)[0] for each in (folder / "done").read_text().splitlines())


def resumed(folder: Path, confirms: dict[str, str], names: list[str]) -> dict[str, str]:
    """Do each act again, as after a restart; return how each ended, having seen that nothing happened twice."""
    before = lines(folder)
    with SqliteStore(folder / "store.db", timeout=5) as store:
        authority = Authority(store)
        records = [each.record for flow in confirms for each in verify_chain(authority.lines(flow))]
        began = {each.intent_id for each in records if each.type == "INTENT"}
        left = {each.intent_id for each in authority.unfinished_actions()}
        receipted = {each.intent_ref for each in authority.receipts()}
        assert (began, set[str]()) == (left | receipted, left & receipted)
        assert set(before) <= began
        found = {name: _again(authority, confirms[flow_of(name)], folder, name) for name in names}
    assert {name for name, how in found.items() if how == "unfinished"} == left & set(names)
    assert {name for name, how in found.items() if how == "begun"} == set(names) - began
    after = lines(folder)
    assert set(after.values()) == {1}
    assert after == before + Counter(name for name, how in found.items() if how == "begun")
    return found


def _again(authority: Authority, confirm_id: str, folder: Path, name: str) -> str:
    called: list[str] = []

    def tool() -> str:
        called.append(name)
        append(folder / "done", name)
        return name

    try:
        found = authority.execute(confirm_id, work(act(name, workflow_id=flow_of(name)), tool))
    except Unfinished:
        return "unfinished"
    assert found == name
    return "begun" if called else "retained"


@pytest.mark.parametrize("way", ["sync", "async"])
def test_killed_at_each_statement(way: str, tmp_path: Path, told_by: Run) -> None:
    """From the first on, until one is left alone; each way of leaving an act is met."""
    reported = told_by("falling", tmp_path, way)
    assert [status for _, _, status in reported] == [_KILLED] * (len(reported) - 1) + [0]
    assert len(reported) > 15
    confirms, names = {flow: confirm for flow, confirm, _ in reported}, [f"{flow}/0" for flow, _, _ in reported]
    assert set(resumed(tmp_path, confirms, names).values()) == {"begun", "unfinished", "retained"}
    assert "begun" not in resumed(tmp_path, confirms, names).values()


def test_killed_at_any_time(tmp_path: Path, told_by: Run) -> None:
    """Again and again, at moments that were drawn, with the next at work at once."""
    (tmp_path / "done").touch()
    reported = told_by("killing", tmp_path, _TIMES)
    assert [status for _, _, status in reported] == [_KILLED] * _TIMES
    done = lines(tmp_path)
    nexts = [f"{flow}/{sum(flow_of(each) == flow for each in done)}" for flow, _, _ in reported]
    resumed(tmp_path, {flow: confirm for flow, confirm, _ in reported}, [*done, *nexts])


def test_killed_inside_its_tool(tmp_path: Path, told_by: Run) -> None:
    """The act is listed, and stays so until somebody tells what became of it; it is never repeated."""
    ((flow, confirm_id, status),) = told_by("hanging", tmp_path)
    assert status == _KILLED
    assert resumed(tmp_path, {flow: confirm_id}, ["hung/0"]) == {"hung/0": "unfinished"}
    with SqliteStore(tmp_path / "store.db") as store:
        authority = Authority(store)
        authority.resolve_unfinished(flow, "hung/0", Effects(side_effects={"written": True}))
        assert authority.unfinished_actions() == ()
        with pytest.raises(AlreadyUsed):
            authority.execute(confirm_id, work(act("hung/0", workflow_id=flow), pytest.fail))
    assert lines(tmp_path) == {"hung/0": 1}


def test_a_forked_process_goes_on(tmp_path: Path, told_by: Run) -> None:
    """It does not wait for a thread of its parent that it has not, and both spend of one limit."""
    reported = told_by("forking", tmp_path)
    assert reported == [["child", "done"], ["ended", 0], ["parent", "done", "done", "limit_exceeded"]]
