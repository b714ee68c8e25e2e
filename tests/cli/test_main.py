"""The command line as a whole: status, streams, help, and what it may load."""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import emitter.cli.model_answers
from emitter.cli import _COMMANDS, BAD_USAGE, INTERRUPTED, SUCCESS, _build_parser, main
from emitter.testing.sample_moments import make_labelled_moment
from emitter.testing.scenarios import SCENARIO_MODELS, SCENARIOS

DECISIONS = ("decisions", "digest", "lint-moment", "mcp", "render", "resolve", "serve")
COMMANDS = (
    "accept",
    "batch",
    "capabilities",
    "demo",
    "emit",
    "moment",
    "classify",
    "recover",
    "providers",
    "receipts",
    *DECISIONS,
)
HEAVY = ("openai", "anthropic", "google.genai", "httpx2", "asyncio")
FULL = Path("/dev/full")


def spawn(code: str, stdin: str = "", **streams: object) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": buffered, **streams}
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-c", code], input=stdin, text=True, check=False, **given
    )


def run(*arguments: str) -> str:
    """Return the code of a process that is the command line."""
    return f"import sys; from emitter.cli import main; sys.exit(main({list(arguments)!r}))"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--help says in whole sentences what the command does, and something about each argument."""
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    module, name = importlib.import_module(f"emitter.cli.{_COMMANDS[command][0]}"), command.replace("-", "_")
    parser = argparse.ArgumentParser()
    getattr(module, f"add_{name}_arguments")(parser)

    assert ended.value.code == SUCCESS
    assert inspect.getdoc(getattr(module, f"run_{name}")) in capsys.readouterr().out
    assert [each.dest for each in parser._actions if not each.help] == []


def test_the_list_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`emitter --help` lists the commands by group, and the exit status."""
    with pytest.raises(SystemExit):
        main(["--help"])
    reported = capsys.readouterr().out

    listed = reported.partition("\noptions:")[0]
    groups = re.findall(r"^(\w.*):\n((?:  \S+ .*\n)+)", listed, re.MULTILINE)
    assert [title for title, _ in groups] == [
        "typed output", "decisions", "acting", "testing and vendors", "OpenWOP"
    ]  # fmt: skip
    assert set(COMMANDS) <= _COMMANDS.keys()
    assert sorted(line.split()[0] for _, lines in groups for line in lines.splitlines()) == sorted(_COMMANDS)
    assert "Exit status: 0 success, 1 a refused or failed emission, 2 bad usage" in reported


def test_demo_lists_its_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has to guess what can be played."""
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    reported = capsys.readouterr().out

    assert all(each in reported for each in (*SCENARIOS, *SCENARIO_MODELS))


def test_without_a_command_it_says_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command line that it shows is understood."""
    assert main([]) == SUCCESS
    reported = capsys.readouterr().out
    shown = [line.split()[1:] for line in reported.splitlines() if line.startswith("  emitter ")]

    assert [each[0] for each in shown] == ["demo", "emit", "--help"]
    for each in shown[:2]:
        _build_parser(each).parse_args(each)


@pytest.mark.parametrize("arguments", [["bogus"], ["demo", "--bogus"], ["moment"], ["classify"]], ids=" ".join)
def test_bad_usage_shows_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A command line that cannot be parsed ends with 2 and the usage, on standard error."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    reported = capsys.readouterr()

    assert ended.value.code == BAD_USAGE
    assert reported.err.startswith("usage: emitter")
    assert reported.out == ""


@pytest.mark.parametrize("command", ["--help", "recover --help", "recover", "providers", "accept -", "capabilities"])
def test_light_commands_load_no_sdk(command: str) -> None:
    """What talks to nobody loads no vendor's SDK, no HTTP client and no event loop."""
    code = (
        "import sys\nfrom emitter.cli import main\n"
        f"try: main({command.split()!r})\nexcept SystemExit: pass\n"
        f"sys.stderr.write(' '.join(each for each in {HEAVY!r} if each in sys.modules))"
    )
    done = spawn(code, '{"a": 1}')

    assert done.stderr == ""
    assert done.stdout != ""


@pytest.mark.parametrize("module", ["httpx2", "openai"])
def test_a_missing_extra_is_reported(module: str) -> None:
    """Without the SDK there is a sentence with the command that installs it, and no traceback."""
    done = spawn(f"import sys; sys.modules[{module!r}] = None\n{run('demo')}")

    assert done.returncode == BAD_USAGE
    assert "pip install 'llm-emitter[openai]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def interrupted(_: argparse.Namespace) -> int:
    """Behave as a command that was interrupted."""
    raise KeyboardInterrupt


