"""`emit_binding_moment`: what callers hand over, what they get, and what they are told when it cannot be."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest
from google import genai

from emitter import (
    Emission,
    InputError,
    Material,
    Policy,
    Trust,
    Unreachable,
    Withheld,
    aemit_binding_moment,
    emit_binding_moment,
    stream_binding_moment,
)
from emitter.bulk import emit_binding_moments
from emitter.errors import MissingKey, UnknownModel, UnknownModelWarning
from emitter.models import Hatches
from tests.loopback import serving, trickling
from tests.scenarios.answers import BOUND, DELIBERATION, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from emitter.events import RunEvent
    from tests.loopback import Loopback

SITUATION = "The tests are green and the release branch is cut. Shall we publish?"

ENVIRONMENT = {
    "openai": {"OPENAI_API_KEY": "key-of-openai", "OPENAI_BASE_URL": "{url}/v1"},
    "anthropic": {"ANTHROPIC_API_KEY": "key-of-anthropic", "ANTHROPIC_BASE_URL": "{url}"},
    "google": {"GEMINI_API_KEY": "key-of-google", "GOOGLE_GEMINI_BASE_URL": "{url}"},
    "openai-compatible": {"OPENAI_COMPATIBLE_BASE_URL": "{url}/v1"},
    "groq": {"GROQ_API_KEY": "key-of-groq", "GROQ_API_BASE": "{url}/openai/v1"},
}
MODELS = {
    "openai": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-opus-5",
    "google": "google/gemini-3.8-flash",
    "openai-compatible": "openai-compatible/some-model",
    "groq": "groq/openai/gpt-oss-20b",
}
every_vendor = pytest.mark.parametrize("vendor", MODELS)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """Serve the binding moment, and point every vendor's usual environment variables there."""
    with serving(lambda vendor: vendor.whole(text(BOUND), 600)) as running:
        for variables in ENVIRONMENT.values():
            for name, value in variables.items():
                monkeypatch.setenv(name, value.format(url=running.url))
        yield running


@every_vendor
def test_a_client_is_made_from_the_usual_environment(server: Loopback, vendor: str) -> None:
    """Without a client of the caller's, key and address come from the vendor's own variables."""
    decision = emit_binding_moment(SITUATION, model=MODELS[vendor])

    assert isinstance(decision, Emission)
    key = ENVIRONMENT[vendor].get(f"{vendor.upper()}_API_KEY", "")
    assert key in json.dumps(server.requests[0].headers)


@every_vendor
@pytest.mark.usefixtures("server")
def test_the_async_call_does_the_same(vendor: str) -> None:
    """Five emissions at once, each with a client of its own, each with its own ids."""

    async def many() -> list[Any]:
        return await asyncio.gather(*(aemit_binding_moment(SITUATION, model=MODELS[vendor]) for _ in range(5)))

    decisions = asyncio.run(many())

    assert all(isinstance(each, Emission) for each in decisions)
    assert len({each.envelope.envelope_id for each in decisions}) == 5
    assert len({each.envelope.correlation_id for each in decisions}) == 5


def test_a_key_with_a_line_end_is_taken_as_it_was_meant(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that was read from a file often ends in a newline, which no header may."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai\n")
    emit_binding_moment(SITUATION, model="openai/gpt-6-sol")

    assert server.requests[0].headers["authorization"] == "Bearer key-of-openai"


def test_a_base_url_of_the_callers_wins(server: Loopback) -> None:
    """``base_url`` beats the environment."""
    emit_binding_moment(SITUATION, model="openai-compatible/m", base_url=f"{server.url}/elsewhere/v1")

    assert server.requests[0].path == "/elsewhere/v1/chat/completions"


def test_another_wire_can_be_asked_for(server: Loopback) -> None:
    """OpenAI is spoken to by Responses, or by Chat Completions where the caller says so."""
    emit_binding_moment(SITUATION, model="openai/gpt-6-sol")
    emit_binding_moment(SITUATION, model="openai/gpt-6-sol", wire="openai-chat")

    assert [each.path for each in server.requests] == ["/v1/responses", "/v1/chat/completions"]


