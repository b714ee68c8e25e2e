"""A server that refuses an output mode, or an answer that is not streamed, is asked in another form, once."""

from __future__ import annotations

import gc
import json
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from emitter import BadRequest, Emitter, Fallback, Policy, Profile, emit, emit_many
from emitter.bulk import Batch
from emitter.client import prepare_emission, refusals
from emitter.client.documents import document_settings
from emitter.events import MODE_REFUSED, STREAM_REQUIRED
from emitter.testing import ModesRefused, StreamsOnly, Text, Violating, simulator
from emitter.testing.behaviours import find_output_mode
from tests.core.capability_gate.functions import DOCUMENT, SITUATION, answered, every_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.testing import Behaviour, ReceivedRequest, Simulator

DESCRIPTION = "What the customer owes."
SCHEMA = {
    "title": "Invoice",
    "type": "object",
    "properties": {"total": {"type": "integer", "description": DESCRIPTION}},
    "required": ["total"],
    "additionalProperties": False,
}


class Server(NamedTuple):
    """A server with its wire, and the output modes in which it is asked, in order."""

    model: str
    modes: tuple[str, ...]
    wire: str | None = None


SERVERS = {
    "compatible": Server("openai-compatible/m", ("json_schema", "json_object", "text")),
    "vllm": Server("vllm/m", ("json_schema", "json_object", "text")),
    "llama.cpp": Server("llama-cpp/m", ("json_schema", "json_object", "text")),
    "openrouter": Server("openrouter/z-ai/glm", ("json_schema", "json_object", "text")),
    "deepseek": Server("deepseek/deepseek-v4", ("json_object", "text")),
    "chat": Server("openai/gpt-4o", ("json_schema", "json_object", "text"), "openai-chat"),
    "Responses": Server("openai/gpt-4o", ("json_schema", "json_object", "text")),
    "Messages": Server("anthropic/claude-sonnet-4-5", ("json_schema", "tool", "text")),
    "Messages without tools": Server("anthropic/claude-sonnet-5-5", ("json_schema", "text")),
    "Gemini": Server("google/gemini-2.5-flash", ("json_schema", "json_object", "text")),
}
every_server = pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
some_servers = pytest.mark.parametrize(
    "server", [SERVERS[name] for name in ("compatible", "Responses", "Messages")], ids=["chat", "Responses", "Messages"]
)
UNAVAILABLE = "This response_format type is unavailable now"
WORDS = {
    "not supported": "json_schema is not supported by this model; use response_format json_object",
    "not in one model": "This model does not support response format `json_schema`.",
    "no such mode": "'response_format.type' must be 'json_schema' or 'text'",
    "tools": "m does not support tools",
}
STREAMS = {
    "only": "This model only supports streaming: set stream to true.",
    "thinking": "parameter.enable_thinking must be set to false for non-streaming calls",
}


class Watched(NamedTuple):
    """A running server, and the requests that it was asked, in order."""

    vendor: Simulator
    asked: list[ReceivedRequest]

    def options(self, server: Server = SERVERS["vllm"]) -> dict[str, Any]:
        """Return the options that lead to it."""
        return {"model": server.model, "wire": server.wire, "base_url": self.vendor.base_url(server.model)}

    @property
    def modes(self) -> list[str]:
        """The output modes in which it was asked."""
        return [find_output_mode(request).value for request in self.asked]

    @property
    def streamed(self) -> list[bool]:
        """Whether it was asked for a stream."""
        return [request.streamed for request in self.asked]


@pytest.fixture(autouse=True)
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every vendor have a key, and forget what other tests' servers refused."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(name, "k")
    refusals._REMEMBERED.clear()


@pytest.fixture
def run() -> Iterator[Callable[[Callable[[ReceivedRequest], Behaviour]], Watched]]:
    """Return a function that starts a server, which ends with the test."""
    with ExitStack() as stack:

        def start(answers: Callable[[ReceivedRequest], Behaviour]) -> Watched:
            asked: list[ReceivedRequest] = []

            def watch(request: ReceivedRequest) -> Behaviour:
                asked.append(request)
                return answers(request)

            return Watched(stack.enter_context(simulator(answers=watch)), asked)

        yield start


