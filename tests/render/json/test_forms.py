"""The two forms, OpenWOP's surface and MCP's elicitation: one choice of three, and nothing chosen beforehand."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings

from emitter.decisions import Dialogue, FreeText, Selected, Unresolved, UnresolvedReason, digest
from emitter.errors import BadResolution, HatchClosed, NoSuchOption, ResolutionError, WrongDigest
from emitter.models import BindingMoment, Hatches
from emitter.models.standard_kinds import CATALOG_VERSIONS
from emitter.render import a2ui, elicitation
from emitter.render.layout import build_layout
from emitter.testing.sample_moments import HOSTILE_MOMENTS, ORDINARY_MOMENTS, VALID_MOMENT
from tests.render.json.envelopes import envelopes
from tests.render.json.formats import openwop_surface as faults
from tests.work import examples

CLOSED = VALID_MOMENT.model_copy(
    update={"question": VALID_MOMENT.question.model_copy(update={"hatches": Hatches(free_text=False, dialogue=False)})}
)

Fields = dict[str, Any]
SAYS: dict[str, tuple[Fields, Any]] = {
    "an option": ({"choice": "option:1"}, Selected(digest(VALID_MOMENT), 1)),
    "an option and empty fields": (
        {"choice": "option:0", "answer": " ", "objection": None},
        Selected(digest(VALID_MOMENT), 0),
    ),
    "an answer": ({"choice": "free_text", "answer": " mine "}, FreeText(digest(VALID_MOMENT), " mine ")),
    "an objection": ({"choice": "dialogue", "objection": "why"}, Dialogue(digest(VALID_MOMENT), "why")),
    "an objection without words": ({"choice": "dialogue"}, Dialogue(digest(VALID_MOMENT), "")),
}
REFUSED: dict[str, tuple[Fields, type[ResolutionError]]] = {
    "no such option": ({"choice": "option:3"}, NoSuchOption),
    "an option below the first": ({"choice": "option:-1"}, BadResolution),
    "an option in another script": ({"choice": "option:\u0661"}, BadResolution),
    "an option with a line": ({"choice": "option:1\n"}, BadResolution),
    "an option of many digits": ({"choice": f"option:{'9' * 5000}"}, BadResolution),
    "a number": ({"choice": 1}, BadResolution),
    "a list": ({"choice": ["option:1"]}, BadResolution),
    "no choice": ({"answer": "mine"}, BadResolution),
    "an empty choice": ({"choice": ""}, BadResolution),
    "another choice": ({"choice": "selected"}, BadResolution),
    "an empty answer": ({"choice": "free_text", "answer": "  "}, BadResolution),
    "an option and an answer": ({"choice": "option:1", "answer": "mine"}, BadResolution),
    "an option and an objection": ({"choice": "option:1", "objection": "why"}, BadResolution),
    "an answer and an objection": ({"choice": "free_text", "answer": "mine", "objection": "why"}, BadResolution),
    "an objection and an answer": ({"choice": "dialogue", "answer": "mine"}, BadResolution),
    "an answer that is no text": ({"choice": "free_text", "answer": True}, BadResolution),
}


def accepted(fields: Fields) -> Any:
    """Return the result of a form that was accepted."""
    return {"action": "accept", "content": fields}


def collected(fields: Fields) -> Any:
    """Return the values that a host of OpenWOP collected."""
    choice = fields.get("choice")
    return {**fields, "choice": f"{digest(VALID_MOMENT)}#{choice}" if isinstance(choice, str) and choice else choice}


@pytest.mark.parametrize(("fields", "found"), SAYS.values(), ids=SAYS)
def test_a_form_says_one_of_three(fields: Fields, found: Any) -> None:
    """And so on both surfaces."""
    assert elicitation.parse_elicit_result(VALID_MOMENT, accepted(fields)) == found
    assert a2ui.OPENWOP_RENDERER.read(VALID_MOMENT, collected(fields)) == found


@pytest.mark.parametrize(("fields", "error"), REFUSED.values(), ids=REFUSED)
def test_what_says_nothing_or_two_things_is_refused(fields: Fields, error: type[ResolutionError]) -> None:
    """Consent is never guessed."""
    with pytest.raises(error):
        elicitation.parse_elicit_result(VALID_MOMENT, accepted(fields))
    with pytest.raises(error):
        a2ui.OPENWOP_RENDERER.read(VALID_MOMENT, collected(fields))


@pytest.mark.parametrize("fields", [{"choice": "free_text", "answer": "mine"}, {"choice": "dialogue"}])
def test_a_closed_hatch_cannot_be_forged(fields: Fields) -> None:
    """The envelope says which vetoes there are."""
    with pytest.raises(HatchClosed):
        elicitation.parse_elicit_result(CLOSED, accepted(fields))
    with pytest.raises(HatchClosed):
        a2ui.OPENWOP_RENDERER.read(CLOSED, {**fields, "choice": f"{digest(CLOSED)}#{fields['choice']}"})


@pytest.mark.parametrize(
    ("action", "reason"), [("decline", UnresolvedReason.DECLINED), ("cancel", UnresolvedReason.CANCELLED)]
)
@pytest.mark.parametrize("content", [None, {}, {"choice": "option:1"}, {"choice": "dialogue"}])
def test_declined_and_cancelled_are_nobodys_decision(action: str, reason: UnresolvedReason, content: Any) -> None:
    """Whatever stands beside them: never an option, never a veto."""
    assert elicitation.parse_elicit_result(VALID_MOMENT, {"action": action, "content": content}) == Unresolved(
        digest(VALID_MOMENT), reason
    )


@pytest.mark.parametrize("reply", [None, {}, {"action": "accept"}, {"action": "yes"}, {"action": ["accept"]}, "accept"])
def test_a_result_that_says_nothing_is_refused(reply: Any) -> None:
    """Acceptance without content chooses nothing."""
    with pytest.raises(BadResolution):
        elicitation.parse_elicit_result(VALID_MOMENT, reply)


def test_a_form_of_another_envelope_is_refused_where_the_caller_names_it() -> None:
    """Even a decline: it was of something else."""
    for action in ("accept", "decline", "cancel"):
        reply = {"action": action, "content": {"choice": "option:1"}, "digest": digest(CLOSED)}
        with pytest.raises(WrongDigest):
            elicitation.parse_elicit_result(VALID_MOMENT, reply)


def test_values_of_another_envelope_are_refused() -> None:
    """The digest stands in the choice."""
    with pytest.raises(WrongDigest):
        a2ui.OPENWOP_RENDERER.read(VALID_MOMENT, {"choice": f"{digest(CLOSED)}#option:1"})
    with pytest.raises(BadResolution):
        a2ui.OPENWOP_RENDERER.read(VALID_MOMENT, {"choice": "option:1"})


def test_the_entry_that_a_host_may_show_as_chosen_says_nothing() -> None:
    """So a form that is sent without a look at it is no consent."""
    select = _fields(a2ui.OPENWOP_RENDERER.draw(VALID_MOMENT), "field.select")[0]

    with pytest.raises(BadResolution):
        a2ui.OPENWOP_RENDERER.read(
            VALID_MOMENT, {"choice": select["options"][0]["value"], "answer": "", "objection": ""}
        )


@pytest.mark.parametrize("moment", ORDINARY_MOMENTS.values(), ids=ORDINARY_MOMENTS)
def test_the_surface_is_a_payload_of_the_kind(moment: BindingMoment) -> None:
    """With one choice, a field for each open veto, and one button that resumes the run."""
    drawn = a2ui.OPENWOP_RENDERER.draw(moment)
    fields = [each["id"] for each in _fields(drawn, "field.text")]
    buttons = _fields(drawn, "action.button")

    assert faults(drawn) == []
    assert drawn["catalogVersion"] in CATALOG_VERSIONS
    assert fields == [
        name
        for name, is_open in (
            ("answer", moment.question.hatches.free_text),
            ("objection", moment.question.hatches.dialogue),
        )
        if is_open
    ]
    assert [each["action"] for each in buttons] == [{"target": "resume"}]


@pytest.mark.parametrize("spoil", [{"catalogVersion": "9.9.9"}, {"surface": {}}, {"script": "x"}])
def test_the_kinds_schema_has_teeth(spoil: dict[str, Any]) -> None:
    """What is no surface is refused, so a test that passes says something."""
    assert faults({**a2ui.OPENWOP_RENDERER.draw(VALID_MOMENT), **spoil})


def _fields(drawn: Any, name: str) -> list[Any]:
    return [each for each in drawn["surface"]["components"] if each["component"] == name]


def test_the_form_has_a_title_for_each_choice() -> None:
    """Label, mark and reasoning stand in it; the fields are optional, and nothing is chosen beforehand."""
    schema = elicitation.build_form_schema(VALID_MOMENT)
    entries = schema["properties"]["choice"]["oneOf"]

    assert [each["const"] for each in entries] == ["option:0", "option:1", "option:2", "free_text", "dialogue"]
    assert entries[1]["title"] == "Option 2 (recommended): Birch the release: Reasoning of birch, on one line."
    assert entries[0]["title"] == "Option 1: Alder the release: Reasoning of alder, on one line."
    assert schema["required"] == ["choice"]
    assert [schema["properties"][each]["maxLength"] for each in ("answer", "objection")] == [3000, 3000]
    assert "default" not in str(schema)


def test_a_form_without_hatches_has_one_field() -> None:
    """What cannot be invoked is not offered."""
    schema = elicitation.build_form_schema(CLOSED)

    assert list(schema["properties"]) == ["choice"]
    assert [each["const"] for each in schema["properties"]["choice"]["oneOf"]] == ["option:0", "option:1", "option:2"]


@settings(max_examples=examples(50))
@given(envelopes())
def test_the_message_has_the_lines_of_the_layout(moment: BindingMoment) -> None:
    """No text makes a line of its own, so none can pass for an option."""
    shown = build_layout(moment)
    lines = elicitation.build_message(moment).split("\n")
    options = [each for each in lines if each.startswith("  Option ")]

    assert len(options) == len(shown.choices)
    assert elicitation.build_message(moment).splitlines() == lines
    assert sum(each.startswith(f"  Option {shown.recommended.key} (recommended): ") for each in lines) == 1


def test_a_warning_stands_in_message_and_title() -> None:
    """A label that deceives is named wherever it is shown."""
    moment = HOSTILE_MOMENTS["a false mark"]
    warning = "Careful: this option claims to be recommended; it is not."

    assert warning in elicitation.build_message(moment)
    assert warning in elicitation.build_form_schema(moment)["properties"]["choice"]["oneOf"][1]["title"]


def test_an_older_client_finds_the_titles_in_a_list_of_their_own() -> None:
    """Before 2025-11-25 a list of values had its names beside it; the vetoes are among them."""
    new = elicitation.build_form_schema(VALID_MOMENT)["properties"]["choice"]
    old = elicitation.Elicitation("2025-06-18").draw(VALID_MOMENT)["requestedSchema"]["properties"]["choice"]

    assert [{"const": each, "title": name} for each, name in zip(old["enum"], old["enumNames"], strict=True)] == (
        new["oneOf"]
    )
    assert "oneOf" not in old
    assert "enum" not in new


def test_no_sdk_is_needed() -> None:
    """The form is plain JSON; the server that sends it has the SDK."""
    code = "import sys, emitter.render.elicitation; sys.exit('mcp' in sys.modules or 'mcp_types' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