@pytest.mark.filterwarnings("ignore::emitter.errors.UnknownModelWarning")
@pytest.mark.parametrize(
    ("model", "reported"),
    [
        ("openai/gpt-6-sol", False),
        ("google/gemini-3.8-flash", False),
        ("groq/openai/gpt-oss-20b", True),
        ("groq/some-other-model", True),
        ("openai-compatible/some-model", True),
    ],
)
def test_a_schema_that_no_model_reads_stands_in_the_prompt(server: Loopback, model: str, reported: bool) -> None:
    """Where the server shows the schema to the model, the prompt does not repeat it."""
    emit_binding_moment(SITUATION, model=model)

    assert ("# The form of the answer" in json.dumps(server.requests[0].body)) is reported


WARNED = (
    r"openai/gpt-99 is an unknown model. Assuming a context window of 1,050,000 tokens, at most 128,000 output tokens, "
    r"the output mode json_schema and that it thinks; the first call may write \d,?\d+ tokens"
)


ASKING: dict[str, Callable[[], object]] = {
    "call": lambda: emit_binding_moment(SITUATION, model="openai/gpt-99"),
    "awaited": lambda: asyncio.run(aemit_binding_moment(SITUATION, model="openai/gpt-99")),
    "stream": lambda: stream_binding_moment(SITUATION, model="openai/gpt-99").close(),
    "many": lambda: emit_binding_moments([SITUATION], model="openai/gpt-99"),
}


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("way", ASKING)
def test_assumed_limits_are_warned_of_where_the_caller_stands(way: str) -> None:
    """A model that no table knows is used, however it is asked; the warning points at the caller's line."""
    with pytest.warns(UnknownModelWarning, match=WARNED) as caught:
        ASKING[way]()

    assert len(caught) == 1
    assert (caught[0].filename == __file__) == (way != "awaited")  # above that is the event loop


@pytest.mark.usefixtures("server")
def test_nothing_is_warned_of_where_the_server_sets_the_limits() -> None:
    """No table could know the models of one's own server."""
    emit_binding_moment(SITUATION, model="openai-compatible/mine")


def test_options_reach_the_body_as_they_are(server: Loopback) -> None:
    """What the vendor alone knows is laid over the request, key by key."""
    emit_binding_moment(
        SITUATION,
        model="openai/gpt-6-sol",
        extra_body={"reasoning": {"effort": "low"}, "text": {"verbosity": "low"}},
    )
    body = server.requests[0].body

    assert body["reasoning"] == {"effort": "low"}
    assert body["text"]["verbosity"] == "low"
    assert body["text"]["format"]["type"] == "json_schema"


@pytest.mark.usefixtures("server")
def test_the_envelope_is_what_was_asked_for() -> None:
    """Hatches, class and ids are the caller's; the envelope says who made it."""
    decision = emit_binding_moment(
        SITUATION,
        model="openai/gpt-6-sol",
        decision_class="release",
        hatches=Hatches(free_text=True, dialogue=False),
        run_id="run-7",
        node_id="publish",
    )

    assert isinstance(decision, Emission)
    envelope = decision.envelope.to_json()
    assert envelope["payload"]["binding_moment"]["question"]["hatches"] == {"free_text": True, "dialogue": False}
    assert envelope["payload"]["binding_moment"]["meta"] == {"decision_class": "release"}
    assert envelope["payload"]["reasoning"] == BOUND["reasoning"]
    assert envelope["correlationId"].startswith("run-7:publish:0:")
    assert envelope["nodeId"] == "publish"
    assert envelope["meta"]["source"] == "ai-generation"
    assert {each.run_id for each in decision.events} == {"run-7"}
    assert {each.causation_id for each in decision.events} == {envelope["correlationId"]}


@pytest.mark.parametrize(
    ("materials", "trust"),
    [
        ([], Trust.TRUSTED),
        (["plain text"], Trust.TRUSTED),
        ([Material("ours", "runbook")], Trust.TRUSTED),
        ([Material("ours"), Material("theirs", "mail", Trust.UNTRUSTED)], Trust.UNTRUSTED),
    ],
    ids=["none", "text", "trusted", "one-untrusted"],
)
def test_one_untrusted_material_taints(server: Loopback, materials: list[Any], trust: Trust) -> None:
    """The envelope's trust is the least of all inputs, and untrusted text is fenced."""
    decision = emit_binding_moment(SITUATION, model="openai/gpt-6-sol", materials=materials)

    assert decision.envelope.meta.content_trust is trust
    assert ("<UNTRUSTED " in json.dumps(server.requests[0].body)) == (trust is Trust.UNTRUSTED)