def log(found: Any, message: str) -> list[Any]:
    """Return the log lines with a message."""
    return [each.event for each in found.trace.events if getattr(each.event, "message", None) == message]


def verdicts(found: Any) -> list[str]:
    """Return the verdicts of all calls."""
    return [attempt.verdict.value for attempt in found.attempts]


def refusing(*refused: str, message: str = UNAVAILABLE) -> Callable[[ReceivedRequest], Behaviour]:
    """Refuse these modes, and answer in any other."""
    return lambda asked: ModesRefused(refused, message, answered(asked))


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_a_refusal_is_understood_in_other_words(words: str, run: Any) -> None:
    """Servers say the same in many ways."""
    watched = run(refusing("json_schema", message=words))
    assert emit(SCHEMA, SITUATION, **watched.options()).value == DOCUMENT
    assert watched.modes == ["json_schema", "json_object"]


@pytest.mark.parametrize(
    ("server", "steps"),
    [
        pytest.param(server, steps, id=f"{name}-{server.modes[steps]}")
        for name, server in SERVERS.items()
        for steps in range(1, len(server.modes))
    ],
)
def test_a_refused_mode_steps_down(server: Server, steps: int, run: Any) -> None:
    """On every wire, down to the prompt alone; the schema stands in words wherever no mode carries it."""
    refused, left = server.modes[:steps], server.modes[: steps + 1]
    words = "JSON mode is not enabled for models/m" if server.model.startswith("google/") else UNAVAILABLE
    watched = run(refusing(*refused, message=words))

    found = emit(SCHEMA, SITUATION, **watched.options(server))
    again = emit(SCHEMA, SITUATION, **watched.options(server))

    assert (found.value, again.value) == (DOCUMENT, DOCUMENT)
    assert watched.modes == [*left, left[-1]]
    assert verdicts(found) == [*["faulted"] * steps, "complete"]
    assert [attempt.mode.value for attempt in found.attempts] == list(left)
    assert [event.fields["mode"] for event in log(found, MODE_REFUSED)] == list(left[1:])
    assert [event.fields for event in log(again, MODE_REFUSED)] == [{"refused": sorted(refused), "mode": left[-1]}]
    without = [mode for request, mode in zip(watched.asked, watched.modes, strict=True) if not _shows_schema(request)]
    assert without == []


def _shows_schema(request: ReceivedRequest) -> bool:
    return DESCRIPTION in json.dumps(request.body)


@some_servers
@every_function
def test_every_function_steps_down(function: Any, server: Server, run: Any) -> None:
    """``emit``, streams, runs and decisions have the same remedy, and share what was learned."""
    watched = run(refusing(server.modes[0]))

    found = function(**watched.options(server))
    again = function(**watched.options(server))

    assert watched.modes == [server.modes[0], server.modes[1], server.modes[1]]
    assert (verdicts(found), verdicts(again)) == (["faulted", "complete"], ["complete"])
    assert found.attempts[0].fault.kind.value == "mode_refused"
    assert found.attempts[0].usage is None


@every_server
@pytest.mark.parametrize("words", STREAMS.values(), ids=STREAMS)
def test_an_answer_is_streamed_on_every_wire(server: Server, words: str, run: Any) -> None:
    """The pieces are put together as those of a stream that somebody watches."""
    watched = run(lambda asked: StreamsOnly(words, answered(asked)))

    assert emit(SCHEMA, SITUATION, **watched.options(server)).value == DOCUMENT
    assert watched.streamed == [False, True]


@some_servers
@every_function
def test_a_server_that_only_streams_is_streamed(function: Any, server: Server, run: Any) -> None:
    """The answer is assembled, with its usage; who watches a stream sees no difference."""
    watched = run(lambda asked: StreamsOnly(answer=answered(asked)))

    found = function(**watched.options(server))
    again = function(**watched.options(server))

    is_watched = "stream" in function.__name__
    assert watched.streamed == ([True, True] if is_watched else [False, True, True])
    assert len(log(found, STREAM_REQUIRED)) == len(log(again, STREAM_REQUIRED)) == (0 if is_watched else 1)
    assert found.usage.input > 0
    assert found.usage.output > 0
    assert not found.usage.estimated


