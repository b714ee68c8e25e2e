"""A limit that a server named in a refusal is remembered, so that later emissions are not refused for it again."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Emitter, Fallback, Policy, Truncated, emit, emit_many
from emitter.bulk import Batch
from emitter.client import refusals
from emitter.testing import Cut, Text, VendorWords, simulator
from tests.core.capability_gate.functions import DOCUMENT, SCHEMA, SITUATION, answered, every_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.testing import Behaviour, ReceivedRequest, Simulator

FIRST, LIMIT = 30_000, 20_000
"""A budget that the caller asks for, and the largest that the server takes: both have room for every answer."""
ASKING = Policy(output_tokens=FIRST, max_output_tokens=4 * FIRST)
MODEL, VENDOR = "openai-compatible/m", "openai/gpt-6-sol"
"""A model of a server of one's own, and one of a vendor with batches and background answers."""
OUTPUT = "tgi-output"
"""A dialect that every profile reads, and that names the largest output budget."""


@pytest.fixture(autouse=True)
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every vendor have a key, and forget what other tests' servers refused."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "k")
    refusals._REMEMBERED.clear()


class Server:
    """A running server, and the output budgets that it was asked for."""

    def __init__(self, vendor: Simulator, asked: list[ReceivedRequest]) -> None:
        self.vendor, self._asked = vendor, asked

    def options(self, model: str = MODEL, policy: Policy = ASKING) -> dict[str, Any]:
        """Return the options that lead to it."""
        return {"model": model, "base_url": self.vendor.base_url(model), "policy": policy}

    @property
    def budgets(self) -> list[int | None]:
        """The output budgets in order, without those that were returned before."""
        budgets = [request.budget for request in self._asked]
        self._asked.clear()
        return budgets


@pytest.fixture
def run() -> Iterator[Callable[..., Server]]:
    """Return a function that starts a server, which ends with the test."""
    with ExitStack() as stack:

        def start(answers: Callable[[ReceivedRequest], Behaviour], **options: Any) -> Server:
            asked: list[ReceivedRequest] = []

            def watch(request: ReceivedRequest) -> Behaviour:
                asked.append(request)
                return answers(request)

            return Server(stack.enter_context(simulator(answers=watch, **options)), asked)

        yield start


def limited(
    limit: int = LIMIT, words: str = OUTPUT, answer: Behaviour | None = None
) -> Callable[[ReceivedRequest], Behaviour]:
    """Refuse more than a limit, and answer otherwise."""
    return lambda asked: VendorWords(words, limit, answer=answer or answered(asked))


@every_function
def test_every_function_learns_and_uses_a_limit(function: Any, run: Any) -> None:
    """Calls, streams, runs and decisions share what was learned."""
    server = run(limited())
    for _ in range(2):
        function(**server.options())
    assert server.budgets == [FIRST, LIMIT, LIMIT]


def test_a_batch_and_a_background_call_learn_and_use_a_limit(run: Any) -> None:
    """The next round of a batch has the lower budget, and so has the first round of the next batch."""
    server = run(limited())
    options = server.options(VENDOR)
    for _ in range(2):
        results = emit_many(SCHEMA, [SITUATION] * 2, **options, batch=Batch(poll=1), progress=False).results()
        assert [each.result.value for each in results] == [DOCUMENT] * 2
    assert server.budgets == [FIRST, FIRST, LIMIT, LIMIT, LIMIT, LIMIT]
    refusals._REMEMBERED.clear()
    for _ in range(2):
        emit(SCHEMA, SITUATION, **options, background=True)
    assert server.budgets == [FIRST, LIMIT, LIMIT]


def test_a_journal_of_a_batch_is_read_with_a_limit_that_was_learned_later(tmp_path: Any, run: Any) -> None:
    """The journal has the refusal of a budget that would not be asked for any more."""
    answers: list[Behaviour] = [Text("no JSON"), Text("no JSON"), Text("no JSON")]
    server = run(lambda asked: VendorWords(OUTPUT, LIMIT, answer=answers.pop() if answers else answered(asked)))
    options = {
        **server.options(VENDOR),
        "batch": Batch(poll=1),
        "journal": tmp_path / "j",
        "progress": False,
    }
    with pytest.raises(_Stopped):
        emit_many(SCHEMA, [SITUATION], **options, on_event=_stop_at_the_third_call).results()
    assert server.budgets[:2] == [FIRST, LIMIT]
    emit(SCHEMA, SITUATION, **server.options(VENDOR))
    answers.clear()

    (result,) = emit_many(SCHEMA, [SITUATION], **options).results()

    assert result.result.value == DOCUMENT


class _Stopped(BaseException):
    """The process is killed."""


def _stop_at_the_third_call(recorded: Any) -> None:
    if getattr(recorded.event, "fields", {}).get("attempt") == 3:
        raise _Stopped


