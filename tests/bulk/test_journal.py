"""The journal: what was paid for is not paid for again, and what does not hold is refused."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from string import Template
from typing import TYPE_CHECKING, Any

import pytest
import tenacity

from emitter import prompts as prompt
from emitter.bulk import Job, aemit_many, emit_binding_moments, emit_many
from emitter.clock import Clock
from emitter.errors import BadJournal, InputError, Invalid, JournalFailed, Refused, UnknownOutcome
from emitter.events import LogAppended
from emitter.findings import Finding, Severity
from emitter.host import HostConfig
from emitter.messages import Usage
from emitter.policy import Policy
from emitter.prompts import PromptTemplates
from emitter.redaction import Secrets
from emitter.testing import Malformed, Text
from tests.bulk.asking import MODEL, Numbered, asked_of, task
from tests.host.envelopes import acceptor
from tests.scenarios.answers import BOUND, DELIBERATION

resource = pytest.importorskip("resource", reason="no such limits here: no full disk to try")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.bulk import JobResult, Run
    from emitter.testing import Simulator


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return where the journal goes."""
    return tmp_path / "run.jsonl"


def run_of(place: Path, situations: Any, **more: Any) -> Run[Any]:
    """Begin a run with a journal."""
    schema = more.pop("schema", Numbered)
    return emit_many(schema, situations, journal=place, **{"model": MODEL, "in_flight": 3, **more})


def lines(place: Path) -> list[Any]:
    """Return what stands in the journal, without the claims."""
    found = [json.loads(each) for each in place.read_text().splitlines()]
    return [each for each in found if "claimed" not in each]


def test_what_is_in_the_journal_is_not_asked_again(place: Path, vendor: Simulator) -> None:
    """The second run gives equal results, traces, events and envelopes, makes no call and costs nothing."""
    first = run_of(place, map(task, range(5))).results()
    assert asked_of(vendor) == dict.fromkeys(range(5), 1)

    again = run_of(place, map(task, range(5)))
    second = again.results()
    assert [each.result for each in second] == [each.result for each in first]
    assert [each.key for each in second] == [each.key for each in first]
    assert [each.replayed for each in first + second] == [False] * 5 + [True] * 5
    assert len(vendor.calls) == 5
    assert (again.calls, again.usage, again.stats.replayed) == (0, Usage(), 5)
    assert again.stats.replayed_usage == sum((each.result.usage for each in first), Usage())


_PROSE = 'My colleague in accounting would have counted otherwise. {"n": 0} He is on leave until Monday.'


def _warn_of_zero(value: Numbered) -> Finding | None:
    return Finding("/n", "zero", Severity.WARNING, "a number above zero") if value.n == 0 else None


@pytest.mark.parametrize(
    ("answer", "checks", "found"),
    [
        (_PROSE, [], ["doubted"]),
        ('{"n": 0}', [_warn_of_zero], ["zero"]),
        (_PROSE, [_warn_of_zero], ["zero", "doubted"]),
    ],
    ids=["of the words around it", "of a check", "of both"],
)
def test_a_finding_is_in_the_result_of_the_journal(
    place: Path, vendor: Simulator, answer: str, checks: list[Any], found: list[str]
) -> None:
    """A check finds it again. What no check finds stands in the journal."""
    vendor.script(Text(answer), Text(answer))
    first = run_of(place, [task(0)], checks=checks).results()
    again = run_of(place, [task(0)], checks=checks).results()

    assert [each.rule for each in first[0].result.findings] == found
    assert again[0].replayed
    assert again[0].result == first[0].result
    assert [each.rule for each in run_of(place, [task(0)]).results()[0].result.findings] == [
        each for each in found if each != "zero"
    ]


def test_only_what_is_missing_is_asked(place: Path, vendor: Simulator) -> None:
    """A run goes on where another one stopped, whatever the order, and each occurrence of a text counts."""
    run_of(place, [task(0), task(1), task(0)]).results()
    items = run_of(place, [task(2), task(0), task(0), task(0), task(1)]).results()

    assert [each.value.n for each in items] == [2, 0, 0, 0, 1]
    assert [each.replayed for each in items] == [False, True, True, False, True]
    assert asked_of(vendor) == {0: 3, 1: 1, 2: 1}


def test_a_key_is_what_the_caller_says(place: Path, vendor: Simulator) -> None:
    """Its text is not compared, and it is given once in a run."""
    run_of(place, [Job(task(0), key="a")]).results()
    items = run_of(place, [Job(task(1), key="a"), Job(task(2), key="b"), Job(task(3), key="b")]).results()

    assert [each.replayed for each in items] == [True, False, False]
    assert items[0].value.n == 0
    assert isinstance(items[2].error, InputError)
    assert "'b' belongs to an earlier job" in str(items[2].error)
    assert asked_of(vendor) == {0: 1, 2: 1}


