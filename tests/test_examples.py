"""The examples run as they stand, each a program of its own, without a key or a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

SAID = {
    "agent_loop": ("Not yet", "did: Pause the job until Monday"),
    "langgraph_approval": ("did: Refund 84 euros",),
    "pydantic_ai_approval": ("Done: sent 'Dinner' to mom@example.org",),
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_does_what_it_says(name: str) -> None:
    """It ends well, and says at its end what was done."""
    ended = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, timeout=120, check=False
    )

    assert ended.returncode == 0, ended.stderr
    assert all(each in ended.stdout for each in SAID[name]), ended.stdout
