"""The journal of batches: what is no journal is refused, and what it holds comes back as it was."""

from __future__ import annotations

import json
import resource
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emitter.bulk.batches import Batch, get_batch_vendor
from emitter.bulk.batches.journal import dump_answer, load_answer, open_batch_journal
from emitter.errors import BadJournal, InputError, JournalFailed
from emitter.messages import Fault, FaultKind, ModelResponse, StopReason, Usage
from emitter.profiles import load_profile
from tests.bulk.asking import asked_of, task
from tests.bulk.batches.asking import Setting, ran, vendor

if TYPE_CHECKING:
    from pathlib import Path

TASKS = [task(0), task(1, "cut")]
ABOUT = {"run": "tests"}

counts = st.integers(0, 10**6)
usages = st.none() | st.builds(Usage, counts, counts, counts, counts, counts, st.booleans())
# Half a character is what a vendor may really send.
texts = st.text(st.characters(exclude_categories=()), max_size=20)
documents = st.recursive(st.none() | st.booleans() | counts | texts, lambda x: st.dictionaries(texts, x) | st.lists(x))
replies = st.builds(
    ModelResponse,
    stop=st.sampled_from(StopReason),
    raw_stop=texts,
    text=texts,
    arguments=st.lists(documents, max_size=2).map(tuple),
    refused_as=st.none() | texts,
    usage=usages,
    request_id=st.none() | texts,
    other_tool_called=st.booleans(),
)
faults = st.builds(
    Fault,
    kind=st.sampled_from(FaultKind),
    message=texts,
    status=st.none() | counts,
    code=st.none() | texts,
    retry_after=st.none() | st.floats(0, 100),
    usage=usages,
)


@given(replies | faults)
@example(ModelResponse(StopReason.COMPLETE, "stop", arguments=({"\ud800": None},)))
def test_an_answer_comes_back_as_it_was(answer: Any) -> None:
    """Through JSON, whatever is in it."""
    assert load_answer(json.loads(json.dumps(dump_answer(answer)))) == answer


@pytest.mark.parametrize(
    "given", [None, 3, {}, {"reply": {}}, {"reply": 3}, {"fault": {"kind": "none"}}, {"reply": {"stop": "x"}}]
)
def test_what_is_no_answer_is_refused(given: Any) -> None:
    """With the one error that a reader of lines expects."""
    with pytest.raises(ValueError, match=r"."):
        load_answer(given)


def made(tmp_path: Path) -> list[bytes]:
    """Make a run, and return the lines of its journal."""
    with vendor() as (running, _):
        ran(running.url, TASKS, Setting(journal=tmp_path / "made"))
    return (tmp_path / "made").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (lambda _: [b"hello\n"], "not a journal of batches"),
        (lambda _: [b"a binary file \x00\xff"], "not a journal of batches"),
        (lambda _: [b'{"journal": "emitter", "version": 1}\n'], "not a journal of batches"),
        (lambda lines: [lines[0].replace(b'"version": 1', b'"version": 7')], "written by a newer release, version 7"),
        (lambda lines: [lines[0].replace(b"tests", b"other")], "its run is 'other', and here it is 'tests'"),
        (lambda lines: [*lines[:2], b"{}\n"], "line 3"),
        (lambda lines: [*lines[:2], b"torn, and then\n", *lines[2:]], "line 3"),
        (lambda lines: [lines[0], *lines[2:]], "line 2"),
        (lambda lines: [*lines[:4], *lines[3:]], "line 5"),
        (lambda lines: [*lines[:3], lines[3].replace(b'"place": 0', b'"place": 9'), *lines[4:]], "line 4"),
        (lambda lines: [*lines[:3], lines[3].replace(b'"reply"', b'"answer"'), *lines[4:]], "line 4"),
    ],
    ids=[
        "text", "binary", "another-journal", "version", "another-run", "empty-line", "a-line-of-text",
        "unknown-batch", "answered-twice", "no-such-place", "no-answer",
    ],
)  # fmt: skip
def test_a_file_that_does_not_hold_is_refused_and_left_as_it_is(change: Any, reported: str, tmp_path: Path) -> None:
    """Nothing is sent, and the file is the same after as before."""
    place = tmp_path / "journal"
    place.write_bytes(b"".join(change(made(tmp_path))))
    before = place.read_bytes()
    with vendor() as (running, desk):
        with pytest.raises(BadJournal, match=reported) as raised:
            ran(running.url, TASKS, Setting(journal=place))
        assert not desk.batches.requests

    assert raised.value.hint
    assert place.read_bytes() == before


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    """The error says what the system says."""
    with pytest.raises(BadJournal, match="directory"), open_batch_journal(tmp_path, ABOUT):
        pass


def test_a_torn_last_line_is_dropped_and_reported(tmp_path: Path) -> None:
    """It was being written when its process was killed, so nobody has acted on it."""
    place = tmp_path / "journal"
    lines = made(tmp_path)
    place.write_bytes(b"".join(lines)[:-9])
    with vendor() as (running, _), open_batch_journal(place, ABOUT) as journal:
        assert running.url
        assert journal.notice is not None
        assert "in the middle of a line" in journal.notice
    assert place.read_bytes() == b"".join(lines[:-1])


def test_a_full_disk_sends_nothing(tmp_path: Path) -> None:
    """What cannot be written down is not submitted; when there is room, the run goes on."""
    setting = Setting(journal=tmp_path / "journal")
    with open_batch_journal(setting.journal, ABOUT):
        pass
    size = (tmp_path / "journal").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with vendor() as (running, desk):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
        try:
            with pytest.raises(JournalFailed):
                ran(running.url, TASKS, setting)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not desk.batches.requests
        assert (tmp_path / "journal").stat().st_size == size

        ran(running.url, TASKS, setting)
        assert asked_of(running) == {0: 1, 1: 2}


@pytest.mark.parametrize(
    "given",
    [
        {"poll": 0}, {"poll": "30"}, {"poll": float("inf")}, {"poll": True}, {"max_poll": 1.0}, {"timeout": -1},
        {"cancel": 1}, {"max_requests": 0}, {"max_requests": 1.5}, {"max_bytes": None},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be_are_refused(given: dict[str, Any]) -> None:
    """When they are made, by name."""
    with pytest.raises(InputError, match=f"Batch.{next(iter(given))}"):
        Batch(**given)


def test_a_vendor_without_batches_is_refused_by_name() -> None:
    """Before anything is sent."""
    with pytest.raises(InputError, match="no batch interface"):
        get_batch_vendor(load_profile("mistral"))
