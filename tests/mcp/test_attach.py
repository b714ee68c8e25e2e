"""An envelope in a tool's result: beside the payload, and whole in the text (sections 4, 7.1 and 8.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.client.result import Withheld
from emitter.decisions import parse_moment
from emitter.errors import InputError
from emitter.mcp import sdk
from emitter.mcp.tools import attach_moment, get_moment
from emitter.messages import as_mapping
from emitter.models import DELIBERATION, AIEnvelope, Deliberation
from emitter.render import text_formats
from emitter.render.delivery import DeliveredDecision, read_structured_content, read_tool_result
from emitter.testing.sample_moments import FEW_MOMENTS, HOSTILE_MOMENTS, VALID_MOMENT
from emitter.testing.surfaces import SurfaceContract
from tests.mcp.delivered import ToolResult, texts
from tests.mcp.talking import wire

if TYPE_CHECKING:
    from emitter.messages import Json

_PLAIN = sdk.tool_result([sdk.text_block("Three waiting.")], {"waiting": 3})

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=8,
)


class TestToolResult(SurfaceContract):
    """The text of a result, held to the contract of every surface."""

    subject = ToolResult()
    moments = FEW_MOMENTS


@given(payload=st.dictionaries(st.text().filter(lambda name: name != "binding_moment"), json_values, max_size=4))
def test_the_payload_is_not_touched(payload: dict[str, Json]) -> None:
    """Section 7.1: every member is there, byte for byte, in its order, and the envelope after them."""
    made = sdk.structured_content(attach_moment(sdk.tool_result([], payload), VALID_MOMENT))
    moment = made.pop("binding_moment")

    assert json.dumps(made) == json.dumps(payload)
    assert moment == VALID_MOMENT.to_json()


@pytest.mark.parametrize("moment", FEW_MOMENTS.values(), ids=FEW_MOMENTS)
def test_each_of_the_two_places_holds_all_of_it(moment: object) -> None:
    """A host that drops the structured content, or the text, has the whole envelope in the other."""
    made = attach_moment(_PLAIN, get_moment(moment))  # type: ignore[arg-type]  a table's values
    conventional, readable, whole = texts(made)

    assert conventional == "Three waiting."
    assert readable == text_formats.format_moment(moment).strip("\n")  # type: ignore[arg-type]
    assert parse_moment(json.loads(whole)["binding_moment"]) == moment
    assert read_structured_content(sdk.structured_content(made)) == DeliveredDecision(moment, {"waiting": 3})  # type: ignore[arg-type]


@pytest.mark.parametrize("moment", HOSTILE_MOMENTS.values(), ids=HOSTILE_MOMENTS)
def test_the_json_of_a_hostile_envelope_is_whole_and_harmless(moment: object) -> None:
    """What cannot be seen is escaped as JSON escapes it, so that nothing is lost by it."""
    whole = texts(attach_moment(_PLAIN, get_moment(moment)))[-1]  # type: ignore[arg-type]

    assert parse_moment(json.loads(whole)["binding_moment"]) == moment
    assert all(each.isprintable() for each in whole)


HOSTS: dict[str, tuple[str, ...]] = {
    "all of it": ("content", "structuredContent"),
    "the structure alone": ("structuredContent",),
    "the text alone": ("content",),
}


@pytest.mark.parametrize("kept", HOSTS.values(), ids=HOSTS)
def test_a_surface_finds_it_whichever_part_a_host_hands_on(kept: tuple[str, ...]) -> None:
    """The copies agree, and each is whole, hostile envelopes too."""
    for moment in (*FEW_MOMENTS.values(), *HOSTILE_MOMENTS.values()):
        reported = wire(attach_moment(_PLAIN, moment))
        found = read_tool_result({name: reported[name] for name in kept})

        assert isinstance(found, DeliveredDecision)
        assert found.moment == moment
        if "structuredContent" in kept:
            assert found.payload == {"waiting": 3}


def test_an_absent_meta_is_absent() -> None:
    """Section 4: exactly the members; never null."""
    made = attach_moment(_PLAIN, VALID_MOMENT)

    assert "meta" not in sdk.structured_content(made)["binding_moment"]
    assert "null" not in texts(made)[-1]


def test_without_an_envelope_nothing_is_added() -> None:
    """There is no member, null or other: the result is the conventional one."""
    withheld = Withheld(Deliberation(state="s", missing=("m",), permission="p"), _envelope(), trace=None)  # type: ignore[arg-type]

    assert [attach_moment(_PLAIN, get_moment(each)) for each in (None, withheld)] == [_PLAIN, _PLAIN]


def test_an_error_gets_no_envelope() -> None:
    """What went wrong is not decided about."""
    failed = sdk.tool_result([sdk.text_block("No such branch.")], is_error=True)

    assert attach_moment(failed, VALID_MOMENT) is failed


def test_a_result_without_structured_content_gets_some() -> None:
    """A tool of text alone may emit too."""
    assert list(as_mapping(sdk.structured_content(attach_moment(sdk.tool_result([]), VALID_MOMENT)))) == [
        "binding_moment"
    ]


def test_the_text_alone_may_be_asked_for() -> None:
    """Where a closed schema leaves no room for the member."""
    made = attach_moment(_PLAIN, VALID_MOMENT, structured=False)

    assert sdk.structured_content(made) == {"waiting": 3}
    assert json.loads(texts(made)[-1]) == {"binding_moment": VALID_MOMENT.to_json()}


@pytest.mark.parametrize(
    ("structured", "reported"),
    [({"binding_moment": None}, "already has a member binding_moment"), (["one"], "not an object")],
    ids=["a member of that name", "no object"],
)
def test_a_payload_without_room_is_refused(structured: Json, reported: str) -> None:
    """Nothing of the tool's is overwritten."""
    taken = _PLAIN.model_copy(update={"structured_content": structured})

    with pytest.raises(InputError, match=reported):
        attach_moment(taken, VALID_MOMENT)


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param({"offer": "\ud83d is half of one."}, id="half a character"),
        pytest.param(
            {"question": VALID_MOMENT.question.model_copy(update={"recommended_idx": 7})}, id="nothing recommended"
        ),
    ],
)
def test_a_copy_that_is_malformed_is_refused(spoilt: dict[str, Any]) -> None:
    """Every surface would discard it."""
    with pytest.raises(InputError, match="malformed"):
        attach_moment(_PLAIN, VALID_MOMENT.model_copy(update=spoilt))


@pytest.mark.parametrize("decided", [{"synopsis": "s"}, "yes", VALID_MOMENT.question], ids=["json", "text", "question"])
def test_what_is_no_decision_is_refused(decided: object) -> None:
    """Rather than taken for none."""
    with pytest.raises(InputError, match="The decision is of type"):
        get_moment(decided)  # type: ignore[arg-type]


def _envelope() -> AIEnvelope:
    return AIEnvelope.model_construct(type=DELIBERATION)
