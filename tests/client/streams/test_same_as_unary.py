"""The streamed and the unary form of the same answers come to the same."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from emitter import Emission, EmissionError, Policy, emit, emit_binding_moment
from emitter.streaming import FieldComplete, Restart, TextDelta
from emitter.testing.scenarios import SCENARIO_MODELS, SCENARIOS, SITUATION, get_scenario, load_scenario_cassette
from tests.adapters.test_streams import ANSWERS
from tests.client.streams.vendor import JSON, WIRES, WORLDS, Answer, Told, Vendor, Waits, ask, opened, streamed, whole
from tests.scenarios.answers import BOUND
from tests.work import covering

every_wire = pytest.mark.parametrize("wire", WIRES)
every_world = pytest.mark.parametrize("world", WORLDS)

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string"},
        "why": {"type": "string"},
        "n": {"type": "array", "items": {"type": ["number", "null"]}},
    },
    "required": ["decision", "why", "n"],
    "additionalProperties": False,
}


def script(scenario: str, wire: str, size: int) -> list[Answer]:
    """Return the answers of a cassette as streams."""
    played = [each.response for each in load_scenario_cassette(get_scenario(scenario, wire)).interactions]
    good = [streamed(wire, each.body, size, **dict(each.headers)) if each.status == 200 else None for each in played]
    return [
        made or Answer([json.dumps(each.body).encode()], each.status, {**dict(each.headers), **JSON})
        for made, each in zip(good, played, strict=True)
    ]


def unary(wire: str, answers: list[tuple[int, dict[str, str], Any]], call: Any) -> Any:
    """Return what the unary form comes to."""
    vendor = Vendor([whole(json.dumps(body), status, {**headers, **JSON}) for status, headers, body in answers])
    try:
        return call(client=vendor.client(wire, "sync"), clock=Waits().clock(), model=SCENARIO_MODELS[wire], wire=wire)
    except EmissionError as error:
        return error


def same(found: Told, other: Any) -> None:
    """Compare all but ids, times and what was reported on the way."""
    assert type(found.result) is type(other)
    assert found.attempts == other.trace.attempts
    assert found.trace.usage == other.trace.usage
    assert found.events == [each.event for each in other.trace.events]
    if isinstance(other, EmissionError):
        assert str(found.result) == str(other)
        assert found.result.code == other.code
        return
    assert found.result.envelope.payload == other.envelope.payload
    if isinstance(other, Emission):
        assert found.result.value == other.value


@pytest.mark.parametrize(("scenario", "wire", "size", "world"), covering(SCENARIOS, WIRES, (1, 40), WORLDS))
def test_every_scenario(scenario: str, wire: str, size: int, world: str) -> None:
    """Verdicts, values, usage, attempts and events agree, and each further call is reported as a restart."""
    arguments = {each: value for each, value in get_scenario(scenario, wire).arguments().items() if each != "wire"}
    played = [each.response for each in load_scenario_cassette(get_scenario(scenario, wire)).interactions]
    other = unary(
        wire,
        [(each.status, dict(each.headers), each.body) for each in played],
        lambda **more: emit_binding_moment(SITUATION, **{**arguments, **more}),
    )

    found = ask(wire, world, script(scenario, wire, size), situation=SITUATION, **arguments)

    same(found, other)
    restarts = [each for each in found.reported if isinstance(each, Restart)]
    assert restarts == [Restart(each.number + 1, each.verdict) for each in found.attempts[:-1]]


@every_world
@pytest.mark.parametrize("name", ANSWERS)
def test_every_kind_of_answer(name: str, world: str) -> None:
    """Text, calls, refusals, cuts and failures agree."""
    wire, body = ANSWERS[name][0].value, ANSWERS[name][1]
    policy = Policy(max_attempts=1, max_faults=0)
    other = unary(wire, [(200, {}, body)], lambda **more: emit(FORM, "Now?", policy=policy, **more))

    found = ask(wire, world, [streamed(wire, body, 3)], FORM, policy=policy)

    same(found, other)
    if isinstance(other, Emission):
        assert {
            each.pointer[1:]: each.value for each in found.reported if isinstance(each, FieldComplete)
        } == other.value


@every_world
@every_wire
def test_a_decision_is_reported_while_it_is_written(wire: str, world: str) -> None:
    """Its slots have the names of the envelope, in order, and a followed text comes in pieces before its slot."""
    found = ask(wire, world, script("bound", wire, 5), follow=["/synopsis", "/question/stem"])

    assert [each.pointer for each in found.reported if isinstance(each, FieldComplete)] == [
        *("/reasoning", "/kind", "/synopsis", "/findings", "/recommendations", "/offer", "/question/stem"),
        *("/question/options/0", "/question/options/1", "/question/options/2", "/question/recommended_idx"),
    ]
    turn = BOUND["turn"]
    for pointer, text in (("/synopsis", turn["synopsis"]), ("/question/stem", turn["question"]["stem"])):
        pieces = [each.text for each in found.reported if isinstance(each, TextDelta) and each.pointer == pointer]
        assert "".join(pieces) == text
        assert len(pieces) > 5


@every_world
@every_wire
def test_slots_come_as_the_pieces_come(wire: str, world: str) -> None:
    """Each slot is reported before the next piece is read."""
    read: list[int] = []
    vendor = Vendor(script("bound", wire, 5), before=lambda: read.append(vendor.sent[-1].given))
    running = opened(wire, world, vendor)

    async def aread() -> list[int]:
        return [len(read) async for each in running if isinstance(each, FieldComplete)]

    reported = (
        asyncio.run(aread()) if world == "async" else [len(read) for each in running if isinstance(each, FieldComplete)]
    )

    assert reported == sorted(set(reported))
    assert 0 < reported[0] < reported[-1] <= len(read)
