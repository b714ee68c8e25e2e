"""What emissions, streams and runs cost, and the limit on it."""

from __future__ import annotations

import asyncio
import pickle
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from emitter import (
    InputError,
    Policy,
    Prices,
    Refused,
    Withheld,
    aemit,
    aemit_many,
    emit,
    emit_binding_moment,
    emit_many,
    stream,
)
from emitter.clock import Clock
from emitter.errors import CostLimitReached, UnknownModelWarning
from emitter.messages import Usage
from emitter.prices import ListedPrices
from emitter.testing import Dropped, Simulator, Text, Violating, simulator
from emitter.testing import Refused as Refusal
from tests.scenarios.answers import DELIBERATION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from emitter import Emission
    from emitter.bulk import Run
    from emitter.testing import Behaviour, ReceivedRequest

MODELS = ("openai/gpt-6-sol", "anthropic/claude-opus-5-5", "google/gemini-3.8-flash")
OWN = Policy(prices=Prices(input=3, output=12))


class Answer(BaseModel):
    """What is asked for."""

    number: int


def answered(request: ReceivedRequest) -> Behaviour:
    """Answer as the prompt says."""
    said = str(request.body)
    if "refuse" in said:
        return Refusal()
    if "correct" in said and not request.repeat_count and "it was discarded" not in said:
        return Violating({"number": "one"})
    return Text({"number": 1})


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a vendor that the environment leads to."""
    with simulator(answers=answered) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


def listed(model: str, usage: Usage) -> Decimal:
    """Return the cost of one call by the price list."""
    return ListedPrices(*model.split("/", 1)).cost_of(usage)


@pytest.mark.parametrize("model", MODELS)
def test_an_emission_costs_what_its_calls_used(model: str, vendor: Simulator) -> None:
    """At the prices of its model, with every attempt."""
    emission = emit(Answer, "correct", model=model)

    assert len(emission.attempts) == 2
    usages = [attempt.usage for attempt in emission.attempts if attempt.usage]
    assert sum(usages, Usage()) == vendor.billed
    assert emission.cost == sum(listed(model, usage) for usage in usages) > 0
    assert emission.trace.cost == emission.cost
    assert emission.trace.no_cost_reason is None


@pytest.mark.usefixtures("vendor")
def test_the_callers_prices_win() -> None:
    """Over those of the list."""
    emission = emit(Answer, "How many?", model=MODELS[0], policy=OWN)
    assert emission.cost == Prices(input=3, output=12).cost_of(emission.usage)


@pytest.mark.usefixtures("vendor")
def test_both_worlds_streams_and_copies_cost_the_same() -> None:
    """A pickled emission still knows its prices."""
    model = MODELS[1]
    first = emit(Answer, "How many?", model=model)
    other = asyncio.run(aemit(Answer, "How many?", model=model))
    with stream(Answer, "How many?", model=model) as streamed:
        third = streamed.result()
        assert streamed.trace.cost == third.cost
    assert first.cost == other.cost == listed(model, first.usage)
    assert third.cost == listed(model, third.usage)
    assert pickle.loads(pickle.dumps(first)).cost == first.cost


@pytest.mark.usefixtures("vendor")
def test_a_failed_emission_has_its_cost() -> None:
    """What was paid for is paid for."""
    with pytest.raises(Refused) as raised:
        emit(Answer, "refuse", model=MODELS[1])
    assert raised.value.cost == raised.value.trace.cost == listed(MODELS[1], raised.value.trace.usage) > 0
    assert pickle.loads(pickle.dumps(raised.value)).cost == raised.value.cost


def test_a_decision_that_was_withheld_has_its_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a success of the turn, and was paid for."""
    with simulator(answers=lambda _: Text(DELIBERATION)) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        decision = emit_binding_moment("Shall we?", model=MODELS[0])
    assert isinstance(decision, Withheld)
    assert decision.cost == listed(MODELS[0], decision.usage) > 0


