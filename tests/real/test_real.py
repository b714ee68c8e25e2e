"""A real model on a real server: what the library does is checked, not how clever the model is."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from pydantic import TypeAdapter

from emitter import BindingMoment, Policy, Withheld, emit, emit_binding_moment, emit_many, stream
from emitter.attempts import Verdict
from emitter.errors import EmissionError, PromptTooLong, Unreachable
from emitter.streaming import FieldComplete
from tests.real.server import WIRES, connect, is_installed, real_server
from tests.real.tasks import TASKS, Customer, Invoice, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter import Emission

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason="no model is installed: make real"),
    pytest.mark.filterwarnings("ignore::emitter.errors.UnknownModelWarning"),
]
_POLICY = Policy(output_tokens=256, timeout=240)
_SHORT = Policy(output_tokens=40, max_attempts=2, timeout=240)
_NO_RETRIES = Policy(max_faults=0)
_TEXT, _ADDRESS = "Acme wants 12.50 for two boxes.", "Ada lives in Baker Street in London."
R = TypeVar("R")


def _outcome(call: Callable[[], R]) -> R | EmissionError:
    """Return what a call returns, or the error that it ends in."""
    try:
        return call()
    except EmissionError as error:
        return error


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Run the server."""
    with real_server() as address:
        yield address


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest, url: str) -> Iterator[dict[str, Any]]:
    """Return the arguments for a model over each wire that the server speaks."""
    with connect(request.param, url) as arguments:
        yield arguments


@pytest.fixture
def chat(url: str) -> Iterator[dict[str, Any]]:
    """Return the arguments for a model over Chat Completions."""
    with connect("chat", url) as arguments:
        yield arguments


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_type(task: Task, chat: dict[str, Any]) -> None:
    """Every type comes back valid, at the first call, with its usage."""
    emission = emit(task.form, task.text, temperature=0, policy=_POLICY, **chat)

    if not isinstance(task.form, dict):
        adapter: TypeAdapter[Any] = TypeAdapter(task.form)
        assert adapter.validate_python(emission.value, strict=True) == emission.value
    assert [attempt.verdict for attempt in emission.attempts] == [Verdict.COMPLETE]
    assert emission.usage.input > 0
    assert 0 < emission.usage.output <= 256


def test_an_answer_over_each_wire(wire: dict[str, Any]) -> None:
    """Some of the server's wires ignore the schema. The answer is valid all the same, or the error says why not."""
    outcome = _outcome(lambda: emit(Invoice, _TEXT, temperature=0, policy=_SHORT, **wire))
    assert outcome.trace.usage.output > 0
    assert len(outcome.attempts) == 2 if isinstance(outcome, EmissionError) else isinstance(outcome.value, Invoice)


def test_a_stream_over_each_wire(wire: dict[str, Any]) -> None:
    """Its fields are those of its value, and no connection fails."""
    fields: dict[str, Any] = {}

    def read() -> Emission[Invoice]:
        with stream(Invoice, _TEXT, temperature=0, policy=_SHORT, **wire) as events:
            for event in events:
                if isinstance(event, FieldComplete):
                    fields[event.pointer] = event.value
            return events.result()

    outcome = _outcome(read)
    assert [attempt.fault for attempt in outcome.attempts] == [None] * len(outcome.attempts)
    if not isinstance(outcome, EmissionError):
        assert fields.items() >= {"/vendor": outcome.value.vendor, "/total": outcome.value.total}.items()


def test_many_streams(chat: dict[str, Any]) -> None:
    """The server closes its connection after each, although it promised to keep it."""
    for _ in range(10):
        emission = stream(bool, "Is Paris in France?", temperature=0, policy=_POLICY, **chat).result()
        assert [attempt.fault for attempt in emission.attempts] == [None]


def test_partial_objects(chat: dict[str, Any]) -> None:
    """Each has a little more than the one before, and the last one is the value."""
    with stream(Customer, _ADDRESS, temperature=0, policy=_POLICY, **chat) as running:
        partials = [partial.model_dump(warnings=False) for partial in running.partials()]
        value = running.result().value
    assert len(partials) > 3
    assert partials[-1] == value.model_dump()


def test_rows(chat: dict[str, Any]) -> None:
    """Each row gets its own answer, in the order of the rows."""
    numbers = [3, 7, 12, 20]
    run = emit_many(
        int,
        [f"The box has {number} apples. How many apples has the box?" for number in numbers],
        temperature=0, policy=_POLICY, progress=False, **chat,
    )  # fmt: skip
    assert [result.value for result in run.results()] == numbers


@pytest.mark.parametrize("budget", [4, 8, 16, 24])
def test_a_budget_that_is_too_small(budget: int, chat: dict[str, Any]) -> None:
    """The answer is cut, and asked for again with twice the budget until it is whole."""
    policy = Policy(output_tokens=budget, max_attempts=8, timeout=240)
    emission = emit(Customer, _ADDRESS, temperature=0, policy=policy, **chat)

    *cut, whole = emission.attempts
    assert {attempt.verdict for attempt in cut} == {Verdict.TRUNCATED}
    assert whole.verdict is Verdict.COMPLETE
    assert [attempt.budget for attempt in emission.attempts] == [budget * 2**number for number in range(len(cut) + 1)]
    assert isinstance(emission.value, Customer)


def test_a_decision(chat: dict[str, Any]) -> None:
    """A small model may fail at one. It ends in time, and what it cost is known."""
    policy = Policy(output_tokens=400, max_attempts=1, timeout=60)
    question = "May I delete the old backups?"
    outcome = _outcome(lambda: emit_binding_moment(question, temperature=0, policy=policy, **chat))
    assert outcome.trace.usage.input > 0
    assert isinstance(outcome, EmissionError | Withheld) or isinstance(outcome.value, BindingMoment)


def test_a_prompt_that_is_too_long(chat: dict[str, Any]) -> None:
    """The server says so, and nothing is asked again."""
    with pytest.raises(PromptTooLong) as raised:
        emit(Invoice, "word " * 30_000, policy=_POLICY, **chat)
    assert len(raised.value.attempts) <= 1


def test_a_server_that_is_not_there() -> None:
    """The error names the address's fault, not the model's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable):
        emit(
            Invoice, _TEXT, model="llama-cpp/small", base_url=f"http://127.0.0.1:{port}/v1", policy=Policy(max_faults=0)
        )
