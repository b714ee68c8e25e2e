"""Runs of pytest with the plugin, in a folder of their own, and of no other plugin unless it is named."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import anthropic
import google.genai
import httpcore2
import httpx2
import openai
import pytest

from emitter.testing import Simulator, Text, cassettes, plugin, plugin_support, simulator

if TYPE_CHECKING:
    from collections.abc import Generator

IMPORTED = (anthropic, google.genai, httpcore2, httpx2, openai, plugin_support, plugin, cassettes)
"""Imported once for all runs: what a run imports itself is forgotten after it."""

ARGUMENTS = ("-W", "error", "--strict-markers", "-p", "no:cacheprovider")

ASKS = """
def ask(client, prompt="What?"):
    return client.responses.create(model="gpt-6-sol", input=prompt).output_text
"""


def run(
    pytester: pytest.Pytester, test: str, *arguments: str, apart: bool = False, **outcomes: int
) -> pytest.RunResult:
    """Run one file of tests and hold its outcomes, if any are named; ``apart`` in a process of its own."""
    pytester.makepyfile(test_it=f"import pytest\n{ASKS}\n{test}")
    return again(pytester, *arguments, apart=apart, **outcomes)


def again(pytester: pytest.Pytester, *arguments: str, apart: bool = False, **outcomes: int) -> pytest.RunResult:
    """Run what is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        if apart:
            result = pytester.runpytest_subprocess("-p", plugin.__name__, *ARGUMENTS, *arguments)
        else:
            result = pytester.runpytest_inprocess(*ARGUMENTS, *arguments, plugins=[plugin])
    if outcomes:
        result.assert_outcomes(**outcomes)
    return result


KEY = "sk-live-0123456789abcdef"
ASKING = """
def test_it(emitter_client):
    assert ask(emitter_client("openai/gpt-6-sol")) == "Yes."
"""
PLACE = "cassettes/test_it/test_it.json"
ONCE, ALL = "--emitter-record=once", "--emitter-record=all"


def asking(prompt: str) -> str:
    """Return the test with a prompt of its own."""
    return ASKING.replace('sol")', f'sol"), "{prompt}"')


@contextmanager
def asked_vendor() -> Generator[Simulator]:
    """Run a vendor to be recorded; the environment leads to it, with a key that must not leak."""
    with simulator(answers=Text("Yes.")) as vendor, pytest.MonkeyPatch.context() as patch:
        for name, value in vendor.environment().items():
            patch.setenv(name, KEY if name.endswith("_KEY") else value)
        yield vendor


@contextmanager
def no_vendor() -> Generator[None]:
    """Let nothing in the environment lead to a vendor."""
    with simulator() as vendor, pytest.MonkeyPatch.context() as patch:
        for name in (*vendor.environment(), "OPENAI_COMPATIBLE_BASE_URL"):
            patch.delenv(name, raising=False)
        yield