def test_a_refusal_is_never_sent_again_and_other_failures_are(place: Path, vendor: Simulator) -> None:
    """The refusal is raised from the journal as it was; what may go better is tried again."""
    situations = [task(0, "refuse"), task(1, "malformed")]
    policy = Policy(max_attempts=2)
    first = run_of(place, situations, policy=policy).results()
    second = run_of(place, situations, policy=policy).results()

    assert asked_of(vendor) == {0: 1, 1: 4}
    for each in (first, second):
        assert isinstance(each[0].error, Refused)
        assert isinstance(each[1].error, Invalid)
    ours, theirs = first[0].error, second[0].error
    assert (str(ours), ours.code, ours.trace) == (str(theirs), theirs.code, theirs.trace)  # type: ignore[union-attr]
    assert [each.replayed for each in second] == [True, False]


def test_every_kind_of_attempt_and_event_comes_back(place: Path, vendor: Simulator) -> None:
    """Faults, corrections, violations and usage are those of the first run."""
    vendor.script(Text({"n": "no number"}), Malformed())
    clock = Clock(wait=tenacity.wait_none())
    situations = [task(0, "busy")]
    first = run_of(place, situations, clock=clock).results()
    second = run_of(place, situations, clock=clock).results()

    assert [each.verdict.value for each in first[0].result.attempts] == ["violated", "malformed", "faulted", "complete"]
    assert first[0].result.attempts[0].violations
    assert second[0].result.trace == first[0].result.trace
    assert second[0].replayed


def test_decisions_come_back_too(place: Path, vendor: Simulator) -> None:
    """A binding moment and one that was withheld."""
    vendor.script(Text(BOUND), Text(DELIBERATION))

    def decided() -> list[Any]:
        run = emit_binding_moments([task(0), task(1)], model=MODEL, journal=place, in_flight=1)
        return [each.result for each in run]

    assert decided() == decided()
    assert len(vendor.calls) == 2


def test_an_answer_that_todays_checks_do_not_take_is_asked_for_again(place: Path, vendor: Simulator) -> None:
    """The newer answer is the one that stands in the journal then."""
    run_of(place, [task(0)]).results()
    seen: list[int] = []

    def check(_: Numbered) -> str | None:
        seen.append(len(seen))
        return "it is not taken from the journal" if len(seen) == 1 else None

    items = run_of(place, [task(0)], checks=[check]).results()
    assert [(each.value.n, each.replayed) for each in items] == [(0, False)]
    assert len(vendor.calls) == 2
    assert [each.replayed for each in run_of(place, [task(0)])] == [True]


def test_the_last_that_is_known_of_a_job_counts(place: Path, vendor: Simulator) -> None:
    """An answer that was given up for a failure does not come back."""
    run_of(place, [task(0)]).results()
    failed = run_of(place, [task(0)], checks=[lambda _: "never"], policy=Policy(max_attempts=1)).results()
    assert isinstance(failed[0].error, Invalid)

    assert [each.replayed for each in run_of(place, [task(0)])] == [False]
    assert len(vendor.calls) == 3


def test_a_torn_line_is_gone_even_if_nothing_is_asked(place: Path, vendor: Simulator) -> None:
    """No rest of it is left for the next line to end in."""
    run_of(place, [task(0)]).results()
    whole = place.read_bytes()
    place.write_bytes(whole + b'{"key": "torn')
    run_of(place, []).results()

    assert place.read_bytes() == whole
    assert len(vendor.calls) == 1


@pytest.mark.parametrize("kept", [0, 1, 20, -1], ids=["none", "a-byte", "a-part", "all-but-its-end"])
def test_a_torn_last_line_is_dropped_and_said(kept: int, place: Path, vendor: Simulator) -> None:
    """What was being written when the process was killed is asked for again, and nothing else is."""
    run_of(place, map(task, range(3)), in_flight=1).results()
    whole = place.read_bytes()
    *before, last = whole.splitlines(keepends=True)
    place.write_bytes(b"".join(before) + last[:kept])

    reported: list[Any] = []
    again = run_of(place, map(task, range(3)), on_event=reported.append)
    assert [each.replayed for each in again] == [True, True, False]
    assert asked_of(vendor) == {0: 1, 1: 1, 2: 2}
    said = [
        each for each in reported if isinstance(each.event, LogAppended) and "middle of a line" in each.event.message
    ]
    assert len(said) == (1 if kept else 0)
    assert len(again.stats.resent_keys) == 1
    assert again.stats.resent_keys[0] in again.stats.notices[-1]
    assert len(again.stats.notices) == len(said) + 1
    assert len(lines(place)) == 4


