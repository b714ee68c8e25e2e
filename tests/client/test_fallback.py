"""Other models after a failure: the calls, the budget and the events of each failure under each choice."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter import EmissionError, Emitter, Fallback, Policy, Prices, aemit, astream, emit, emit_many, stream
from emitter.bulk import Batch
from emitter.clock import Clock
from emitter.core.verdicts import FallbackReason
from emitter.errors import (
    CostLimitReached,
    DeadlineReached,
    InputError,
    Invalid,
    MissingExtra,
    MissingKey,
    RateLimited,
    Refused,
    TokenLimitReached,
    Truncated,
    UnknownModel,
    Unreachable,
)
from emitter.streaming import Restart
from emitter.testing import (
    Cut,
    Failed,
    Malformed,
    Overloaded,
    Quota,
    Simulator,
    Text,
    Unauthorized,
    Violating,
    simulator,
)
from emitter.testing import Refused as Refusing
from tests.core.capability_gate.functions import DOCUMENT, SCHEMA, SITUATION, answered, every_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.events import RunEvent
    from emitter.testing import Behaviour, ReceivedRequest

FIRST, SECOND, THIRD = "openai/gpt-4o", "anthropic/claude-sonnet-5-5", "google/gemini-2.5-flash"
NAMES = {"gpt-4o": "1", "claude-sonnet-5-5": "2", "gemini-2.5-flash": "3"}
"""The number of each model, as the vendor sees it."""


class Slept:
    """A clock that does not wait, and keeps how long it would have."""

    def __init__(self) -> None:
        self.now, self.waits = 0.0, list[float]()
        self.clock = Clock(lambda: self.now, self._sleep, self._async_sleep)

    def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def _async_sleep(self, seconds: float) -> None:
        self._sleep(seconds)


class Vendors:
    """A simulated vendor in which each model behaves in its own way; the others answer."""

    def __init__(self) -> None:
        self.behaviours: dict[str, Behaviour] = {}

    def __call__(self, request: ReceivedRequest) -> Behaviour:
        """Return the behaviour of the request's model."""
        return self.behaviours.get(NAMES[request.model], Text(DOCUMENT))


@pytest.fixture
def vendors() -> Vendors:
    """Return the behaviours of the models."""
    return Vendors()


@pytest.fixture
def vendor(vendors: Vendors, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulator]:
    """Run a vendor that the environment leads to, whichever one is meant."""
    with simulator(answers=vendors) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


def called(vendor: Simulator) -> str:
    """Return the numbers of the models that were called, in order."""
    return "".join(NAMES[call.model] for call in vendor.calls)


def reported(events: Any) -> list[str]:
    """Return the events that tell of failures, by a short name, in order."""
    names = {
        "envelope.retry.attempted": "retry",
        "model.capability.substituted": "substituted",
        "envelope.retry.exhausted": "exhausted",
        "envelope.truncated": "truncated",
        "envelope.refusal": "refusal",
        "cap.breached": "cap",
        "node.failed": "failed",
        "node.completed": "completed",
    }
    return [names[each.type] for each in events if each.type in names]


@dataclass(frozen=True)
class Row:
    """A failure of the first model, and what follows if the caller allows it to be taken to another one.

    ``calls`` are the models that are called, ``alone`` those without the permission. ``events`` are reported with it.
    """

    behaviour: Behaviour
    reason: str
    error: type[EmissionError]
    calls: str
    alone: str
    events: str


