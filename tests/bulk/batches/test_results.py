"""What may go wrong with a batch, and what becomes of its emissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter.attempts import Verdict
from emitter.bulk.batches import Batch
from emitter.messages import FaultKind
from emitter.policy import Policy
from emitter.testing.batches import BatchScript
from tests.bulk.asking import asked_of, task
from tests.bulk.batches.asking import MODELS, OPENAI, Setting, ran, vendor

if TYPE_CHECKING:
    from tests.bulk.batches.asking import Came

every_wire = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
TASKS = [task(n) for n in range(4)]
DONE, AGAIN = [Verdict.COMPLETE], [Verdict.FAULTED, Verdict.COMPLETE]


def verdicts(came: Came) -> list[list[Verdict]]:
    """Return the verdicts of each emission, in the order of the tasks."""
    return [[each.verdict for each in came.outcome(f"k{n}").attempts] for n in range(len(came.items))]


@every_wire
@pytest.mark.parametrize(
    ("course", "second"),
    [
        (BatchScript(), []),
        (BatchScript(reverse_results=True), []),
        (BatchScript(duplicated=[0, 2]), []),
        (BatchScript(add_unknown_result=True), []),
        (BatchScript(cut_downloads=1), []),
        (BatchScript(cut_downloads=3), []),
        (BatchScript(expired=[1]), [1]),
        (BatchScript(expired=[0, 1, 2, 3]), [0, 1, 2, 3]),
        (BatchScript(missing=[3]), [3]),
        (BatchScript(garbled=[2]), [2]),
    ],
    ids=["plain", "backwards", "twice", "strange", "cut", "cut-often", "expired", "all-expired", "lost", "garbled"],
)
def test_a_result_that_never_came_is_a_fault_that_passes(course: BatchScript, second: list[int], model: str) -> None:
    """Whatever becomes of the others, each emission has its own answer, and is asked for again only without one."""
    with vendor() as (running, desk):
        desk.batches.script(course)
        came = ran(running.url, TASKS, Setting(model=model))
        batches = [len(each.jobs) for each in desk.batches.stored.values()]
        paid = asked_of(running)

    assert [came.outcome(f"k{n}").value.n for n in range(4)] == [0, 1, 2, 3]
    assert verdicts(came) == [AGAIN if n in second else DONE for n in range(4)]
    assert batches == ([4, len(second)] if second else [4])
    expired = len(course.expired)
    assert sum(paid.values()) == 4 + len(second) - expired


@every_wire
def test_odd_results_are_reported(model: str) -> None:
    """A result that nobody asked for is left out, and said to be."""
    with vendor() as (running, desk):
        desk.batches.script(BatchScript(add_unknown_result=True, duplicated=[1]))
        came = ran(running.url, TASKS, Setting(model=model))

    assert [each for each in came.notices if each.startswith("2 results of batch")]


@every_wire
@pytest.mark.parametrize("status", [429, 503])
def test_a_batch_that_is_not_taken_now_is_sent_later(status: int, model: str) -> None:
    """As for a single call, it is a fault of each emission, and the wait that the vendor asks for is kept."""
    with vendor() as (running, desk):
        desk.batches.script(BatchScript(reject_status=status, retry_after=17))
        came = ran(running.url, TASKS, Setting(model=model))
        batches = len(desk.batches.stored)

    assert verdicts(came) == [AGAIN] * 4
    assert batches == 1
    assert any(each == pytest.approx(17) for each in came.time.slept)


@every_wire
def test_a_batch_that_is_never_taken_ends_its_emissions(model: str) -> None:
    """After as many faults as the policy allows; nothing was paid."""
    with vendor() as (running, desk):
        desk.batches.script(*[BatchScript(reject_status=429)] * 5)
        came = ran(running.url, TASKS, Setting(model=model))
        assert not running.calls

    failures = [came.outcome(f"k{n}").failure for n in range(4)]
    assert {each.code for each in failures if each} == {"rate_limited"}
    assert len(came.outcome("k0").attempts) == 5


@every_wire
def test_while_the_vendor_has_too_many_of_ours_the_others_wait(model: str) -> None:
    """A second batch is refused until the first is done; that is no fault of its emissions."""
    with vendor(polls=3) as (running, desk):
        desk.batches.script(BatchScript(), BatchScript(reject_status=429), BatchScript(reject_status=429))
        came = ran(running.url, TASKS, Setting(model=model, how=Batch(max_requests=2)))
        batches = [len(each.jobs) for each in desk.batches.stored.values()]

    assert verdicts(came) == [DONE] * 4
    assert batches == [2, 2]


@every_wire
@pytest.mark.parametrize("status", [400, 401])
def test_a_batch_that_will_not_do_is_not_sent_again(status: int, model: str) -> None:
    """The fault is each emission's."""
    with vendor() as (running, desk):
        desk.batches.script(BatchScript(reject_status=status))
        came = ran(running.url, TASKS, Setting(model=model))
        assert not desk.batches.stored

    kinds = {came.outcome(f"k{n}").attempts[0].fault for n in range(4)}
    assert {each.kind for each in kinds if each} <= {FaultKind.BAD_REQUEST, FaultKind.AUTHENTICATION}
    assert verdicts(came) == [[Verdict.FAULTED]] * 4