def test_what_was_learned_belongs_to_a_client_an_address_and_a_model(run: Any) -> None:
    """Another client, another server and another model are asked as the caller wants."""
    here, there = run(limited()), run(limited())
    model = MODEL
    with Emitter(**here.options()) as one, Emitter(**here.options()) as two:
        for emitter in (one, one, two):
            emitter.emit(SCHEMA, SITUATION)
    assert here.budgets == [FIRST, LIMIT, LIMIT, FIRST, LIMIT]
    client = here.vendor.client(model)
    for each in (model, model, "openai-compatible/other"):
        emit(SCHEMA, SITUATION, model=each, client=client, policy=ASKING)
    assert here.budgets == [FIRST, LIMIT, LIMIT, FIRST, LIMIT]
    for server in (here, there):
        emit(SCHEMA, SITUATION, **server.options())
    assert (here.budgets, there.budgets) == ([FIRST, LIMIT], [FIRST, LIMIT])


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    """The oldest model is forgotten first."""
    monkeypatch.setattr(refusals, "_MAX_SERVERS", 2)
    server = run(limited())
    for name in ("a", "b", "c", "b", "a"):
        emit(SCHEMA, SITUATION, **server.options(f"openai-compatible/{name}"))
    assert server.budgets == [*[FIRST, LIMIT] * 3, LIMIT, FIRST, LIMIT]


def test_a_cut_answer_is_raised_to_the_limit(run: Any) -> None:
    """A budget that the first emission was refused is not asked for after a cut."""
    server = run(limited(answer=Cut(complete_at_tokens=10_001, answer=Text(DOCUMENT))))
    options = server.options(policy=Policy(output_tokens=10_000, max_output_tokens=90_000, truncation_multiplier=3))
    for _ in range(2):
        assert emit(SCHEMA, SITUATION, **options).value == DOCUMENT
    assert server.budgets == [10_000, 30_000, LIMIT, 10_000, LIMIT]


def test_a_limit_that_has_been_raised_is_found_out(run: Any) -> None:
    """An answer that is cut at a remembered limit is asked for with a larger budget, which disproves the limit."""
    limit = [LIMIT]
    answer = Cut(complete_at_tokens=LIMIT + 1, answer=Text(DOCUMENT))
    server = run(lambda _: VendorWords(OUTPUT, limit[0], answer=answer))
    with pytest.raises(Truncated) as raised:
        emit(SCHEMA, SITUATION, **server.options())
    assert "the limit that the vendor named" in str(raised.value)
    assert server.budgets == [FIRST, LIMIT]
    with pytest.raises(Truncated) as raised:
        emit(SCHEMA, SITUATION, **server.options())
    assert "the vendor refuses a larger budget" in str(raised.value)
    assert server.budgets == [LIMIT, 2 * LIMIT]

    limit[0] = 4 * LIMIT
    for _ in range(2):
        assert emit(SCHEMA, SITUATION, **server.options()).value == DOCUMENT
    assert server.budgets == [LIMIT, 2 * LIMIT, FIRST]


def test_a_limit_that_has_been_lowered_is_learned(run: Any) -> None:
    """The newer figure counts."""
    limit = [LIMIT]
    server = run(lambda asked: VendorWords(OUTPUT, limit[0], answer=answered(asked)))
    emit(SCHEMA, SITUATION, **server.options())
    limit[0] = LIMIT // 2
    for _ in range(2):
        emit(SCHEMA, SITUATION, **server.options())
    assert server.budgets == [FIRST, LIMIT, LIMIT, LIMIT // 2, LIMIT // 2]


def test_no_prompt_is_too_long_for_a_remembered_window(run: Any) -> None:
    """Only the server knows which window it has now."""
    window = [4_000]
    server = run(lambda asked: VendorWords("vllm-window", window[0], answer=answered(asked)))
    options = server.options(policy=Policy(output_tokens=4_000))
    emit(SCHEMA, SITUATION, **options)
    window[0] = 100_000
    assert emit(SCHEMA, "a word " * 20_000, **options).value == DOCUMENT
    first, lowered, long = server.budgets
    assert (first, long) == (4_000, 4_000)
    assert 3_000 < lowered < 4_000
    emit(SCHEMA, SITUATION, **options)
    assert server.budgets == [4_000]  # the long prompt disproved the window


def test_a_smaller_budget_is_left_alone(run: Any) -> None:
    """A limit above what the caller asks for changes nothing and is not reported."""
    server = run(limited())
    emit(SCHEMA, SITUATION, **server.options())
    found = emit(SCHEMA, SITUATION, **server.options(policy=Policy(output_tokens=5_000)))
    assert server.budgets == [FIRST, LIMIT, 5_000]
    assert [each for each in found.trace.events if "budget was refused" in str(each.event)] == []


def test_a_fallback_has_limits_of_its_own(run: Any) -> None:
    """After a cut it is asked for more than was cut, but for no more than its server takes."""
    first, second = run(lambda _: Cut(answer=Text(DOCUMENT))), run(limited())
    emit(SCHEMA, SITUATION, **second.options("vllm/n"))
    fallback = Fallback("vllm/n", base_url=second.options()["base_url"])
    options = first.options(policy=Policy(max_attempts=2, output_tokens=15_000, max_output_tokens=90_000))
    assert emit(SCHEMA, SITUATION, **options, fallback=[fallback]).value == DOCUMENT
    assert (first.budgets, second.budgets) == ([15_000], [FIRST, LIMIT, LIMIT])