def test_a_veto_is_a_success() -> None:
    """Choosing not to bind is returned, not raised."""
    with serving(lambda vendor: vendor.whole(text(DELIBERATION), 90)) as running:
        client = openai.OpenAI(api_key="k", base_url=f"{running.url}/v1")
        decision = emit_binding_moment(SITUATION, model="openai/gpt-6-sol", client=client)

    assert isinstance(decision, Withheld)
    assert decision.envelope.type == "vendor.emitter.deliberation"
    assert decision.usage.output == 90


def test_events_reach_the_sink_as_they_happen() -> None:
    """The sink sees each event once, in order, and the result keeps the same."""
    reported: list[RunEvent] = []
    with serving(lambda vendor: vendor.whole(text(BOUND), 600)) as running:
        client = anthropic.Anthropic(api_key="k", base_url=running.url)
        decision = emit_binding_moment(
            SITUATION, model="anthropic/claude-opus-5", client=client, on_event=reported.append
        )

    assert tuple(reported) == decision.events
    assert [each.sequence for each in reported] == list(range(len(reported)))


def test_prompts_of_your_own_are_used(server: Loopback, tmp_path: Path) -> None:
    """A file in the folder replaces the library's of the same name; the others stay."""
    (tmp_path / "ask.md").write_text("Decide, with $binding_moment, $deliberation, $clarification or $error.")
    emit_binding_moment(SITUATION, model="openai/gpt-6-sol", prompts=tmp_path)

    assert server.requests[0].body["instructions"].startswith("Decide, with vendor.emitter.binding-moment")
    assert SITUATION in json.dumps(server.requests[0].body["input"])


def test_instructions_of_your_own_stand_beside_the_librarys(server: Loopback) -> None:
    """The system prompt holds the library's words first, then the caller's."""
    emit_binding_moment(SITUATION, model="openai/gpt-6-sol", instructions="Releases are announced at noon.")

    assert server.requests[0].body["instructions"].startswith("You prepare decisions for a person")
    assert "Releases are announced at noon." in server.requests[0].body["instructions"]


def test_a_recommended_option_that_is_none_is_corrected() -> None:
    """The schema allows four places; which of them exist is a rule of its own."""
    question = {**BOUND["turn"]["question"], "recommended_idx": 3}
    beside = {**BOUND, "turn": {**BOUND["turn"], "question": question}}
    left = iter([beside, BOUND])
    with serving(lambda vendor: vendor.whole(text(next(left)), 600)) as running:
        client = anthropic.Anthropic(api_key="k", base_url=running.url)
        decision = emit_binding_moment(SITUATION, model="anthropic/claude-opus-5", client=client)

    assert [each.verdict.value for each in decision.attempts] == ["violated", "complete"]
    assert "/turn/question/recommended_idx: range" in json.dumps(running.requests[1].body)


def test_an_unreachable_server_is_said() -> None:
    """A connection that cannot be made is a fault, re-sent as often as the policy says, then reported."""
    client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(Unreachable) as raised:
        emit_binding_moment(SITUATION, model="openai/gpt-6-sol", client=client, policy=Policy(max_faults=0))

    assert raised.value.code == "provider_unavailable"
    assert len(raised.value.trace.attempts) == 1


@pytest.mark.parametrize("budget", [1, 10, 10**9])
def test_a_budget_is_kept_between_the_vendors_least_and_the_models_most(server: Loopback, budget: int) -> None:
    """A budget that the vendor would refuse is not sent."""
    emit_binding_moment(SITUATION, model="openai/gpt-6-sol", policy=Policy(output_tokens=budget))

    assert 16 <= server.requests[0].body["max_output_tokens"] <= 128_000


def closed(client: Any) -> Any:
    """Return a client that is closed."""
    client.close()
    return client


async def _slow(event: object) -> None:
    """Take an event, some time."""


