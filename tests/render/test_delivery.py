"""What a surface makes of a tool's result: the decision, or the tool's own payload with a diagnostic, never a part."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.types import CallToolResult

from emitter.decisions import Selected, digest
from emitter.decisions.envelope_parsing import MOMENT_FIELD
from emitter.errors import InputError
from emitter.render import text_formats
from emitter.render.delivery import (
    DeliveredDecision,
    PlainResult,
    draw_delivery,
    present,
    read_structured_content,
    read_tool_result,
)
from emitter.testing.sample_moments import MALFORMED_RESULTS, RESULTS_WITHOUT_MOMENT, TOOL_PAYLOAD, VALID_MOMENT
from tests.work import examples

LAW = settings(max_examples=examples(100))
OTHER = VALID_MOMENT.model_copy(update={"synopsis": "Synopsis: wait."})
WIRE, BAD = VALID_MOMENT.to_json(), {**VALID_MOMENT.to_json(), "findings": 1}


def test_an_envelope_beside_a_payload() -> None:
    """Both are found, and neither is touched."""
    assert read_structured_content({**TOOL_PAYLOAD, MOMENT_FIELD: WIRE}) == DeliveredDecision(
        VALID_MOMENT, TOOL_PAYLOAD
    )


@pytest.mark.parametrize("result", MALFORMED_RESULTS.values(), ids=MALFORMED_RESULTS.keys())
def test_a_malformed_envelope_is_discarded(result: Any) -> None:
    """The payload, and a sentence of ours on one line."""
    found = read_structured_content(result)

    assert isinstance(found, PlainResult)
    assert found.payload == TOOL_PAYLOAD
    assert str(found.diagnostic).startswith("The envelope was discarded as malformed: ")


@pytest.mark.parametrize("result", RESULTS_WITHOUT_MOMENT.values(), ids=RESULTS_WITHOUT_MOMENT.keys())
def test_no_envelope_is_no_error(result: Any) -> None:
    """A tool that sometimes emits one is conformant, and so is one that returns no object."""
    assert read_structured_content(result) == PlainResult(result)


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
    assert isinstance(read_structured_content({MOMENT_FIELD: value}), PlainResult)
    assert isinstance(read_structured_content(value), PlainResult)


@LAW
@given(MEMBERS, JSON)
def test_an_envelope_with_anything_in_it_is_whole_or_discarded(name: str, value: Any) -> None:
    """What is drawn is what was sent; nothing is filled in, left out or repaired."""
    question = {**WIRE["question"], name: value} if name in WIRE["question"] else WIRE["question"]
    sent = {**WIRE, "question": question} if name in WIRE["question"] else {**WIRE, name: value}
    found = read_structured_content({MOMENT_FIELD: sent})

    if isinstance(found, DeliveredDecision):
        assert found.moment.to_json() == sent


def _text(value: Any) -> dict[str, str]:
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}


IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
PROSE = _text('The tool says: "binding_moment" is a word.')
COPY, OTHER_COPY, BAD_COPY = (
    _text({MOMENT_FIELD: WIRE}),
    _text({MOMENT_FIELD: OTHER.to_json()}),
    _text({MOMENT_FIELD: BAD}),
)
WHOLE, TOP = {**TOOL_PAYLOAD, MOMENT_FIELD: WIRE}, {MOMENT_FIELD: WIRE}
TWICE = _text(json.dumps({MOMENT_FIELD: WIRE})[:-1] + f', "{MOMENT_FIELD}": {json.dumps(OTHER.to_json())}}}')
LEFT: dict[str, Any] = {"content": [PROSE, IMAGE]}
PAGE = _text("Here is the page you asked for:")
ESCAPED = _text(OTHER_COPY["text"].replace(MOMENT_FIELD, "binding\\u005fmoment"))
REST = _text(TOOL_PAYLOAD)

DELIVERED: dict[str, tuple[dict[str, Any], Any]] = {
    "structured and text": ({"structuredContent": WHOLE, "content": [PROSE, IMAGE, COPY]}, TOOL_PAYLOAD),
    "structured alone": ({"structuredContent": WHOLE}, TOOL_PAYLOAD),
    "structured, and the text dropped": ({"structuredContent": WHOLE, "content": []}, TOOL_PAYLOAD),
    "structured, and a text that was cut": (
        {"structuredContent": WHOLE, "content": [_text(COPY["text"][:-9])]},
        TOOL_PAYLOAD,
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
    "text that is the whole structured content": ({"content": [_text(WHOLE)]}, TOOL_PAYLOAD),
    "that, and an image": ({"content": [IMAGE, _text(WHOLE)]}, {"content": [IMAGE, REST]}),
    "an error that waits for approval": (
        {"isError": True, "structuredContent": {**WHOLE, "code": "approval_pending"}, "content": [COPY]},
        {**TOOL_PAYLOAD, "code": "approval_pending"},
    ),
    "a payload that is text alone": (
        {"structuredContent": {MOMENT_FIELD: WIRE}, "content": [PROSE, COPY]},
        {"content": [PROSE]},
    ),
    "a member of the result": ({**TOP, "content": [PROSE, IMAGE]}, LEFT),
    "a member of the result, and a payload": ({**TOP, "structuredContent": TOOL_PAYLOAD, "content": []}, TOOL_PAYLOAD),
    "a member of the result, and an empty payload": ({**TOP, "structuredContent": {}, "content": [PROSE]}, {}),
    "a member of the result, and structured that is no object": (
        {**TOP, "structuredContent": [1], "content": [PROSE]},
        {"content": [PROSE]},
    ),
    "a member of the result, and a text": ({**TOP, "content": [PROSE, IMAGE, COPY]}, LEFT),
    "a member of the result, and a text that was cut": (
        {**TOP, "content": [_text(COPY["text"][:-9])]},
        {"content": []},
    ),
    "in every place": ({**TOP, "structuredContent": WHOLE, "content": [COPY]}, TOOL_PAYLOAD),
    "a member of an error that waits for approval": (
        {**TOP, "isError": True, "structuredContent": {**TOOL_PAYLOAD, "code": "approval_pending"}, "content": []},
        {**TOOL_PAYLOAD, "code": "approval_pending"},
    ),
    "alike but for order and spelling": (
        {"structuredContent": WHOLE, "content": [_text(json.dumps(WHOLE, indent=4, sort_keys=True))]},
        TOOL_PAYLOAD,
    ),
}


def test_a_tool_that_speaks_in_texts_is_heard_where_its_envelope_is_malformed() -> None:
    """Section 8.3: its payload is the content, for there is nothing beside the envelope."""
    found = read_tool_result({"structuredContent": {MOMENT_FIELD: BAD}, "content": [PROSE]})

    assert isinstance(found, PlainResult)
    assert found.payload == {"content": [PROSE]}
    assert "malformed" in str(found.diagnostic)


@pytest.mark.parametrize(("result", "payload"), DELIVERED.values(), ids=DELIVERED.keys())
def test_an_envelope_is_found_wherever_a_host_left_it(result: dict[str, Any], payload: Any) -> None:
    """Hosts drop the structured content or the text."""
    assert read_tool_result(result) == DeliveredDecision(VALID_MOMENT, payload)


TORN = "its copies in the tool's result differ"
FAILED = "The tool failed"
ASIDE = "that text holds the tool's data"
SEVERAL = "more than one text"
FALLEN: dict[str, tuple[dict[str, Any], Any, str | None]] = {
    "a member of the result, and another in the structured content": (
        {MOMENT_FIELD: OTHER.to_json(), "structuredContent": WHOLE, "content": []},
        TOOL_PAYLOAD,
        TORN,
    ),
    "a member of the result, and another in a text": ({**TOP, "content": [PROSE, IMAGE, OTHER_COPY]}, LEFT, TORN),
    "a malformed member of the result": ({MOMENT_FIELD: BAD, "content": [PROSE]}, {"content": [PROSE]}, "malformed"),
    "a malformed member of the result, and a text": ({MOMENT_FIELD: BAD, "content": [COPY]}, {"content": []}, TORN),
    "a null member of the result": (
        {MOMENT_FIELD: None, "content": [PROSE]},
        {"content": [PROSE]},
        "must be an object",
    ),
    "a member of an error": ({**TOP, "isError": True, "content": [PROSE]}, {"content": [PROSE]}, FAILED),
    "two that differ": ({"structuredContent": WHOLE, "content": [OTHER_COPY]}, TOOL_PAYLOAD, TORN),
    "two that differ, one with its name escaped": (
        {"structuredContent": WHOLE, "content": [ESCAPED]},
        TOOL_PAYLOAD,
        TORN,
    ),
    "two texts that differ": ({"content": [PROSE, IMAGE, COPY, OTHER_COPY]}, LEFT, SEVERAL),
    "two texts alike": ({"content": [COPY, COPY]}, {"content": []}, SEVERAL),
    "two texts, one with its name escaped": ({"content": [PROSE, IMAGE, ESCAPED, COPY]}, LEFT, SEVERAL),
    "an error with a text": ({"isError": True, "content": [PROSE, IMAGE, COPY]}, LEFT, FAILED),
    "an error with structure": ({"isError": True, "structuredContent": WHOLE, "content": [COPY]}, TOOL_PAYLOAD, FAILED),
    "an error for another reason": (
        {"isError": True, "structuredContent": {**WHOLE, "code": "expired"}, "content": [COPY]},
        {**TOOL_PAYLOAD, "code": "expired"},
        FAILED,
    ),
    "an error without it": ({"isError": True, "content": [PROSE]}, {"content": [PROSE]}, None),
    "text, and structured without it": (
        {"structuredContent": TOOL_PAYLOAD, "content": [PROSE, COPY]},
        TOOL_PAYLOAD,
        ASIDE,
    ),
    "text, and structured empty": ({"structuredContent": {}, "content": [COPY]}, {}, ASIDE),
    "text, and structured that is no object": ({"structuredContent": [1], "content": [COPY]}, {"content": []}, ASIDE),
    "a text before the last": ({"content": [COPY, PROSE]}, {"content": [PROSE]}, ASIDE),
    "a fetched text with more in it": ({"content": [PAGE, _text(WHOLE)]}, {"content": [PAGE, REST]}, ASIDE),
    "well-formed in one place only": ({"structuredContent": WHOLE, "content": [BAD_COPY]}, TOOL_PAYLOAD, TORN),
    "well-formed in the other place only": (
        {"structuredContent": {**TOOL_PAYLOAD, MOMENT_FIELD: BAD}, "content": [COPY]},
        TOOL_PAYLOAD,
        TORN,
    ),
    "malformed in both": (
        {"structuredContent": {**TOOL_PAYLOAD, MOMENT_FIELD: BAD}, "content": [BAD_COPY]},
        TOOL_PAYLOAD,
        "/findings: this must be an array",
    ),
    "null": ({"structuredContent": {**TOOL_PAYLOAD, MOMENT_FIELD: None}}, TOOL_PAYLOAD, "this must be an object"),
    "a text that names it twice": ({"content": [PROSE, IMAGE, TWICE]}, LEFT, "not unambiguous JSON"),
    "a text that was cut": ({"content": [PROSE, IMAGE, _text(COPY["text"][:-9])]}, LEFT, "not unambiguous JSON"),
    "none at all": ({"structuredContent": TOOL_PAYLOAD, "content": [PROSE]}, TOOL_PAYLOAD, None),
    "an object of JSON without it": (
        {"content": [_text({"a": MOMENT_FIELD})]},
        {"content": [_text({"a": MOMENT_FIELD})]},
        None,
    ),
    "it in a string of another": (
        {"content": [_text({"a": {MOMENT_FIELD: 1}})]},
        {"content": [_text({"a": {MOMENT_FIELD: 1}})]},
        None,
    ),
    "an envelope in a list": (
        {"content": [_text([{MOMENT_FIELD: WIRE}])]},
        {"content": [_text([{MOMENT_FIELD: WIRE}])]},
        None,
    ),
    "nothing": ({}, {"content": []}, None),
    "content that is none": ({"content": "x", "structuredContent": [1]}, {"content": []}, None),
    "blocks that are none": ({"content": [1, None, {"text": 2}]}, {"content": [1, None, {"text": 2}]}, None),
}


@pytest.mark.parametrize(("result", "payload", "reported"), FALLEN.values(), ids=FALLEN.keys())
def test_what_is_not_one_decision_falls_back(result: dict[str, Any], payload: Any, reported: str | None) -> None:
    """Nothing is guessed: not which copy is meant, and not what a cut one would have said."""
    found = read_tool_result(result)

    assert isinstance(found, PlainResult)
    assert found.payload == payload
    assert found.diagnostic is None if reported is None else reported in str(found.diagnostic)


@pytest.mark.parametrize("result", [None, [], "x", 1], ids=repr)
def test_what_is_no_result_holds_nothing(result: Any) -> None:
    """It is no error of the surface's."""
    assert read_tool_result(result) == PlainResult({"content": []})


