"""Checks inside an emission: an error is corrected or refused, a guess asks once, and a warning is reported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import (
    BindingMoment,
    Emission,
    InputError,
    Invalid,
    Policy,
    Withheld,
    emit_binding_moment,
    stream_binding_moment,
)
from emitter.checks import DEFAULT_CHECKS, EnglishLexicon, Finding, Severity
from emitter.errors import CheckFailed
from emitter.events import CHECK_FINDING, LogAppended
from emitter.models import Hatches
from emitter.streaming import Restart
from emitter.testing import Text, simulator
from emitter.testing.behaviours import (
    Cut,
    Dropped,
    Empty,
    Failed,
    Filtered,
    Overflowed,
    Overloaded,
    Paused,
    Refused,
    Unauthorized,
    UnknownStop,
    Violating,
)
from tests.scenarios.answers import BOUND, DELIBERATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.events import RunEvent
    from emitter.testing import Simulator

MODEL = "openai/gpt-6-sol"
WORD = "quandarious"
"""A word of the answer, which must be in nothing that is sent or reported afterwards."""


def turn(**changed: Any) -> Text:
    """Return the bound answer with slots changed."""
    return Text({**BOUND, "turn": {**BOUND["turn"], **changed}})


def asking(**changed: Any) -> Text:
    """Return the bound answer with members of its question changed."""
    return turn(question={**BOUND["turn"]["question"], **changed})


DEFERRING = turn(synopsis=f"It depends on the {WORD} report whether to resume.")
HATCH = asking(options=[BOUND["turn"]["question"]["options"][0], {"label": "Something else", "reasoning": WORD}])
ASKED_AGAIN = {
    "an error": ("/turn/question/options/1/label: option-hatch", HATCH, "violated"),
    "a phrase in the synopsis": ("/turn/synopsis: synopsis-defers", DEFERRING, "flagged"),
    "a phrase in the stem": (
        "/turn/question/stem: stem-leads",
        asking(stem=f"Should we not obviously resume the {WORD} one?"),
        "flagged",
    ),
}


@pytest.fixture
def vendor() -> Iterator[Simulator]:
    """Run a simulated vendor that binds well where no script says otherwise."""
    with simulator(answers=Text(BOUND)) as running:
        yield running


def reported(events: tuple[RunEvent, ...]) -> list[dict[str, Any]]:
    """Return the fields of the events about findings."""
    told = [each.event for each in events]
    return [dict(each.fields) for each in told if isinstance(each, LogAppended) and each.message == CHECK_FINDING]


@pytest.mark.parametrize(("correction", "answer", "verdict"), ASKED_AGAIN.values(), ids=ASKED_AGAIN)
def test_a_finding_is_corrected_without_a_word_of_the_answer(
    vendor: Simulator, correction: str, answer: Text, verdict: str
) -> None:
    """The second call names place and rule in our words, and its answer is the envelope."""
    vendor.script(answer)

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL))

    again = json.dumps(vendor.calls[1].body)
    assert isinstance(decision, Emission)
    assert [each.verdict.value for each in decision.attempts] == [verdict, "complete"]
    assert decision.findings == ()
    assert correction in again
    assert WORD not in again
    assert WORD not in json.dumps([each.to_json() for each in decision.events])


def test_an_error_that_stays_is_invalid(vendor: Simulator) -> None:
    """A structural rule that stays broken leaves no envelope."""
    vendor.script(*[HATCH] * 2)

    with pytest.raises(Invalid) as raised:
        emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), policy=Policy(max_attempts=2))

    assert raised.value.code == "envelope_invalid"


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_a_guess_that_stands_is_delivered_as_a_warning(vendor: Simulator, attempts: int) -> None:
    """It buys one correction, if a call is left, and never more than one."""
    vendor.script(*[DEFERRING] * 3)

    decision = emit_binding_moment(
        "Resume?", model=MODEL, client=vendor.client(MODEL), policy=Policy(max_attempts=attempts)
    )

    assert isinstance(decision, Emission)
    assert len(decision.attempts) == min(attempts, 2)
    assert decision.findings[0] == Finding(
        "/synopsis", "synopsis-defers", Severity.WARNING, decision.findings[0].message
    )
    assert {each.severity for each in decision.findings} == {Severity.WARNING}
    assert "synopsis-defers" in {each["rule"] for each in reported(decision.events)}


FAILED_CORRECTIONS = {
    "refused": Refused(),
    "filtered": Filtered(),
    "cut": Cut(at_tokens=8),
    "paused": Paused(),
    "an unknown stop": UnknownStop(),
    "no JSON": Text("I stand by it."),
    "nothing": Empty(),
    "an error in it": HATCH,
    "against the schema": Violating({"reasoning": 1}),
    "overloaded": Overloaded(),
    "failed": Failed(),
    "unauthorized": Unauthorized(),
    "dropped": Dropped(),
    "too long": Overflowed(),
}


@pytest.mark.parametrize("answer", FAILED_CORRECTIONS.values(), ids=FAILED_CORRECTIONS)
def test_a_correction_that_fails_leaves_the_first_answer(vendor: Simulator, answer: Any) -> None:
    """The model was asked only because of a guess, so the decision is delivered, after one further call."""
    vendor.script(DEFERRING, answer)

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL))

    assert isinstance(decision, Emission)
    assert WORD in decision.value.synopsis
    assert decision.findings[0].rule == "synopsis-defers"
    assert len(decision.attempts) == len(vendor.calls) == 2


def test_a_correction_that_a_limit_forbids_is_not_asked_for(vendor: Simulator) -> None:
    """Tokens that are not left buy no correction, and the decision is delivered."""
    vendor.script(DEFERRING)

    decision = emit_binding_moment(
        "Resume?", model=MODEL, client=vendor.client(MODEL), policy=Policy(max_total_tokens=first_call(vendor) * 3 // 2)
    )

    assert isinstance(decision, Emission)
    assert len(decision.attempts) == 1
    assert decision.findings


def first_call(vendor: Simulator) -> int:
    """Return the tokens of one call with the deferring answer, and forget that call."""
    vendor.script(DEFERRING)
    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), policy=Policy(max_attempts=1))
    vendor.reset()
    vendor.script(DEFERRING)
    return decision.usage.total


def test_a_decision_may_be_withheld_on_a_correction(vendor: Simulator) -> None:
    """Asked whether it can commit, the agent may use its veto."""
    vendor.script(DEFERRING, Text(DELIBERATION))

    assert isinstance(emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL)), Withheld)


def test_a_stream_starts_again_for_a_correction(vendor: Simulator) -> None:
    """The parts of the first answer are taken back, and the result is that of the call."""
    vendor.script(DEFERRING)

    with stream_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL)) as running:
        restarts = [event.reason.value for event in running if isinstance(event, Restart)]
        decision = running.result()

    assert restarts == ["flagged"]
    assert len(decision.attempts) == 2


@pytest.mark.parametrize(("severity", "rules"), [("warning", ["synopsis-defers"]), ("off", [])])
def test_a_rule_is_softened(vendor: Simulator, severity: str, rules: list[str]) -> None:
    """A warning is reported and asks for nothing."""
    vendor.script(DEFERRING)
    lexicon = EnglishLexicon({"synopsis-defers": severity})

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), checks=[lexicon])

    assert isinstance(decision, Emission)
    assert len(decision.attempts) == 1
    assert [finding.rule for finding in decision.findings] == rules


def no_resuming(moment: BindingMoment) -> list[Finding]:
    """Object to a label, in words that repeat it."""
    label = moment.question.options[0].label
    return [Finding("/question/options/0/label", "no-resuming", Severity.RETRY, f"Avoid {label}.")]


def test_a_check_of_the_caller_asks_once(vendor: Simulator) -> None:
    """Its finding is treated like any other, and the words of the answer are removed from its message."""
    decision = emit_binding_moment(
        "Resume?", model=MODEL, client=vendor.client(MODEL), checks=(*DEFAULT_CHECKS, no_resuming)
    )

    assert isinstance(decision, Emission)
    assert [each.verdict.value for each in decision.attempts] == ["flagged", "complete"]
    assert [finding.rule for finding in decision.findings] == ["no-resuming"]
    assert decision.value.question.options[0].label not in json.dumps(vendor.calls[1].body)


def test_a_check_of_the_caller_refuses(vendor: Simulator) -> None:
    """A sentence is an error, as in ``emit``."""
    with pytest.raises(Invalid, match="The class is missing"):
        emit_binding_moment(
            "Resume?", model=MODEL, client=vendor.client(MODEL), checks=[lambda _: "The class is missing."]
        )


def test_a_check_that_raises_is_not_hidden(vendor: Simulator) -> None:
    """Its exception is the cause, and no further call is made."""

    def broken(_: BindingMoment) -> list[Finding]:
        raise ZeroDivisionError

    with pytest.raises(CheckFailed) as raised:
        emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), checks=[broken])

    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_a_warning_names_slot_rule_and_section(vendor: Simulator) -> None:
    """Two findings are fewer than recommended: reported with the slot, and no reason to ask again."""
    vendor.script(turn(findings=[f"The {WORD} report has ended.", "87 partitions remain."]))

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL))

    (warning,) = reported(decision.events)
    assert warning["pointer"] == "/findings"
    assert "(section 5.2)" in warning["expected"]
    assert len(decision.attempts) == 1


@pytest.mark.parametrize("closed", ["free_text", "dialogue"])
def test_a_suppressed_hatch_is_always_told(vendor: Simulator, closed: str) -> None:
    """No check switches that off (draft, section 11.3)."""
    hatches = Hatches(free_text=closed != "free_text", dialogue=closed != "dialogue")

    decision = emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL), hatches=hatches)

    assert isinstance(decision, Emission)
    assert [each["pointer"] for each in reported(decision.events)] == [f"/question/hatches/{closed}"]


def test_a_good_envelope_has_no_findings(vendor: Simulator) -> None:
    """Nothing is reported of what holds."""
    assert reported(emit_binding_moment("Resume?", model=MODEL, client=vendor.client(MODEL)).events) == []


def test_checks_of_another_type_are_refused() -> None:
    """A mapping of severities is an argument of the checks, not of the call."""
    wrong: Any = ["synopsis-defers"]
    with pytest.raises(InputError, match=r"checks\[0\] is of type str, not a function"):
        emit_binding_moment("Resume?", model=MODEL, checks=wrong)
