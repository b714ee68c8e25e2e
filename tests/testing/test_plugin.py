"""The plugin in sessions that do not use it: light, quiet, and well described."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from emitter.testing import Text, simulator
from tests.testing.plugged import again, run

pytest_plugins = ["pytester"]

HEAVY = ("httpx2", "openai", "anthropic", "google.genai", "pydantic", "tiktoken", "uvicorn", "jsonschema_rs", "asyncio")


def test_it_is_light() -> None:
    """Every session of everyone loads it: of the library it takes in nothing beside itself and its packages."""
    code = (
        "import sys, pytest; before = set(sys.modules); import emitter.testing.plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert [each for each in done.stdout.split() if each.startswith("emitter")] == [
        "emitter",
        "emitter.lazy",
        "emitter.testing",
        "emitter.testing.plugin",
        "emitter.version",
    ]
    assert not {each.partition(".")[0] for each in done.stdout.split()} & set(HEAVY)


def test_a_session_that_does_not_use_it(pytester: pytest.Pytester) -> None:
    """Nothing more is imported while tests run that have nothing to do with it."""
    run(
        pytester,
        """
import sys

def test_it():
    assert not [each for each in sys.modules if each == "emitter.testing.plugin_support" or "httpx2" in each]

class TestOld(__import__("unittest").TestCase):
    def test_it(self):
        pass
""",
        "--doctest-modules",
        apart=True,
        passed=2,
    )


def test_the_marks_are_reported(pytester: pytest.Pytester) -> None:
    """``pytest --markers`` says what each takes."""
    again(pytester, "--markers").stdout.fnmatch_lines(
        [
            "@pytest.mark.emitter_vendor(answers, seed, *",
            "@pytest.mark.emitter_cassette(name=None, allow_unused=False): *",
        ]
    )


def test_the_options_are_reported(pytester: pytest.Pytester) -> None:
    """``pytest --help`` has a group of its own, and the ini options."""
    again(pytester, "--help").stdout.fnmatch_lines(
        [
            "emitter: simulated vendors and cassettes:",
            "  --emitter-record*none*once*all*",
            "  --emitter-prompts*",
            "  emitter_cassettes (string):*",
            "  emitter_block_network (string):*",
        ]
    )


def test_the_fixtures_are_reported(pytester: pytest.Pytester) -> None:
    """``pytest --fixtures`` has a sentence for each, and hides what is not for users."""
    result = again(pytester, "--fixtures")

    result.stdout.fnmatch_lines([f"*{name} -- *" for name in ("emitter_vendor", "emitter_http", "emitter_ahttp")])
    result.stdout.no_fnmatch_line("*no docstring available*")
    result.stdout.no_fnmatch_line("_emitter*")


def test_an_unknown_way_to_record_is_reported(pytester: pytest.Pytester) -> None:
    """A word that the option does not know is refused."""
    again(pytester, "--emitter-record=some").stderr.fnmatch_lines(["*--emitter-record: invalid choice: 'some'*"])


def test_asynchronous_tests(pytester: pytest.Pytester) -> None:
    """With anyio's plugin, an asynchronous test has vendor, cassette and block as any other."""
    source = """
from emitter.testing import Text, simulator
import socket

pytestmark = [pytest.mark.anyio, pytest.mark.emitter_vendor(answers=Text("Yes."))]

@pytest.fixture
def anyio_backend():
    return "asyncio"

async def test_it(emitter_vendor, emitter_client):
    async with emitter_vendor.client("openai/gpt-6-sol", asynchronous=True) as client:
        said = await client.responses.create(model="gpt-6-sol", input="What?")
    client = emitter_client("openai/gpt-6-sol", asynchronous=True)
    again = await client.responses.create(model="gpt-6-sol", input="What?")
    assert said.output_text == again.output_text == "Yes."
"""
    run(pytester, source, "-p", "anyio", "--emitter-record=once", passed=1)
    again(pytester, "-p", "anyio", passed=1)


GUIDE = Path(__file__).parents[2] / "docs" / "pytest.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="docs/pytest.md is not here")
def test_the_guides_tests_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """What docs/pytest.md shows is recorded from a vendor that answers so, and replayed, as it stands there."""
    shown = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    with simulator(answers=Text({"vendor": "Acme", "total": 12.5})) as vendor:
        for name, value in vendor.environment().items():
            monkeypatch.setenv(name, value)
        run(pytester, "\n".join(shown), "--emitter-record=once", passed=3)
    again(pytester, passed=3)
