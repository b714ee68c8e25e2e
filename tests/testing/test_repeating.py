"""What is left to chance: the same again for the same seed, whoever comes first."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2
import pytest

from emitter.messages import ModelResponse
from emitter.profiles.model import WireFormat
from emitter.testing import Cut, Decoded, Overloaded, PlannedResponse, ReceivedRequest, Simulator, Text, simulator
from tests.testing.asking import SCHEMA, Question, address, answer, body, both_forms, post

if TYPE_CHECKING:
    from emitter.testing.plans import PlannedOutcome


def bodies(seed: int, *, streamed: bool) -> list[bytes]:
    """Return all that a vendor with this seed says to some questions."""
    with simulator(seed=seed) as vendor:
        asked = [Question(prompt=prompt, budget=20_000) for prompt in ("a", "b", "a")]
        return [post(vendor, wire, each, streamed=streamed).content for wire in WireFormat for each in asked]


@both_forms
def test_the_same_seed_says_the_same(*, streamed: bool) -> None:
    """Two runs are equal to the byte, ids included; another seed says other things."""
    first = bodies(3, streamed=streamed)

    assert first == bodies(3, streamed=streamed)
    assert first != bodies(4, streamed=streamed)


def test_a_repeated_question_gets_another_answer(vendor: Simulator) -> None:
    """The same body twice draws twice, and has an id of its own each time."""
    vendor.script(Decoded(), Decoded())
    asked = Question(budget=20_000)

    first, second = (post(vendor, WireFormat.OPENAI_CHAT, asked).json() for _ in range(2))

    assert first["id"] != second["id"]
    assert first["choices"][0]["message"] != second["choices"][0]["message"]


LONG = Text("the whole of it")
MIXTURE = {LONG: 3.0, Overloaded(): 1.0, Cut(at_tokens=1, answer=LONG): 1.0}


def drawn(order: list[int], *, at_once: int) -> dict[str, int]:
    """Return the status that each of many prompts gets when they are sent in this order."""

    async def ask() -> dict[str, int]:
        async with simulator(seed=1, answers=MIXTURE) as vendor, httpx2.AsyncClient(timeout=120) as client:
            gate = asyncio.Semaphore(at_once)

            async def one(number: int) -> tuple[str, int]:
                asked = Question(prompt=f"question {number}")
                async with gate:
                    response = await client.post(
                        address(vendor, WireFormat.ANTHROPIC, asked), json=body(WireFormat.ANTHROPIC, asked)
                    )
                usage = response.json().get("usage", {}).get("output_tokens", 0)
                return asked.prompt, response.status_code + usage

            return dict(await asyncio.gather(*map(one, order)))

    return asyncio.run(ask())


def test_a_mixture_does_not_depend_on_the_order_of_arrival() -> None:
    """Each body gets its own lot, whoever comes first and however many are under way."""
    forward, backward = drawn(list(range(60)), at_once=1), drawn(list(range(59, -1, -1)), at_once=30)

    assert forward == backward
    counted = Counter(forward.values())
    assert len(counted) == 3
    assert max(counted.values()) > 25


def test_a_function_of_what_is_asked() -> None:
    """The standing answer may look at the request: its schema, its budget, how often it came before."""
    seen: list[ReceivedRequest] = []

    def chosen(asked: ReceivedRequest) -> Text:
        seen.append(asked)
        return Text(f"{asked.repeat_count} {asked.budget} {asked.wire.value}")

    with simulator(answers=chosen) as vendor:
        texts = [answer(vendor, WireFormat.GOOGLE, Question(budget=50)) for _ in range(2)]

    assert [each.text for each in texts if isinstance(each, ModelResponse)] == ["0 50 google", "1 50 google"]
    assert seen[0].schema == SCHEMA
    assert not seen[0].streamed


@dataclass(frozen=True)
class Shouting:
    """A behaviour of one's own."""

    def plan(self, asked: ReceivedRequest) -> PlannedOutcome:
        """Return the model's name, loudly."""
        return PlannedResponse(asked.model.upper())


def test_a_behaviour_of_ones_own() -> None:
    """Whatever has the one method is a behaviour."""
    with simulator(answers=Shouting()) as vendor:
        reply = answer(vendor, WireFormat.OPENAI_CHAT)

    assert isinstance(reply, ModelResponse)
    assert reply.text == "GPT-6-SOL"


def test_what_a_behaviour_raises_is_raised_again() -> None:
    """A mistake in a test's own behaviour is not hidden behind a 500."""

    def wrong(asked: ReceivedRequest) -> Text:
        raise ZeroDivisionError(asked.model)

    with pytest.raises(ZeroDivisionError, match="gpt-6-sol"), simulator(answers=wrong) as vendor:
        assert post(vendor, WireFormat.OPENAI_CHAT).status_code == 500
