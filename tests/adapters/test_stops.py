"""A stop reason counts only where a table names it whole, on every wire, unary and streamed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter import profiles as profile
from emitter.messages import Fault, FaultKind, ModelResponse, StopReason
from emitter.profiles import WireFormat
from tests.adapters.bodies import (
    CLEAN,
    VENDORS,
    answer,
    anthropic,
    bedrock,
    chat,
    events,
    google,
    interaction,
    output,
    responses,
    said,
    text,
)
from tests.work import examples

if TYPE_CHECKING:
    from emitter.messages import CallResult

WIRES = list(WireFormat)
KNOWN = {wire: sorted(profile.load_profile(VENDORS[wire]).wires[wire].stops.reasons) for wire in WIRES}
WHOLE = '{"a": 1}'


def streamed(wire: WireFormat, stop: Any) -> str:
    """Return a stream that holds a whole document and ends with ``stop``."""
    match wire:
        case WireFormat.OPENAI_RESPONSES:
            body = {**text(wire, WHOLE), "status": stop}
            return events({"type": "response.completed", "response": body})
        case WireFormat.OPENAI_CHAT:
            chunks = ({"delta": {"content": WHOLE}}, {"delta": {}, "finish_reason": stop})
            return events(*({"choices": [each]} for each in chunks))
        case WireFormat.ANTHROPIC:
            return events(
                {"type": "message_start", "message": {}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {"type": "content_block_delta", "index": 0, "delta": {"text": WHOLE}},
                {"type": "message_delta", "delta": {"stop_reason": stop}},
                {"type": "message_stop"},
            )
        case WireFormat.GOOGLE:
            return events(google({"text": WHOLE}, finishReason=stop))
        case WireFormat.GEMINI_INTERACTIONS:
            return events(
                {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
                {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": WHOLE}},
                {"event_type": "interaction.completed", "interaction": {"status": stop}},
            )
        case WireFormat.BEDROCK_CONVERSE:
            return events(
                {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": WHOLE}}},
                {"messageStop": {"stopReason": stop}},
            )


def unary(wire: WireFormat, stop: Any) -> dict[str, Any]:
    """Return a body that holds a whole document and ends with ``stop``."""
    match wire:
        case WireFormat.OPENAI_RESPONSES:
            return {**text(wire, WHOLE), "status": stop}
        case WireFormat.OPENAI_CHAT:
            return chat({"content": WHOLE}, finish_reason=stop)
        case WireFormat.ANTHROPIC:
            return anthropic({"type": "text", "text": WHOLE}, stop_reason=stop)
        case WireFormat.GOOGLE:
            return google({"text": WHOLE}, finishReason=stop)
        case WireFormat.BEDROCK_CONVERSE:
            return bedrock({"text": WHOLE}, stopReason=stop)
        case WireFormat.GEMINI_INTERACTIONS:
            return interaction(output(WHOLE), status=stop)


def is_complete(found: CallResult) -> bool:
    """Tell whether an answer counts."""
    return isinstance(found, ModelResponse) and found.stop is StopReason.COMPLETE


MUTATIONS = {
    "detail": lambda word: f"{word}:length",
    "detail, spaced": lambda word: f"{word}: max_tokens",
    "colon": lambda word: f"{word}:",
    "before": lambda word: f"not:{word}",
    "twice": lambda word: f"{word}|{word}",
    "with another": lambda word: f"{word}|tool_calls",
    "swapped case": str.swapcase,
    "space before": lambda word: f" {word}",
    "space behind": lambda word: f"{word} ",
    "line behind": lambda word: f"{word}\n",
    "no end": lambda word: word[:-1],
    "no beginning": lambda word: word[1:],
    "more": lambda word: f"{word}_length",
    "quoted": lambda word: f'"{word}"',
    "in a list": lambda word: [word],
    "in an object": lambda word: {"reason": word},
    "true": lambda _: True,
    "a number": lambda _: 5,
    "nothing": lambda _: None,
    "empty": lambda _: "",
}


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_word_that_is_almost_known_is_unknown(wire: WireFormat, mutation: str) -> None:
    """Prefix, suffix, case, white space, a colon, another type: no table names it, so it is no clean stop."""
    complete = [word for word in KNOWN[wire] if is_complete(answer(wire, unary(wire, word)))]
    assert CLEAN[wire] in complete
    for word in complete:
        mutated: Any = MUTATIONS[mutation](word)
        if not isinstance(mutated, str) or mutated not in KNOWN[wire]:
            assert not is_complete(answer(wire, unary(wire, mutated))), mutated
            assert not is_complete(answer(wire, streamed(wire, mutated))), mutated


WORDS = st.text(max_size=12) | st.builds(
    lambda word, tail, where: word[:where] + tail + word[where:],
    st.sampled_from(sorted({each for known in KNOWN.values() for each in known})),
    st.text(":|_ \tx", max_size=4),
    st.integers(0, 20),
)


@given(st.sampled_from(WIRES), WORDS)
@settings(max_examples=examples(150))
def test_no_word_outside_the_table_is_a_clean_stop(wire: WireFormat, word: str) -> None:
    """Whatever it resembles."""
    if word in KNOWN[wire]:
        return
    assert not is_complete(answer(wire, unary(wire, word)))
    assert not is_complete(answer(wire, streamed(wire, word)))


@pytest.mark.parametrize("name", profile.profile_names())
def test_every_profile_fails_closed(name: str) -> None:
    """No family of any table means complete, and no detail makes a word complete."""
    for wire in profile.load_profile(name).wires.values():
        assert StopReason.COMPLETE not in wire.stops.families.values()
        for word in wire.stops.reasons:
            assert wire.stops.lookup(f"{word}:length") is not StopReason.COMPLETE


@pytest.mark.parametrize("others", [("length",), (["stop"],), (5,), (True,), ({"reason": "stop"},), ("stop:length",)])
@pytest.mark.parametrize("first", [True, False])
def test_a_clean_stop_hides_no_other(others: tuple[Any, ...], *, first: bool) -> None:
    """Of several reasons in one stream the worst counts, in either order."""
    said_of_it = ["stop", *others] if first else [*others, "stop"]
    chunks = [{"choices": [{"delta": {"content": WHOLE}, "finish_reason": each}]} for each in said_of_it]
    assert not is_complete(answer(WireFormat.OPENAI_CHAT, events(*chunks)))


def test_both_names_of_a_reason_count() -> None:
    """Where two fields speak of the end, a good one does not hide the other."""
    old = {"finish_details": {"type": "max_tokens"}}
    assert not is_complete(answer(WireFormat.OPENAI_CHAT, chat({"content": WHOLE}, **old)))
    assert not is_complete(answer(WireFormat.GOOGLE, google({"text": WHOLE}, finish_reason="MAX_TOKENS")))


FILLED: list[Any] = ["No.", " ", True, 1, {"reason": "policy"}, ["No."], {"type": "refusal"}]


@pytest.mark.parametrize("refusal", FILLED, ids=map(repr, FILLED))
def test_whatever_fills_the_refusal_refuses(refusal: Any) -> None:
    """Text, a flag, an object, a list: on the message and in a delta."""
    chunks = ({"delta": {"content": WHOLE}}, {"delta": {"refusal": refusal}}, {"delta": {}, "finish_reason": "stop"})
    for body in (
        chat({"content": WHOLE, "refusal": refusal}),
        events(*({"choices": [each]} for each in chunks)),
    ):
        found = answer(WireFormat.OPENAI_CHAT, body)
        assert isinstance(found, ModelResponse)
        assert found.stop is StopReason.REFUSED


PARTS: list[Any] = [{"refusal": "No."}, {"text": "No."}, {"refusal": ""}, {"refusal": None}, {}]


@pytest.mark.parametrize("part", PARTS, ids=map(repr, PARTS))
def test_a_part_that_refuses_refuses(part: dict[str, Any]) -> None:
    """Beside text, and whatever it says: on every wire that knows parts, whole and streamed."""
    refusal, words = {"type": "refusal", **part}, {"type": "text", "text": WHOLE}
    chunks = ({"delta": {"content": [words]}}, {"delta": {"content": [refusal]}}, {"finish_reason": "stop"})
    for wire, body in (
        (WireFormat.OPENAI_CHAT, chat({"content": [words, refusal]})),
        (WireFormat.OPENAI_CHAT, chat({"content": refusal})),
        (WireFormat.OPENAI_CHAT, events(*({"choices": [each]} for each in chunks))),
        (WireFormat.OPENAI_RESPONSES, responses(said(words, refusal))),
        (WireFormat.OPENAI_RESPONSES, events({"type": "response.completed", "response": responses(said(refusal))})),
        (WireFormat.ANTHROPIC, anthropic(words, refusal)),
    ):
        found = answer(wire, body)
        assert isinstance(found, ModelResponse), wire
        assert found.stop is StopReason.REFUSED, wire


@pytest.mark.parametrize("empty", [None, "", [], {}, False])
def test_an_empty_refusal_is_none(empty: Any) -> None:
    """Most servers send the field with nothing in it."""
    assert is_complete(answer(WireFormat.OPENAI_CHAT, chat({"content": WHOLE, "refusal": empty})))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("streams", [False, True])
def test_a_body_that_contradicts_itself_is_a_fault(wire: WireFormat, *, streams: bool) -> None:
    """A member that is named twice with different values is not read as the last of them."""
    clean = streamed(wire, CLEAN[wire]) if streams else json.dumps(unary(wire, CLEAN[wire]))
    stop = f'": "{CLEAN[wire]}"'
    name = clean[: clean.index(stop)].rpartition('"')[2]
    assert is_complete(answer(wire, clean.replace(stop, f'{stop}, "{name}{stop}')))
    for body in (
        clean.replace(stop, f'": "cut", "{name}{stop}'),
        clean.replace(stop, f'{stop}, "{name}": null'),
    ):
        found = answer(wire, body)
        assert isinstance(found, Fault)
        assert found.kind is FaultKind.PROTOCOL


CALLS = {
    WireFormat.ANTHROPIC: anthropic({"type": "tool_use", "name": "f", "input": {"a": 12345}}),
    WireFormat.GOOGLE: google({"functionCall": {"name": "f", "args": {"a": 12345}}}),
    WireFormat.GEMINI_INTERACTIONS: interaction({"type": "function_call", "name": "f", "arguments": {"a": 12345}}),
    WireFormat.BEDROCK_CONVERSE: bedrock({"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 12345}}}),
}


@pytest.mark.parametrize("wire", CALLS)
@pytest.mark.parametrize("number", ["1e-400", "1e400", "NaN", "-Infinity"])
def test_a_number_that_cannot_be_held_is_no_argument(wire: WireFormat, number: str) -> None:
    """Where the vendor hands over an object, it is held to what a text is held to."""
    from emitter.core.verdicts import extract_document  # noqa: PLC0415

    body = json.dumps(CALLS[wire])
    whole, odd = answer(wire, body), answer(wire, body.replace("12345", number))
    assert isinstance(whole, ModelResponse)
    assert isinstance(odd, ModelResponse)
    assert extract_document(whole) is not None
    assert extract_document(odd) is None
