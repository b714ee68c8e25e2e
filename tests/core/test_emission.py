"""Emissions from scripts of answers: driven by hand, and through both drivers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.attempts import Verdict
from emitter.clock import Clock
from emitter.core.effects import EmissionOutcome, Sleep
from emitter.core.emission import run_emission
from emitter.core.verdicts import DOUBTFUL, RETRACTED
from emitter.events import CapBreached, Level, LogAppended, ProviderUsage, Reason, RetryAttempted, RetryExhausted
from emitter.messages import Fault, FaultKind, ModelRequest, ModelResponse, Usage
from emitter.policy import Policy
from tests.core import asks
from tests.core.asks import CEILING, FIRST, SPENT, ask
from tests.core.driving import Ran, by_hand, driven, run_of
from tests.core.exchanges import Scripted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.deadline import Deadline
    from emitter.messages import CallResult


def sync(script: Sequence[CallResult], policy: Policy | None = None) -> Ran:
    """Drive an emission with ``run``."""
    ran, left = Ran(EmissionOutcome(()), [], [], []), iter(script)

    def send(request: ModelRequest, _: Deadline) -> CallResult:
        ran.requests.append(request)
        return next(left)

    clock, policy = Clock(sleep=ran.waits.append, wait=lambda _: 0.0), policy or Policy()
    run = run_of(run_emission(ask(), policy), policy, clock, ran.events)
    ran.outcome = driven("sync", run, Scripted(send))
    return ran


def asynchronous(script: Sequence[CallResult], policy: Policy | None = None) -> Ran:
    """Drive an emission with ``arun``."""
    ran, left = Ran(EmissionOutcome(()), [], [], []), iter(script)

    def send(request: ModelRequest, _: Deadline) -> CallResult:
        ran.requests.append(request)
        return next(left)

    async def asleep(seconds: float) -> None:
        ran.waits.append(seconds)

    clock, policy = Clock(async_sleep=asleep, wait=lambda _: 0.0), policy or Policy()
    run = run_of(run_emission(ask(), policy), policy, clock, ran.events)
    ran.outcome = driven("async", run, Scripted(send))
    return ran


WRONG_TYPE = "- /count: a whole number of at least 0, such as 7"
SCRIPTS: dict[str, list[CallResult]] = {
    "whole": [asks.WHOLE],
    "fenced": [asks.FENCED],
    "sent-twice": [asks.TWICE],
    "cut-then-whole": [asks.CUT, asks.WHOLE],
    "cut-but-valid-then-whole": [asks.CUT_BUT_VALID, asks.WHOLE],
    "cut-to-the-end": [asks.CUT, asks.CUT, asks.CUT],
    "overflowed": [asks.OVERFLOWED],
    "refused": [asks.REFUSED],
    "refused-but-valid": [asks.REFUSED_BUT_VALID],
    "wrong-type-then-whole": [asks.WRONG_TYPE, asks.WHOLE],
    "wrong-kind-then-whole": [asks.WRONG_KIND, asks.WHOLE],
    "several-then-whole": [asks.SEVERAL, asks.WHOLE],
    "prose-to-the-end": [asks.PROSE, asks.PROSE, asks.PROSE],
    "empty-then-whole": [asks.EMPTY, asks.WHOLE],
    "taken-back-then-whole": [asks.TAKEN_BACK, asks.WHOLE],
    "taken-back-twice": [asks.TAKEN_BACK, asks.TAKEN_BACK],
    "doubtful-then-whole": [asks.DOUBTFUL, asks.WHOLE],
    "doubtful-twice": [asks.DOUBTFUL, asks.DOUBTFUL],
    "taken-back-then-doubtful": [asks.TAKEN_BACK, asks.DOUBTFUL],
    "doubtful-then-taken-back": [asks.DOUBTFUL, asks.TAKEN_BACK],
    "doubtful-then-prose": [asks.EXAMPLE, asks.PROSE, asks.PROSE],
    "doubtful-then-refused": [asks.EXAMPLE, asks.REFUSED],
    "doubtful-and-invalid-then-doubtful": [asks.EXAMPLE_OF_WRONG_TYPE, asks.EXAMPLE],
    "doubtful-overloaded-whole": [asks.EXAMPLE, asks.OVERLOADED, asks.WHOLE],
    "doubtful-overloaded-to-the-end": [asks.EXAMPLE, *[asks.OVERLOADED] * 5],
    "invalid-twice-then-doubtful": [asks.WRONG_TYPE, asks.WRONG_TYPE, asks.EXAMPLE],
    "a-draft-then-whole": [asks.DRAFT, asks.WHOLE],
    "paused-then-whole": [asks.PAUSED, asks.WHOLE],
    "unknown-twice": [asks.UNKNOWN, asks.UNKNOWN],
    "overloaded-then-whole": [asks.OVERLOADED, asks.WHOLE],
    "overloaded-to-the-end": [asks.OVERLOADED] * 5,
    "unauthorised": [asks.UNAUTHORISED],
    "asked-to-wait-an-hour": [asks.PATIENT],
    "cut-violated-overloaded-whole": [asks.CUT, asks.EXTRA, asks.OVERLOADED, asks.WHOLE],
}
every_script = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())

CODES = {
    "cut-to-the-end": "envelope_truncation_unrecoverable",
    "overflowed": "envelope_truncation_unrecoverable",
    "refused": "envelope_refusal",
    "refused-but-valid": "envelope_refusal",
    "prose-to-the-end": "envelope_invalid",
    "taken-back-twice": "envelope_invalid",
    "doubtful-then-taken-back": "envelope_invalid",
    "doubtful-then-prose": "envelope_invalid",
    "doubtful-then-refused": "envelope_refusal",
    "doubtful-overloaded-to-the-end": "provider_unavailable",
    "unknown-twice": "envelope_invalid",
    "overloaded-to-the-end": "provider_unavailable",
    "unauthorised": "provider_authentication_failed",
    "asked-to-wait-an-hour": "rate_limited",
}


@every_script
def test_the_three_drivers_agree(script: list[CallResult]) -> None:
    """By hand, ``run`` and ``arun`` see equal events, requests, waits and outcomes."""
    ran = [drive(script) for drive in (by_hand, sync, asynchronous)]

    for each in ran[1:]:
        assert each.events == ran[0].events
        assert each.requests == ran[0].requests
        assert each.waits == ran[0].waits
        assert each.outcome == ran[0].outcome


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_ends_in_a_value_or_in_its_code(name: str) -> None:
    """Every script is used up, and ends as its last answer deserves."""
    ran = by_hand(SCRIPTS[name])

    assert len(ran.requests) == len(SCRIPTS[name])
    assert (ran.outcome.failure.code if ran.outcome.failure else None) == CODES.get(name)
    assert ran.outcome.value == (None if name in CODES else {"kind": "answer", "count": 2})


@every_script
def test_usage_counts_every_call(script: list[CallResult]) -> None:
    """The outcome's usage is what all calls cost, failed ones included."""
    ran = by_hand(script)
    reported = [each for each in ran.events if isinstance(each, ProviderUsage)]
    costly = sum(each.usage is not None for each in script)

    assert ran.outcome.usage == Usage(SPENT.input * costly, SPENT.output * costly)
    assert len(reported) == costly


