"""A vendor that answers each situation with its own number, and what is asked of it."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from emitter.testing import Malformed, Overloaded, Refused, Simulator, Stalled, Text, simulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.testing import Behaviour, ReceivedRequest

MODEL = "openai/gpt-6-sol"
_NUMBER = re.compile(r"task (\d+)")


class Numbered(BaseModel):
    """The number of a task."""

    n: int


def task(n: int, mark: str = "") -> str:
    """Return a situation; the ``mark`` says how the vendor takes it."""
    return f"task {n} {mark}".strip()


def number_in(body: Any) -> int:
    """Return the number of the task that a request is about."""
    found = _NUMBER.search(str(body))
    assert found is not None, body
    return int(found[1])


def answered(asked: ReceivedRequest) -> Behaviour:
    """Answer with the task's number, or as its mark says."""
    said = str(asked.body)
    right = Text({"n": number_in(asked.body)})
    marks: dict[str, Behaviour] = {
        "refuse": Refused(),
        "malformed": Malformed(),
        "stalled": Stalled(answer=right),
        "busy": right if asked.repeat_count else Overloaded(),
    }
    return next((marks[each] for each in marks if f" {each}" in said), right)


def asked_of(vendor: Simulator) -> Counter[int]:
    """Return how often each task was sent to the vendor."""
    return Counter(number_in(each.body) for each in vendor.calls)


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a vendor that the environment leads to."""
    with serving(answered, monkeypatch) as running:
        yield running


@contextmanager
def serving(answers: Callable[[ReceivedRequest], Behaviour], monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Serve the answers, where the environment leads to."""
    with simulator(answers=answers) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running
