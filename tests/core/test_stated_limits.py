"""Limits that a vendor names in its refusal, and budgets that are used up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.attempts import Verdict
from emitter.core.loops import ends_in_loop
from emitter.core.verdicts import DocumentContract, classify
from emitter.events import BUDGET_LOWERED, LogAppended, RetryAttempted
from emitter.messages import Fault, FaultKind, ModelResponse, ProviderErrorDetails, StatedLimits, StopReason, Usage
from emitter.policy import Policy
from tests.core import asks
from tests.core.driving import by_hand

if TYPE_CHECKING:
    from emitter.messages import CallResult, ModelRequest

T, F, O, B = Verdict.TRUNCATED, Verdict.FAULTED, Verdict.OVERFLOWED, FaultKind.BUDGET_REFUSED  # noqa: E741
FIRST = asks.FIRST


def refused(kind: FaultKind | StopReason = B, **figures: int) -> CallResult:
    """Return a refusal that names figures."""
    report = ProviderErrorDetails("No.", limits=StatedLimits(**figures) if figures else None)
    if isinstance(kind, StopReason):
        return ModelResponse(kind, "error:x", report=report)
    return Fault(kind, "The vendor answered 400.", 400, report=report)


def window(**figures: int) -> CallResult:
    """Return a window that is exceeded."""
    return refused(StopReason.OVERFLOWED, **figures)


ROOM: dict[str, tuple[CallResult, int]] = {
    "output": (refused(output=60), 60),
    "credit": (refused(FaultKind.QUOTA, credit=60), 60),
    "window": (window(window=100, prompt=40), 60),
    "window-by-the-sum": (window(window=100, requested=40 + FIRST), 60),
    "window-with-a-bound": (window(window=100, least_prompt=40), 60),
    "window-without-the-prompt": (window(window=100), 100 - 15),  # its own estimate of 12, and a margin
    "rate": (refused(FaultKind.TOO_LARGE, rate=100, requested=40 + FIRST), 60),
    "the-smallest": (refused(output=80, window=100, prompt=40), 60),
}


@pytest.mark.parametrize("name", ROOM)
def test_a_named_budget_is_used_once_and_told(name: str) -> None:
    """The call counts, later budgets stay below the limit, and the log says what was refused."""
    answer, budget = ROOM[name]
    ran = by_hand([answer, asks.WHOLE])

    assert [request.max_output_tokens for request in ran.requests] == [FIRST, budget]
    assert ran.outcome.failure is None
    told = [event for event in ran.events if isinstance(event, LogAppended) and event.message == BUDGET_LOWERED]
    assert [(event.fields["refused"], event.fields["budget"]) for event in told] == [(FIRST, budget)]


@pytest.mark.parametrize("name", ROOM)
def test_a_named_budget_is_a_call_like_any_other(name: str) -> None:
    """With one attempt there is no second call, and the error names the budget that would do."""
    answer, budget = ROOM[name]
    ran = by_hand([answer], Policy(max_attempts=1))

    assert len(ran.requests) == 1
    assert ran.outcome.failure is not None
    assert f"output_tokens={budget}" in (ran.outcome.failure.hint or "")


NO_ROOM: dict[str, tuple[CallResult, str]] = {
    "output": (refused(output=20), "the largest output budget has 20 tokens"),
    "window": (window(window=100, prompt=90), "100 tokens together, and the prompt has 90"),
    "prompt": (window(longest_prompt=50, prompt=90), "a prompt may have 50 tokens, and the prompt has 90"),
    "rate": (refused(FaultKind.TOO_LARGE, rate=100, requested=90 + FIRST), "a minute allows 100 tokens"),
    "credit": (refused(FaultKind.QUOTA, credit=5), "the account can pay for 5 output tokens"),
    "larger": (refused(output=FIRST + 1), "the largest output budget has 101 tokens"),
}


@pytest.mark.parametrize("name", NO_ROOM)
def test_an_error_says_which_figure_is_in_the_way(name: str) -> None:
    """A budget that no answer fits is not sent."""
    answer, words = NO_ROOM[name]
    ran = by_hand([answer], asked=replace(asks.ask(), smallest_answer=30))

    assert len(ran.requests) == 1
    assert ran.outcome.failure is not None
    assert words in ran.outcome.failure.message
    assert "output_tokens=20" not in (ran.outcome.failure.hint or "")


def test_a_budget_that_was_named_is_not_asked_for_twice() -> None:
    """A server that names another figure each time is not followed."""
    ran = by_hand([refused(output=60), refused(output=40)])

    assert [request.max_output_tokens for request in ran.requests] == [FIRST, 60]
    assert [attempt.verdict for attempt in ran.outcome.attempts] == [F, F]


def test_later_budgets_stay_below_the_limit() -> None:
    """A cut at the limit is final."""
    ran = by_hand([refused(output=60), asks.CUT])

    assert ran.verdicts == [F, T]
    assert ran.outcome.failure is not None
    assert ran.outcome.failure.verdict is T


REFUSED_RAISES: dict[str, CallResult] = {
    "output": refused(output=FIRST),
    "smaller": refused(output=40),
    "window": window(window=FIRST + 40, prompt=40),
    "bad-request": refused(FaultKind.BAD_REQUEST),
    "too-large": refused(FaultKind.TOO_LARGE),
    "no-figure": refused(),
    "credit": refused(FaultKind.QUOTA, credit=FIRST),
}


@pytest.mark.parametrize("name", REFUSED_RAISES)
def test_a_cut_whose_larger_budget_is_refused_stays_a_cut(name: str) -> None:
    """The verdict is TRUNCATED, and so is the reason to ask another model."""
    ran = by_hand([asks.CUT, REFUSED_RAISES[name]])

    assert [request.max_output_tokens for request in ran.requests] == [FIRST, 2 * FIRST]
    assert ran.outcome.failure is not None
    assert (ran.outcome.failure.verdict, ran.outcome.failure.code) == (T, "envelope_truncation_unrecoverable")
    assert f"cut at {FIRST} tokens, and the vendor refuses a larger budget" in ran.outcome.failure.message
    assert "Policy" not in (ran.outcome.failure.hint or "")


def test_a_refused_raise_may_name_a_budget_in_between() -> None:
    """It is used if it is larger than the one that was cut."""
    ran = by_hand([asks.CUT, refused(output=150), asks.WHOLE])

    assert [request.max_output_tokens for request in ran.requests] == [FIRST, 2 * FIRST, 150]
    assert ran.outcome.failure is None


@pytest.mark.parametrize("kind", [FaultKind.AUTHENTICATION, FaultKind.NOT_FOUND, FaultKind.MODE_REFUSED])
def test_other_failures_after_a_cut_are_their_own(kind: FaultKind) -> None:
    """They say nothing about the budget."""
    ran = by_hand([asks.CUT, refused(kind)])

    assert ran.outcome.failure is not None
    assert ran.outcome.failure.verdict is F


def spent(text: str, output: int, *, estimated: bool = False, stop: StopReason = StopReason.COMPLETE) -> ModelResponse:
    """Return an answer of so many tokens."""
    return ModelResponse(stop, stop.value, text=text, usage=Usage(10, output, estimated=estimated))


HALF, VALID = '{"kind": "answer", "cou', '{"kind": "answer", "count": 2}'
USED_UP: dict[str, tuple[ModelResponse, Verdict]] = {
    "half a document": (spent(HALF, FIRST), Verdict.TRUNCATED),
    "nothing": (spent("", FIRST), Verdict.TRUNCATED),
    "one token too many": (spent(HALF, FIRST + 1), Verdict.TRUNCATED),
    "one token less": (spent(HALF, FIRST - 1), Verdict.MALFORMED),
    "a whole document": (spent(VALID, FIRST), Verdict.COMPLETE),
    "an estimate": (spent(HALF, FIRST, estimated=True), Verdict.MALFORMED),
    "a retraction": (spent(f"{VALID}\nI cannot help with that.", FIRST), Verdict.MALFORMED),
    "blanks": (spent("\n" * 400, FIRST), Verdict.LOOPED),
    "blanks after a start": (spent('{"kind": ' + " \n\t" * 200, FIRST), Verdict.LOOPED),
    "a loop": (spent('{"kind": "' + "no no yes " * 60, FIRST), Verdict.LOOPED),
    "a loop that is told as a cut": (
        spent('{"kind": "' + "no no yes " * 60, 50, stop=StopReason.TRUNCATED),
        Verdict.LOOPED,
    ),
}


@pytest.mark.parametrize("name", USED_UP)
def test_a_cut_in_disguise_is_a_cut(name: str) -> None:
    """A clean stop at the budget without a document."""
    answer, verdict = USED_UP[name]

    assert classify(answer, DocumentContract(asks.COMPILED), asks.request()).verdict is verdict


LOOP = spent('{"kind": "' + "no no yes " * 60, FIRST, stop=StopReason.TRUNCATED)


def test_a_loop_is_corrected_once_at_the_same_budget() -> None:
    """Twice the budget would be filled in the same way."""
    ran = by_hand([LOOP, asks.WHOLE])

    assert [request.max_output_tokens for request in ran.requests] == [FIRST, FIRST]
    assert "loop" in (ran.requests[1].correction or "")
    assert "each item as often as it occurs" in (ran.requests[1].correction or ""), "equal rows may be right"
    assert ran.verdicts == [Verdict.LOOPED, Verdict.COMPLETE]
    [retry] = [event for event in ran.events if isinstance(event, RetryAttempted)]
    assert "no yes" not in repr(retry)


def test_a_loop_that_comes_back_ends_and_asks_for_no_more_tokens() -> None:
    """It is told as a loop."""
    ran = by_hand([LOOP, LOOP])

    assert ran.outcome.failure is not None
    assert "repeated itself" in ran.outcome.failure.message
    assert "More tokens do not help" in (ran.outcome.failure.hint or "")
    assert "so many equal items, pass a larger Policy(output_tokens=...)" in (ran.outcome.failure.hint or "")


ROWS = ", ".join(f'{{"item": {n}, "price": {n * 37 % 101}}}' for n in range(200))
TEXTS: dict[str, tuple[str, bool]] = {
    "nothing": ("", False),
    "prose": ("Acme wants 12.50 for two boxes, and Initech wants 30.00 for one of them. " * 2, False),
    "rows": (f"[{ROWS}", False),
    "a short row of dashes": ('{"note": "' + "-" * 80, False),
    "one character": ('{"note": "' + "!" * 300, True),
    "a word": ("I see. " + "yes " * 100, True),
    "a sentence, cut": ("The lock is gone, so we go on with what was left of it. " * 7 + "The lock", True),
    "a long object": (f"[{ROWS[:900]}" * 3, True),
    "a loop that ended": ("yes " * 100 + "and that is all that there was to say about the matter at hand.", False),
    "equal rows": ("[" + '{"paid": false}, ' * 30, True),
    "a sentence with a counter": ("".join(f"Row {n}: the payment is due. " for n in range(60)), False),
    "blanks": (VALID[:-1] + "\n" * 300, True),
    "mixed blanks": ('{"a": ' + "".join(" \t\n"[n * n % 3] for n in range(400)), True),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_a_loop_is(name: str) -> None:
    """The end of the text counts, and a few repetitions are ordinary text."""
    text, is_loop = TEXTS[name]
    assert ends_in_loop(text) is is_loop


def test_the_search_for_a_loop_is_bounded() -> None:
    """The worst text for a search by comparison."""
    text: Any = "ab" * 500_000 + "c"
    assert ends_in_loop(text) is False


NO_DOCUMENTS: dict[str, tuple[ModelResponse, str]] = {
    "empty": (spent("", 3), "empty"),
    "blank": (spent(" \n", 3), "empty"),
    "thinking in a field": (replace(spent("", 3), has_thinking=True), "only-thinking"),
    "thinking that is counted": (replace(spent("", 3), usage=Usage(10, 60, thinking=57)), "only-thinking"),
    "thinking in marks": (spent("<think>There are two.</think>", 3), "only-thinking"),
    "unfinished": (spent(HALF, 3), "unfinished"),
    "unfinished in a fence": (spent(f"```json\n{HALF}", 3), "unfinished"),
    "several": (spent(f"{VALID}\n{VALID.replace('2', '3')}", 3), "several-documents"),
    "several calls": (
        ModelResponse(StopReason.COMPLETE, "tool_calls", arguments=(VALID, VALID.replace("2", "3"))),
        "several-documents",
    ),
    "words": (spent("There are two of them.", 3), "no-document"),
    "not shown": (replace(spent("", 3), report=ProviderErrorDetails("Failed to generate JSON.")), "not-shown"),
    "another tool": (replace(spent("", 3), other_tool_called=True), "other-tool"),
}


@pytest.mark.parametrize("name", NO_DOCUMENTS)
def test_an_answer_without_a_document_says_why(name: str) -> None:
    """In the correction, the events and the error."""
    answer, rule = NO_DOCUMENTS[name]
    ran = by_hand([answer, asks.WHOLE])
    failed = by_hand([answer], Policy(max_attempts=1))

    assert ran.verdicts == [Verdict.MALFORMED, Verdict.COMPLETE]
    assert [violation.rule for violation in ran.outcome.attempts[0].violations] == [rule]
    assert rule in (ran.requests[1].correction or "")
    assert failed.outcome.failure is not None
    assert f": {rule}: " in failed.outcome.failure.message


class LessEffort(asks.Writer):
    """Has one lower effort after another."""

    def lower_effort(self, request: ModelRequest) -> ModelRequest:
        """Lower it."""
        return replace(request, lowered_effort="low")


ONLY_THINKING = replace(asks.CUT, text="", has_thinking=True)


@pytest.mark.parametrize(
    ("last", "verdicts"),
    [pytest.param(asks.WHOLE, (T, F, Verdict.COMPLETE), id="cured"), pytest.param(ONLY_THINKING, (T, F, T), id="not")],
)
def test_less_effort_is_asked_for_where_a_larger_budget_is_refused(last: Any, verdicts: tuple[Verdict, ...]) -> None:
    """Once, with the budget of the cut. The refused budget is not asked for again."""
    asked = asks.ask(writer=LessEffort())
    ran = by_hand([ONLY_THINKING, refused(), last], Policy(lower_effort=True, max_attempts=9), asked)

    assert tuple(attempt.verdict for attempt in ran.outcome.attempts) == verdicts
    assert [request.max_output_tokens for request in ran.requests] == [FIRST, 2 * FIRST, FIRST]
    assert [request.lowered_effort for request in ran.requests] == [None, None, "low"]
