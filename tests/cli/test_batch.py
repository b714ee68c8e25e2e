"""`emitter batch` as a process, against the simulated vendor: jobs, results, journals, limits and interruption."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import termios
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.bulk.batches.emissions import PollInterval
from emitter.cli import BAD_USAGE, FAILED, INTERRUPTED, SUCCESS
from emitter.testing import Stalled, simulator
from tests.cli.jobs import MODEL, answer, command, environment, prompt_of, spawn, write_files
from tests.launching import KILL, launch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.testing import Behaviour, ReceivedRequest, Simulator
    from tests.cli.conftest import Run

MEDIA = Path(__file__).parents[2] / "examples" / "media"
BATCH = ("batch", "jobs.jsonl", "--model", MODEL, "--schema", "invoice.json")
VALUE = {"vendor": "Acme", "total": 12.5}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a type, a schema, and a text and an image in another one."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    return tmp_path


def write_jobs(folder: Path, lines: Sequence[Any]) -> Path:
    """Write a file of jobs."""
    file = folder / "jobs.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return file


def results(text: str) -> list[Any]:
    """Return the JSON lines of a text."""
    return [json.loads(line) for line in text.splitlines()]


def test_jobs_come_back_in_order(vendor: Simulator, folder: Path) -> None:
    """One line for each, with its id or the number of its line; a refusal is a line, too."""
    refused = {"id": 7, "messages": [{"role": "user", "content": "secret recipe"}]}
    write_jobs(folder, [{"id": "a", "input": "1"}, "2", refused, {"id": "b", "input": " "}])
    done = spawn(vendor, folder, *BATCH)
    first, second, third, fourth = results(done.stdout)

    assert done.returncode == FAILED
    assert (first, second) == ({"id": "a", "value": VALUE}, {"id": 2, "value": VALUE})
    assert (third["id"], third["error"]["type"], third["error"]["code"]) == (7, "Refused", "envelope_refusal")
    assert fourth["error"]["message"].startswith("The prompt is empty.")
    tokens = f"{vendor.billed.input} tokens in, {vendor.billed.output} out"
    reported = f"4 of 4 jobs done: 2 answered, 2 failed. 3 calls, {tokens}. $0.0"
    assert reported in done.stderr


def test_a_header_and_materials_by_path(vendor: Simulator, folder: Path) -> None:
    """The first line sets options, which the command line overrides; paths begin at the file's folder."""
    (inner := folder / "inner").mkdir()
    (inner / "note.txt").write_text("Paid twice?")
    (inner / "own.json").write_text((folder / "invoice.json").read_text())
    shutil.copy(MEDIA / "receipt.jpg", inner)
    header = {
        "model": "anthropic/claude-sonnet-5-5",
        "schema": "own.json",
        "instructions": "Be brief.",
        "prices": [1, 4],
    }
    job = {"input": "Owed?", "materials": ["receipt.jpg"], "untrusted": ["note.txt"]}
    write_jobs(inner, [header | {"prices": [1, 4]}, job])
    done = command(vendor, folder, "batch", "inner/jobs.jsonl", "--model", MODEL, "--json")
    (found,), asked = results(done.stdout), json.dumps(vendor.calls[0].body)

    assert done.returncode == SUCCESS, done.stderr
    assert vendor.calls[0].model == "gpt-6-sol"
    assert all(part in asked for part in ("Be brief.", "Owed?", "input_image", "Paid twice?"))
    assert found["envelope"]["meta"]["contentTrust"] == "untrusted"
    assert found["cost"] == pytest.approx((vendor.billed.input + 4 * vendor.billed.output) / 1e6)


def test_a_run_goes_on_from_its_journal(vendor: Simulator, folder: Path) -> None:
    """What was answered is not asked again; the results are complete each time."""
    jobs = [{"id": f"job {n}", "input": f"{n}"} for n in range(3)]
    write_jobs(folder, jobs[:2])
    first = command(vendor, folder, *BATCH, "--journal", "run.journal", "-o", "out.jsonl")
    write_jobs(folder, jobs)
    second = command(vendor, folder, *BATCH, "--journal", "run.journal", "-o", "out.jsonl")

    assert (first.returncode, second.returncode) == (SUCCESS, SUCCESS)
    assert first.stdout == second.stdout == ""
    assert (folder / "out.jsonl").stat().st_mode & 0o777 == 0o600
    assert len(vendor.calls) == 3
    assert [each["id"] for each in results((folder / "out.jsonl").read_text())] == ["job 0", "job 1", "job 2"]
    assert "3 of 3 jobs done: 3 answered, 0 failed. 2 from the record. 1 calls" in second.stderr