def test_the_tools_own_words_are_kept() -> None:
    """What stands beside the envelope, in its text and in the others, is all there."""
    own = _text("Deployed nothing; see the log.")
    found = read_tool_result({"content": [own, _text({MOMENT_FIELD: WIRE, "x": 1})]})

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
    assert present({**TOOL_PAYLOAD, MOMENT_FIELD: WIRE}, Small()) == PlainResult(
        TOOL_PAYLOAD, "The envelope cannot be drawn on this surface: There is no room. It takes 3 lines."
    )


def test_a_bug_is_raised() -> None:
    """A programmer's error is no plain result."""
    with pytest.raises(IndexError):
        present({**TOOL_PAYLOAD, MOMENT_FIELD: WIRE}, Buggy())


def test_what_was_delivered_is_drawn() -> None:
    """By any renderer, from any result."""
    text = text_formats.PLAIN_TEXT_RENDERER

    assert draw_delivery(read_tool_result({"content": [COPY]}), text) == text.draw(VALID_MOMENT)
    assert present({MOMENT_FIELD: WIRE}, text) == text.draw(VALID_MOMENT)
    assert draw_delivery(PlainResult(1), text) == PlainResult(1)


def test_the_sdks_own_result_is_read_too() -> None:
    """What a client of MCP returned is handed over as it is."""
    result = CallToolResult(content=[], structuredContent={"rows": [1], MOMENT_FIELD: VALID_MOMENT.to_json()})

    assert read_tool_result(result) == DeliveredDecision(VALID_MOMENT, {"rows": [1]})