@pytest.mark.parametrize("kept", [0, 1, 10, 60, -1])
def test_a_torn_first_line_is_begun_again(kept: int, place: Path, vendor: Simulator) -> None:
    """A run that was killed before it had asked anything leaves nothing worth keeping."""
    run_of(place, []).results()
    place.write_bytes(place.read_bytes()[:kept])

    assert [each.value.n for each in run_of(place, [task(0)])] == [0]
    assert len(lines(place)) == 2
    assert len(vendor.calls) == 1


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda _: b"{}\n", "line 3"),
        (lambda _: b"no json\n", "line 3"),
        (lambda _: b"\n", "line 3"),
        (lambda _: b"[" * 100_000 + b"\n", "line 3"),
        (lambda line: line[: len(line) // 2] + b"\n", "line 3"),
        (lambda line: line.replace(b'"verdict": "complete"', b'"verdict": "splendid"'), "line 3"),
        (lambda line: line.replace(b'"type"', b'"tipe"').replace(b"provider.usage", b"provider.abuse"), "line 3"),
        (lambda line: line.replace(b'"document"', b'"dokument"'), "line 3"),
        (lambda line: line.replace(b'"envelope"', b'"parcel"'), "line 3"),
        (lambda line: line.replace(b'"run_id"', b'"ran_id"'), "line 3"),
        (lambda line: line.replace(b'"key"', b'"kee"'), "line 3"),
    ],
    ids=[
        "empty-object",
        "no-json",
        "blank",
        "deep",
        "half",
        "verdict",
        "event",
        "no-document",
        "no-envelope",
        "no-run",
        "no-key",
    ],
)
def test_a_corrupt_line_is_named_and_nothing_is_overwritten(
    spoil: Any, said: str, place: Path, vendor: Simulator
) -> None:
    """The error says which line, before anything is sent; the file stays as it was."""
    run_of(place, map(task, range(3)), in_flight=1).results()
    found = place.read_bytes().splitlines(keepends=True)
    found[2] = spoil(found[2])
    place.write_bytes(b"".join(found))

    with pytest.raises(BadJournal, match=said):
        run_of(place, map(task, range(4))).results()
    assert place.read_bytes() == b"".join(found)
    assert len(vendor.calls) == 3


class Other(Numbered):
    """Another form."""

    more: str


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "openai/gpt-6-nova"}, "model is 'openai/gpt-6-sol', and here it is 'openai/gpt-6-nova'"),
        ({"wire": "openai-chat"}, "its wire is 'openai-responses', and here it is 'openai-chat'"),
        ({"schema": Other}, "its name is 'Numbered', and here it is 'Other'; it differs in its schema"),
        ({"instructions": "In French."}, "differs in its words"),
        ({"materials": ["a paper"]}, "differs in its words"),
        ({"service_tier": "flex"}, "differs in its options"),
    ],
    ids=["model", "wire", "schema", "instructions", "materials", "options"],
)
def test_a_journal_of_another_run_is_refused(change: dict[str, Any], said: str, place: Path, vendor: Simulator) -> None:
    """The error says what differs and what to do; the file stays as it was."""
    run_of(place, [task(0)]).results()
    before = place.read_bytes()

    with pytest.raises(BadJournal, match=f"{said}.*Use another file"):
        run_of(place, [task(0)], **change).results()
    assert place.read_bytes() == before
    assert len(vendor.calls) == 1


@pytest.mark.parametrize(
    "content",
    [b"name,total\nAcme,12\n", b"a note without an end", b'{"journal": "of a ship"}\n', b"\xff\xfe\n"],
    ids=["csv", "note", "other-json", "binary"],
)
def test_a_file_of_somebody_else_is_left_alone(content: bytes, place: Path, vendor: Simulator) -> None:
    """It is no journal, and is neither cut nor added to."""
    place.write_bytes(content)

    with pytest.raises(BadJournal, match=r"is not a journal.*Use another file"):
        run_of(place, [task(0)]).results()
    assert place.read_bytes() == content
    assert vendor.calls == ()


def test_a_later_format_is_refused(place: Path, vendor: Simulator) -> None:
    """What this release cannot read it does not guess at."""
    run_of(place, [task(0)]).results()
    place.write_bytes(place.read_bytes().replace(b'"version": 1', b'"version": 2', 1))

    with pytest.raises(BadJournal, match="was written by a newer release, version 2; this release knows 1"):
        run_of(place, [task(0)]).results()
    assert len(vendor.calls) == 1