def test_words_that_take_a_document_back_buy_one_correction() -> None:
    """It says what is wanted instead, and a model that refuses again is not asked a third time."""
    ran = by_hand([asks.TAKEN_BACK, asks.TAKEN_BACK], Policy(max_attempts=16))

    assert ran.verdicts == [Verdict.MALFORMED, Verdict.MALFORMED]
    assert [each.correction for each in ran.requests] == [None, f"- {RETRACTED}"]
    assert ran.outcome.failure is not None
    assert "take it back" in ran.outcome.failure.message


def test_doubtful_words_cost_one_correction_and_are_not_fatal() -> None:
    """The same words again are let stand, and a warning tells of them."""
    ran = by_hand([asks.DOUBTFUL, asks.DOUBTFUL])
    warned = [each for each in ran.events if isinstance(each, LogAppended) and each.level is Level.WARN]

    assert [each.correction for each in ran.requests] == [None, f"- {DOUBTFUL}"]
    assert ran.outcome.value == {"kind": "answer", "count": 2}
    assert [each.fields["rule"] for each in warned] == ["doubted"]
    assert [each.rule for each in ran.outcome.findings] == ["doubted"]


def test_doubtful_words_around_an_invalid_document_are_named_with_its_violations() -> None:
    """One correction asks for both, and for neither in words of the answer."""
    ran = by_hand([asks.EXAMPLE_OF_WRONG_TYPE, asks.WHOLE])

    assert [each.correction for each in ran.requests] == [None, f"- {DOUBTFUL}\n{WRONG_TYPE}"]
    assert ran.outcome.findings == ()