@pytest.mark.parametrize("model", [MODELS["responses"], MODELS["anthropic"]], ids=["openai", "anthropic"])
def test_a_download_that_ends_early_without_a_sign_is_read_again(model: str) -> None:
    """What is not among the results of one reading may be among those of the next."""
    with vendor() as (running, desk):
        desk.batches.script(BatchScript(short_downloads=1))
        came = ran(running.url, TASKS, Setting(model=model))
        assert desk.batches.submitted == 4

    assert verdicts(came) == [DONE] * 4


@every_wire
@pytest.mark.parametrize("unlisted", [0, 1])
def test_a_submission_that_was_not_confirmed_is_looked_for_before_it_is_sent_again(unlisted: int, model: str) -> None:
    """The batch was made, and its answer lost: it is found by its tag or its ids, also where the list lags behind."""
    with vendor() as (running, desk):
        desk.batches.script(BatchScript(drop_confirmation=True, unlisted_count=unlisted))
        came = ran(running.url, TASKS, Setting(model=model))
        assert desk.batches.submitted == 4
        assert set(asked_of(running).values()) == {1}

    assert verdicts(came) == [DONE] * 4


@every_wire
def test_a_submission_that_really_failed_is_sent_again(model: str) -> None:
    """The vendor failed before it made the batch: after two looks for it, it is a fault that passes."""
    with vendor() as (running, desk):
        desk.batches.script(BatchScript(reject_status=500))
        came = ran(running.url, TASKS, Setting(model=model))
        assert desk.batches.submitted == 4

    assert verdicts(came) == [AGAIN] * 4


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        (BatchScript(invalid_code="invalid_json_line", invalid_at=1), [DONE, [Verdict.FAULTED], DONE, DONE]),
        (BatchScript(invalid_code="model_not_found"), [[Verdict.FAULTED]] * 4),
        (BatchScript(invalid_code="token_limit_exceeded"), [AGAIN] * 4),
    ],
    ids=["one-line", "the-model", "the-queue-is-full"],
)
def test_a_batch_that_does_not_hold_as_a_whole(course: BatchScript, expected: list[Any]) -> None:
    """The request at fault is reported so; what was not run for its sake is sent again, and is nobody's fault."""
    with vendor() as (running, desk):
        desk.batches.script(course)
        came = ran(running.url, TASKS, Setting(model=OPENAI))

    assert verdicts(came) == expected


def test_a_gemini_batch_that_fails_as_a_whole_is_sent_again() -> None:
    """The SDK does not tell why; nothing was run."""
    with vendor() as (running, desk):
        desk.batches.script(BatchScript(invalid_code="whatever"))
        came = ran(running.url, TASKS, Setting(model=MODELS["google"]))

    assert verdicts(came) == [AGAIN] * 4


@every_wire
def test_requests_are_split_over_batches(model: str) -> None:
    """By number and by bytes; each answer finds its emission all the same."""
    with vendor(polls=1) as (running, desk):
        came = ran(running.url, [task(n) for n in range(25)], Setting(model=model, how=Batch(max_requests=10)))
        by_number = [len(each.jobs) for each in desk.batches.stored.values()]
        desk.batches.reset()
        ran(running.url, [task(n) for n in range(8)], Setting(model=model, how=Batch(max_bytes=4_000)))
        by_bytes = [len(each.jobs) for each in desk.batches.stored.values()]

    assert [came.outcome(f"k{n}").value.n for n in range(25)] == list(range(25))
    assert by_number == [10, 10, 5]
    assert len(by_bytes) > 1
    assert sum(by_bytes) == 8


@every_wire
def test_a_request_that_fits_no_batch_is_a_fault_of_its_own(model: str) -> None:
    """The others go their way."""
    with vendor() as (running, _):
        tasks = [task(0), task(1, "x" * 20_000), task(2)]
        came = ran(running.url, tasks, Setting(model=model, how=Batch(max_bytes=20_000)))

    assert verdicts(came) == [DONE, [Verdict.FAULTED], DONE]
    failure = came.outcome("k1").failure
    assert failure is not None
    assert failure.code == "provider_request_too_large"


def test_faults_that_never_pass_end_it() -> None:
    """A vendor that never comes to a request is asked as often as the policy allows."""
    with vendor() as (running, desk):
        desk.batches.script(*[BatchScript(expired=[0])] * 3)
        came = ran(running.url, [task(0)], Setting(policy=Policy(max_faults=2)))

    failure = came.outcome("k0").failure
    assert failure is not None
    assert failure.code == "provider_unavailable"
    assert len(came.outcome("k0").attempts) == 3


def test_no_emission_at_all_is_no_batch() -> None:
    """An empty run ends."""
    with vendor() as (running, desk):
        assert ran(running.url, []).items == {}
        assert not desk.batches.requests