ROWS = {
    "server error": Row(Failed(500), "unreachable", Unreachable, "12", "11111", "substituted completed"),
    "overloaded": Row(Overloaded(529), "unreachable", Unreachable, "12", "11111", "substituted completed"),
    "rate limit": Row(Overloaded(429), "rate-limited", RateLimited, "12", "11111", "substituted completed"),
    "a long wait": Row(
        Overloaded(429, retry_after=3600), "rate-limited", RateLimited, "12", "1", "substituted completed"
    ),
    "no credit": Row(Quota(), "rate-limited", EmissionError, "12", "1", "substituted completed"),
    "cut": Row(Cut(), "truncated", Truncated, "112", "111", "truncated retry truncated substituted retry completed"),
    "invalid": Row(Violating(), "invalid", Invalid, "112", "111", "retry substituted retry completed"),
    "no document": Row(Malformed(), "invalid", Invalid, "112", "111", "retry substituted retry completed"),
    "refused": Row(Refusing(), "refused", Refused, "12", "1", "refusal substituted completed"),
}
rows = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
CHOICES = [reason.value for reason in FallbackReason]


@pytest.mark.parametrize("choice", CHOICES)
@rows
def test_a_failure_is_taken_to_another_model_if_the_caller_chose_it(
    vendor: Simulator, vendors: Vendors, row: Row, choice: str
) -> None:
    """Every failure under every single choice: the calls that the vendor saw, and the events."""
    vendors.behaviours["1"] = row.behaviour
    more: Any = {"model": FIRST, "fallback": [SECOND], "fallback_on": {choice}, "clock": Slept().clock}
    if choice == row.reason:
        emission = emit(SCHEMA, SITUATION, **more)
        assert emission.value == DOCUMENT
        assert called(vendor) == row.calls
        assert reported(emission.events) == row.events.split()
        assert [NAMES[attempt.model.partition("/")[2]] for attempt in emission.attempts] == list(row.calls)
        [substituted] = [each.event for each in emission.events if each.type == "model.capability.substituted"]
        assert (substituted.original_model, substituted.fallback_model) == ("gpt-4o", "claude-sonnet-5-5")
        assert substituted.missing_capabilities == ()
        notices = [each.event for each in emission.events if getattr(each.event, "fields", {}).get("reason")]
        last = next(attempt for attempt in reversed(emission.attempts) if attempt.route == 0)
        failure = {} if last.fault is None else {"fault": last.fault.kind.value, "status": last.fault.status}
        assert [notice.fields for notice in notices] == [{"reason": row.reason, **failure}]
    else:
        with pytest.raises(row.error):
            emit(SCHEMA, SITUATION, **more)
        assert called(vendor) == row.alone


def test_an_error_names_every_model_that_was_asked(vendor: Simulator, vendors: Vendors) -> None:
    """How often, and why the earlier ones failed. The summary, which a model may read, does not."""
    vendors.behaviours |= {"1": Overloaded(429), "2": Failed(500), "3": Overloaded(529)}
    with pytest.raises(Unreachable) as raised:
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND, THIRD], policy=Policy(max_faults=3), clock=Slept().clock)

    asked = f"Asked {FIRST} (1 call: rate limit), then {SECOND} (1 call: server), then {THIRD} (2 calls)."
    assert called(vendor) == "1233"
    assert asked in str(raised.value)
    assert "Asked" not in raised.value.summary


@rows
def test_by_default_everything_but_a_refusal_is_taken_on(vendor: Simulator, vendors: Vendors, row: Row) -> None:
    """A refusal is only taken to another model by explicit wish."""
    vendors.behaviours["1"] = row.behaviour
    more: Any = {"model": FIRST, "fallback": [SECOND], "clock": Slept().clock}
    if row.reason == "refused":
        with pytest.raises(Refused):
            emit(SCHEMA, SITUATION, **more)
    else:
        assert emit(SCHEMA, SITUATION, **more).value == DOCUMENT
    assert called(vendor) == (row.alone if row.reason == "refused" else row.calls)


def test_the_callers_mistakes_are_not_taken_on(vendor: Simulator, vendors: Vendors) -> None:
    """A wrong key or request is the caller's to mend, whatever was chosen."""
    vendors.behaviours["1"] = Unauthorized()
    with pytest.raises(EmissionError):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND], fallback_on=CHOICES)
    assert called(vendor) == "1"


ATTEMPTS = [(1, "1"), (2, "12"), (3, "123"), (4, "1123"), (6, "111123")]