def test_a_run_asks_in_a_refused_mode_once(run: Any) -> None:
    """The jobs of a run, and later runs of the same client, share what was learned."""
    watched = run(refusing("json_schema"))
    with Emitter("vllm/m", base_url=watched.options()["base_url"]) as emitter:
        first = emitter.emit_many(SCHEMA, [SITUATION] * 5, in_flight=1, progress=False).results()
        later = emitter.emit_many(SCHEMA, [SITUATION] * 5, in_flight=5, progress=False).results()

    assert [each.result.value for each in (*first, *later)] == [DOCUMENT] * 10
    assert watched.modes == ["json_schema", *["json_object"] * 10]


def test_jobs_in_flight_are_refused_at_most_once_each(run: Any) -> None:
    """What was sent before the first refusal came is sent once more."""
    watched = run(refusing("json_schema"))
    results = emit_many(SCHEMA, [SITUATION] * 20, **watched.options(), in_flight=4, progress=False).results()

    assert [each.result.value for each in results] == [DOCUMENT] * 20
    assert 1 <= watched.modes.count("json_schema") <= 4


def test_a_batch_steps_down_in_its_next_round(run: Any) -> None:
    """A row whose mode is refused is sent again in another."""
    watched = run(refusing("json_schema"))
    options = watched.options(SERVERS["Responses"])
    results = emit_many(SCHEMA, [SITUATION] * 3, **options, batch=Batch(poll=1), progress=False).results()

    assert [each.result.value for each in results] == [DOCUMENT] * 3
    assert [verdicts(each.result) for each in results] == [["faulted", "complete"]] * 3


def test_a_batch_is_never_asked_for_a_stream(run: Any) -> None:
    """No batch is streamed, so a second round would be refused as well."""
    watched = run(lambda asked: StreamsOnly(answer=answered(asked)))
    options = watched.options(SERVERS["Responses"])
    (result,) = emit_many(SCHEMA, [SITUATION], **options, batch=Batch(poll=1), progress=False).results()

    assert isinstance(result.error, BadRequest)
    assert watched.streamed == [False]


def test_what_was_learned_belongs_to_a_client_an_address_and_a_model(run: Any) -> None:
    """Another client, another server and another model are asked in the preferred mode."""
    watched, other = run(refusing("json_schema")), run(answered)
    here, there = (each.options()["base_url"] for each in (watched, other))
    with Emitter("vllm/m", base_url=here) as one, Emitter("vllm/m", base_url=here) as two:
        for emitter in (one, one, two):
            emitter.emit(SCHEMA, SITUATION)
    client = watched.vendor.client("vllm/m")
    for model in ("vllm/m", "vllm/m", "vllm/other"):
        emit(SCHEMA, SITUATION, model=model, client=client)
    emit(SCHEMA, SITUATION, model="vllm/m", base_url=there)

    learning, known = ["json_schema", "json_object"], ["json_object"]
    assert watched.modes == [*learning, *known, *learning, *learning, *known, *learning]
    assert other.modes == ["json_schema"]


def test_a_client_that_is_gone_is_forgotten(run: Any) -> None:
    """The memory keeps no client alive."""
    watched = run(refusing("json_schema"))
    with Emitter("vllm/m", base_url=watched.options()["base_url"]) as emitter:
        emitter.emit(SCHEMA, SITUATION)
    assert len(refusals._REMEMBERED) == 1
    del emitter
    gc.collect()
    assert len(refusals._REMEMBERED) == 0


@pytest.mark.parametrize(("attempts", "calls"), [(1, 1), (2, 2), (3, 3), (9, 3)])
def test_steps_are_calls_and_come_to_an_end(attempts: int, calls: int, run: Any) -> None:
    """Each counts towards the attempts, and a server that refuses everything is asked once in each form."""
    watched = run(refusing("json_schema", "json_object", "text"))
    with pytest.raises(BadRequest) as raised:
        emit(SCHEMA, SITUATION, **watched.options(), policy=Policy(max_attempts=attempts))

    assert watched.modes == ["json_schema", "json_object", "text"][:calls]
    following = ["json_object", "text"][calls - 1 : calls]
    assert [f'modes=["{mode}"]' in raised.value.hint for mode in following] == [True] * len(following)
    assert ("refuses every output mode" in raised.value.hint) is (not following)
    assert UNAVAILABLE in (raised.value.vendor_message or "")