def test_every_command_explains_itself_without_extras() -> None:
    """Whoever looks up an option may not have installed what the command needs."""
    extras = ("starlette", "uvicorn", "mcp", "joserfc", "sqlalchemy", "openai")
    code = (
        f"import sys\nsys.modules |= dict.fromkeys({extras!r})\nfrom emitter.cli import main\n"
        f"for command in {list(_COMMANDS)!r}:\n"
        "    try: main([command, '--help'])\n"
        "    except SystemExit: pass\n"
    )
    shown = spawn(code)

    assert shown.stderr == ""
    assert re.findall(r"^usage: emitter (\S+)", shown.stdout, re.MULTILINE) == list(_COMMANDS)


def test_an_interruption_is_no_crash(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends with one word and the usual status."""
    monkeypatch.setattr(emitter.cli.model_answers, "run_recover", interrupted)

    assert main(["recover"]) == INTERRUPTED
    assert capsys.readouterr().err == "emitter: interrupted\n"


def test_a_reader_that_left_is_no_error() -> None:
    """A closed pipe, as of `| head`, ends in silence."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = spawn(run("providers"), stdout=writing)
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (SUCCESS, "")


UNREAD = {
    "answered": ("resolve", ["--answer", "1"], SUCCESS),
    "not answered": ("resolve", [], 1),
    "not answered on a page": ("serve", ["--timeout", "0.1"], 1),
    "rules broken": ("lint-moment", ["--rule", "findings-count=error"], 1),
}


@pytest.mark.parametrize("also", ["stdout", "stderr"])
@pytest.mark.parametrize(("command", "arguments", "status"), UNREAD.values(), ids=UNREAD.keys())
def test_a_reader_that_left_is_no_answer(
    command: str, arguments: list[str], status: int, also: str, tmp_path: Path
) -> None:
    """The exit status says what became of the decision, whoever reads the rest."""
    (file := tmp_path / "moment.json").write_text(json.dumps(make_labelled_moment("Go", "Stay").to_json()))
    reading, writing = os.pipe()
    os.close(reading)
    try:
        streams = {"stdout": writing, also: writing}
        done = subprocess.run(
            [sys.executable, "-u", "-m", "emitter", command, str(file), *arguments],
            stdin=subprocess.DEVNULL,
            check=False,
            **streams,  # type: ignore[call-overload]
        )
    finally:
        os.close(writing)

    assert done.returncode == status


@pytest.mark.skipif(not FULL.exists(), reason="/dev/full is absent: no full disk to try")
def test_a_full_disk_is_reported() -> None:
    """Output that could not be written is an error, reported once."""
    with FULL.open("w") as full:
        done = spawn(run("providers"), stdout=full)

    assert (done.returncode, done.stderr) == (BAD_USAGE, "emitter: No space left on device.\n")


CLOSED = {
    "stdin": (0, "recover", BAD_USAGE, "emitter: Standard input is closed. Pass a file instead.\n"),
    "stdout": (
        1,
        "providers",
        BAD_USAGE,
        "emitter: Standard output is closed. Redirect it to a file or to /dev/null.\n",
    ),
    "stderr": (2, "demo", SUCCESS, ""),
}


@pytest.mark.parametrize(("stream", "command", "status", "reported"), CLOSED.values(), ids=CLOSED.keys())
def test_a_closed_stream_is_no_crash(stream: int, command: str, status: int, reported: str) -> None:
    """A stream that was closed from outside is reported, or done without."""
    inner = f"import os, sys; os.close({stream}); os.execv(sys.executable, [sys.executable, '-c', {run(command)!r}])"
    done = spawn(inner)

    assert (done.returncode, done.stderr) == (status, reported)


def test_any_encoding_will_do() -> None:
    """A terminal that speaks ASCII only shows what it can, and JSON is JSON on it."""
    code = "import sys; sys.stdout.reconfigure(encoding='ascii', errors='strict')\n"
    value = {"a": "\u00e4\U0001f600"}
    done = spawn(f"{code}{run('recover')}", json.dumps(value, ensure_ascii=False))

    assert done.returncode == SUCCESS, done.stderr
    assert json.loads(done.stdout)["value"] == value
