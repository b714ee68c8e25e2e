"""Recording a test's cassette: by really asking a vendor (here on loopback), and only for a test that passes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from emitter.testing import simulator
from tests.testing.plugged import ALL, ASKING, ASKS, KEY, ONCE, PLACE, again, asked_vendor, asking, no_vendor, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Simulator

pytest_plugins = ["pytester"]


@pytest.fixture
def asked() -> Iterator[Simulator]:
    """Run the vendor that is recorded."""
    with asked_vendor() as vendor:
        yield vendor


def test_recorded_once_and_replayed(pytester: pytest.Pytester, asked: Simulator) -> None:
    """A missing cassette is recorded, an existing one is not; a replay needs neither key nor vendor."""
    run(pytester, ASKING, ONCE, passed=1)
    text = (pytester.path / PLACE).read_text()
    again(pytester, ONCE, passed=1)
    with no_vendor():
        again(pytester, passed=1)

    assert len(asked.calls) == 1
    assert KEY not in text
    assert json.loads(text)["provenance"] == "recorded"
    assert json.loads(text)["note"] == "recorded by test_it.py::test_it"


def test_recording_without_a_key_is_one_error(pytester: pytest.Pytester) -> None:
    """It says what to set, and how to do without, in place of a traceback through the library."""
    with no_vendor():
        output = run(pytester, ASKING, ONCE, failed=1).stdout

    output.fnmatch_lines(["No key for OpenAI was found. Set OPENAI_API_KEY*add the fixture emitter_vendor*"])
    assert "clients.py" not in output.str()


def test_a_simulated_vendor_is_recorded_without_a_key(pytester: pytest.Pytester) -> None:
    """The cassette is replayed with the fixture, and without it."""
    simulated = ASKING.replace("test_it(", "test_it(emitter_vendor, ")
    marked = f'from emitter.testing import Text\n@pytest.mark.emitter_vendor(answers=Text("Yes.")){simulated}'
    with no_vendor():
        run(pytester, marked, ONCE, passed=1)
        again(pytester, passed=1)
        run(pytester, ASKING, passed=1)


def test_recorded_anew(pytester: pytest.Pytester, asked: Simulator) -> None:
    """``all`` asks again and takes the place of what was there."""
    run(pytester, ASKING, ONCE, passed=1)
    before = (pytester.path / PLACE).read_text()
    run(pytester, asking("And now?"), ALL, passed=1)

    assert len(asked.calls) == 2
    assert "And now?" in (pytester.path / PLACE).read_text() != before


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("fails", "assert False"),
        ("errs", "raise RuntimeError"),
        ("skips", "pytest.skip()"),
        ("fails in a part", "\n    with subtests.test():\n        assert False"),
    ],
    ids=lambda each: each.split("(")[0].split("\n")[0] or "subtest",
)
def test_only_a_passing_test_is_kept(pytester: pytest.Pytester, asked: Simulator, kind: str, code: str) -> None:
    """Of a test that did not pass nothing is written, and what was there stays."""
    run(pytester, ASKING, ONCE, passed=1)
    before = (pytester.path / PLACE).read_text()
    asked.reset()
    unkept = ASKING.replace("emitter_client)", "emitter_client, subtests)")
    run(pytester, f"{unkept}\n    {code}\n{unkept.replace('test_it', 'test_other')}\n    {code}", ALL)

    assert len(asked.calls) == 2, kind
    assert (pytester.path / PLACE).read_text() == before
    assert [each.name for each in (pytester.path / "cassettes").rglob("*.*")] == ["test_it.json"]


def test_every_client_is_recorded(pytester: pytest.Pytester, asked: Simulator) -> None:
    """All vendors' SDKs, sync, async and streamed, through one cassette, leave nothing open."""
    run(
        pytester,
        """
import asyncio, openai

TURNS = [{"role": "user", "content": "What?"}]

def test_each(emitter_client):
    said = emitter_client("anthropic/claude-sonnet-5-5").messages.create(
        model="claude-sonnet-5-5", max_tokens=99, messages=TURNS)
    assert said.content[0].text == "Yes."
    client = emitter_client("google/gemini-3.8-flash")
    assert client.models.generate_content(model="gemini-3.8-flash", contents="What?").text == "Yes."
    with emitter_client("openai/gpt-6-sol").responses.stream(model="gpt-6-sol", input="Streamed?") as stream:
        assert stream.get_final_response().output_text == "Yes."

def test_each_asynchronously(emitter_client):
    async def asks():
        said = await emitter_client("anthropic/claude-sonnet-5-5", asynchronous=True).messages.create(
            model="claude-sonnet-5-5", max_tokens=99, messages=TURNS)
        client = emitter_client("google/gemini-3.8-flash", asynchronous=True)
        google = await client.models.generate_content(model="gemini-3.8-flash", contents="What?")
        openai = await emitter_client("openai/gpt-6-sol", asynchronous=True).responses.create(
            model="gpt-6-sol", input="What?")
        return said.content[0].text, google.text, openai.output_text
    assert asyncio.run(asks()) == ("Yes.",) * 3

def test_http(emitter_http):
    client = openai.OpenAI(http_client=emitter_http, api_key="KEY")
    assert ask(client) == "Yes."

def test_ahttp(emitter_ahttp):
    async def asks():
        client = openai.AsyncOpenAI(http_client=emitter_ahttp, api_key="KEY")
        return (await client.responses.create(model="gpt-6-sol", input="What?")).output_text
    assert asyncio.run(asks()) == "Yes."
""".replace("KEY", KEY),
        ONCE,
        passed=4,
    )
    with no_vendor():
        again(pytester, passed=4)

    assert len(asked.calls) == 8
    assert not [each for each in (pytester.path / "cassettes").rglob("*.json") if KEY in each.read_text()]


