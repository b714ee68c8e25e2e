"""How a run is reported: a bar on a terminal, a function of the caller's, or nothing."""

from __future__ import annotations

import io
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from emitter.bulk import RunProgress, emit_many
from tests.bulk.asking import MODEL, Numbered, task

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.testing import Simulator

pytestmark = pytest.mark.usefixtures("vendor")


class Terminal(io.StringIO):
    """Standard error, where somebody looks on."""

    def isatty(self) -> bool:
        """Say that it is a terminal."""
        return True


def run(**more: Any) -> list[int]:
    """Run a few emissions, one of them refused."""
    situations = [task(0), task(1, "refuse"), task(2)]
    with emit_many(Numbered, situations, model=MODEL, in_flight=1, **more) as items:
        return [each.index for each in items]


def test_a_function_is_reported_each_item() -> None:
    """Snapshots with counts that only grow; the last one is the whole."""
    reported: list[RunProgress] = []
    run(progress=reported.append)

    assert [(each.done, each.failed, each.total) for each in reported] == [(1, 0, 3), (2, 1, 3), (3, 1, 3)]
    assert [each.calls for each in reported] == [1, 2, 3]
    totals = [each.usage.total for each in reported]
    assert 0 < totals[0] < totals[1] < totals[2]
    assert {(each.in_flight, each.limit, each.retries) for each in reported} == {(0, 1, 0)}


def test_a_generator_does_not_say_how_many() -> None:
    """The total is None then."""
    reported: list[RunProgress] = []
    emit_many(Numbered, map(task, range(2)), model=MODEL, progress=reported.append).results()

    assert [each.total for each in reported] == [None, None]


@pytest.mark.parametrize(
    ("stream", "progress", "seen"),
    [
        (Terminal, None, True),
        (io.StringIO, None, False),
        (io.StringIO, True, True),
        (Terminal, False, False),
    ],
    ids=["terminal", "file", "wanted", "unwanted"],
)
def test_a_bar_is_shown_where_somebody_looks(
    stream: type[io.StringIO], progress: Any, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends at the whole, with what failed and what it cost, and leaves no thread of its own."""
    monkeypatch.setattr(sys, "stderr", stream())
    before = set(threading.enumerate())
    run(progress=progress)
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]

    assert bool(shown) is seen
    assert ("3/3" in shown and "1 failed" in shown and "tokens" in shown) is seen
    assert set(threading.enumerate()) <= before


def test_the_bar_says_what_was_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that was torn is a line above the bar."""
    place = tmp_path / "run.jsonl"
    run(journal=place)
    place.write_bytes(place.read_bytes()[:-5])
    monkeypatch.setattr(sys, "stderr", Terminal())
    run(journal=place)

    assert "ended in the middle of a line" in sys.stderr.getvalue()  # type: ignore[attr-defined]


def test_what_the_function_raises_ends_the_run_and_loses_nothing(vendor: Simulator) -> None:
    """What was begun is handed out first."""
    got: list[int] = []

    def report(at: RunProgress) -> None:
        if at.done == 2:
            raise ZeroDivisionError

    items = emit_many(Numbered, map(task, range(50)), model=MODEL, in_flight=2, progress=report)
    with pytest.raises(ZeroDivisionError):
        got.extend(each.value.n for each in items)
    assert got == list(range(len(vendor.calls)))
    assert 2 <= len(got) <= 4
