"""The advert of a tool that may emit (section 7.2): written twice into ``_meta``, and read wherever it survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp import types

from emitter.mcp import ADVERTISEMENT_META, add_advertisement, advertises

if TYPE_CHECKING:
    from emitter.messages import Json

READ: dict[str, tuple[Json, bool]] = {
    "bare": ({"_meta": {"emits_binding_moment": True}}, True),
    "prefixed": ({"_meta": {"com.example/emits_binding_moment": True}}, True),
    "ours": ({"_meta": dict(ADVERTISEMENT_META)}, True),
    "annotation": ({"annotations": {"emits_binding_moment": True}}, True),
    "nothing": ({}, False),
    "another mark": ({"_meta": {"com.example/emits_nothing": True}}, False),
    "false": ({"_meta": {"emits_binding_moment": False}}, False),
    "no boolean": ({"_meta": {"emits_binding_moment": "true"}}, False),
    "a number": ({"_meta": {"emits_binding_moment": 1}}, False),
    "a longer name": ({"_meta": {"never_emits_binding_moment": True}}, False),
    "null": ({"_meta": None, "annotations": None}, False),
}


@pytest.mark.parametrize(("reported", "emits"), READ.values(), ids=READ)
def test_it_is_read_from_json(reported: Json, emits: bool) -> None:
    """Bare, with any prefix, or as the annotation that the draft names; and it is a boolean."""
    assert advertises({"name": "delete_branch", "inputSchema": {"type": "object"}, **reported}) is emits


@pytest.mark.parametrize("name", [name for name in READ if name != "annotation"])
def test_it_is_read_from_a_model(name: str) -> None:
    """As the SDK hands tools over; mcp 2.3 drops annotations that it does not know."""
    reported, emits = READ[name]
    tool = types.Tool.model_validate({"name": "delete_branch", "inputSchema": {"type": "object"}, **reported})

    assert advertises(tool) is emits


def test_it_is_added_to_what_a_tool_says_of_itself() -> None:
    """Other marks stay, and what was given is not changed."""
    given = {"com.example/cost": 3}

    assert add_advertisement(given) == {
        "com.example/cost": 3,
        "emits_binding_moment": True,
        "alt.emitter/emits_binding_moment": True,
    }
    assert given == {"com.example/cost": 3}


@pytest.mark.parametrize("given", [None, "emits_binding_moment", 7], ids=["none", "text", "number"])
def test_what_is_no_tool_advertises_nothing(given: object) -> None:
    """Whatever a list of tools may hold."""
    assert not advertises(given)
