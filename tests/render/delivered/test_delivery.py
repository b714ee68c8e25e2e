"""What a surface makes of a tool's result: the decision, or the tool's own payload with a diagnostic, never a part."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.types import CallToolResult

from emitter.decide import Selected, digest
from emitter.errors import InputError
from emitter.render import plain_text
from emitter.render.delivery import FIELD, Delivered, Fallback, delivery, drawn, of_tool_result, present
from emitter.testing.surfaces import GOOD, MALFORMED, PAYLOAD, WITHOUT
from tests.work import examples

LAW = settings(max_examples=examples(100))
OTHER = GOOD.model_copy(update={"synopsis": "Synopsis: wait."})
WIRE, BAD = GOOD.to_json(), {**GOOD.to_json(), "findings": 1}


def test_an_envelope_beside_a_payload() -> None:
    """Both are found, and neither is touched."""
    assert delivery({**PAYLOAD, FIELD: WIRE}) == Delivered(GOOD, PAYLOAD)


@pytest.mark.parametrize("result", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_envelope_is_discarded(result: Any) -> None:
    """The payload, and a sentence of ours on one line."""
    found = delivery(result)

    assert isinstance(found, Fallback)
    assert found.payload == PAYLOAD
    assert str(found.diagnostic).startswith("The envelope was discarded as malformed: ")


@pytest.mark.parametrize("result", WITHOUT.values(), ids=WITHOUT.keys())
def test_no_envelope_is_no_error(result: Any) -> None:
    """A tool that sometimes emits one is conformant, and so is one that returns no object."""
    assert delivery(result) == Fallback(result)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from([*WIRE, *WIRE["question"], "urgency"])


@LAW
@given(JSON)
def test_anything_can_be_delivered(value: Any) -> None:
    """What is no envelope falls back, whatever it is."""
    assert isinstance(delivery({FIELD: value}), Fallback)
    assert isinstance(delivery(value), Fallback)


@LAW
@given(MEMBERS, JSON)
def test_an_envelope_with_anything_in_it_is_whole_or_discarded(name: str, value: Any) -> None:
    """What is drawn is what was sent; nothing is filled in, left out or repaired."""
    question = {**WIRE["question"], name: value} if name in WIRE["question"] else WIRE["question"]
    sent = {**WIRE, "question": question} if name in WIRE["question"] else {**WIRE, name: value}
    found = delivery({FIELD: sent})

    if isinstance(found, Delivered):
        assert found.moment.to_json() == sent


def _text(value: Any) -> dict[str, str]:
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}


IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
PROSE = _text('The tool says: "binding_moment" is a word.')
COPY, OTHER_COPY, BAD_COPY = _text({FIELD: WIRE}), _text({FIELD: OTHER.to_json()}), _text({FIELD: BAD})
WHOLE = {**PAYLOAD, FIELD: WIRE}
TWICE = _text(json.dumps({FIELD: WIRE})[:-1] + f', "{FIELD}": {json.dumps(OTHER.to_json())}}}')
LEFT: dict[str, Any] = {"content": [PROSE, IMAGE]}
PAGE = _text("Here is the page you asked for:")
ESCAPED = _text(OTHER_COPY["text"].replace(FIELD, "binding\\u005fmoment"))
REST = _text(PAYLOAD)

DELIVERED: dict[str, tuple[dict[str, Any], Any]] = {
    "structured and text": ({"structuredContent": WHOLE, "content": [PROSE, IMAGE, COPY]}, PAYLOAD),
    "structured alone": ({"structuredContent": WHOLE}, PAYLOAD),
    "structured, and the text dropped": ({"structuredContent": WHOLE, "content": []}, PAYLOAD),
    "structured, and a text that was cut": (
        {"structuredContent": WHOLE, "content": [_text(COPY["text"][:-9])]},
        PAYLOAD,
    ),
    "text, and structured dropped": ({"content": [PROSE, IMAGE, COPY]}, LEFT),
    "text, and structured null": ({"structuredContent": None, "content": [PROSE, IMAGE, COPY]}, LEFT),
    "text, and an image after it": ({"content": [PROSE, COPY, IMAGE]}, LEFT),
    "text that is no error": ({"isError": False, "content": [COPY]}, {"content": []}),
    "text with its name escaped": ({"content": [_text(COPY["text"].replace("b", "\\u0062", 1))]}, {"content": []}),
    "text after an escape that is no JSON": (
        {"content": [_text('{"\\u00e9": not JSON'), COPY]},
        {"content": [_text('{"\\u00e9": not JSON')]},
    ),
    "text that is the whole structured content": ({"content": [_text(WHOLE)]}, PAYLOAD),
    "that, and an image": ({"content": [IMAGE, _text(WHOLE)]}, {"content": [IMAGE, REST]}),
    "an error that waits for approval": (
        {"isError": True, "structuredContent": {**WHOLE, "code": "approval_pending"}, "content": [COPY]},
        {**PAYLOAD, "code": "approval_pending"},
    ),
    "a payload that is text alone": (
        {"structuredContent": {FIELD: WIRE}, "content": [PROSE, COPY]},
        {"content": [PROSE]},
    ),
    "alike but for order and spelling": (
        {"structuredContent": WHOLE, "content": [_text(json.dumps(WHOLE, indent=4, sort_keys=True))]},
        PAYLOAD,
    ),
}


def test_a_tool_that_speaks_in_texts_is_heard_where_its_envelope_is_malformed() -> None:
    """Section 8.3: its payload is the content, for there is nothing beside the envelope."""
    found = of_tool_result({"structuredContent": {FIELD: BAD}, "content": [PROSE]})

    assert isinstance(found, Fallback)
    assert found.payload == {"content": [PROSE]}
    assert "malformed" in str(found.diagnostic)


@pytest.mark.parametrize(("result", "payload"), DELIVERED.values(), ids=DELIVERED.keys())
def test_an_envelope_is_found_wherever_a_host_left_it(result: dict[str, Any], payload: Any) -> None:
    """Hosts drop the structured content or the text."""
    assert of_tool_result(result) == Delivered(GOOD, payload)


TORN = "the copies of it in the tool's result differ"
FAILED = "The tool failed"
ASIDE = "it stands where a tool carries data"
SEVERAL = "more than one text"
FALLEN: dict[str, tuple[dict[str, Any], Any, str | None]] = {
    "two that differ": ({"structuredContent": WHOLE, "content": [OTHER_COPY]}, PAYLOAD, TORN),
    "two that differ, one with its name escaped": ({"structuredContent": WHOLE, "content": [ESCAPED]}, PAYLOAD, TORN),
    "two texts that differ": ({"content": [PROSE, IMAGE, COPY, OTHER_COPY]}, LEFT, SEVERAL),
    "two texts alike": ({"content": [COPY, COPY]}, {"content": []}, SEVERAL),
    "two texts, one with its name escaped": ({"content": [PROSE, IMAGE, ESCAPED, COPY]}, LEFT, SEVERAL),
    "an error with a text": ({"isError": True, "content": [PROSE, IMAGE, COPY]}, LEFT, FAILED),
    "an error with structure": ({"isError": True, "structuredContent": WHOLE, "content": [COPY]}, PAYLOAD, FAILED),
    "an error for another reason": (
        {"isError": True, "structuredContent": {**WHOLE, "code": "expired"}, "content": [COPY]},
        {**PAYLOAD, "code": "expired"},
        FAILED,
    ),
    "an error without it": ({"isError": True, "content": [PROSE]}, {"content": [PROSE]}, None),
    "text, and structured without it": ({"structuredContent": PAYLOAD, "content": [PROSE, COPY]}, PAYLOAD, ASIDE),
    "text, and structured empty": ({"structuredContent": {}, "content": [COPY]}, {}, ASIDE),
    "text, and structured that is no object": ({"structuredContent": [1], "content": [COPY]}, {"content": []}, ASIDE),
    "a text before the last": ({"content": [COPY, PROSE]}, {"content": [PROSE]}, ASIDE),
    "a fetched text with more in it": ({"content": [PAGE, _text(WHOLE)]}, {"content": [PAGE, REST]}, ASIDE),
    "well-formed in one place only": ({"structuredContent": WHOLE, "content": [BAD_COPY]}, PAYLOAD, TORN),
    "well-formed in the other place only": (
        {"structuredContent": {**PAYLOAD, FIELD: BAD}, "content": [COPY]},
        PAYLOAD,
        TORN,
    ),
    "malformed in both": (
        {"structuredContent": {**PAYLOAD, FIELD: BAD}, "content": [BAD_COPY]},
        PAYLOAD,
        "/findings: this must be an array",
    ),
    "null": ({"structuredContent": {**PAYLOAD, FIELD: None}}, PAYLOAD, "this must be an object"),
    "a text that names it twice": ({"content": [PROSE, IMAGE, TWICE]}, LEFT, "read in one way only"),
    "a text that was cut": ({"content": [PROSE, IMAGE, _text(COPY["text"][:-9])]}, LEFT, "read in one way only"),
    "none at all": ({"structuredContent": PAYLOAD, "content": [PROSE]}, PAYLOAD, None),
    "an object of JSON without it": ({"content": [_text({"a": FIELD})]}, {"content": [_text({"a": FIELD})]}, None),
    "it in a string of another": (
        {"content": [_text({"a": {FIELD: 1}})]},
        {"content": [_text({"a": {FIELD: 1}})]},
        None,
    ),
    "an envelope in a list": ({"content": [_text([{FIELD: WIRE}])]}, {"content": [_text([{FIELD: WIRE}])]}, None),
    "nothing": ({}, {"content": []}, None),
    "content that is none": ({"content": "x", "structuredContent": [1]}, {"content": []}, None),
    "blocks that are none": ({"content": [1, None, {"text": 2}]}, {"content": [1, None, {"text": 2}]}, None),
}


@pytest.mark.parametrize(("result", "payload", "told"), FALLEN.values(), ids=FALLEN.keys())
def test_what_is_not_one_decision_falls_back(result: dict[str, Any], payload: Any, told: str | None) -> None:
    """Nothing is guessed: not which copy is meant, and not what a cut one would have said."""
    found = of_tool_result(result)

    assert isinstance(found, Fallback)
    assert found.payload == payload
    assert found.diagnostic is None if told is None else told in str(found.diagnostic)


@pytest.mark.parametrize("result", [None, [], "x", 1], ids=repr)
def test_what_is_no_result_holds_nothing(result: Any) -> None:
    """It is no error of the surface's."""
    assert of_tool_result(result) == Fallback({"content": []})


