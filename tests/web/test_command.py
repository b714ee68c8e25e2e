"""The command: it tells where to answer, waits, and prints what was answered, or that nobody did."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority.signing import make_verifier, new_key, public_jwk, save_key
from emitter.cli import BAD_USAGE, FAILED, INTERRUPTED, SUCCESS, main
from emitter.cli.moments import read_moment
from emitter.decisions import digest
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.errors import InputError
from emitter.stores import SqliteStore
from emitter.testing.sample_moments import MALFORMED_RESULTS, VALID_MOMENT
from tests.launching import launch
from tests.web.running import answer, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter.messages import Json


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Write a tool's result with a decision, and return where."""
    place = tmp_path / "moment.json"
    place.write_text(json.dumps({"released": False, "binding_moment": VALID_MOMENT.to_json()}), encoding="utf-8")
    return str(place)


class Command:
    """The command in a process of its own, from the time it tells its address."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            launch("emitter", "serve", *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment or None,
        )
        assert self.process.stderr is not None
        self.line = self.process.stderr.readline()
        self.url = self.line.rpartition(" ")[2].strip()

    def ended(self) -> tuple[int, Any, str]:
        """Return the exit status, the document that was printed, and what was said after the address."""
        out, err = self.process.communicate(timeout=600)
        return self.process.returncode, json.loads(out) if out else None, err


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    """Collect commands, and end those that a test leaves behind."""
    found: list[Command] = []
    yield found
    for each in found:
        each.process.kill()
        each.process.communicate()


def test_the_command_prints_the_answer(file: str, commands: list[Command]) -> None:
    """It tells where on standard error, waits, prints the resolution alone, and ends well."""
    commands.append(command := Command(file))
    status = answer(command.url, 0, choice="option:1")

    assert status == 200
    assert command.line.startswith("emitter: answer at http://127.0.0.1:")
    assert command.ended() == (SUCCESS, {"outcome": "selected", "digest": digest(VALID_MOMENT), "index": 1}, "")


def test_an_answer_on_the_page_is_signed(tmp_path: Path, commands: list[Command]) -> None:
    """With --sign, by whoever serves it."""
    key = new_key()
    save_key(key, tmp_path / "alice.jwk")
    with SqliteStore(tmp_path / "agent.db") as store:
        decision_id = Ledger(store).open(VALID_MOMENT).decision_id
        files = ("--store", str(tmp_path / "agent.db"), "--sign", str(tmp_path / "alice.jwk"))
        commands.append(command := Command(*files))
        assert answer(command.url, 0, choice="option:1") == 200
        assert command.ended()[0] == SUCCESS

        found = Ledger(store, check=make_verifier(public_jwk(key)).verify_answer).find(decision_id)
    assert isinstance(found, ResolvedDecision)


def test_ctrl_c_is_no_answer(file: str, commands: list[Command]) -> None:
    """It ends without a traceback, and says that nobody decided."""
    commands.append(command := Command(file))
    assert request(command.url).status == 200
    command.process.send_signal(signal.SIGINT)

    assert command.ended() == (
        INTERRUPTED,
        {"outcome": "unresolved", "digest": digest(VALID_MOMENT), "reason": "cancelled"},
        "",
    )


def test_a_command_that_nobody_answers_fails(file: str, commands: list[Command]) -> None:
    """The exit status tells a program that there is no answer."""
    commands.append(command := Command(file, "--timeout", "0.1"))

    assert command.ended() == (
        FAILED,
        {"outcome": "unresolved", "digest": digest(VALID_MOMENT), "reason": "timeout"},
        "",
    )


BROWSER = """
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as shown:
    open(sys.argv[0] + ".seen", "w").write(sys.argv[1] + " " + shown.geturl())
"""
"""Opens the address it is given, and says through a pipe where it was led."""


def test_a_browser_is_opened_by_a_ticket(file: str, tmp_path: Path, commands: list[Command]) -> None:
    """What other people see of a command line is worth nothing once the page is open."""
    browser = tmp_path / "browser.py"
    browser.write_text(BROWSER, encoding="utf-8")
    seen = tmp_path / "browser.py.seen"
    os.mkfifo(seen)
    commands.append(command := Command(file, "--open", BROWSER=f"{sys.executable} {browser} %s"))
    given, led_to = seen.read_text(encoding="utf-8").split()

    assert "/open/" in given
    assert led_to == command.url
    assert request(given).status == 404


WRAPPED: dict[str, Json] = {
    "by itself": VALID_MOMENT.to_json(),
    "a tool's result": {"released": False, "binding_moment": VALID_MOMENT.to_json()},
    "an MCP result": {"content": [], "structuredContent": {"n": 0.5, "binding_moment": VALID_MOMENT.to_json()}},
    "an AIEnvelope": {"type": "vendor.emitter.binding-moment", "payload": {"binding_moment": VALID_MOMENT.to_json()}},
}


@pytest.mark.parametrize("document", WRAPPED.values(), ids=WRAPPED.keys())
def test_a_decision_is_read_in_its_wrappings(tmp_path: Path, document: Json) -> None:
    """Section 7.1: where an agent, a tool or this library's own command puts it."""
    place = tmp_path / "moment.json"
    place.write_text(json.dumps(document), encoding="utf-8")

    assert read_moment(str(place)) == VALID_MOMENT


UNREADABLE: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "cannot be read"),
    "a name twice": ('{"binding_moment": {}, "binding_moment": {}}', "two members of the same name"),
    "withheld": ('{"type": "x", "payload": {"state": "S", "missing": [], "permission": "P"}}', "no decision"),
    "a payload alone": ('{"released": false}', "no decision"),
    "a list": ("[]", "malformed"),
    **{
        name: (json.dumps(result), "malformed")
        for name, result in MALFORMED_RESULTS.items()
        if name != "half a character"
    },
}


@pytest.mark.parametrize(("text", "reported"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_decision_is_not_served(tmp_path: Path, text: str, reported: str) -> None:
    """Section 4: malformed is malformed, and the diagnostic names the file and quotes nothing."""
    place = tmp_path / "moment.json"
    place.write_text(text, encoding="utf-8")

    with pytest.raises(InputError, match=reported) as caught:
        read_moment(str(place))
    assert str(place) in str(caught.value)
    assert "Synopsis" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [(["no-such-file"], "cannot be read"), (["--port", "99999"], "port is 99999"), (["--timeout", "0"], "above 0")],
    ids=["no file", "no port", "no time"],
)
def test_bad_usage_is_said(file: str, arguments: list[str], reported: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be served is a sentence and exit status 2."""
    given = arguments if arguments[0] == "no-such-file" else [file, *arguments]
    status = main(["serve", *given])
    printed = capsys.readouterr()

    assert (status, printed.out) == (BAD_USAGE, "")
    assert reported in printed.err