@pytest.mark.parametrize(("attempts", "calls"), ATTEMPTS, ids=[str(attempts) for attempts, _ in ATTEMPTS])
def test_all_models_share_the_attempts(vendor: Simulator, vendors: Vendors, attempts: int, calls: str) -> None:
    """Each later model keeps one of them, and the last failure is that of the emission."""
    vendors.behaviours = dict.fromkeys("123", Violating())
    with pytest.raises(Invalid) as caught:
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND, THIRD], policy=Policy(max_attempts=attempts))
    assert called(vendor) == calls
    assert reported(caught.value.trace.events)[-3:] == ["exhausted", "cap", "failed"]
    retries = [each.event for each in caught.value.trace.events if each.type == "envelope.retry.attempted"]
    assert [event.attempt for event in retries] == list(range(2, attempts + 1))[: len(calls) - 1]


def test_the_last_model_waits_and_retries(vendor: Simulator, vendors: Vendors) -> None:
    """Waiting helps only the last one; the retries after faults are counted over all models."""
    vendors.behaviours = dict.fromkeys("12", Failed(503))
    slept = Slept()
    with pytest.raises(Unreachable):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND], policy=Policy(max_faults=3), clock=slept.clock)
    assert called(vendor) == "1222"
    assert len(slept.waits) == 2


def test_a_fallback_has_its_own_choice(vendor: Simulator, vendors: Vendors) -> None:
    """A model that is not meant for a failure is passed over."""
    vendors.behaviours["1"] = Failed(500)
    fallback = [Fallback(SECOND, on={"invalid"}), Fallback(THIRD, on={"unreachable"})]
    emit(SCHEMA, SITUATION, model=FIRST, fallback=fallback)
    assert called(vendor) == "13"


def test_no_model_is_asked_again_after_it_failed(vendor: Simulator, vendors: Vendors) -> None:
    """The models are tried in order, each once, through different failures."""
    vendors.behaviours = {"1": Failed(500), "2": Violating(), "3": Refusing()}
    with pytest.raises(Refused):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND, THIRD], fallback_on=CHOICES)
    assert called(vendor) == "1223"


def test_a_longer_answer_gets_a_larger_budget_at_the_next_model(vendor: Simulator, vendors: Vendors) -> None:
    """An answer that was cut would be cut again at the budget that was too small."""
    vendors.behaviours["1"] = Cut()
    emit(SCHEMA, SITUATION, model=FIRST, fallback=[THIRD], fallback_on={"truncated"})
    config = vendor.calls[-1].body["generationConfig"]
    assert config["maxOutputTokens"] >= 2048


def test_each_model_is_asked_in_its_own_vendors_form(vendor: Simulator, vendors: Vendors) -> None:
    """The schema, the settings and the budget are written for the wire of each."""
    vendors.behaviours = {"1": Failed(500), "2": Failed(500)}
    fallback = [Fallback(SECOND, settings={"temperature": None, "reasoning_effort": "low"}), THIRD]
    emit(SCHEMA, SITUATION, model=FIRST, fallback=fallback, temperature=0.5)
    first, second, third = [call.body for call in vendor.calls]
    assert (first["temperature"], first["text"]["format"]["type"]) == (0.5, "json_schema")
    assert ("temperature" in second, second["output_config"]["effort"]) == (False, "low")
    assert third["generationConfig"]["temperature"] == 0.5


def test_a_setting_that_a_fallback_does_not_take_is_refused_before_the_call(vendor: Simulator) -> None:
    """The message names the fallback."""
    with pytest.raises(InputError, match=r"claude-sonnet-5-5 takes temperature=1 only, .* this fallback"):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND], temperature=0.5)
    assert vendor.calls == ()


