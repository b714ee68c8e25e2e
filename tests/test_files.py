"""Files that hold answers are created for their owner alone, and only regular files are read."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Emitter, emit, emit_many
from emitter.authority.signing import load_key, new_key, save_key
from emitter.bulk.journal import open_jsonl
from emitter.cli import main
from emitter.cli.input_output import read_content, read_text
from emitter.decisions.ledger_words import KeepWords
from emitter.errors import BadJournal, EmitterError
from emitter.media import Image
from emitter.stores import SqliteStore
from emitter.telemetry.sinks import EventRecorder, to_jsonl
from emitter.testing.cassettes import Cassette, Provenance, load_cassette, save_cassette
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


def _batch(path: Any) -> object:
    return list(emit_many({"type": "object"}, ["x"], model="openai/gpt-6-sol", journal=path))


def _emission(path: Any) -> object:
    return emit({"type": "object"}, "x", model="openai/gpt-6-sol", prompts=path)


def _end(status: int) -> None:
    assert status in {1, 2}
    raise SystemExit(status)


WITH_PATHS: dict[str, Callable[[Any], object]] = {
    "emit_many(journal=)": _batch,
    "emit_many(journal=, batch=)": lambda path: list(
        emit_many({"type": "object"}, ["x"], model="openai/gpt-6-sol", journal=path, batch=True)
    ),
    "emit(prompts=)": _emission,
    "Emitter(prompts=)": lambda path: Emitter("openai/gpt-6-sol", prompts=path).emit({"type": "object"}, "x"),
    "SqliteStore": SqliteStore,
    "to_jsonl": to_jsonl,
    "load_key": load_key,
    "save_key": lambda path: save_key(new_key(), path),
    "with_key_file": KeepWords.with_key_file,
    "load_cassette": load_cassette,
    "save_cassette": lambda path: save_cassette(Cassette(provenance=Provenance.BY_HAND), path),
    "Image": Image,
    "read_text": read_text,
    "read_content": read_content,
    **{
        f"emitter {line}": lambda path, line=line: _end(main([each.format(path) for each in line.split()]))  # type: ignore[misc]
        for line in (
            "render {}", "digest {}", "lint-moment {}", "recover {}", "moment --model openai/gpt-6-sol {}",
            "stop {} w", "receipts list {}", "receipts verify {}", "receipts key {}", "receipts export {} w",
            "accept {}", "decisions {}", "forget {} --older-than 1",
            "batch {} --model openai/gpt-6-sol --type builtins:int",
            "batch - --model openai/gpt-6-sol --type builtins:int --output {}", "classify {}", "compile {}",
            "batch - --model openai/gpt-6-sol --type builtins:int --journal {}", "emit x --schema {} --model openai/x",
            "moment --model openai/gpt-6-sol --events {}", "moment --model openai/gpt-6-sol --prompts {}",
            "moment --model openai/gpt-6-sol --material {}", "resolve --store {}", "stop --sign {} a.db w",
            "mcp --demo --store {}", "capabilities --kind a.b={}", "simulate --answer @{}", "accept - --secrets {}",
        )
    },
}  # fmt: skip
NO_PATHS: dict[str, object] = {
    "null": "a\0b",
    "null in a folder": "a\0b/c.json",
    "surrogate": "\ud800",
    "long": "x" * 5000,
    "long folder": "x" * 300 + "/y",
    "file as a folder": "/dev/null/x",
    "bytes": b"x",
    "number": 5,
    "none": None,
    "list": [],
}


CASES = [
    pytest.param(use, path, id=f"{name}-{what}")
    for name, use in WITH_PATHS.items()
    for what, path in NO_PATHS.items()
    if isinstance(path, str) or not name.startswith("emitter ")
    if path is not None or "=" not in name
]


@pytest.mark.parametrize(("use", "path"), CASES)
def test_a_path_that_is_none_gets_an_error_of_the_library(
    use: Callable[[Any], object], path: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever takes it, and no file is made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "not used")
    with pytest.raises((EmitterError, SystemExit)):
        use(path)
    assert list(tmp_path.iterdir()) == []


CONTENTS = {
    "nothing": b"",
    "null characters": bytes(100),
    "no UTF-8": b"\xff\xfe\xff",
    "deep and closed": b"[" * 100_000 + b"]" * 100_000,
    "digits in an object": b'{"id": ' + b"9" * 5000 + b', "provenance": 1e999}',
    "half a pair": b'{"kty": "\\ud800"}',
    "a key of a wrong length": b'{"kty": "oct", "k": "AA"}',
}
READERS: dict[str, Callable[[Any], object]] = {
    "load_key": load_key,
    "with_key_file": KeepWords.with_key_file,
    "load_cassette": load_cassette,
    "SqliteStore": lambda path: SqliteStore(path).close() if path.stat().st_size else _end(2),
    "emit_many(journal=)": lambda path: _batch(path) if path.stat().st_size else _end(2),
    "Image": lambda path: Image(path, media_type="text/plain"),
    **{
        f"emitter {line}": lambda path, line=line: _end(main([each.format(path) for each in line.split()]))  # type: ignore[misc]
        for line in (
            "render {}", "digest {}", "lint-moment {}", "classify {}", "compile {}", "receipts list {}",
            "receipts verify {}", "receipts key {}", "stop {} w", "accept - --secrets {}", "capabilities --kind a.b={}",
            "batch {} --model openai/gpt-6-sol --type builtins:int", "stop --sign {} a.db w",
            "emit x --schema {} --model openai/gpt-6-sol", "decisions {}",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("use", READERS.values(), ids=READERS.keys())
def test_a_file_that_is_none_gets_an_error_of_the_library(
    use: Callable[[Any], object], content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever somebody put into it."""
    monkeypatch.setenv("OPENAI_API_KEY", "not used")
    file = tmp_path / "file.json"
    file.write_bytes(content)
    with pytest.raises((EmitterError, SystemExit)):
        use(file)