BAD: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    "no-vendor": ({"model": "my-model"}, UnknownModel, "Write vendor/model; the vendors are anthropic"),
    "unknown-vendor": ({"model": "acme/gpt"}, UnknownModel, "'acme/gpt' is not a model"),
    "no-name": ({"model": "openai/"}, UnknownModel, "Write vendor/model"),
    "empty-model": ({"model": ""}, UnknownModel, "Write vendor/model"),
    "no-key": (
        {"model": "anthropic/claude-opus-5"},
        MissingKey,
        "Set ANTHROPIC_API_KEY. In Python, Emitter(api_key=...), client= and Fallback(client=...) work",
    ),
    "no-base-url": ({"model": "openai-compatible/m"}, MissingKey, "needs a base URL"),
    "empty-situation": ({"messages": " \n"}, InputError, "The prompt is empty."),
    "no-messages": ({"messages": []}, InputError, "is an empty list"),
    "unknown-wire": ({"wire": "telex"}, InputError, "It has openai-responses, openai-chat"),
    "no-such-prompts": ({"prompts": "no-such-folder"}, InputError, "is not a folder"),
    "wrong-client": (
        {"client": object()},
        InputError,
        "gpt-6-sol needs an OpenAI client, but client= is an object",
    ),
    "client-of-google": (
        {"client": genai.Client(api_key="k", vertexai=False)},
        InputError,
        "but client= is a google.genai.Client. Pass client=openai.OpenAI(), or leave it out.",
    ),
    "client-of-anthropic": (
        {"client": anthropic.Anthropic(api_key="k")},
        InputError,
        "openai/gpt-6-sol needs an OpenAI client, but client= is an anthropic.Anthropic.",
    ),
    "client-of-openai": (
        {"model": "anthropic/claude-opus-5"},
        InputError,
        (
            "anthropic/claude-opus-5 needs an Anthropic client, but client= is an openai.OpenAI. "
            "Pass client=anthropic.Anthropic(), or leave it out."
        ),
    ),
    "client-of-openai-for-google": (
        {"model": "google/gemini-3.8-flash"},
        InputError,
        "needs a Google client, but client= is an openai.OpenAI. Pass client=google.genai.Client()",
    ),
    "client-for-a-compatible-vendor": (
        {"model": "groq/openai/gpt-oss-20b", "client": anthropic.Anthropic(api_key="k")},
        InputError,
        'Pass client=openai.OpenAI(base_url="https://api.groq.com/openai/v1")',
    ),
    "http-client": (
        {"client": httpx2.Client()},
        InputError,
        "but client= is a httpx2.Client. Pass client=",
    ),
    "class-of-a-client": ({"client": openai.OpenAI}, InputError, "client= is the class openai.OpenAI, not a client."),
    "client-as-text": ({"client": "openai"}, InputError, "but client= is a str."),
    "async-client": (
        {"client": openai.AsyncOpenAI(api_key="k")},
        InputError,
        "client= is an openai.AsyncOpenAI, which is async, and this call is not. Pass client=openai.OpenAI()",
    ),
    "async-half": (
        {"client": genai.Client(api_key="k", vertexai=False).aio, "model": "google/gemini-3.8-flash"},
        InputError,
        "client= is a google.genai.AsyncClient, which is async",
    ),
    "closed-openai": (
        {"client": closed(openai.OpenAI(api_key="k"))},
        InputError,
        "client= is closed. Pass",
    ),
    "closed-anthropic": (
        {"client": closed(anthropic.Anthropic(api_key="k")), "model": "anthropic/claude-opus-5"},
        InputError,
        "client= is closed.",
    ),
    "closed-google": (
        {"client": closed(genai.Client(api_key="k", vertexai=False)), "model": "google/gemini-3.8-flash"},
        InputError,
        "client= is closed.",
    ),
    "sink-as-path": (
        {"on_event": "log.jsonl"},
        InputError,
        "not a function. Pass on_event=to_jsonl('log.jsonl').",
    ),
    "sink-of-another-type": ({"on_event": 5}, InputError, "on_event= is of type int, not a function of an event."),
    "async-sink": ({"on_event": _slow}, InputError, "on_event= is async."),
    "clock-of-another-type": ({"clock": 5}, InputError, "clock is of type int; it must be of type Clock."),
    "address-of-another-type": ({"client": None, "base_url": 5}, InputError, "base_url is of type int"),
    "prompts-of-another-type": ({"prompts": 5}, InputError, "prompts is of type int; it must be the path of a folder."),
    "run-id-of-another-type": ({"run_id": 5}, InputError, "run_id is of type int"),
    "options-as-list": ({"extra_body": [1]}, InputError, "extra_body= is of type list, not a mapping."),
    "options-as-text": ({"extra_body": "temperature"}, InputError, "extra_body= is of type str, not a mapping."),
    "options-with-a-number": ({"extra_body": {1: 2}}, InputError, "extra_body= has the key 1, which is not a string."),
    "options-that-are-no-json": ({"extra_body": {"user": object()}}, InputError, "extra_body= cannot be sent as JSON"),
    "address-twice": ({"base_url": "http://127.0.0.1:9/v1"}, InputError, "Pass client= or base_url=, not both."),
    "no-hatches": ({"hatches": None}, InputError, "hatches is of type NoneType; it must be of type Hatches."),
    "policy-as-dict": (
        {"policy": {"max_attempts": 1}},
        InputError,
        "policy is of type dict; it must be of type Policy.",
    ),
    "materials-as-text": ({"materials": "abc"}, InputError, "materials must be a list."),
    "one-material": ({"materials": Material("a")}, InputError, "materials must be a list."),
    "material-of-another-type": ({"materials": [5]}, InputError, "materials[0] is of type int, not text. Wrap"),
    "model-of-another-type": ({"model": None}, UnknownModel, "Write vendor/model"),
    "empty-class": ({"decision_class": " "}, InputError, "decision_class is ' '"),
    "class-of-another-type": ({"decision_class": 7}, InputError, "decision_class is 7; it must be a text"),
    "long-run-id": ({"run_id": "r" * 128}, InputError, "at most 128 characters"),
    "empty-node-id": ({"node_id": ""}, InputError, "must not be empty"),
}