def test_the_model_that_answers_is_the_one_that_is_paid(vendor: Simulator) -> None:
    """A fallback has prices of its own."""
    emission = emit(
        Answer, "How many?", model="openai/gpt-4o", requires=["long-context"], fallback=["openai/gpt-6-sol"]
    )
    assert [call.model for call in vendor.calls] == ["gpt-6-sol"]
    assert emission.cost == listed("openai/gpt-6-sol", emission.usage)


@pytest.mark.usefixtures("vendor")
def test_a_model_without_a_price_has_no_cost_and_a_reason() -> None:
    """It is not free."""
    with pytest.warns(UnknownModelWarning):
        emission = emit(Answer, "How many?", model="openai/gpt-99")
    assert emission.cost is None
    assert "no price for openai/gpt-99" in str(emission.trace.no_cost_reason)
    assert "Policy(prices=Prices(" in str(emission.trace.no_cost_reason)
    assert "for a fallback model, pass them to its Fallback" in str(emission.trace.no_cost_reason)


def test_a_deployment_costs_what_its_model_costs(vendor: Simulator) -> None:
    """Its own name has no price: the reason says what to pass, and then a limit works, too."""
    with pytest.warns(UnknownModelWarning):
        unpriced = emit(Answer, "1", model="azure/invoices-eu")
    assert unpriced.cost is None
    assert "ListedPrices('azure-openai', …)" in str(unpriced.trace.no_cost_reason)

    policy = Policy(prices=ListedPrices("azure-openai", "gpt-4o"), max_cost=0.5)
    with pytest.warns(UnknownModelWarning):
        emission = emit(Answer, "1", model="azure/invoices-eu", policy=policy)
    assert emission.cost == listed("azure-openai/gpt-4o", emission.usage) > 0
    assert vendor.calls[-1].model == "invoices-eu"


def test_a_limit_on_the_cost_needs_no_prices(vendor: Simulator) -> None:
    """Those of the list count; the sentence says what they are."""
    emission = emit(Answer, "How many?", model=MODELS[0], policy=Policy(max_cost=1))
    assert emission.cost is not None
    assert emission.cost < 1

    with pytest.raises(CostLimitReached, match=r"Policy\.max_cost is \$0\.000001; .* come to \$0\.0") as raised:
        emit(Answer, "How many?", model=MODELS[0], policy=Policy(max_cost=0.000001))
    assert raised.value.cost == 0
    assert len(vendor.calls) == 1


