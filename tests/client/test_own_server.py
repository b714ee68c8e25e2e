"""A server that the caller describes: what is sent to it, how its answers are read, and whose limits hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter import AsyncEmitter, BadRequest, Emitter, Fallback, InputError, Invalid, Policy, Profile, Truncated, emit
from emitter.checks import ModelJudge
from emitter.messages import OutputMode
from emitter.prices import ListedPrices
from emitter.testing import Cut, Text, Unauthorized, UnknownStop, simulator
from emitter.testing.behaviours import find_output_mode
from emitter.testing.plans import RawResponse
from tests.core.capability_gate.functions import DOCUMENT, FUNCTIONS, SCHEMA, SITUATION, answered, every_function
from tests.scenarios.answers import BOUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import ReceivedRequest, Simulator

SERVER = Profile.from_toml("""
name = "acme"
extends = "openai-compatible"
source = "the operator"

[client]
base_url = "http://127.0.0.1:9/v1"
key_required = false

[[models]]
match = "*"
context = 100000
max_output = 50000

[wires.openai-chat.output]
modes = ["json_object"]

[wires.openai-chat.stops.reasons]
end = "complete"
""")


@pytest.fixture
def server() -> Iterator[Simulator]:
    """Run a server with a stop reason of its own, which the caller's profile explains."""
    with simulator(answers=lambda asked: UnknownStop("end", answered(asked))) as running:
        yield running


def address(server: Simulator) -> str:
    """Return the address of a compatible server."""
    return server.base_url("openai-compatible/m")


def budgets(server: Simulator) -> list[int]:
    """Return the budgets that were sent."""
    return [call.body["max_tokens"] for call in server.calls]


@every_function
@pytest.mark.parametrize("model", ["qwen3:8b", "acme/qwen3:8b", "openai-compatible/qwen3:8b"])
def test_every_function_takes_a_profile(function: Any, model: str, server: Simulator) -> None:
    """The modes, the limits and the stop reasons are those of the profile, under each name of the model."""
    found = function(model=model, profile=SERVER, base_url=address(server), policy=Policy(output_tokens=40_000))

    assert found.attempts[0].stop == "end"
    assert found.attempts[0].model == "acme/qwen3:8b"
    assert {call.body["model"] for call in server.calls} == {"qwen3:8b"}
    assert server.calls[0].body["response_format"] == {"type": "json_object"}
    assert budgets(server) == [40_000]


@every_function
def test_without_the_profile_the_stop_is_unknown(function: Any, server: Simulator) -> None:
    """It is never taken for a whole answer, and the error says how to explain it."""
    with pytest.raises(Invalid) as raised:
        function(model="openai-compatible/m", base_url=address(server))

    assert "'end', whose meaning is unknown" in str(raised.value)
    assert "stops={'end': ...}" in raised.value.hint
    assert "more attempts" not in str(raised.value)


@pytest.mark.parametrize("model", ["openai-compatible/m", "openai/gpt-6-sol", "anthropic/claude-opus-5"])
def test_an_answer_without_a_stop_reason_is_described_and_may_be_accepted(model: str) -> None:
    """The error quotes no empty word, and its advice works."""
    with simulator(answers=lambda asked: UnknownStop("", answered(asked))) as running:
        client = running.client(model)
        with pytest.raises(Invalid) as raised:
            emit(SCHEMA, SITUATION, model=model, client=client)
        trusting = Profile.from_name(model.partition("/")[0]).override(stops={"": "complete"})
        accepted = emit(SCHEMA, SITUATION, model=model, client=client, profile=trusting)

    assert "The vendor stopped without a stop reason, " in str(raised.value)
    assert "override(stops={'': 'complete'})" in raised.value.hint
    assert accepted.value == DOCUMENT


def test_words_that_no_rule_reads_can_be_taught() -> None:
    """The advice of the error, with the words of the server, is what makes emitter understand them."""
    refusal = RawResponse(b'{"error": {"message": "no grammars here", "type": "invalid_request_error"}}', status=400)
    model = "openai-compatible/m"

    def answer(asked: ReceivedRequest) -> Any:
        return _Refusing(refusal) if find_output_mode(asked) is OutputMode.JSON_SCHEMA else answered(asked)

    with simulator(answers=answer) as running:
        client = running.client(model)
        with pytest.raises(BadRequest) as raised:
            emit(SCHEMA, SITUATION, model=model, client=client)
        rules = [{"message": "(?i)no grammars", "means": "mode_refused"}]
        taught = Profile.from_name("openai-compatible").override(rules=rules)
        assert emit(SCHEMA, SITUATION, model=model, client=client, profile=taught).value == DOCUMENT

    assert "profile=Profile.from_name(...).override(rules=[" in raised.value.hint
    assert "a model setting" in raised.value.hint


class _Refusing:
    """A server that answers with a fixed response."""

    def __init__(self, response: RawResponse) -> None:
        self._response = response

    def plan(self, request: ReceivedRequest) -> RawResponse:
        del request
        return self._response