def test_runs_share_a_store(vendor: Simulator, folder: Path) -> None:
    """What one run was answered is not asked again by another one."""
    write_jobs(folder, ["1", "2"])
    runs = [command(vendor, folder, *BATCH, "--store", "jobs.db") for _ in range(2)]

    assert [each.returncode for each in runs] == [SUCCESS, SUCCESS]
    assert len(vendor.calls) == 2
    assert results(runs[0].stdout) == results(runs[1].stdout)
    assert "2 of 2 jobs done: 2 answered, 0 failed. 2 from the record. 0 calls" in runs[1].stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--store", ""], "--store is empty"),
        (["--store", "jobs.jsonl"], "jobs.jsonl"),
        (["--store", "out.db", "-o", "out.db"], "--output would overwrite out.db"),
        (["--store", "postgresql://localhost:1/none"], "store"),
        (["--store", "jobs.db", "--journal", "run.journal"], "journal"),
        (["--half-price"], "--half-price needs --journal or --store"),
    ],
    ids=["empty", "of no database", "the output", "unreachable", "beside a journal", "a batch without one"],
)
def test_a_store_that_cannot_be_used_is_reported(
    vendor: Simulator, folder: Path, arguments: list[str], said: str
) -> None:
    """Before anything is sent."""
    write_jobs(folder, ["1"])
    done = command(vendor, folder, *BATCH, *arguments)

    assert done.returncode == BAD_USAGE
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not vendor.calls


def test_the_results_of_a_run_outlive_one_that_cannot_start(vendor: Simulator, folder: Path) -> None:
    """A journal of another run ends the command before it touches them."""
    write_jobs(folder, [{"id": "a", "input": "1"}])
    command(vendor, folder, *BATCH, "--journal", "run.journal", "-o", "out.jsonl")
    kept = (folder / "out.jsonl").read_text()
    done = command(vendor, folder, *BATCH, "--journal", "run.journal", "-o", "out.jsonl", "--instructions", "Be brief.")

    assert done.returncode == BAD_USAGE
    assert "belongs to another run" in done.stderr
    assert (folder / "out.jsonl").read_text() == kept


@pytest.mark.parametrize(("orphans", "calls"), [("resend", 2), ("list", 1)])
def test_what_a_killed_run_had_begun_is_reported(folder: Path, orphans: str, calls: int) -> None:
    """It is sent again and counted, or it is a result with an unknown outcome."""
    write_jobs(folder, [{"id": "a", "input": "1"}, {"id": "b", "input": "2"}])
    arrived = threading.Event()

    def answers(asked: ReceivedRequest) -> Behaviour:
        if "2" not in prompt_of(asked) or arrived.is_set():
            return answer(asked)
        arrived.set()
        return Stalled()

    run = (*BATCH, "--journal", "run.journal", "--in-flight", "1")
    with simulator(answers=answers) as vendor:
        program = launch("emitter", *run)
        with subprocess.Popen(program, cwd=folder, env=environment(vendor), stdout=subprocess.DEVNULL) as child:
            assert arrived.wait(600)
            child.send_signal(KILL)
        done = command(vendor, folder, *run, "--orphans", orphans)
        sent = [call for call in vendor.calls if "2" in prompt_of(call)]

    assert len(sent) == calls
    last = results(done.stdout)[-1]
    if orphans == "list":
        assert (last["id"], last["error"]["type"]) == ("b", "UnknownOutcome")
        assert last["error"]["request_id"].startswith("emitter-")
        assert last["error"]["message"].endswith("run with --orphans resend.")
        assert "2 of 2 jobs done: 1 answered, 0 failed, 1 unknown. 1 from the record. 0 calls" in done.stderr
        assert "sent again" not in done.stderr
    else:
        assert last == {"id": "b", "value": VALUE}
        assert "1 from the record. 1 sent again because their outcome was not recorded: b." in done.stderr