@pytest.mark.parametrize("kind", ["folder", "nowhere"])
def test_a_place_where_no_file_can_be_is_refused(kind: str, tmp_path: Path, vendor: Simulator) -> None:
    """The system's reason is in the message."""
    place = tmp_path if kind == "folder" else tmp_path / "no" / "such.jsonl"

    with pytest.raises(BadJournal, match=r"cannot be opened: (Is a directory|No such file)"):
        run_of(place, [task(0)]).results()
    assert vendor.calls == ()


def test_two_runs_do_not_share_a_journal(place: Path, vendor: Simulator) -> None:
    """The second is refused while the first is under way, and taken afterwards."""
    with run_of(place, map(task, range(30)), in_flight=1) as first:
        next(first)
        with pytest.raises(BadJournal, match="is in use by another run"):
            run_of(place, [task(0)]).results()
    assert [each.replayed for each in run_of(place, [task(0)])] == [True]
    assert asked_of(vendor)[0] == 1


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond ``size`` bytes, as a full disk does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("world", ["sync", "async"])
@pytest.mark.parametrize("more", [0, 100], ids=["at-an-end", "within-a-line"])
def test_a_full_disk_stops_the_run_and_loses_nothing(world: str, more: int, place: Path, vendor: Simulator) -> None:
    """What was paid for comes out before the error, the journal holds whole lines, and a later run goes on."""
    run_of(place, map(task, range(2)), in_flight=1).results()
    got: list[JobResult[Any]] = []
    arguments: dict[str, Any] = {"model": MODEL, "in_flight": 2, "journal": place}

    async def consume() -> None:
        async for each in aemit_many(Numbered, map(task, range(50)), **arguments):
            got.append(each)  # noqa: PERF401  what came before the error counts

    def full() -> None:
        if world == "async":
            asyncio.run(consume())
        for each in emit_many(Numbered, map(task, range(50)), **arguments):
            got.append(each)  # noqa: PERF402  what came before the error counts

    size = place.stat().st_size
    with room_for(size + more), pytest.raises(JournalFailed, match=r"cannot be written: .*Free some space") as failed:
        full()
    lost = sum(each.error is None for each in got) - 2
    assert (f"Keep the output: {lost} of its results could not be recorded" in str(failed.value)) == (lost > 0)
    paid = asked_of(vendor)
    assert sorted(paid) == sorted(each.value.n for each in got if each.error is None)
    assert 2 <= len(got) <= 4
    assert all(isinstance(each.error, JournalFailed) for each in got if each.error is not None)
    assert place.read_bytes().endswith(b"\n")

    vendor.reset()
    again = run_of(place, map(task, range(5)))
    assert [each.value.n for each in again] == list(range(5))
    assert asked_of(vendor) == {2: 1, 3: 1, 4: 1}


def test_orphans_are_listed_or_sent_again(place: Path, vendor: Simulator) -> None:
    """A job that was claimed and has no outcome is sent only by choice, and the others are not concerned."""
    run_of(place, map(task, range(2)), in_flight=1).results()
    *before, _ = place.read_bytes().splitlines(keepends=True)
    place.write_bytes(b"".join(before))

    listing = run_of(place, map(task, range(3)), orphans="list")
    listed = listing.results()
    assert (listing.stats.done, listing.stats.failed, listing.stats.unknown) == (3, 0, 1)
    assert [type(each.error) for each in listed] == [type(None), UnknownOutcome, type(None)]
    assert isinstance(listed[1].error, UnknownOutcome)
    assert listed[1].error.key == listed[1].key
    assert asked_of(vendor) == {0: 1, 1: 1, 2: 1}
    assert (listed[1].error.request_id or "").startswith("emitter-")

    again = run_of(place, map(task, range(3)), orphans="resend")
    assert [each.value.n for each in again] == [0, 1, 2]
    assert again.stats.resent_keys == [listed[1].key]
    assert asked_of(vendor) == {0: 1, 1: 2, 2: 1}


def test_a_call_that_was_cut_off_is_in_doubt(place: Path, vendor: Simulator) -> None:
    """It may have been answered and paid for, so its job is sent again only by choice. The others are not concerned."""
    jobs = [task(0), task(1, "stalled"), task(2)]

    async def leave() -> None:
        async with aemit_many(Numbered, jobs, model=MODEL, journal=place, in_flight=1) as run:
            await anext(run)
            while len(vendor.calls) < 2:  # noqa: ASYNC110  the calls arrive in another thread
                await asyncio.sleep(0.01)

    asyncio.run(leave())
    listed = run_of(place, jobs, orphans="list").results()
    assert [type(each.error) for each in listed] == [type(None), UnknownOutcome, type(None)]
    assert asked_of(vendor) == {0: 1, 1: 1, 2: 1}


