"""Which tests are blocked, and what is reported it."""

from __future__ import annotations

import socket

import pytest

from tests.testing.plugged import run

pytest_plugins = ["pytester"]

THERE = "192.0.2.1"
ASKING = f"""
import socket

def asks():
    socket.create_connection(("{THERE}", 443), timeout=0.01)

def blocked_in(call=asks):
    try:
        call()
    except OSError:
        return False
    except Exception as error:
        assert "test_it.py::test_" in str(error) and "{THERE}:443" in str(error)
        return True
"""


@pytest.mark.parametrize(
    ("wanted", "plain", "marked"),
    [(None, False, True), ("marked", False, True), ("all", True, True), ("off", False, False)],
)
def test_which_tests_are_blocked(pytester: pytest.Pytester, wanted: str | None, *, plain: bool, marked: bool) -> None:
    """By default those with a mark or a fixture of the plugin, from setup to teardown; all or none by the option."""
    if wanted is not None:
        pytester.makeini(f"[pytest]\nemitter_block_network = {wanted}\n")
    run(
        pytester,
        f"""{ASKING}
def test_plain():
    assert blocked_in() is {plain}

@pytest.mark.emitter_cassette
def test_mark():
    assert blocked_in() is {marked}

@pytest.fixture
def around():
    assert blocked_in() is {marked}
    yield
    assert blocked_in() is {marked}

def test_fixture(around, emitter_vendor):
    assert blocked_in() is {marked}

def test_asked_for_later(request):
    request.getfixturevalue("emitter_vendor")

def test_plain_again():
    assert blocked_in() is {plain}
""",
        passed=5,
    )

    assert "connect" not in vars(socket.socket)


def test_an_unknown_choice_is_reported(pytester: pytest.Pytester) -> None:
    """A word that the ini option does not know ends the session at once."""
    pytester.makeini("[pytest]\nemitter_block_network = some\n")
    result = run(pytester, "def test_it(): pass")

    result.stderr.fnmatch_lines(["*emitter_block_network is 'some'. It must be one of marked, all, off.*"])


def test_a_failure_tells_what_was_blocked(pytester: pytest.Pytester) -> None:
    """Also where the test's own code swallowed the error: its report has the host."""
    result = run(
        pytester,
        f"""{ASKING}
@pytest.mark.emitter_cassette
def test_swallows():
    try:
        asks()
    except Exception:
        pass
    assert False, "no answer"
""",
        failed=1,
    )

    result.stdout.fnmatch_lines(["*Blocked by emitter*", f"{THERE}:443"])


def test_the_librarys_own_call_says_so(pytester: pytest.Pytester) -> None:
    """An emission to the vendor itself rises with the block's error, and is not tried again as a vendor's fault."""
    result = run(
        pytester,
        """
from emitter import emit

def test_it(emitter_vendor, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
    emit({"type": "object", "properties": {"a": {"type": "integer"}}}, "What?", model="openai/gpt-6-sol")
""",
        failed=1,
    )

    result.stdout.fnmatch_lines(["*NetworkBlocked: test_it.py::test_it tried to reach api.openai.com*"])
    result.stdout.fnmatch_lines(["*Blocked by emitter*", "api.openai.com"])


def test_workers_block_for_themselves(pytester: pytest.Pytester) -> None:
    """Under pytest-xdist, a worker blocks its own tests only."""
    run(
        pytester,
        f"""{ASKING}
@pytest.mark.parametrize("number", range(4))
def test_plain(number):
    assert not blocked_in()

@pytest.mark.parametrize("number", range(4))
def test_marked(number, emitter_vendor):
    assert blocked_in()
""",
        "-p",
        "xdist",
        "-n2",
        apart=True,
        passed=8,
    )