def test_all_models_share_the_tokens(vendor: Simulator, vendors: Vendors) -> None:
    """What the first model has used is not there for the second."""
    vendors.behaviours["1"] = Violating()
    with pytest.raises(TokenLimitReached):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND], policy=Policy(max_total_tokens=450, max_attempts=2))
    assert called(vendor) == "1"
    assert sum((call.usage.input + call.usage.output) for call in vendor.calls) < 450


def test_all_models_share_the_cost_each_at_its_own_prices(vendor: Simulator, vendors: Vendors) -> None:
    """The first model's tokens keep their price, and the second one's are counted at its own."""
    vendors.behaviours["1"] = Violating()
    policy = Policy(max_cost=1.0, prices=Prices(1.0, 1.0), max_attempts=2)
    emission = emit(SCHEMA, SITUATION, model=FIRST, fallback=[Fallback(SECOND, prices=Prices(2, 2))], policy=policy)
    assert called(vendor) == "12"
    first, second = (attempt.usage for attempt in emission.attempts)
    assert first is not None
    assert second is not None
    assert emission.cost == Prices(1, 1).cost_of(first) + Prices(2, 2).cost_of(second)
    dear = Fallback(SECOND, prices=Prices(1e6, 1e6))
    with pytest.raises(CostLimitReached):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[dear], policy=policy)
    assert called(vendor) == "121"


def test_all_models_share_the_deadline(vendor: Simulator, vendors: Vendors) -> None:
    """A deadline that has passed is not taken to another model."""
    slept = Slept()

    def answer(request: ReceivedRequest) -> Behaviour:
        slept.now += 10
        return vendors(request)

    vendors.behaviours["1"] = Failed(500)
    with simulator(answers=answer) as slow:
        more: Any = {"client": slow.client(FIRST), "policy": Policy(deadline=5), "clock": slept.clock}
        with pytest.raises(DeadlineReached):
            emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND], **more)
        assert called(slow) == "1"
    assert vendor.calls == ()


def test_a_stream_starts_again_with_another_model(vendor: Simulator, vendors: Vendors) -> None:
    """The progress of the failed model is taken back by a Restart, in both worlds."""
    vendors.behaviours["1"] = Cut(at_tokens=3, answer=Text(DOCUMENT))
    more: Any = {"model": FIRST, "fallback": [SECOND], "policy": Policy(max_attempts=2)}
    with stream(SCHEMA, SITUATION, **more) as running:
        seen = list(running)
        assert running.result().value == DOCUMENT

    async def read() -> list[Any]:
        async with astream(SCHEMA, SITUATION, **more) as running:
            return [event async for event in running]

    assert asyncio.run(read()) == seen
    assert [type(event) for event in seen].count(Restart) == 1
    assert called(vendor) == "1212"


@every_function
def test_every_function_falls_back(vendor: Simulator, vendors: Vendors, function: Callable[..., Any]) -> None:
    """Whatever is asked for, and in whichever world."""
    vendors.behaviours["1"] = Failed(500)
    with simulator(answers=lambda request: vendors(request) if request.model == "gpt-4o" else answered(request)) as run:
        seen: list[RunEvent] = []
        with pytest.MonkeyPatch.context() as patch:
            for name, value in run.environment().items():
                patch.setenv(name, value)
            emission = function(model=FIRST, fallback=[SECOND], on_event=seen.append)
        assert called(run) == "12"
    assert reported(emission.events)[:1] == ["substituted"]
    assert seen == list(emission.events)
    assert vendor.calls == ()


def test_an_async_emission_keeps_the_client_of_the_other_model(vendor: Simulator, vendors: Vendors) -> None:
    """Its second call uses the client that the first one opened."""
    vendors.behaviours = {"1": Failed(500), "2": Violating()}
    with pytest.raises(Invalid):
        asyncio.run(aemit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND]))
    assert called(vendor) == "1222"


def test_each_of_many_falls_back_for_itself(vendor: Simulator, vendors: Vendors) -> None:
    """One item's failure is not another's."""
    vendor.script(Failed(500))
    results = emit_many(SCHEMA, [SITUATION] * 3, model=FIRST, fallback=[SECOND], in_flight=1, progress=False).results()
    assert [result.value for result in results] == [DOCUMENT] * 3
    assert called(vendor) == "1211"
    assert vendors.behaviours == {}