def test_a_changed_job_under_an_old_key_is_stale(place: Path, vendor: Simulator) -> None:
    """Its earlier answer is returned and marked, and the first one is a notice; a new key asks again."""
    jobs = [Job(task(n), key=f"k{n}") for n in range(3)]
    run_of(place, jobs).results()
    reported: list[str] = []

    def note(event: Any) -> None:
        if isinstance(event.event, LogAppended) and event.event.message != "calling":
            reported.append(event.event.message)

    changed = run_of(place, [jobs[0], Job(task(7), key="k1"), Job(task(8), key="k2")], on_event=note)
    items = changed.results()

    assert [(each.value.n, each.replayed, each.stale) for each in items] == [(n, True, n > 0) for n in range(3)]
    assert sorted(changed.stats.stale_keys) == ["k1", "k2"]
    [notice] = changed.stats.notices
    assert reported.count(notice) == 1
    assert f"{changed.stats.stale_keys[0]!r} has changed since" in notice
    assert [each.value.n for each in run_of(place, [Job(task(7), key="new")])] == [7]
    assert len(vendor.calls) == 4


CHANGES: dict[str, dict[str, Any]] = {
    "messages": {"messages": [{"role": "user", "content": task(0)}]},
    "materials": {"materials": ["a paper"]},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_whatever_is_asked_of_a_job_counts(change: dict[str, Any], place: Path, vendor: Simulator) -> None:
    """A key alone does not hide it, and without one it is another job."""
    for key in ("k", None):
        run_of(place, [Job(task(0), key=key)]).results()
        (item,) = run_of(place, [Job(**{"messages": task(0), "key": key, **change})]).results()
        assert (item.replayed, item.stale) == ((True, True) if key else (False, False))
    assert len(vendor.calls) == 3


def test_a_situation_that_is_read_once_is_known_again(place: Path, vendor: Simulator) -> None:
    """An iterator of messages is what it yields, not where it stands in memory."""
    for _ in range(2):
        run_of(place, [iter([{"role": "user", "content": task(0)}])]).results()
    assert len(vendor.calls) == 1


def test_a_journal_outlives_the_library_s_prompts(
    place: Path, vendor: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of the library's own may change with a release; the caller's may not."""
    run_of(place, [task(0)]).results()
    changed = {name: Template(f"{each.template} Really.") for name, each in prompt.load().templates.items()}
    monkeypatch.setattr(prompt, "load", lambda *_: PromptTemplates(changed))
    assert [each.replayed for each in run_of(place, [task(0)])] == [True]

    monkeypatch.undo()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "begin.md").write_text("Now.")
    with pytest.raises(BadJournal, match="differs in its words"):
        run_of(place, [task(0)], prompts=tmp_path / "prompts").results()
    assert len(vendor.calls) == 1


def test_a_key_with_a_secret_is_refused(place: Path, vendor: Simulator) -> None:
    """Keys are written as they are; without a journal nothing is written."""
    host = acceptor(HostConfig(secrets=Secrets.of({"key": "sk-live-0123456789"})))
    jobs = [Job(task(0), key="for sk-live-0123456789"), Job(task(1), key="for you")]
    first, second = run_of(place, jobs, host=host)

    assert isinstance(first.error, InputError)
    assert "key contains a registered secret" in str(first.error)
    assert second.value.n == 1
    assert "sk-live" not in place.read_text()
    assert emit_many(Numbered, jobs, model=MODEL, host=host).results()[0].value.n == 0
    assert len(vendor.calls) == 3


def test_a_line_of_many_megabytes_is_read(place: Path, vendor: Simulator) -> None:  # noqa: ARG001
    """A long line is one more line, and what is wrong with one is reported."""
    run_of(place, [task(0)]).results()
    line = place.read_bytes().splitlines(keepends=True)[-1]
    long = json.loads(line)
    long["key"] = "x" * 20_000_000
    with place.open("ab") as file:
        file.write(json.dumps(long).encode() + b"\n")
    assert [each.replayed for each in run_of(place, [task(0)])] == [True]
    with place.open("ab") as file:
        file.write(b'{"key": "' + b"[" * 20_000_000 + b'"}\n')
    with pytest.raises(BadJournal, match="is invalid in line 5"):
        run_of(place, [task(0)]).results()
