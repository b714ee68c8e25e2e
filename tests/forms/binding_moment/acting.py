"""What the tests of options that do something share: a vendor that offers both labels and an option of its own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from emitter.testing import Text, simulator
from tests.scenarios.answers import BOUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from emitter.testing import Simulator

MODEL = "anthropic/claude-sonnet-5-5"
RESUME, BACK, LEAVE = (each["label"] for each in BOUND["turn"]["question"]["options"])
ACTIONS = {RESUME: "sha256:resume", BACK: "sha256:back"}
WORD = "quandarious"
"""Stands in an answer that is refused, and must stand in nothing that is sent or reported afterwards."""


def offering(*labels: str, **changed: Any) -> Text:
    """Return the bound answer with options of these labels."""
    options = [{"label": each, "reasoning": f"The {WORD} reason {place}."} for place, each in enumerate(labels)]
    question = {**BOUND["turn"]["question"], "options": options, "recommended_idx": 0, **changed}
    return Text({**BOUND, "turn": {**BOUND["turn"], "question": question}})


@contextmanager
def serving(patch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a simulated vendor where the environment leads to."""
    with simulator(answers=Text(BOUND)) as running:
        for name, value in running.environment().items():
            patch.setenv(name, value)
        yield running
