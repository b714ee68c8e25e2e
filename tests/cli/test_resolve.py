"""`emitter resolve`: at a real terminal, through pipes, in scripts, and with nobody there."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emitter.cli import main, resolve
from emitter.decisions import digest
from tests.terminal.moments import INVOICE
from tests.terminal.process import Process
from tests.terminal.window import CTRL_C, DOWN, ENTER

if TYPE_CHECKING:
    from tests.cli.conftest import Run

OF = digest(INVOICE)
ENVELOPE = json.dumps(INVOICE.to_json()).encode()
CHOSEN = {"outcome": "selected", "digest": OF, "index": 1}
ACTS = "The agent may now do that, and nothing else.\n"
GOES_ON = "The agent now takes your answer into account and goes on. It may ask you again.\n"
REOPENS = "The agent now deliberates again, and may not ask this question a second time.\n"
HOLDS = "The agent now does nothing, because no answer is not consent.\n"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be at a terminal like most."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "EMITTER_PLAIN", "ACCESSIBLE", "CI"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Return the name of a file with a decision in it."""
    place = tmp_path / "moment.json"
    place.write_bytes(ENVELOPE)
    return str(place)


def test_arrows_and_enter(file: str) -> None:
    """The picker draws, the arrow highlights, ENTER chooses; the record and the next step stay on the terminal."""
    with Process("resolve", file) as process:
        process.until("1-3 pick").type(DOWN).until("> 1. Release").type(DOWN).until("> 2. Hold").type(ENTER)

        assert process.ends() == (0, "")
        record = process.transcript.rpartition(b"\x1b[?1049l")[2].decode().replace("\r\n", "\n")
        assert "\nYou chose 2: Hold it until Monday\n" + ACTS in record
        assert "Norwind's bank details changed on Thursday." in record


def test_the_picker_on_the_terminal_and_json_in_the_pipe(file: str) -> None:
    """Standard output may go elsewhere: what is drawn goes to the terminal all the same."""
    with Process("resolve", file, "--json", piped=True) as process:
        process.until("1-3 pick").type("2").until("> 2. Hold").type(ENTER)
        status, out = process.ends()

    assert (status, json.loads(out)) == (0, CHOSEN)


def test_the_decision_through_the_pipe_and_the_keys_from_the_terminal() -> None:
    """As with a pager: standard input holds the envelope, and the person is asked all the same."""
    with Process("resolve", "-", stdin=ENVELOPE) as process:
        process.until("1-3 pick").type("d").until("Your objection:").type("Why today?").until("Why today?").type(ENTER)

        assert process.ends() == (0, "")
        process.until("You sent the question back: Why today?")
        process.until(REOPENS.strip())


def test_a_resized_window_is_drawn_again(file: str) -> None:
    """The system tells of the new size, and the highlighted option stays in the window."""
    with Process("resolve", file) as process:
        process.until("1-3 pick").type("2").until("> 2. Hold it until Monday  (recommended)")
        process.resize(20, 5).until("> 2. Hold it until\n|    Monday")
        process.resize(100, 40).until("> 2. Hold it until Monday  (recommended)").type(ENTER)

        assert process.ends()[0] == 0


@pytest.mark.parametrize("arguments", [(), ("--plain",)], ids=["picker", "plain"])
def test_ctrl_c_decides_nothing(file: str, arguments: tuple[str, ...]) -> None:
    """It is an answer of nobody, reported in a sentence, with status 1 and no traceback."""
    with Process("resolve", file, *arguments) as process:
        process.until("Your choice:" if arguments else "1-3 pick").type(CTRL_C)

        assert process.ends()[0] == 1
        assert "You left without an answer; nothing is decided." in process.text()
        assert HOLDS.strip() in process.text()
        assert b"Traceback" not in process.transcript


def test_time_runs_out(file: str) -> None:
    """With status 1, and for the program as a reason."""
    with Process("resolve", file, "--timeout", "0.3", "--json", piped=True) as process:
        status, out = process.ends()

    assert (status, json.loads(out)) == (1, {"outcome": "unresolved", "digest": OF, "reason": "timeout"})