def test_a_step_leaves_the_call_of_a_fallback(run: Any) -> None:
    """A later model has its call, as after any other failure."""
    watched, other = run(refusing("json_schema", "json_object", "text")), run(answered)
    fallback = Fallback("ollama/n", base_url=other.options()["base_url"])
    found = emit(SCHEMA, SITUATION, **watched.options(), fallback=[fallback], policy=Policy(max_attempts=2))

    assert [attempt.model for attempt in found.attempts] == ["vllm/m", "ollama/n"]


def test_a_fallback_steps_down_as_well(run: Any) -> None:
    """Each model has its own modes, and what its server refused is remembered for it."""
    first, second = run(refusing("json_schema", "json_object", "text")), run(refusing("json_schema"))
    fallback = Fallback("ollama/n", base_url=second.options()["base_url"])
    ask = partial(emit, SCHEMA, SITUATION, **first.options(), fallback=[fallback], policy=Policy(max_attempts=5))

    assert (ask().value, ask().value) == (DOCUMENT, DOCUMENT)
    assert second.modes == ["json_schema", "json_object", "json_object"]


def test_both_steps_follow_each_other(run: Any) -> None:
    """A server that only streams and has no schemas is asked with a stream first, and then for an object."""
    watched = run(lambda asked: StreamsOnly(answer=ModesRefused(answer=answered(asked))))
    ask = partial(emit, SCHEMA, SITUATION, **watched.options())

    assert (ask().value, ask().value) == (DOCUMENT, DOCUMENT)
    assert watched.streamed == [False, True, True, True]
    assert watched.modes == ["json_schema", "json_schema", "json_object", "json_object"]


def test_a_correction_survives_a_step(run: Any) -> None:
    """Whatever was asked before the refusal is asked again."""
    refused: list[ReceivedRequest] = []

    def answer(asked: ReceivedRequest) -> Behaviour:
        refused.append(asked)
        return Violating({"total": "twelve"}) if len(refused) == 1 else ModesRefused(answer=Text(DOCUMENT))

    watched = run(answer)
    found = emit(SCHEMA, SITUATION, **watched.options())

    assert watched.modes == ["json_schema", "json_schema", "json_object"]
    turns = [len(request.body["messages"]) for request in watched.asked]
    assert turns[0] < turns[1] == turns[2]
    assert [attempt.corrected for attempt in found.attempts] == [False, True, True]


def test_the_local_check_decides_in_every_mode(run: Any) -> None:
    """An answer that nothing constrains is checked and corrected as any other."""

    def answer(asked: ReceivedRequest) -> Behaviour:
        is_corrected = len(asked.body["messages"]) > 2
        return ModesRefused(answer=Text(DOCUMENT) if is_corrected else Violating({"total": "x"}))

    found = emit(SCHEMA, SITUATION, **run(answer).options(), policy=Policy(max_attempts=3))

    assert found.value == DOCUMENT
    assert verdicts(found) == ["faulted", "violated", "complete"]


def test_a_profile_can_name_the_mode_at_once(run: Any) -> None:
    """The caller who knows the server spends no call on finding out."""
    watched = run(refusing("json_schema", "json_object"))
    server = Profile.from_name("vllm").override(modes=["text"])
    found = emit(SCHEMA, SITUATION, model="m", profile=server, base_url=watched.options()["base_url"])

    assert (found.value, watched.modes) == (DOCUMENT, ["text"])


def test_a_server_without_an_address_is_no_concern_of_the_memory(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a server has refused something, another one without an address is still missed only when it is asked."""
    monkeypatch.delenv("OPENAI_COMPATIBLE_BASE_URL", raising=False)
    emit(SCHEMA, SITUATION, **run(refusing("json_schema")).options())

    form, settings = document_settings(SCHEMA, "openai-compatible/m", {})
    assert prepare_emission(form, SITUATION, settings).request.output.mode.value == "json_schema"