@pytest.mark.parametrize(
    "policy",
    [Policy(max_attempts=1), Policy(max_total_tokens=SPENT.input + SPENT.output + 1)],
    ids=["attempts", "tokens"],
)
def test_doubtful_words_are_let_stand_where_no_correction_is_allowed(policy: Policy) -> None:
    """Words that may be harmless end no emission."""
    ran = by_hand([asks.EXAMPLE], policy)

    assert ran.outcome.value == {"kind": "answer", "count": 2}
    assert [each.rule for each in ran.outcome.findings] == ["doubted"]


def test_an_answer_to_the_correction_replaces_the_doubtful_one() -> None:
    """The first answer is not accepted in place of a later one, even if no call is left."""
    ran = by_hand([asks.EXAMPLE, asks.WRONG_TYPE], Policy(max_total_tokens=2 * (SPENT.input + SPENT.output) + 4))

    assert ran.verdicts == [Verdict.FLAGGED, Verdict.VIOLATED]
    assert ran.outcome.failure is not None


def test_a_cut_raises_the_budget_by_the_multiplier_up_to_the_ceiling() -> None:
    """The budget doubles, is clamped, and a clamped cut is terminal even with attempts left."""
    ran = by_hand([asks.CUT] * 3, Policy(max_attempts=16))

    assert [each.max_output_tokens for each in ran.requests] == [FIRST, 2 * FIRST, CEILING]
    assert [each.correction for each in ran.requests] == [None, None, None]


def test_the_multiplier_is_the_policys() -> None:
    """Another multiplier gives another budget, rounded up."""
    ran = by_hand([asks.CUT, asks.WHOLE], Policy(truncation_multiplier=1.255))

    assert ran.requests[1].max_output_tokens == 126


def test_a_raised_budget_stays_for_a_schema_retry() -> None:
    """After a cut, a correction keeps the larger budget."""
    ran = by_hand([asks.CUT, asks.WRONG_TYPE, asks.WHOLE])

    assert [(each.max_output_tokens, each.correction) for each in ran.requests] == [
        (FIRST, None),
        (2 * FIRST, None),
        (2 * FIRST, WRONG_TYPE),
    ]


def test_a_retry_after_a_cut_has_no_correction() -> None:
    """The fragment written for an earlier answer is left out; the rest of the request is the same, with more room."""
    ran = by_hand([asks.WRONG_TYPE, asks.CUT, asks.WHOLE])

    assert [(each.max_output_tokens, each.correction) for each in ran.requests][1:] == [
        (FIRST, WRONG_TYPE),
        (2 * FIRST, None),
    ]
    assert replace(ran.requests[2], max_output_tokens=FIRST) == ran.requests[0]


def test_a_violation_after_a_cut_is_corrected_anew() -> None:
    """The earlier fragment does not come back: the next one is written from the next violation."""
    ran = by_hand([asks.WRONG_TYPE, asks.CUT, asks.WRONG_KIND, asks.WHOLE], Policy(max_attempts=4))

    assert [each.correction for each in ran.requests] == [None, WRONG_TYPE, None, '- /kind: exactly "answer"']


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_a_breach_tells_how_many_retries_were_allowed(attempts: int) -> None:
    """`limit` is the ceiling on retries, not the number of calls; `observed` is the retry that would pass it."""
    ran = by_hand([asks.WRONG_TYPE] * attempts, Policy(max_attempts=attempts))

    assert CapBreached("schema", attempts - 1, attempts) in ran.events
    assert (
        RetryExhausted(attempts, Reason.TYPE_MISMATCH, "/count: a whole number of at least 0, such as 7") in ran.events
    )


