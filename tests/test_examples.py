"""The examples run as they stand, each a program of its own, without a key or a network.

Those of agent frameworks are run in ``tests/integrations``.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

NEEDED = {"dbos_decision": "dbos"}

SAID = {
    "agent_loop": ("Not yet", "did: Pause the job until Monday"),
    "dbos_decision": ("result: paid 1250 cents to Acme", "receipts: 1"),
    "guarded_function": (
        "did: {'payment': 1}",
        "refused: it is not the approved call, by /parameters/cents",
        "asked for again, it is not done again: {'payment': 2}",
        "unfinished: pay -> the landlord",
        "settled: success",
        "refused: The workflow",
        "Paid: 8400 cents to the plumber; 1200 cents to the baker; 70000 cents to the landlord\n",
        "Receipts: 3 and unfinished: 0",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_does_what_it_says(name: str) -> None:
    """It ends well, and says at its end what was done."""
    if name in NEEDED and find_spec(NEEDED[name]) is None:
        pytest.skip(f"{NEEDED[name]} is not installed")
    ended = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, timeout=600, check=False
    )

    assert ended.returncode == 0, ended.stderr
    assert all(each in ended.stdout for each in SAID[name]), ended.stdout