def test_results_reach_what_is_no_file(vendor: Simulator, folder: Path) -> None:
    """A pipe, a device, and standard output by its usual name."""
    write_jobs(folder, ["1", "2"])
    os.mkfifo(folder / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_text()))
    reader.start()
    piped = command(vendor, folder, *BATCH, "-o", "pipe")
    reader.join(600)

    assert (piped.returncode, piped.stdout) == (SUCCESS, "")
    assert [each["value"] for each in results(read[0])] == [VALUE] * 2
    assert command(vendor, folder, *BATCH, "-o", os.devnull).returncode == SUCCESS
    assert len(results(command(vendor, folder, *BATCH, "-o", "-").stdout)) == 2
    assert not (folder / "-").exists()


def interrupt_twice(child: subprocess.Popen[str]) -> None:
    """Send Ctrl-C again once the command says that it finishes the calls in flight."""
    child.send_signal(signal.SIGINT)
    assert child.stderr is not None
    assert child.stderr.readline() == "emitter: finishing the calls in flight. Press Ctrl-C again to end at once.\n"
    child.send_signal(signal.SIGINT)


def held_answers(held: threading.Event, arrived: threading.Event, job: int) -> Callable[[ReceivedRequest], Behaviour]:
    """Answer at once, until the call of a job arrives: it and all others are answered when ``held`` is set."""

    def answers(asked: ReceivedRequest) -> Behaviour:
        if f"job {job}" in prompt_of(asked):
            arrived.set()
            assert held.wait(600)
        return answer(asked)

    return answers


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_finishes_the_calls_in_flight(folder: Path, number: signal.Signals) -> None:
    """Their answers are written and recorded, and the next run pays for none of them again."""
    held, arrived = threading.Event(), threading.Event()
    write_jobs(folder, [{"id": n, "input": f"job {n}"} for n in range(6)])
    run = (*BATCH, "--journal", "run.journal", "--in-flight", "1")
    with simulator(answers=held_answers(held, arrived, 3)) as vendor:
        with spawned(vendor, folder, *run) as child:
            assert child.stderr is not None
            assert arrived.wait(600)
            child.send_signal(number)
            child.stderr.readline()
            held.set()
            out, reported = child.communicate(timeout=600)
        calls = len(vendor.calls)
        again = command(vendor, folder, *run)

        assert (child.returncode, calls) == (INTERRUPTED, 4)
        assert [each["id"] for each in results(out)] == [0, 1, 2, 3]
        assert "4 of 6 jobs done: 4 answered, 0 failed." in reported
        assert again.returncode == SUCCESS
        assert len(vendor.calls) == 6