@pytest.mark.parametrize(
    ("answer", "reason", "reported"),
    [
        (asks.WRONG_TYPE, Reason.TYPE_MISMATCH, "/count: a whole number of at least 0, such as 7"),
        (asks.WRONG_KIND, Reason.TYPE_DRIFT, '/kind: exactly "answer"'),
        (asks.EXTRA, Reason.SCHEMA_VIOLATION, '/: only the properties "kind", "count", "note", and no others'),
        (asks.PROSE, Reason.PARSE_ERROR, "/: no-document: one JSON document; the last answer held none"),
        (
            asks.SEVERAL,
            Reason.PARSE_ERROR,
            "/: several-documents: one JSON document; the last answer held several different ones",
        ),
        (asks.EMPTY, Reason.PARSE_ERROR, "/: empty: one JSON document; the last answer was empty"),
        (asks.EXAMPLE, Reason.PARSE_ERROR, "/: doubted: the document alone, with no words before or after it"),
        (asks.UNKNOWN, Reason.UNKNOWN, None),
        (asks.PAUSED, Reason.UNKNOWN, None),
        (asks.CUT, Reason.TRUNCATION, None),
    ],
    ids=["type", "kind", "extra", "prose", "several", "empty", "words", "unknown", "paused", "cut"],
)
def test_a_retry_tells_its_reason_without_the_answer(answer: CallResult, reason: Reason, reported: str | None) -> None:
    """The reason is OpenWOP's, the error is the validator's, and no word of the answer is in either."""
    ran = by_hand([answer, asks.WHOLE])

    assert [each for each in ran.events if isinstance(each, RetryAttempted)] == [RetryAttempted(2, reason, reported)]
    assert "SECRETWORD" not in repr(ran.events) + repr(ran.requests) + repr(ran.outcome)


def test_one_attempt_means_one_call() -> None:
    """With a single attempt nothing is retried, and the end is reported all the same."""
    ran = by_hand([asks.WRONG_TYPE], Policy(max_attempts=1))

    assert [each.total_attempts for each in ran.events if isinstance(each, RetryExhausted)] == [1]


def test_a_fault_costs_no_attempt() -> None:
    """Faults are bounded by themselves: three answers may still be judged."""
    script = [asks.OVERLOADED, asks.CUT, asks.OVERLOADED, asks.WRONG_TYPE, asks.OVERLOADED, asks.WHOLE]
    ran = by_hand(script, Policy(max_attempts=3))

    assert ran.outcome.failure is None
    assert ran.waits == [2.0, 2.0, 2.0]
    assert [each.attempt for each in ran.events if isinstance(each, RetryAttempted)] == [2, 3]


def test_the_wait_that_would_pass_the_deadline_ends_the_emission() -> None:
    """A driver that says the deadline comes first is believed."""
    late = Fault(FaultKind.DEADLINE, "too late")
    steps, reported = run_emission(ask(), Policy()), []
    answer: CallResult | None = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            outcome: EmissionOutcome = end.value
            break
        reported.append(step)
        answer = {ModelRequest: asks.OVERLOADED, Sleep: late}.get(type(step))

    assert outcome.failure is not None
    assert outcome.failure.code == "deadline_exceeded"
    assert sum(isinstance(each, ModelRequest) for each in reported) == 1


ANSWERS = [each for each in vars(asks).values() if isinstance(each, ModelResponse | Fault)]
assert {type(each) for each in ANSWERS} == {ModelResponse, Fault}


@given(st.lists(st.sampled_from(ANSWERS), min_size=40, max_size=40), st.integers(1, 16), st.integers(0, 16))
def test_laws_hold_for_any_script(script: list[CallResult], attempts: int, faults: int) -> None:
    """Calls are bounded, budgets never fall, nothing follows a refusal, no word of an answer is reported."""
    ran = by_hand(script, Policy(max_attempts=attempts, max_faults=faults))
    budgets = [each.max_output_tokens for each in ran.requests]
    final = {Verdict.COMPLETE, Verdict.REFUSED, Verdict.OVERFLOWED}

    assert sum(each is not Verdict.FAULTED for each in ran.verdicts) <= attempts
    assert sum(each is Verdict.FAULTED for each in ran.verdicts) <= faults + 1
    assert budgets == sorted(budgets)
    assert max(budgets) <= CEILING
    assert not final & set(ran.verdicts[:-1])
    assert (ran.verdicts[-1] is Verdict.COMPLETE) == (ran.outcome.failure is None)
    assert len(ran.requests) == len(ran.outcome.attempts)
    assert "SECRETWORD" not in repr(ran.events) + repr(ran.requests)


@given(st.lists(st.sampled_from(ANSWERS), min_size=40, max_size=40))
def test_every_end_is_reported_in_order(script: list[CallResult]) -> None:
    """Exhaustion comes before the limit, the limit before the failure, and the failure is last."""
    ran = by_hand(script)
    types = [each.type for each in ran.events if not isinstance(each, LogAppended)]
    order = ["envelope.retry.exhausted", "cap.breached", "node.failed"]

    assert [each for each in types if each in order] in ([], order, order[2:])
    assert (types[-1] == "node.failed") == (ran.outcome.failure is not None)
