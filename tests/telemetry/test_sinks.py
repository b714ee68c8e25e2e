"""Sinks: every event arrives whole and in order, or somebody is reported."""

from __future__ import annotations

import json
import logging
import resource
import shutil
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import EmitterError, InputError
from emitter.events import (
    CapBreached,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Event,
    Level,
    LogAppended,
    NodeFailed,
    ProviderUsage,
    Reason,
    RetryAttempted,
    RetryExhausted,
    RunEvent,
)
from emitter.redaction.secret_registry import Secrets
from emitter.telemetry.sinks import EventRecorder, generate_id, on, to_all, to_jsonl, to_logging, utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = Path("/dev/full")


def log(message: str) -> LogAppended:
    """Return a line worth telling."""
    return LogAppended(Level.INFO, message)


def reported(event: Event, sequence: int = 0) -> RunEvent:
    """Return the event as it is reported."""
    return RunEvent(event, "e", "r", "n", "2026-01-31T12:00:00Z", sequence, "c")


def test_a_list_is_a_sink() -> None:
    """The recorder stamps and counts; a list's append takes every event, in order."""
    kept: list[RunEvent] = []
    recorder = EventRecorder(
        "r", "n", "c", kept.append, now=lambda: "2026-01-31T12:00:00Z", new_id=iter("abc").__next__
    )
    for each in "xyz":
        recorder(log(each))

    assert kept == recorder.events
    assert [each.sequence for each in kept] == [0, 1, 2]
    assert [each.event_id for each in kept] == ["a", "b", "c"]
    assert kept[0].to_json()["causationId"] == "c"


def test_what_a_sink_raises_is_warned_of_once() -> None:
    """An event that a sink would not take is not lost in silence: it was recorded, and the next ones are sent."""
    tried: list[RunEvent] = []

    def broken(event: RunEvent) -> None:
        tried.append(event)
        raise LookupError("the sink's own words, and hunter2.\nThe rest is left out.")

    recorder = EventRecorder("r", "n", "c", broken, secrets=Secrets.of({"password": "hunter2"}))
    said = r"^on_event raised LookupError: the sink's own words, and \[REDACTED:password\]\. The emission continues\.$"
    with pytest.warns(RuntimeWarning, match=said) as warned:
        deque(map(recorder, map(log, "xy")), maxlen=0)

    assert len(warned) == 1
    assert recorder.events == tried
    assert len(tried) == 2


def test_stamps_and_ids_are_openwops() -> None:
    """Time is ISO 8601 in UTC with milliseconds; ids are fresh."""
    assert len(utc_timestamp()) == len("2026-01-31T12:00:00.000Z")
    assert utc_timestamp().endswith("Z")
    assert generate_id() != generate_id()


def test_a_stamp_is_the_time() -> None:
    """It lies between the times before and after, cut to the millisecond."""
    before = datetime.now(UTC)
    stamp = datetime.fromisoformat(utc_timestamp())

    assert before - timedelta(milliseconds=1) < stamp <= datetime.now(UTC)


def test_jsonl_appends_a_line_an_event(tmp_path: Path) -> None:
    """The file is readable after every event, keeps what was there, and splits nowhere but between events."""
    path = tmp_path / "events.jsonl"
    for index, message in enumerate(["a\nb\u2028c", "\ud800 half", "umlaut \u00e4"]):
        to_jsonl(path)(reported(log(message), index))
        lines = path.read_text("utf-8").splitlines()

        assert len(lines) == index + 1
        assert json.loads(lines[-1]) == reported(log(message), index).to_json()


def test_threads_keep_lines_whole(tmp_path: Path) -> None:
    """Lines longer than any buffer never mix, through one sink or several on the same file."""
    path = tmp_path / "events.jsonl"
    sinks = [to_jsonl(path), to_jsonl(str(path))]
    events = [reported(log("x" * (index % 7) * 20_000), index) for index in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda event: sinks[event.sequence % 2](event), events))

    read = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert sorted(read, key=lambda each: each["sequence"]) == [each.to_json() for each in events]


@pytest.mark.parametrize("place", ["absent/events.jsonl", "file/events.jsonl", "."], ids=["folder", "file", "itself"])
def test_a_place_that_takes_no_file_is_refused_at_once(tmp_path: Path, place: str) -> None:
    """The mistake is reported before a token is spent."""
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(InputError, match="cannot be opened for events"):
        to_jsonl(tmp_path / place)