def spawned(vendor: Simulator, folder: Path, *run: str) -> subprocess.Popen[str]:
    """Start a command with pipes."""
    return subprocess.Popen(
        launch("emitter", *run),
        cwd=folder,
        env=environment(vendor),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_reader_that_left_leaves_no_call_unrecorded(folder: Path) -> None:
    """As with `| head -2`: the calls in flight are finished, and counted on standard error."""
    held, arrived = threading.Event(), threading.Event()
    write_jobs(folder, [{"id": n, "input": f"job {n}"} for n in range(60)])
    run = (*BATCH, "--journal", "run.journal", "--in-flight", "4", "--unordered")
    with simulator(answers=held_answers(held, arrived, 4)) as vendor:
        with spawned(vendor, folder, *run) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            assert arrived.wait(600)  # the fifth job is sent when one of the first four has its result
            child.stdout.readline()
            child.stdout.close()
            held.set()
            reported = child.stderr.read()
        calls = len(vendor.calls)
        again = command(vendor, folder, *run)

        assert child.returncode == SUCCESS
        assert reported.startswith("emitter: Standard output was closed.")
        assert "Results not written: " in reported
        assert calls < 60
        assert again.returncode == SUCCESS
        assert len(vendor.calls) == 60


def test_an_interrupted_run_goes_on(folder: Path) -> None:
    """Ctrl-C keeps what was printed and recorded, says how to go on, and exits with 130."""
    silent = threading.Event()

    def answers(asked: ReceivedRequest) -> Behaviour:
        return Stalled() if "job 3" in prompt_of(asked) and not silent.is_set() else answer(asked)

    write_jobs(folder, [{"id": n, "input": f"job {n}"} for n in range(5)])
    run = (*BATCH, "--journal", "run.journal", "--in-flight", "1")
    with simulator(answers=answers) as vendor:
        with subprocess.Popen(
            launch("emitter", *run),
            cwd=folder,
            env=environment(vendor),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdout is not None
            printed = [json.loads(child.stdout.readline())["id"] for _ in range(3)]
            interrupt_twice(child)
            _, reported = child.communicate(timeout=600)
        silent.set()
        calls = len(vendor.calls)
        again = command(vendor, folder, *run)

        assert (child.returncode, printed) == (INTERRUPTED, [0, 1, 2])
        assert "emitter: interrupted. Run the same command again to continue.\n" in reported
        assert "Traceback" not in reported
        assert again.returncode == SUCCESS
        assert [each["id"] for each in results(again.stdout)] == [0, 1, 2, 3, 4]
        assert len(vendor.calls) == calls + 2


@pytest.mark.parametrize("command", ["batch", "emit"])
def test_a_reader_that_left_ends_the_command(command: str, vendor: Simulator, folder: Path) -> None:
    """As with `| head`: no traceback, and no further calls are waited for."""
    write_jobs(folder, [f"{n}" for n in range(4)])
    arguments = BATCH if command == "batch" else ("emit", *BATCH[2:], "jobs.jsonl")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        launch("emitter", *arguments),
        cwd=folder,
        env=environment(vendor),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)

    assert (done.returncode, b"Traceback" in done.stderr) == (SUCCESS, False)


def test_a_terminal_shows_a_bar(vendor: Simulator, folder: Path) -> None:
    """On standard error, while the results go to a file."""
    write_jobs(folder, [f"{n}" for n in range(4)])
    mother, child = pty.openpty()
    termios.tcsetwinsize(child, (24, 100))
    with subprocess.Popen(
        launch("emitter", *BATCH, "-o", "out.jsonl"),
        cwd=folder,
        env=environment(vendor),
        stdin=subprocess.DEVNULL,
        stderr=child,
    ) as running:
        os.close(child)
        seen = read_terminal(mother)
    os.close(mother)

    assert running.returncode == SUCCESS
    assert "4/4" in seen
    assert "4 of 4 jobs done" in seen


def read_terminal(descriptor: int) -> str:
    """Return what is written to a terminal until its last writer leaves."""
    seen = b""
    while select.select([descriptor], [], [], 600)[0]:
        try:
            data = os.read(descriptor, 4096)
        except OSError:  # the last writer has left
            break
        if not data:
            break
        seen += data
    return seen.decode(errors="replace")


def test_half_price_uses_the_vendors_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All jobs go out as one batch."""
    monkeypatch.setattr(PollInterval, "next_delay", lambda _: 0.01)
    write_jobs(folder, [{"id": n, "input": f"job {n}"} for n in range(3)])
    with simulator(answers=answer) as vendor:
        vendor.batches.polls = 1
        done = command(vendor, folder, *BATCH, "--half-price", "--poll", "5", "--journal", "run.journal")

        assert done.returncode == SUCCESS, done.stderr
        assert [each["value"] for each in results(done.stdout)] == [VALUE] * 3
        assert (folder / "run.journal.batches").exists()
        assert "running 3 jobs in batches" in done.stderr


def test_an_interrupted_batch_is_named(folder: Path) -> None:
    """Without a terminal, too, and the same command collects it."""
    write_jobs(folder, ["1", "2"])
    run = (*BATCH, "--half-price", "--journal", "run.journal")
    with simulator(answers=answer) as vendor:
        vendor.batches.polls = 10**9
        program = launch("emitter", *run)
        with subprocess.Popen(program, cwd=folder, env=environment(vendor), stderr=subprocess.PIPE, text=True) as child:
            batches = folder / "run.journal.batches"
            while not batches.exists() or '"submitted"' not in batches.read_text():
                assert child.poll() is None
                time.sleep(0.05)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=600)
        (name,) = vendor.batches.stored

    assert child.returncode == INTERRUPTED
    assert said.count(name) == 1


def test_a_full_disk_of_the_output_is_named(vendor: Simulator, folder: Path) -> None:
    """The device is always full."""
    write_jobs(folder, ["1"])
    done = command(vendor, folder, *BATCH, "-o", "/dev/full", "--journal", "run.journal")
    assert done.returncode == FAILED
    assert done.stderr.startswith(
        "emitter: /dev/full cannot be written: No space left on device. Results not written: 1. "
        "Jobs not reached: 0. What is finished is recorded."
    )


def test_a_job_that_waits_for_a_limit_is_not_sent_when_interrupted(vendor: Simulator, folder: Path) -> None:
    """One request a minute: the second job is still waiting when Ctrl-C comes, and a deadline does not end its wait."""
    write_jobs(folder, ["1", "2"])
    limits = ("--requests-per-minute", "1", "--tokens-per-minute", "90000", "--deadline", "9")
    program = launch("emitter", *BATCH, *limits)
    with subprocess.Popen(
        program, cwd=folder, env=environment(vendor), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        first = json.loads(child.stdout.readline())
        interrupt_twice(child)
        child.communicate(timeout=600)

    assert (child.returncode, first) == (INTERRUPTED, {"id": 1, "value": VALUE})
    assert len(vendor.calls) == 1


BAD: dict[str, tuple[list[str], tuple[str, ...], str]] = {
    "no file": ([], (), "jobs.jsonl has no jobs"),
    "no JSON": (['{"input": "a"}', "{"], (), "jobs.jsonl, line 2: it is not JSON"),
    "many lines": (
        ['"a"', *["{"] * 12],
        (),
        "line 1 column 2 (char 1)).\nAnd 2 more. Write one JSON object on each line.",
    ),
    "no object": (["3"], (), "line 1: it is neither an object nor a string"),
    "unknown member": (['{"input": "a", "material": []}'], (), "line 1: there is no member of a job 'material'"),
    "unknown option": (['{"modell": "x"}', '"a"'], (), "line 1: there is no option 'modell'"),
    "no input in the first line": (['{"id": "a", "prompt": "x"}'], (), 'line 1: the job has no "input". Write {'),
    "another word for the input": (
        ['{"prompt": "x"}'],
        (),
        "line 1: there is no option 'prompt'. There are type, schema, ",
    ),
    "an address in a header": (['{"base_url": "http://x"}', '"a"'], (), "no option 'base_url'"),
    "two inputs": (['{"input": "a", "messages": []}'], (), "line 1: the job has both"),
    "no text": (['{"input": 3}'], (), "line 1: the input must be a string or a list"),
    "no id": (['{"id": true, "input": "a"}'], (), 'line 1: "id" must be a string'),
    "an id twice": (
        ['{"id": 1, "input": "a"}', '{"id": "1", "input": "b"}'],
        (),
        "line 2: the id '1' is in line 1 already",
    ),
    "materials that are no list": (['{"input": "a", "materials": "x"}'], (), '"materials" must be a list of paths'),
    "missing material": (['{"input": "a", "materials": ["x"]}'], (), "line 1: x is not a file. Paths are relative"),
    "empty image": (
        ['{"input": "a", "materials": ["empty.png"]}'],
        (),
        "jobs.jsonl, line 1: empty.png is empty. Pass a file whose content",
    ),
    "results over jobs": (['"a"'], ("-o", "jobs.jsonl"), "--output would overwrite jobs.jsonl"),
    "results over journal": (['"a"'], ("-o", "j", "--journal", "./j"), "--output would overwrite ./j"),
    "results nowhere": (['"a"'], ("-o", "absent/out"), "absent/out cannot be written: No such file"),
    "half price without a journal": (['"a"'], ("--half-price",), "--half-price needs --journal"),
    "a poll without half price": (['"a"'], ("--poll", "5"), "--poll is for batches"),
    "no calls": (['"a"'], ("--in-flight", "0"), "in_flight is 0"),
    "no requests": (['"a"'], ("--requests-per-minute", "0"), "requests_per_minute is 0"),
    "a header of the wrong type": (['{"max_cost": "x"}', '"a"'], (), "--max-cost is 'x'; it must be a number"),
    "a header with too few prices": (['{"prices": 3}', '"a"'], (), "prices"),
}


@pytest.mark.parametrize(("lines", "arguments", "reported"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_reported_before_anything_is_sent(
    run: Run, folder: Path, lines: list[str], arguments: tuple[str, ...], reported: str
) -> None:
    """Status 2, and the line that is wrong."""
    (folder / "jobs.jsonl").write_text("\n".join(lines))
    (folder / "empty.png").touch()
    ran = run([*BATCH, *arguments])

    assert (ran.status, ran.out) == (BAD_USAGE, "")
    assert reported in ran.err


@pytest.mark.parametrize(
    ("missing", "reported"), [("model", "There is no model"), ("schema", "There is no type or schema")]
)
def test_a_run_needs_a_model_and_a_form(run: Run, folder: Path, missing: str, reported: str) -> None:
    """In the flags or in the first line."""
    header = {"model": MODEL, "schema": "invoice.json"}
    del header[missing]
    write_jobs(folder, [header, "a"])
    ran = run(["batch", "jobs.jsonl"])

    assert ran.status == BAD_USAGE
    assert reported in ran.err