def test_the_tools_own_words_are_kept() -> None:
    """What stands beside the envelope, in its text and in the others, is all there."""
    own = _text("Deployed nothing; see the log.")
    found = of_tool_result({"content": [own, _text({FIELD: WIRE, "x": 1})]})

    assert found.payload == {"content": [own, _text({"x": 1})]}


class Small:
    """A surface with no room."""

    name = "small"

    def draw(self, moment: Any) -> str:
        """Refuse."""
        raise InputError("There is no room.", hint=f"It takes {len(moment.findings)} lines.")

    def read(self, moment: Any, reply: Any) -> Selected:
        """Return a choice."""
        return Selected(digest(moment), reply)


class Buggy(Small):
    """A surface with a bug."""

    def draw(self, moment: Any) -> str:
        """Fail."""
        return str(moment.findings[99])


def test_a_surface_without_room_falls_back() -> None:
    """An interaction does not fail because an envelope could not be rendered."""
    assert present({**PAYLOAD, FIELD: WIRE}, Small()) == Fallback(
        PAYLOAD, "The envelope cannot be drawn on this surface: There is no room. It takes 3 lines."
    )


def test_a_bug_is_raised() -> None:
    """A programmer's error is nobody's fallback."""
    with pytest.raises(IndexError):
        present({**PAYLOAD, FIELD: WIRE}, Buggy())


def test_what_was_delivered_is_drawn() -> None:
    """By any renderer, from any result."""
    text = plain_text.RENDERER

    assert drawn(of_tool_result({"content": [COPY]}), text) == text.draw(GOOD)
    assert present({FIELD: WIRE}, text) == text.draw(GOOD)
    assert drawn(Fallback(1), text) == Fallback(1)


def test_the_sdks_own_result_is_read_too() -> None:
    """What a client of MCP returned is handed over as it is."""
    result = CallToolResult(content=[], structuredContent={"rows": [1], FIELD: GOOD.to_json()})

    assert of_tool_result(result) == Delivered(GOOD, {"rows": [1]})
