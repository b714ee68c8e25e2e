"""What is remembered of calls, and what is billed for them."""

from __future__ import annotations

import httpx2
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.messages import Usage
from emitter.profiles.model import WireFormat
from emitter.testing import Overloaded, Simulator, Text, simulator
from emitter.testing.plans import count_tokens, truncate_to_tokens
from tests.testing.asking import DOCUMENT, SCHEMA, TEXT, Question, address, answer, body, every_wire, post, until
from tests.work import examples


def test_calls_are_kept_in_order(vendor: Simulator) -> None:
    """Each call says what was asked and what was answered."""
    vendor.script(Text("one"), Overloaded())

    post(vendor, WireFormat.OPENAI_RESPONSES)
    post(vendor, WireFormat.GOOGLE, streamed=True)
    post(vendor, WireFormat.ANTHROPIC, Question(schema={"type": "nonsense"}))

    first, second, third = vendor.calls
    assert (first.wire, first.model, first.streamed, first.status) == (
        WireFormat.OPENAI_RESPONSES,
        "gpt-6-sol",
        False,
        200,
    )
    assert first.body == body(WireFormat.OPENAI_RESPONSES, Question())
    assert (second.path, second.streamed, second.status) == (
        "/v1/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
        True,
        429,
    )
    assert (third.behaviour, third.status, third.usage) == (None, 400, Usage())
    assert vendor.billed == first.usage


def test_resetting_forgets() -> None:
    """After a reset the same question is a first one again."""
    with simulator(seed=5) as vendor:
        asked = Question(budget=20_000)
        first = post(vendor, WireFormat.OPENAI_CHAT, asked).content
        vendor.script(Overloaded())
        vendor.reset()

        assert (vendor.calls, vendor.billed) == ((), Usage())
        assert post(vendor, WireFormat.OPENAI_CHAT, asked).content == first


def test_the_books_can_be_short() -> None:
    """Only the last calls are kept, and all are billed."""
    with simulator(answers=Text(DOCUMENT), keep=2) as vendor:
        for number in range(5):
            post(vendor, WireFormat.OPENAI_CHAT, Question(prompt=str(number)))

        assert [call.body["messages"][0]["content"] for call in vendor.calls] == ["3", "4"]
        assert vendor.billed.output == 5 * count_tokens(TEXT)


def test_the_prompt_and_the_schema_are_counted(vendor: Simulator) -> None:
    """A longer prompt, and a larger schema, cost more."""
    large = {**SCHEMA, "description": "many words " * 50}
    asked = [Question(), Question(prompt="many words " * 50), Question(schema=large)]
    plain, wordy, heavy = (answer(vendor, WireFormat.OPENAI_CHAT, each) for each in asked)

    assert plain.usage is not None
    assert wordy.usage is not None
    assert heavy.usage is not None
    assert plain.usage.input < wordy.usage.input
    assert plain.usage.input < heavy.usage.input


@every_wire
def test_a_client_that_goes_is_billed_for_what_it_was_sent(wire: WireFormat) -> None:
    """A stream that is left in the middle costs its prompt and the text so far."""
    with simulator(answers=Text("word " * 4_000), tokens_per_second=50) as vendor:
        with (
            httpx2.Client(timeout=120) as client,
            client.stream(
                "POST",
                address(vendor, wire, Question(budget=8_000), streamed=True),
                json=body(wire, Question(budget=8_000), streamed=True),
            ) as response,
        ):
            got = b""
            for part in response.iter_raw():
                got += part
                if b"word" in got:
                    break
        until(lambda: vendor.billed.output < 2_000)

        assert vendor.billed.input > 0
        assert 0 <= vendor.billed.output < 2_000


@given(st.text(max_size=300), st.integers(0, 120))
@settings(max_examples=examples(60))
def test_what_is_cut_is_within_its_budget_and_no_shorter(text: str, budget: int) -> None:
    """One character more would not have fitted."""
    kept = truncate_to_tokens(text, budget)

    assert text.startswith(kept)
    assert count_tokens(kept) <= budget or not kept
    assert kept == text or not budget or count_tokens(text[: len(kept) + 1]) > budget
