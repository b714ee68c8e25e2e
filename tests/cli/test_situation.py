"""What `emitter moment` takes a text for, and the smaller commands beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.loopback import serving
from tests.scenarios.answers import BOUND, text

if TYPE_CHECKING:
    from tests.cli.conftest import Run

MESSAGES = [{"role": "user", "content": "Shall we ship?"}]


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ('[{"role": "user", "content": "Shall', "starts like JSON messages but is not JSON"),
        ('[{"role": "user", "content": "a"},,]', "starts like JSON messages but is not JSON"),
        ('{"messages": [{"role": "user"', "starts like JSON messages but is not JSON"),
        ("[]", "is an empty list"),
    ],
    ids=["cut", "stray comma", "cut object", "empty"],
)
def test_broken_messages_are_no_text(run: Run, monkeypatch: pytest.MonkeyPatch, given: str, reported: str) -> None:
    """They would pass as trusted, tool results and all."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ran = run(["moment", "--model", "openai/gpt-6-sol"], given.encode())

    assert ran.status == 2
    assert reported in ran.err


@pytest.mark.parametrize(
    "given",
    [json.dumps(MESSAGES), json.dumps({"messages": MESSAGES}), "[urgent] Shall we ship?", "{draft} Shall we ship?"],
    ids=["list", "request", "text in brackets", "text in braces"],
)
def test_messages_and_texts_are_told_apart(run: Run, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    """A list, the list of a request, and texts that only begin with a bracket."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(lambda vendor: vendor.whole(text(BOUND), 600)) as server:
        ran = run(["moment", "--model", "openai/gpt-6-sol", "--base-url", f"{server.url}/v1"], given.encode())

    assert ran.status == 0
    assert "Shall we ship?" in server.requests[0].body["input"][0]["content"]


def test_a_vendor_is_taken_for_its_first_wire(run: Run) -> None:
    """`--vendor openai` is what people write."""
    assert run(["demo", "bound", "--vendor", "openai"]).status == 0


def test_the_package_runs_and_knows_its_version() -> None:
    """`python -m emitter --version` prints one line."""
    done = subprocess.run([sys.executable, "-m", "emitter", "--version"], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("emitter ")
