"""The content discipline inside an emission: what it forbids is corrected, what it only remarks is told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Emission, InputError, Invalid, Policy, emit_binding_moment
from emitter.checks import LintConfig
from emitter.events import REMARK, LogAppended
from emitter.models import Hatches
from emitter.testing import Text, simulator
from tests.scenarios.answers import BOUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.events import RunEvent
    from emitter.testing import Simulator

MODEL = "openai/gpt-6-sol"
WORD = "quandarious"
"""Stands in what breaks a rule, and must stand in nothing that is sent or told afterwards."""


def turn(**changed: Any) -> Text:
    """Return the bound answer with slots changed."""
    return Text({**BOUND, "turn": {**BOUND["turn"], **changed}})


def asking(**changed: Any) -> Text:
    """Return the bound answer with members of its question changed."""
    return turn(question={**BOUND["turn"]["question"], **changed})


BROKEN = {
    "synopsis-defers": (
        "/turn/synopsis: synopsis-defers",
        turn(synopsis=f"It depends on the {WORD} report whether to resume."),
    ),
    "stem-leads": ("/turn/question/stem: stem-", asking(stem=f"Should we not obviously resume the {WORD} one?")),
    "option-is-a-hatch": (
        "/turn/question/options/1/label: ",
        asking(options=[BOUND["turn"]["question"]["options"][0], {"label": "Something else", "reasoning": WORD}]),
    ),
}


@pytest.fixture
def vendor() -> Iterator[Simulator]:
    """Run a simulated vendor that binds well where no script says otherwise."""
    with simulator(answers=Text(BOUND)) as running:
        yield running


def remarks(events: tuple[RunEvent, ...]) -> list[dict[str, Any]]:
    """Return the fields of the discipline's remarks."""
    told = [each.event for each in events]
    return [dict(each.fields) for each in told if isinstance(each, LogAppended) and each.message == REMARK]


@pytest.mark.parametrize(("told", "answer"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_corrected_without_a_word_of_the_answer(vendor: Simulator, told: str, answer: Text) -> None:
    """The second call names place and rule, in our words; what came of it is the envelope."""
    vendor.script(answer)

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL))

    again = json.dumps(vendor.calls[1].body)
    assert [each.verdict.value for each in decision.attempts] == ["violated", "complete"]
    assert told in again
    assert WORD not in again
    assert WORD not in json.dumps([each.to_json() for each in decision.events])


def test_a_rule_that_stays_broken_is_invalid(vendor: Simulator) -> None:
    """There is no envelope with a position that was never taken."""
    vendor.script(*[BROKEN["synopsis-defers"][1]] * 2)

    with pytest.raises(Invalid) as raised:
        emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), policy=Policy(max_attempts=2))

    assert raised.value.code == "envelope_invalid"


@pytest.mark.parametrize(("severity", "told"), [("warn", True), ("off", False)])
def test_a_rule_may_be_softened(vendor: Simulator, severity: str, *, told: bool) -> None:
    """What is no error is let through; as a warning it is told."""
    vendor.script(BROKEN["synopsis-defers"][1])

    decision = emit_binding_moment(
        "Resume?",
        model=MODEL,
        client=vendor.client(MODEL),
        discipline=LintConfig.from_mapping({"synopsis-defers": severity}),
    )

    assert len(decision.attempts) == 1
    assert ("synopsis-defers" in {each["rule"] for each in remarks(decision.events)}) is told


def test_a_warning_names_slot_rule_and_section(vendor: Simulator) -> None:
    """Two findings are fewer than recommended: told, with the place in the envelope, and no reason to ask again."""
    vendor.script(turn(findings=[f"The {WORD} report has ended.", "87 partitions remain."]))

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL))

    (remark,) = remarks(decision.events)
    assert remark["pointer"] == "/findings"
    assert "(section 5.2)" in remark["expected"]
    assert len(decision.attempts) == 1


@pytest.mark.parametrize("closed", ["free_text", "dialogue"])
def test_a_suppressed_hatch_is_always_told(vendor: Simulator, closed: str) -> None:
    """No discipline switches that off (draft, section 11.3)."""
    hatches = Hatches(free_text=closed != "free_text", dialogue=closed != "dialogue")

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), hatches=hatches)

    assert isinstance(decision, Emission)
    assert [each["pointer"] for each in remarks(decision.events)] == [f"/question/hatches/{closed}"]


def test_a_good_envelope_gives_rise_to_no_remark(vendor: Simulator) -> None:
    """Nothing is told of what holds."""
    assert remarks(emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL)).events) == []


def test_a_discipline_of_another_type_is_refused() -> None:
    """A dictionary alone is not checked for its words, so it is not taken."""
    wrong: Any = {"synopsis-defers": "warn"}
    with pytest.raises(InputError, match="discipline is of type dict"):
        emit_binding_moment("Resume?", model=MODEL, discipline=wrong)
