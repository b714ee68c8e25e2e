"""A2UI: one whole tree of components, texts that Markdown leaves alone, and events that come back resolved."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from emitter.decisions import Selected, Unresolved, UnresolvedReason, digest
from emitter.errors import BadResolution, NoSuchOption, ResolutionError, WrongDigest
from emitter.models import BindingMoment, Hatches
from emitter.render import a2ui
from emitter.testing.sample_moments import HOSTILE_MOMENTS, ORDINARY_MOMENTS, VALID_MOMENT
from tests.render.json.envelopes import envelopes
from tests.render.json.formats import a2ui as faults
from tests.render.json.formats import a2ui_reply, needs_schemas, thorough
from tests.render.json.reading import read_markdown
from tests.render.json.subject_a2ui import A2uiSubject
from tests.work import examples

SUBJECT = A2uiSubject()


def components(moment: BindingMoment) -> list[dict[str, Any]]:
    """Return the components of a drawing."""
    found: list[dict[str, Any]] = a2ui.A2UI_RENDERER.draw(moment)[-1]["updateComponents"]["components"]
    return found


def inner(component: dict[str, Any]) -> list[str]:
    """Return the components that one holds."""
    return [*component.get("children", []), *([component["child"]] if "child" in component else [])]


def test_the_messages_come_in_their_order() -> None:
    """The surface is there before its data, and its data before what is bound to it."""
    kinds = [next(key for key in each if key != "version") for each in a2ui.A2UI_RENDERER.draw(VALID_MOMENT)]

    assert kinds == ["createSurface", "updateDataModel", "updateComponents"]
    assert {each["version"] for each in a2ui.A2UI_RENDERER.draw(VALID_MOMENT)} == {"v0.9"}


@pytest.mark.parametrize("moment", ORDINARY_MOMENTS.values(), ids=ORDINARY_MOMENTS)
def test_the_components_are_one_tree(moment: BindingMoment) -> None:
    """Each id once, each held by exactly one other, and all of them under the root."""
    found = {each["id"]: each for each in components(moment)}
    held = [name for each in found.values() for name in inner(each)]

    assert len(found) == len(components(moment))
    assert sorted(held) == sorted(set(found) - {"root"})


@settings(max_examples=examples(50))
@given(envelopes())
def test_no_text_is_markup_or_a_binding(moment: BindingMoment) -> None:
    """Each text is a literal, of which Markdown makes words and code, and nothing else."""
    for each in components(moment):
        if each["component"] == "Text":
            assert isinstance(each["text"], str)
            assert read_markdown(each["text"])[1] <= {"p", "code"}


@needs_schemas
@pytest.mark.parametrize("case", ["templates", "Markdown", "no label"])
def test_another_reader_of_the_schema_agrees(case: str) -> None:
    """The other one is jsonschema with referencing."""
    assert faults(a2ui.A2UI_RENDERER.draw(HOSTILE_MOMENTS[case]), thorough) == []


@needs_schemas
@pytest.mark.parametrize(
    "spoil", [{"component": "Script"}, {"onClick": "x"}, {"text": {"call": "eval"}}, {"variant": "h9"}, {"text": None}]
)
def test_the_schema_has_teeth(spoil: dict[str, Any]) -> None:
    """What is no component is refused, so a test that passes says something."""
    drawn = a2ui.A2UI_RENDERER.draw(VALID_MOMENT)
    drawn[-1]["updateComponents"]["components"][1].update(spoil)

    assert faults(drawn)


@needs_schemas
def test_the_replies_of_these_tests_are_a_clients() -> None:
    """The schema of messages to a server finds nothing in them."""
    drawn = a2ui.A2UI_RENDERER.draw(VALID_MOMENT)
    for reply in (SUBJECT.select(drawn, 0), SUBJECT.answer(drawn, "mine"), SUBJECT.object(drawn, "")):
        assert a2ui_reply(reply) == []
        assert a2ui_reply(reply, thorough) == []


def test_only_the_recommended_button_is_primary() -> None:
    """And it says so."""
    buttons = [each for each in components(VALID_MOMENT) if each["component"] == "Button"]
    texts = {each["id"]: each["text"] for each in components(VALID_MOMENT) if each["component"] == "Text"}

    assert [each.get("variant") for each in buttons] == ["default", "primary", "default", None, None]
    assert texts[buttons[1]["child"]] == "Choose 2 (recommended)"


def test_an_answer_is_asked_for_and_an_objection_may_be_empty() -> None:
    """The client is told to hold back an empty answer."""
    found = {each["id"]: each for each in components(VALID_MOMENT)}

    assert found["free_text"]["checks"][0]["condition"]["args"] == {"value": {"path": "/answer"}}
    assert "checks" not in found["dialogue"]


def test_nothing_is_chosen_or_written_beforehand() -> None:
    """The data model holds the fields of the open vetoes, empty."""
    question = VALID_MOMENT.question.model_copy(update={"hatches": Hatches(free_text=False, dialogue=True)})
    one = VALID_MOMENT.model_copy(update={"question": question})

    assert a2ui.A2UI_RENDERER.draw(VALID_MOMENT)[1]["updateDataModel"]["value"] == {"answer": "", "objection": ""}
    assert a2ui.A2UI_RENDERER.draw(one)[1]["updateDataModel"]["value"] == {"objection": ""}


def test_an_action_alone_is_read() -> None:
    """A transport may have opened the message."""
    reply = SUBJECT.select(a2ui.A2UI_RENDERER.draw(VALID_MOMENT), 1)

    assert a2ui.A2UI_RENDERER.read(VALID_MOMENT, reply["action"]) == Selected(digest(VALID_MOMENT), 1)


@pytest.mark.parametrize("code", ["VALIDATION_FAILED", "OTHER"])
def test_a_clients_error_is_unresolved(code: str) -> None:
    """Nobody was shown the decision."""
    surface = a2ui.A2UI_RENDERER.draw(VALID_MOMENT)[0]["createSurface"]["surfaceId"]
    error = {"code": code, "surfaceId": surface, "path": "/components/0", "message": "what"}

    assert a2ui.A2UI_RENDERER.read(VALID_MOMENT, {"version": "v0.9", "error": error}) == Unresolved(
        digest(VALID_MOMENT), UnresolvedReason.DROPPED
    )


def context(**changes: Any) -> dict[str, Any]:
    """Return an action's message."""
    said = {"digest": digest(VALID_MOMENT), "outcome": "selected", "index": 0, **changes}
    return {"version": "v0.9", "action": {"name": "binding_moment.selected", "context": said}}


REFUSED: dict[str, tuple[Any, type[ResolutionError]]] = {
    "another envelope": (context(digest="sha256:0"), WrongDigest),
    "no such option": (context(index=4), NoSuchOption),
    "a binding that nobody resolved": (context(outcome="free_text", answer={"path": "/answer"}), BadResolution),
    "no context": ({"version": "v0.9", "action": {"name": "binding_moment.selected"}}, BadResolution),
    "another surface's error": ({"error": {"code": "X", "surfaceId": "else", "message": "m"}}, WrongDigest),
    "an error of nothing": ({"error": None}, WrongDigest),
    "a list": ([], BadResolution),
}


@pytest.mark.parametrize(("reply", "error"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_answer_is_refused(reply: Any, error: type[ResolutionError]) -> None:
    """A typed error, and nothing happens."""
    with pytest.raises(error):
        a2ui.A2UI_RENDERER.read(VALID_MOMENT, reply)