@pytest.mark.usefixtures("asked")
def test_the_librarys_own_call(pytester: pytest.Pytester) -> None:
    """An emission is recorded and replayed with its client."""
    source = """
from emitter import emit

def test_it(emitter_client):
    model = "anthropic/claude-sonnet-5-5"
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
              "additionalProperties": False}
    assert isinstance(emit(schema, "How many?", model=model, client=emitter_client(model)).value["n"], int)
"""
    with simulator() as vendor, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_BASE_URL", vendor.url)
        run(pytester, source, ONCE, passed=1)
    again(pytester, passed=1)


@pytest.mark.usefixtures("asked")
def test_two_tests_do_not_record_over_one_another(pytester: pytest.Pytester) -> None:
    """The second one is reported who has it; replayed, they may share it."""
    mark = "@pytest.mark.emitter_cassette('shared')"
    shared = f"{mark}\n{ASKING}\n{mark}\n{ASKING.replace('test_it', 'test_other')}"
    for arguments in ((ONCE,), (ALL,)):
        run(pytester, shared, *arguments, passed=1, errors=1).stdout.fnmatch_lines(
            ["*shared.json has just been recorded by test_it.py::test_it.*"]
        )

    again(pytester, passed=2)


@pytest.mark.usefixtures("asked")
def test_a_cassette_that_cannot_be_written_fails_the_test(pytester: pytest.Pytester) -> None:
    """A recording that is lost does not pass for one that is kept."""
    (pytester.path / "cassettes").write_text("in the way")
    result = run(pytester, ASKING, ONCE, failed=1)

    result.stdout.fnmatch_lines([f"*The cassette {pytester.path / PLACE} could not be written: *"])


def test_recording_lets_only_the_test_that_records_out(pytester: pytest.Pytester, asked: Simulator) -> None:
    """While one cassette is recorded, the tests that replay theirs, or have a simulated vendor, stay blocked."""
    run(pytester, ASKING, ONCE, passed=1)
    probe = """
import socket

def out():
    try:
        socket.create_connection(("192.0.2.1", 443), timeout=0.01)
    except OSError:
        return True
    except Exception:
        return False
"""
    checked = ASKING.replace("assert ask", "assert out() is OUT\n    assert ask")
    run(
        pytester,
        f"{probe}\n{checked.replace('OUT', 'False')}\n"
        f"{checked.replace('OUT', 'True').replace('test_it', 'test_new')}\n"
        "def test_vendor(emitter_vendor):\n    assert not out()",
        ONCE,
        passed=3,
    )

    assert len(asked.calls) == 2


def test_workers_record(pytester: pytest.Pytester, asked: Simulator) -> None:
    """Under pytest-xdist each test's cassette is written by the worker that ran it."""
    source = ASKING.replace("def test_it(", "@pytest.mark.parametrize('number', range(4))\ndef test_it(number, ")
    run(pytester, source, ONCE, "-p", "xdist", "-n2", apart=True, passed=4)
    again(pytester, passed=4)

    assert len(asked.calls) == 4
    assert len(list(pytester.path.rglob("*.json"))) == 4


def test_killed_while_recording(pytester: pytest.Pytester, asked: Simulator) -> None:
    """A run that dies in the middle leaves what was there, and nothing half."""
    run(pytester, ASKING, ONCE, passed=1)
    before = (pytester.path / PLACE).read_text()
    asked.reset()
    pytester.makepyfile(test_it=f"import pytest, time\n{ASKS}{ASKING}\n    time.sleep(60)")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "emitter.testing.plugin", ALL]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        while not asked.calls and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)

    assert len(asked.calls) == 1
    assert (pytester.path / PLACE).read_text() == before
    assert [each.name for each in (pytester.path / "cassettes").rglob("*.*")] == ["test_it.json"]