@every_function
@pytest.mark.parametrize("wrong", ["server.toml", {"max_output": 3}, Profile], ids=["a path", "a mapping", "the class"])
def test_what_is_no_profile_is_refused(function: Any, wrong: Any) -> None:
    """The error says how to make one."""
    with pytest.raises(InputError, match=r"profile=.*Profile\.from_toml"):
        function(model="vllm/m", profile=wrong)


def test_a_client_keeps_its_profile(server: Simulator) -> None:
    """``Emitter`` and ``AsyncEmitter`` take it once, with a model that only the server knows."""
    with Emitter("qwen3:8b", profile=SERVER, base_url=address(server)) as emitter:
        assert emitter.emit(SCHEMA, SITUATION).value == DOCUMENT
        assert emitter.emit_many(SCHEMA, [SITUATION], progress=False).results()[0].result.value == DOCUMENT
    assert AsyncEmitter("acme/qwen3:8b", profile=SERVER, base_url=address(server)).model == "acme/qwen3:8b"


def test_two_profiles_of_one_address_share_no_schema(server: Simulator) -> None:
    """Each sends the keywords that it enforces, whichever came first."""
    schema = {"type": "object", "properties": {"total": {"type": "number", "minimum": 1}}, "required": ["total"]}
    plain = SERVER.override(modes=["json_schema"])
    bounded = plain.override(keywords=[*plain.subset.keywords, "minimum"])
    for profile in (plain, bounded, plain):
        emit(schema, SITUATION, model="m", profile=profile, base_url=address(server))

    sent = ["'minimum': 1" in str(call.body["response_format"]) for call in server.calls]
    assert sent == [False, True, False]


def test_the_profile_of_a_fallback() -> None:
    """A fallback on the same server has the same profile, one of another vendor has not, and each may have its own."""

    def answer(asked: ReceivedRequest) -> Any:
        return UnknownStop("end", Text(DOCUMENT)) if asked.model == "last" else Cut()

    other = SERVER.override(name="other", max_output=600)
    with simulator(answers=answer) as server:
        there = address(server)
        found = emit(
            SCHEMA,
            SITUATION,
            model="first",
            profile=SERVER,
            base_url=there,
            policy=Policy(max_attempts=3),
            fallback=[Fallback("second", profile=other, base_url=there), "acme/last"],
        )

    assert [attempt.model for attempt in found.attempts] == ["acme/first", "other/second", "acme/last"]
    assert [call.body["max_tokens"] for call in server.calls][1] == 600


def test_the_judge_of_the_same_server_has_its_profile() -> None:
    """A judge that is named as a model of the profile is asked through it."""
    with simulator(answers=lambda _: UnknownStop("end", Text(BOUND))) as server:
        found = FUNCTIONS["emit_binding_moment"](
            model="m",
            profile=SERVER,
            base_url=address(server),
            checks=[ModelJudge("acme/judge", client=server.client("vllm/m"))],
        )

    assert {attempt.model for attempt in found.attempts} == {"acme/m", "acme/judge"}


LIMITS: dict[str, tuple[dict[str, Any], Policy, str, str]] = {
    "the policy's": (
        {"model": "vllm/m"},
        Policy(max_output_tokens=700),
        "the limit of Policy.max_output_tokens",
        "Raise",
    ),
    "assumed": ({"model": "vllm/m"}, Policy(), "the most that emitter assumes", "Policy(max_output_tokens=...)"),
    "stated by the caller": (
        {"model": "m", "profile": SERVER},
        Policy(output_tokens=60_000),
        "the most that the model can write",
        "choose a model",
    ),
    "too few calls": ({"model": "vllm/m"}, Policy(max_attempts=1), "no further call is allowed", "attempts"),
}


@every_function
@pytest.mark.parametrize("owner", LIMITS)
def test_a_cut_says_whose_limit_it_was(function: Any, owner: str) -> None:
    """And what can be done about it: the advice is never to raise what binds."""
    options, policy, limit, hint = LIMITS[owner]
    with simulator(answers=Cut()) as server, pytest.raises(Truncated) as raised:
        function(base_url=address(server), policy=policy, **options)

    assert limit in str(raised.value)
    assert hint in raised.value.hint


def test_an_unknown_profile_has_no_prices_and_says_so(server: Simulator) -> None:
    """The cost is unknown, with a reason that names the server."""
    found = emit(SCHEMA, SITUATION, model="m", profile=SERVER, base_url=address(server))
    assert found.cost is None
    assert "acme/m" in (found.trace.no_cost_reason or "")
    with pytest.raises(InputError, match="acme/m"):
        ListedPrices("acme", "m", facts=SERVER).cost_of(found.usage)


def test_a_failure_of_the_key_names_the_profile() -> None:
    """The name in errors is that of the profile."""
    with simulator(answers=Unauthorized()) as server, pytest.raises(Exception, match="acme/m"):
        emit(SCHEMA, SITUATION, model="m", profile=SERVER, base_url=address(server))