@pytest.mark.parametrize("model", MODELS)
def test_answers_that_were_lost_on_the_way_count(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vendor made them and bills them, so they reach the limit on the cost."""
    lost = Dropped(after_bytes=4000, answer=Text({"text": "long " * 2000}))
    policy = Policy(max_faults=16, max_cost=Decimal("0.1"), prices=Prices(input=Decimal(10), output=10))
    with simulator(answers=lost) as vendor:
        for name, value in vendor.environment().items():
            monkeypatch.setenv(name, value)
        with pytest.raises(CostLimitReached) as caught:
            emit(Answer, "?", model=model, policy=policy, clock=Clock(sleep=lambda _: None))
        assert caught.value.cost is not None
        assert 0.08 < caught.value.cost < 0.12
        assert caught.value.trace.usage.estimated
        assert 2 < len(vendor.calls) < 16


def test_a_limit_on_the_cost_stops_before_it_is_passed(vendor: Simulator) -> None:
    """A correction is not paid for if it could be too dear."""
    once = emit(Answer, "How many?", model=MODELS[1]).cost
    assert once is not None
    with pytest.raises(CostLimitReached) as raised:
        emit(Answer, "correct", model=MODELS[1], policy=Policy(max_cost=float(once) * 1.2))
    assert len(vendor.calls) == 2
    assert raised.value.cost is not None
    assert 0 < raised.value.cost <= Decimal(str(float(once) * 1.2))


@pytest.mark.parametrize("call", [emit, lambda *asked, **more: list(emit_many(asked[0], asked[1:], **more))])
def test_a_limit_on_the_cost_of_a_model_without_a_price_is_refused(call: Any, vendor: Simulator) -> None:
    """Before the first call, with what to pass."""
    with pytest.raises(InputError, match=r"no price for openai/gpt-99.*Pass Policy\(prices=Prices\("):
        call(Answer, "How many?", model="openai/gpt-99", policy=Policy(max_cost=1))
    assert not vendor.calls

    with pytest.warns(UnknownModelWarning):
        call(Answer, "How many?", model="openai/gpt-99", policy=Policy(max_cost=1, prices=Prices(1, 1)))


def test_a_run_costs_what_its_jobs_cost(vendor: Simulator) -> None:
    """Also those that failed."""
    with emit_many(Answer, ["one", "correct", "refuse"], model=MODELS[1]) as run:
        results = list(run)
    costs = [result.error.cost if isinstance(result.error, Refused) else result.result.cost for result in results]
    assert run.usage == vendor.billed
    assert run.cost == run.stats.cost == sum(cost for cost in costs if cost is not None)
    assert run.stats.no_cost_reason is None


@pytest.mark.usefixtures("vendor")
def test_a_run_without_a_price_has_no_cost_and_a_reason() -> None:
    """As a single emission."""
    with pytest.warns(UnknownModelWarning):
        run = emit_many(Answer, ["one"], model="openai/gpt-99")
    run.results()
    assert run.cost is None
    assert "no price for openai/gpt-99" in str(run.stats.no_cost_reason)


@pytest.mark.usefixtures("vendor")
def test_a_job_from_the_journal_has_its_cost_and_the_run_has_not(tmp_path: Path) -> None:
    """The run counts what it sent itself, as it counts its usage."""
    first = emit_many(Answer, ["one"], model=MODELS[0], journal=tmp_path / "run.jsonl")
    paid = first.results()[0].result.cost
    again = emit_many(Answer, ["one"], model=MODELS[0], journal=tmp_path / "run.jsonl")
    assert again.results()[0].result.cost == paid == first.cost
    assert again.cost == 0


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("policy", [Policy(), OWN, Policy(max_cost=5)], ids=["listed", "own", "limited"])
def test_a_batch_costs_half(model: str, policy: Policy) -> None:
    """By the list, and by prices of the caller's own."""
    run = emit_many(Answer, ["one", "two"], model=model, policy=policy, batch=True, clock=_no_waiting())
    results = run.results()
    prices = policy.prices or ListedPrices(*model.split("/", 1))
    for result in results:
        assert result.result.cost == prices.cost_of(result.result.usage) / 2
    assert run.cost == sum(result.result.cost or 0 for result in results) > 0


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize("policy", [Policy(), OWN], ids=["listed", "own"])
@pytest.mark.parametrize("batched", [True, False])
def test_a_recorded_job_costs_what_was_paid(tmp_path: Path, policy: Policy, *, batched: bool) -> None:
    """Whether the run that reads it is a batch or not."""

    def run(*, batch: bool) -> Run[Emission[Answer]]:
        options: dict[str, Any] = {"policy": policy, "journal": tmp_path / "run.jsonl", "clock": _no_waiting()}
        return emit_many(Answer, ["one"], model=MODELS[0], batch=batch, **options)

    first = run(batch=batched)
    paid = first.results()[0].result.cost
    for batch in (not batched, batched):
        again = run(batch=batch)
        assert again.results()[0].result.cost == paid == first.cost
        assert again.calls == 0


def _no_waiting() -> Clock:
    async def pass_on(_: float) -> None:
        await asyncio.sleep(0)

    return Clock(async_sleep=pass_on)


def test_an_async_run_has_its_cost(vendor: Simulator) -> None:
    """As the other one."""

    async def collect() -> Decimal | None:
        async with aemit_many(Answer, ["one", "two"], model=MODELS[0]) as run:
            assert len(await run.results()) == 2
            return run.cost

    assert asyncio.run(collect()) == 2 * listed(MODELS[0], vendor.calls[0].usage or Usage())