def test_a_model_that_lacks_a_capability_is_skipped(vendor: Simulator, vendors: Vendors) -> None:
    """At the start, and after a failure."""
    vendors.behaviours["2"] = Failed(500)
    more: Any = {"requires": ["long-context"], "fallback": ["openai/gpt-4-turbo", SECOND, "openai/gpt-4o", THIRD]}
    emission = emit(SCHEMA, SITUATION, model="openai/gpt-4", **more)
    assert called(vendor) == "23"
    assert reported(emission.events)[:2] == ["substituted", "substituted"]
    missing = [each.event.missing_capabilities for each in emission.events if "substituted" in each.type]
    assert missing == [("long-context",), ()]


def test_a_fallback_without_a_key_is_found_before_the_call(vendor: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fallback that cannot be used is a mistake, and the first failure is too late to say so."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(MissingKey):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND])
    assert vendor.calls == ()


def test_a_fallback_without_its_sdk_is_found_before_the_call(
    vendor: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the hint that installs it."""
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingExtra, match=r"llm-emitter\[anthropic\]"):
        emit(SCHEMA, SITUATION, model=FIRST, fallback=[SECOND])
    assert vendor.calls == ()


def test_a_key_is_not_taken_to_another_vendor(
    vendor: Simulator, vendors: Vendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key of an Emitter belongs to its own vendor, and so do its headers."""
    vendors.behaviours["1"] = Failed(500)
    sent: list[Any] = []
    send = httpx2.Client.send

    def record(client: Any, request: Any, **options: Any) -> Any:
        sent.append(request)
        return send(client, request, **options)

    monkeypatch.setattr(httpx2.Client, "send", record)
    with Emitter(FIRST, api_key="sk-first-vendor", fallback=[SECOND], extra_headers={"X-Team": "legal"}) as emitter:
        emitter.emit(SCHEMA, SITUATION)
    assert called(vendor) == "12"
    assert ["sk-first-vendor" in str(request.headers.raw) for request in sent] == [True, False]
    assert ["x-team" in request.headers for request in sent] == [True, False]


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "one text": ({"fallback": SECOND}, InputError, "fallback must be a list"),
    "an unknown model": ({"fallback": ["nobody/m"]}, UnknownModel, "nobody/m"),
    "no model": ({"fallback": [7]}, UnknownModel, "7"),
    "an unknown failure": ({"fallback": [SECOND], "fallback_on": {"bored"}}, InputError, "fallback_on has 'bored'"),
    "one failure": ({"fallback": [SECOND], "fallback_on": "invalid"}, InputError, "fallback_on must be a list"),
}


@pytest.mark.parametrize(("options", "error", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    """Before anything is sent."""
    with pytest.raises(error, match=message):
        emit(SCHEMA, SITUATION, model=FIRST, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": object(), "base_url": "http://x"}, "client= or base_url="),
        ({"on": {"bored"}}, "Fallback.on has 'bored'"),
        ({"settings": {"policy": 1}}, "'policy', which is not a model setting"),
        ({"prices": 3}, "Fallback.prices is 3"),
    ],
    ids=["two addresses", "an unknown failure", "no model setting", "no prices"],
)
def test_a_fallback_checks_itself(options: dict[str, Any], message: str) -> None:
    """When it is created."""
    with pytest.raises(InputError, match=message):
        Fallback(SECOND, **options)


def test_a_batch_stays_with_its_model(vendor: Simulator) -> None:
    """A batch is one vendor's."""
    with pytest.raises(InputError, match="another model after a failure"):
        emit_many(SCHEMA, [SITUATION], model=FIRST, fallback=[SECOND], batch=Batch(poll=0.01, max_poll=0.01))
    assert vendor.calls == ()
