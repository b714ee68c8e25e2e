"""Files that hold answers are created for their owner alone, and only regular files are read."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from emitter.bulk.journal import open_jsonl
from emitter.errors import BadJournal
from emitter.stores import SqliteStore
from emitter.telemetry.sinks import EventRecorder, to_jsonl
from emitter.testing.cassettes import Cassette, Provenance, save_cassette
from tests.stores.making import event, fresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of owner and others")


@pytest.fixture(autouse=True)
def _no_umask() -> Iterator[None]:
    """Let the process create files that everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def _journal(place: Path) -> None:
    with open_jsonl(place, "emitter", 1, "journal") as lines:
        lines.load({}, lambda _members, _position: None, "")


def _store(place: Path) -> None:
    with SqliteStore(place) as store:
        store.get_or_create("run", "c", fresh)
        assert sorted(each.name for each in place.parent.iterdir()) == [place.name, *(place.name + end for end in ENDS)]
        _assert_private(place.parent)


ENDS = ("-once", "-shm", "-wal")


def _events(place: Path) -> None:
    EventRecorder("run", "node", "cause", to_jsonl(place))(event("a"))


def _cassette(place: Path) -> None:
    save_cassette(Cassette(provenance=Provenance.BY_HAND), place)


def _assert_private(folder: Path) -> None:
    modes = {each.name: oct(stat.S_IMODE(each.stat().st_mode)) for each in folder.iterdir()}
    assert modes
    assert set(modes.values()) == {"0o600"}, modes


@pytest.mark.parametrize("create", [_journal, _store, _events, _cassette])
def test_a_file_is_created_for_its_owner_alone(create: Callable[[Path], None], tmp_path: Path) -> None:
    """Whatever the process's umask is, nobody else can read the answers."""
    create(tmp_path / "file")
    _assert_private(tmp_path)


def test_the_mode_of_an_existing_file_stays(tmp_path: Path) -> None:
    """Whoever shares a file has a reason to."""
    place = tmp_path / "run.jsonl"
    place.touch(mode=0o664)
    _journal(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o664


def _fifo(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


DEVICES: dict[str, Callable[[Path], str]] = {
    "full": lambda _: "/dev/full",
    "zero": lambda _: "/dev/zero",
    "null": lambda _: "/dev/null",
    "a pipe": _fifo,
    "a folder": str,
}


@pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES.keys())
def test_a_journal_is_a_regular_file(device: Callable[[Path], str], tmp_path: Path) -> None:
    """Reading a device to its end may never end."""
    from pathlib import Path  # noqa: PLC0415

    with (
        pytest.raises(BadJournal, match="cannot be opened"),
        open_jsonl(Path(device(tmp_path)), "emitter", 1, "journal"),
    ):
        pass