@pytest.mark.parametrize(("given", "error", "reported"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_reported_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], error: type[InputError], reported: str
) -> None:
    """One sentence says what is wrong, and another what to do."""
    for variables in ENVIRONMENT.values():
        for name in variables:
            monkeypatch.delenv(name, raising=False)
    arguments = {"messages": SITUATION, "model": "openai/gpt-6-sol", **given}
    if error is not MissingKey:
        arguments.setdefault("client", openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1"))

    with pytest.raises(error, match=re.escape(reported)):
        emit_binding_moment(**arguments)


def test_a_sync_client_is_refused_by_the_async_call() -> None:
    """The other way round is reported as clearly."""
    with pytest.raises(InputError, match=r"an openai.OpenAI, which blocks.* Pass client=openai.AsyncOpenAI"):
        asyncio.run(aemit_binding_moment(SITUATION, model="openai/gpt-6-sol", client=openai.OpenAI(api_key="k")))


@pytest.mark.parametrize("trust", ["UNTRUSTED", "evil", None, False], ids=str)
def test_a_trust_that_is_none_is_refused(trust: Any) -> None:
    """A misspelt trust must not pass as trusted."""
    with pytest.raises(InputError, match=r"Material.trust is .*; it must be Trust.TRUSTED or Trust.UNTRUSTED."):
        Material("pay now", "mail", trust)


def test_text_that_no_wire_can_carry_is_refused() -> None:
    """A lone surrogate, as a file read carelessly leaves it, is reported before anything is sent."""
    with pytest.raises(InputError, match="lone surrogate"):
        Material("\ud800")


def test_an_error_can_cross_a_process() -> None:
    """A pool hands back the error as it was raised."""
    client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(Unreachable) as raised:
        emit_binding_moment(SITUATION, model="openai/gpt-6-sol", client=client, policy=Policy(max_faults=0))

    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.code) == (Unreachable, str(raised.value), "provider_unavailable")
    assert "Connection refused)" in str(again)


def test_the_async_call_ends_an_answer_that_trickles() -> None:
    """The timeout bounds the whole call, not only the wait for each byte."""

    async def emitted(url: str) -> None:
        async with openai.AsyncOpenAI(api_key="k", base_url=url) as client:
            policy = Policy(timeout=0.3, max_faults=0)
            await aemit_binding_moment(SITUATION, model="openai/gpt-6-sol", client=client, policy=policy)

    with trickling() as url, pytest.raises(Unreachable) as raised:
        asyncio.run(emitted(url))

    assert [each.fault and each.fault.kind.value for each in raised.value.trace.attempts] == ["timeout"]


def test_an_unknown_argument_is_a_type_error() -> None:
    """A misspelt argument is not swallowed."""
    with pytest.raises(TypeError, match="polcy"):
        emit_binding_moment(SITUATION, model="openai/gpt-6-sol", polcy=Policy())  # type: ignore[call-arg]


def test_a_cancelled_task_ends_at_once() -> None:
    """Cancellation reaches the caller and is taken for no fault."""

    async def cancelled() -> None:
        task = asyncio.create_task(aemit_binding_moment(SITUATION, model="openai/gpt-6-sol", client=client))
        await asyncio.sleep(0)
        task.cancel()
        await task

    client = openai.AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
