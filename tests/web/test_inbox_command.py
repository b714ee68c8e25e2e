"""The command: it tells an address that signs one browser in, serves the store's inbox, and ends with Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from emitter.authority.signing import make_verifier, new_key, public_jwk, save_key
from emitter.cli import BAD_USAGE, SUCCESS, main
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.stores import SqliteStore, SqlStore
from emitter.testing.sample_moments import VALID_MOMENT
from tests.launching import launch
from tests.stores.postgres import running
from tests.web.running import FORM, Shown, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Command:
    """The command in a process of its own, from the time it tells its address."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(launch("emitter", "inbox", *arguments), stderr=subprocess.PIPE, text=True)
        self.url = self.address()
        self.origin = self.url.partition("/open/")[0]

    def address(self) -> str:
        """Return the next address that it tells."""
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert line.startswith("emitter: open http://127.0.0.1:")
        return line.split()[-1]

    def sign_in(self, url: str) -> str:
        """Use an address, and return the cookie."""
        shown = request(url)
        assert (shown.status, shown.header("location")) == (303, "/")
        return shown.header("set-cookie").partition(";")[0]

    def answer(self, cookie: str) -> Shown:
        """Answer the only decision with its first option, as a browser does."""
        listed = request(f"{self.origin}/", cookie=cookie)
        (path,) = (each.attributes["href"] for each in listed.root.all("a") if "/decisions/" in each.attributes["href"])
        form = request(f"{self.origin}{path}", cookie=cookie).root.all("form")[0].fields
        body = "&".join(f"{name}={value}" for name, value in {**form, "choice": "option:0"}.items()).encode()
        return request(f"{self.origin}{path}", "POST", body, cookie=cookie, origin=self.origin, content_type=FORM)

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C, and return the exit status and what it said."""
        assert self.process.stderr is not None
        self.process.send_signal(signal.SIGINT)
        said = self.process.stderr.read()
        return self.process.wait(60), said


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    """Collect commands, and end those that a test leaves behind."""
    found: list[Command] = []
    yield found
    for each in found:
        each.process.kill()
        with each.process:
            each.process.wait(60)


def test_an_answer_in_the_inbox_is_recorded_and_signed(tmp_path: Path, commands: list[Command]) -> None:
    """With the name and the key of whoever started it."""
    key = new_key()
    save_key(key, tmp_path / "alice.jwk")
    with SqliteStore(tmp_path / "agent.db") as store:
        ledger = Ledger(store, check=make_verifier(public_jwk(key)).verify_answer)
        decision_id = ledger.open(VALID_MOMENT).decision_id
        arguments = ("--store", str(tmp_path / "agent.db"), "--principal", "alice")
        commands.append(command := Command(*arguments, "--sign", str(tmp_path / "alice.jwk")))
        shown = command.answer(command.sign_in(command.url))
        found = ledger.find(decision_id)
        ended = command.interrupt()

    assert shown.status == 200
    assert isinstance(found, ResolvedDecision)
    assert found.principal == "alice"
    assert ended[0] == SUCCESS
    assert "Traceback" not in ended[1]


def test_an_address_signs_one_browser_in(tmp_path: Path, commands: list[Command]) -> None:
    """Then another one is reported; a look at it uses it up as little as a wrong one lets anybody in."""
    with SqliteStore(tmp_path / "agent.db") as store:
        Ledger(store).open(VALID_MOMENT)
        commands.append(command := Command("--store", str(tmp_path / "agent.db")))
        assert request(command.url, "HEAD").status == 303
        first = command.sign_in(command.url)
        second = command.sign_in(command.address())
        refused = [
            request(command.url).status,
            request(f"{command.origin}/").status,
            request(f"{command.origin}/", cookie=f"{first}0").status,
            request(f"{command.origin}/open/x").status,
            request(
                f"{command.origin}/", cookie=first, host=command.origin[7:].replace("127.0.0.1", "localhost")
            ).status,
        ]
        listed = [request(f"{command.origin}/", cookie=each) for each in (first, second)]

    assert refused == [404, 403, 403, 404, 421]
    assert [each.status for each in listed] == [200, 200]
    assert all("script-src 'sha256-" in each.header("content-security-policy") for each in listed)


def test_a_store_on_postgres(commands: list[Command]) -> None:
    """By its address."""
    with running() as server:
        address = server.empty()
        with SqlStore(address) as store:
            decision_id = Ledger(store).open(VALID_MOMENT).decision_id
            commands.append(command := Command("--store", address, "--principal", "alice"))
            assert command.answer(command.sign_in(command.url)).status == 200
            assert isinstance(Ledger(store).find(decision_id), ResolvedDecision)
            command.interrupt()


BAD = {
    "no store": ["--store", "nothing.db"],
    "no port": ["--store", "{store}", "--port", "99999"],
    "no name": ["--store", "{store}", "--principal", "\n"],
    "no key": ["--store", "{store}", "--sign", "nothing.jwk"],
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD.keys())
def test_bad_usage_is_said(tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """In a sentence, with exit status 2."""
    with SqliteStore(tmp_path / "agent.db") as store:
        Ledger(store).open(VALID_MOMENT)
        given = [each.format(store=tmp_path / "agent.db") for each in arguments]
        status = main(["inbox", *given])

    assert status == BAD_USAGE
    assert capsys.readouterr().err.startswith("emitter: ")
