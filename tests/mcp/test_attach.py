"""An envelope in a tool's result: beside the payload, and whole in the text (sections 4, 7.1 and 8.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.decide import read
from emitter.errors import InputError
from emitter.kinds import DELIBERATION, AIEnvelope, Deliberation
from emitter.mcp import sdk
from emitter.mcp.attach import attached, moment_of
from emitter.moment import Withheld
from emitter.render import plain_text
from emitter.render.delivery import Delivered, delivery, of_tool_result
from emitter.testing.surfaces import FEW, GOOD, HOSTILE, SurfaceContract
from emitter.wire import mapping
from tests.mcp.delivered import ToolResult, texts
from tests.mcp.talking import wire

if TYPE_CHECKING:
    from emitter.wire import Json

_PLAIN = sdk.result([sdk.text("Three waiting.")], {"waiting": 3})

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=8,
)


class TestToolResult(SurfaceContract):
    """The text of a result, held to the contract of every surface."""

    subject = ToolResult()
    moments = FEW


@given(payload=st.dictionaries(st.text().filter(lambda name: name != "binding_moment"), json_values, max_size=4))
def test_the_payload_is_not_touched(payload: dict[str, Json]) -> None:
    """Section 7.1: every member is there, byte for byte, in its order, and the envelope after them."""
    made = sdk.structured(attached(sdk.result([], payload), GOOD))
    moment = made.pop("binding_moment")

    assert json.dumps(made) == json.dumps(payload)
    assert moment == GOOD.to_json()


@pytest.mark.parametrize("moment", FEW.values(), ids=FEW)
def test_each_of_the_two_places_holds_all_of_it(moment: object) -> None:
    """A host that drops the structured content, or the text, has the whole envelope in the other."""
    made = attached(_PLAIN, moment_of(moment))  # type: ignore[arg-type]  a table's values
    conventional, readable, whole = texts(made)

    assert conventional == "Three waiting."
    assert readable == plain_text.binding_moment(moment).strip("\n")  # type: ignore[arg-type]
    assert read(json.loads(whole)["binding_moment"]) == moment
    assert delivery(sdk.structured(made)) == Delivered(moment, {"waiting": 3})  # type: ignore[arg-type]


@pytest.mark.parametrize("moment", HOSTILE.values(), ids=HOSTILE)
def test_the_json_of_a_hostile_envelope_is_whole_and_harmless(moment: object) -> None:
    """What cannot be seen is escaped as JSON escapes it, so that nothing is lost by it."""
    whole = texts(attached(_PLAIN, moment_of(moment)))[-1]  # type: ignore[arg-type]

    assert read(json.loads(whole)["binding_moment"]) == moment
    assert all(each.isprintable() for each in whole)


HOSTS: dict[str, tuple[str, ...]] = {
    "all of it": ("content", "structuredContent"),
    "the structure alone": ("structuredContent",),
    "the text alone": ("content",),
}


@pytest.mark.parametrize("kept", HOSTS.values(), ids=HOSTS)
def test_a_surface_finds_it_whichever_part_a_host_hands_on(kept: tuple[str, ...]) -> None:
    """The copies agree, and each is whole, hostile envelopes too."""
    for moment in (*FEW.values(), *HOSTILE.values()):
        told = wire(attached(_PLAIN, moment))
        found = of_tool_result({name: told[name] for name in kept})

        assert isinstance(found, Delivered)
        assert found.moment == moment
        if "structuredContent" in kept:
            assert found.payload == {"waiting": 3}


def test_an_absent_meta_is_absent() -> None:
    """Section 4: exactly the members; never null."""
    made = attached(_PLAIN, GOOD)

    assert "meta" not in sdk.structured(made)["binding_moment"]
    assert "null" not in texts(made)[-1]


def test_without_an_envelope_nothing_is_added() -> None:
    """There is no member, null or other: the result is the conventional one."""
    withheld = Withheld(Deliberation(state="s", missing=("m",), permission="p"), _envelope(), trace=None)  # type: ignore[arg-type]

    assert [attached(_PLAIN, moment_of(each)) for each in (None, withheld)] == [_PLAIN, _PLAIN]


def test_an_error_gets_no_envelope() -> None:
    """What went wrong is not decided about."""
    failed = sdk.result([sdk.text("No such branch.")], is_error=True)

    assert attached(failed, GOOD) is failed


def test_a_result_without_structured_content_gets_some() -> None:
    """A tool of text alone may emit too."""
    assert list(mapping(sdk.structured(attached(sdk.result([]), GOOD)))) == ["binding_moment"]


def test_the_text_alone_may_be_asked_for() -> None:
    """Where a closed schema leaves no room for the member."""
    made = attached(_PLAIN, GOOD, structured=False)

    assert sdk.structured(made) == {"waiting": 3}
    assert json.loads(texts(made)[-1]) == {"binding_moment": GOOD.to_json()}


@pytest.mark.parametrize(
    ("structured", "told"),
    [({"binding_moment": None}, "member binding_moment of its own"), (["one"], "no object")],
    ids=["a member of that name", "no object"],
)
def test_a_payload_without_room_is_refused(structured: Json, told: str) -> None:
    """Nothing of the tool's is overwritten."""
    taken = _PLAIN.model_copy(update={"structured_content": structured})

    with pytest.raises(InputError, match=told):
        attached(taken, GOOD)


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param({"offer": "\ud83d is half of one."}, id="half a character"),
        pytest.param({"question": GOOD.question.model_copy(update={"recommended_idx": 7})}, id="nothing recommended"),
    ],
)
def test_a_copy_that_is_malformed_is_refused(spoilt: dict[str, Any]) -> None:
    """Every surface would discard it."""
    with pytest.raises(InputError, match="malformed"):
        attached(_PLAIN, GOOD.model_copy(update=spoilt))


@pytest.mark.parametrize("decided", [{"synopsis": "s"}, "yes", GOOD.question], ids=["json", "text", "question"])
def test_what_is_no_decision_is_refused(decided: object) -> None:
    """Rather than taken for none."""
    with pytest.raises(InputError, match="A decision was given as"):
        moment_of(decided)  # type: ignore[arg-type]


def _envelope() -> AIEnvelope:
    return AIEnvelope.model_construct(type=DELIBERATION)