def test_lines_for_a_screen_reader(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for by a variable: nothing but lines comes to the terminal, and a typed line answers."""
    monkeypatch.setenv("EMITTER_PLAIN", "1")
    with Process("resolve", file, rows=60) as process:
        process.until("Your choice:").type("a\n").until("Your answer:").type("Pay EUR 5\n")

        assert process.ends()[0] == 0
        assert "You answered: Pay EUR 5" in process.text()
        assert b"\x1b" not in process.transcript


SCRIPTED: dict[str, tuple[list[str], bytes, str]] = {
    "an option": (["--answer", "2"], b"", f"You chose 2: Hold it until Monday\n{ACTS}"),
    "an answer": (["--answer", "a Pay EUR 5"], b"", f"You answered: Pay EUR 5\n{GOES_ON}"),
    "an objection": (["--answer", "d"], b"", f"You sent the question back.\n{REOPENS}"),
    "a line of standard input": ([], b"2\n1\n", f"You chose 2: Hold it until Monday\n{ACTS}"),
    "a limit of time that is kept": (["--timeout", "9"], b"2\n", f"You chose 2: Hold it until Monday\n{ACTS}"),
    "nobody": ([], b"", f"Nobody could answer here; nothing is decided.\n{HOLDS}"),
}


@pytest.mark.parametrize(("arguments", "stdin", "reported"), SCRIPTED.values(), ids=SCRIPTED.keys())
def test_a_script_answers(run: Run, file: str, arguments: list[str], stdin: bytes, reported: str) -> None:
    """Without a terminal the answer comes with the command, or in one line of standard input."""
    ran = run(["resolve", file, *arguments], stdin)

    assert (ran.status, ran.out, ran.err) == (reported.startswith("Nobody"), reported, "")


@pytest.mark.parametrize("arguments", [[], ["--timeout", "5"], ["--timeout", "5", "--plain"]], ids=" ".join)
def test_the_null_device_answers_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: str, arguments: list[str]
) -> None:
    """With a limit of time as without one: nobody could answer, which is no error."""
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        status = main(["resolve", file, *arguments])
    reported = capsys.readouterr()

    assert (status, reported.out.endswith(HOLDS)) == (1, True)
    assert "Nobody could answer here; nothing is decided.\n" in reported.out + reported.err
    assert "emitter: " not in reported.err


@pytest.mark.parametrize("wrapping", ["{}", '{{"binding_moment": {}, "rows": 3}}'], ids=["bare", "a tool's result"])
def test_the_resolution_as_json(run: Run, wrapping: str) -> None:
    """For a program: the wire form, whatever the decision was wrapped in."""
    ran = run(["resolve", "--answer", "2", "--json"], wrapping.format(ENVELOPE.decode()).encode())

    assert (ran.status, json.loads(ran.out)) == (0, CHOSEN)


def test_lines_through_pipes_are_asked_for_beside_the_answer(run: Run, file: str) -> None:
    """Who asks for lines gets them without a terminal too, and standard output stays a program's."""
    ran = run(["resolve", file, "--plain", "--json"], b"yes\n2\n")

    assert json.loads(ran.out) == CHOSEN
    assert ran.err.count("Your choice: ") == 2


REFUSED: dict[str, tuple[list[str], bytes, str]] = {
    "no such file": (["absent"], b"", "absent cannot be read"),
    "no envelope": (["-", "--answer", "1"], b"{}", "The envelope was discarded as malformed"),
    "no such option": (["FILE", "--answer", "4"], b"", "There is no option"),
    "no answer": (["FILE", "--answer", "yes"], b"", "The reply is not an answer. Type 1, 2 or 3 to choose"),
    "no words": (["FILE", "--answer", "a"], b"", "The answer has no visible text."),
    "no answer on standard input": (["FILE"], b"\n", "The reply is not an answer."),
    "no time": (["FILE", "--timeout", "0"], b"2\n", "timeout is 0.0. It must be a number of seconds above 0."),
}


@pytest.mark.parametrize(("arguments", "stdin", "reported"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_answer_gets_one_sentence(
    run: Run, file: str, arguments: list[str], stdin: bytes, reported: str
) -> None:
    """Status 2, nothing on standard output, and what to do."""
    ran = run(["resolve", *(file if each == "FILE" else each for each in arguments)], stdin)

    assert reported in ran.err
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_without_any_terminal_nobody_can_be_asked(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The envelope came through standard input, and there is no other way to a person."""
    monkeypatch.setattr(resolve, "TERMINAL", tmp_path / "none")
    ran = run(["resolve", "--json"], ENVELOPE)

    assert (ran.status, json.loads(ran.out)["reason"]) == (1, "dropped")
    assert ran.err == "emitter: there is no terminal to answer at; pass the answer with --answer.\n"


def test_a_demonstration_asks_nobody_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """It says how one would answer, on standard error."""
    assert not resolve.is_interactive()
    resolve.ask_at_terminal(INVOICE)
    reported = capsys.readouterr()

    assert (reported.out, reported.err.count("\n")) == ("", 1)
    assert "`emitter resolve FILE`" in reported.err
