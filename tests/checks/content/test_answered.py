"""What a language model really answered to the requests of this library: nothing is refused or asked again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Emission, emit_binding_moment
from emitter.decisions import continue_after, open_dialogue
from emitter.testing import Text, simulator
from tests.shared import Line, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Simulator

MODEL = "openai/gpt-6-sol"


@pytest.fixture
def vendor() -> Iterator[Simulator]:
    """Run a vendor."""
    with simulator() as running:
        yield running


def emission_of(vendor: Simulator, line: Line, answer: str = "answer", **options: Any) -> Any:
    """Emit a decision from a situation, and see that the model's answer was accepted as it was."""
    vendor.reset()
    vendor.script(Text(json.dumps(line[answer])))
    emission = emit_binding_moment(line["situation"], model=MODEL, client=vendor.client(MODEL), **options)
    assert len(vendor.calls) == 1
    unread = line.get("lang", "en") != "en" and isinstance(emission, Emission)
    assert [finding.rule for finding in getattr(emission, "findings", ())] == ["language-unchecked"] * unread
    return emission


def test_an_answer_to_a_situation_is_accepted(vendor: Simulator) -> None:
    """Decisions, and vetoes where it was too early for one."""
    for line in lines("answered_situations.jsonl"):
        emission_of(vendor, line)


def test_an_answer_to_an_objection_is_accepted(vendor: Simulator) -> None:
    """The question was refused before, and the new one takes up the objection."""
    for line in lines("answered_objections.jsonl"):
        refused = emission_of(vendor, line, "refused").value
        vetoed = continue_after(open_dialogue(refused, line["objection"]), refused)
        emission_of(vendor, line, after=vetoed)