def test_a_folder_that_goes_away_is_reported(tmp_path: Path) -> None:
    """A line that could not be written is a typed error that names the file."""
    folder = tmp_path / "folder"
    folder.mkdir()
    on_event = to_jsonl(folder / "events.jsonl")
    shutil.rmtree(folder)

    with pytest.raises(EmitterError, match=r"events\.jsonl: No such file"):
        on_event(reported(log("x")))


@pytest.mark.skipif(not FULL.exists(), reason="/dev/full is absent: no full disk to try")
def test_a_full_disk_is_reported() -> None:
    """Nothing is dropped in silence when the disk is full."""
    with pytest.raises(EmitterError, match="No space left"):
        to_jsonl(FULL)(reported(log("x")))


@pytest.fixture
def small_files() -> Iterator[int]:
    """Let no file grow beyond a size, as a disk does that fills up in the middle of a line."""
    limit = 1_000_000
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_half_a_line_is_reported(tmp_path: Path, small_files: int) -> None:
    """A line that the disk took only a part of is an error, not a success."""
    with pytest.raises(EmitterError, match="only be written in part"):
        to_jsonl(tmp_path / "events.jsonl")(reported(log("x" * small_files)))


LEVELS: dict[str, tuple[Event, int]] = {
    "usage": (ProviderUsage("v", "m", 1, 2), logging.INFO),
    "retry": (RetryAttempted(2, Reason.TRUNCATION), logging.INFO),
    "truncated": (EnvelopeTruncated("v", "m", "max_tokens", partial_payload_available=True), logging.WARNING),
    "refusal": (EnvelopeRefusal("v", "m"), logging.WARNING),
    "limit": (CapBreached("schema", 3, 4), logging.WARNING),
    "exhausted": (RetryExhausted(3, Reason.PARSE_ERROR), logging.ERROR),
    "failed": (NodeFailed("c", "m", 3), logging.ERROR),
    **{f"log {each.value}": (LogAppended(each, "x"), getattr(logging, each.name)) for each in Level},
}


@pytest.mark.parametrize(("event", "level"), LEVELS.values(), ids=LEVELS.keys())
def test_logging_has_a_level_for_every_event(event: Event, level: int, caplog: pytest.LogCaptureFixture) -> None:
    """The line tells type and payload; the whole document rides along for structured handlers."""
    caplog.set_level(logging.DEBUG)
    to_logging()(reported(event))
    (record,) = caplog.records

    assert (record.name, record.levelno) == ("emitter", level)
    assert event.type in record.getMessage()
    assert record.__dict__["openwop"] == reported(event).to_json()


def test_logging_goes_where_it_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    """A logger of the caller's own is used."""
    caplog.set_level(logging.DEBUG)
    to_logging(logging.getLogger("mine"))(reported(log("100% sure")))

    assert [each.name for each in caplog.records] == ["mine"]
    assert "100% sure" in caplog.text


def test_all_sinks_get_every_event() -> None:
    """Each in turn, in the order given."""
    kept: list[str] = []
    on_event = to_all(lambda _: kept.append("a"), lambda _: kept.append("b"))
    on_event(reported(log("x")))
    on_event(reported(log("y")))

    assert kept == ["a", "b", "a", "b"]


def test_a_handler_receives_the_events_of_its_class() -> None:
    """``on`` passes the payload of one class on, and leaves the others out."""
    codes: list[str] = []
    sink = to_all(
        on(NodeFailed, lambda failed: codes.append(failed.code)),
        on(ProviderUsage, lambda usage: codes.append(usage.model)),
    )
    for event in (log("x"), NodeFailed("envelope_refusal", "declined"), log("y")):
        sink(reported(event))

    assert codes == ["envelope_refusal"]


async def _async_handler(_: NodeFailed) -> None:
    """Handle it later."""


@pytest.mark.parametrize(
    ("kind", "handler", "message"),
    [
        ("completion:error", print, "'completion:error' is not a class of events"),
        (RunEvent, print, "is not a class of events"),
        (NodeFailed, _async_handler, "The handler of NodeFailed is async"),
    ],
    ids=["name", "document", "async"],
)
def test_a_handler_that_cannot_be_called_is_an_error(kind: Any, handler: Any, message: str) -> None:
    """A name, another class and an async function are refused."""
    with pytest.raises(InputError, match=message):
        on(kind, handler)
