"""The A2UI surface: a closed catalogue, actions that lead to two places, one version (RFC 0102)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from emitter.host.kinds import A2UI_KIND
from emitter.host.registry import STANDARD
from tests.host.kinds.near import near, often

COMPONENTS: dict[str, dict[str, Any]] = {
    "heading": {"component": "heading", "text": "Kick-off", "level": 2},
    "text": {"component": "text", "text": "When shall we begin?"},
    "field.text": {"component": "field.text", "id": "name", "label": "Name", "placeholder": "You", "required": True},
    "field.date": {"component": "field.date", "id": "when", "label": "Date"},
    "field.select": {
        "component": "field.select",
        "id": "room",
        "label": "Room",
        "options": [{"value": "a", "label": "A"}],
    },
    "field.checkbox": {"component": "field.checkbox", "id": "remind", "label": "Remind me", "default": True},
    "action.button": {"component": "action.button", "id": "go", "label": "Go", "action": {"target": "resume"}},
}
BUTTON = COMPONENTS["action.button"]


def surface(*components: Any, version: Any = "0.9.1", **more: Any) -> dict[str, Any]:
    """Return a payload with these components."""
    return {"catalogVersion": version, "surface": {"components": list(components)}, **more}


GOOD: dict[str, dict[str, Any]] = {
    "all components": surface(*COMPONENTS.values(), reasoning="Collect what is missing."),
    "none": surface(),
    "a title": {"catalogVersion": "0.9.1", "surface": {"title": "Kick-off", "components": []}},
    "an action that leads into the conversation": surface({**BUTTON, "action": {"target": "exchange"}}),
    **{f"a {name} alone": surface(each) for name, each in COMPONENTS.items()},
}
BAD: dict[str, dict[str, Any]] = {
    "no version": {"surface": {"components": []}},
    "no surface": {"catalogVersion": "0.9.1"},
    "a list of versions": surface(version=["0.9.1"]),
    "no components": {"catalogVersion": "0.9.1", "surface": {}},
    "an open payload": surface(html="<b>x</b>"),
    "an open surface": {"catalogVersion": "0.9.1", "surface": {"components": [], "style": "x"}},
    "an iframe": surface({"component": "iframe", "src": "https://evil.example/x"}),
    "a script": surface({"component": "script", "text": "alert(1)"}),
    "a component of no name": surface({"text": "x"}),
    "a component that is a text": surface("<b>x</b>"),
    "a reference to elsewhere": surface({"$ref": "https://evil.example/catalog.json"}),
    "markup beside the text": surface({**COMPONENTS["text"], "html": "<script>"}),
    "a handler": surface({**COMPONENTS["heading"], "onClick": "fetch('https://evil.example')"}),
    "an image's address": surface({**COMPONENTS["heading"], "src": "https://evil.example/x.png"}),
    "an action that leads to an address": surface({**BUTTON, "action": {"target": "https://evil.example"}}),
    "an action with an address": surface({**BUTTON, "action": {"target": "resume", "url": "https://evil.example"}}),
    "an action with a method": surface({**BUTTON, "action": {"target": "resume", "method": "POST"}}),
    "an action without a target": surface({**BUTTON, "action": {}}),
    "an action in capitals": surface({**BUTTON, "action": {"target": "Resume"}}),
    "a heading of level 7": surface({**COMPONENTS["heading"], "level": 7}),
    "a choice of nothing": surface({**COMPONENTS["field.select"], "options": []}),
    "an option with an icon": surface(
        {**COMPONENTS["field.select"], "options": [{"value": "a", "label": "A", "icon": "x"}]}
    ),
    "a field without an id": surface({"component": "field.date", "label": "Date"}),
    "components in components": surface({**COMPONENTS["text"], "components": [COMPONENTS["text"]]}),
}


@pytest.mark.parametrize("payload", GOOD.values(), ids=GOOD.keys())
def test_a_surface_that_is_taken(payload: Any) -> None:
    """It is made of the seven components."""
    assert A2UI_KIND.find_violations(payload) == ()
    assert A2UI_KIND.find_warnings(payload) == ()
    assert A2UI_KIND.check_version(payload) is None


@pytest.mark.parametrize("payload", BAD.values(), ids=BAD.keys())
def test_a_surface_that_is_not(payload: Any) -> None:
    """It fails closed, and what it holds is not reported."""
    found = A2UI_KIND.find_violations(payload)

    assert found
    assert A2UI_KIND.check_version(payload) is None, "none of it is a matter of versions"
    assert "evil" not in str(found)


@pytest.mark.parametrize("version", ["9.9.9", "0.9.2", "0.9", "", "latest"])
@pytest.mark.parametrize("known", [True, False], ids=["a surface that would hold", "one that would not"])
def test_an_unknown_version_is_told_apart(version: str, known: bool) -> None:
    """It is refused as ``unknown_schema_version``, before anybody judges what that version may allow."""
    payload = surface(COMPONENTS["text"] if known else {"component": "video"}, version=version)

    found = A2UI_KIND.check_version(payload)
    assert found is not None
    assert (found.pointer, found.rule, found.expected) == ("/catalogVersion", "version", 'one of ["0.9.1"]')
    assert A2UI_KIND.find_violations(payload), "whoever does not ask refuses it all the same"


@pytest.mark.parametrize("payload", [None, [], "x", {}, {"catalogVersion": None}], ids=repr)
def test_what_is_no_surface_has_no_unknown_version(payload: Any) -> None:
    """It has violations instead."""
    assert A2UI_KIND.check_version(payload) is None
    assert A2UI_KIND.find_violations(payload)


def test_only_a_pinned_kind_has_unknown_versions() -> None:
    """Elsewhere the word means nothing."""
    assert STANDARD["error"].check_version({"catalogVersion": "9.9.9"}) is None


def test_two_fields_of_one_id_are_warned_of() -> None:
    """The schema allows them, though only one answer can come back under the id."""
    payload = surface(COMPONENTS["field.text"], COMPONENTS["text"], {**COMPONENTS["field.date"], "id": "name"})

    assert A2UI_KIND.find_violations(payload) == ()
    assert [each.pointer for each in A2UI_KIND.find_warnings(payload)] == ["/surface/components/2/id"]


@often
@given(near(A2UI_KIND.schema))
def test_any_payload_gets_a_verdict(payload: Any) -> None:
    """Whatever is near to a surface is judged, and warned of where it holds; nothing raises."""
    if A2UI_KIND.check_version(payload) is None and not A2UI_KIND.find_violations(payload):
        A2UI_KIND.find_warnings(payload)
