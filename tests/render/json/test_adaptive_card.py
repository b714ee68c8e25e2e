"""Adaptive Card: no text is a template, a date or Markdown, and the reply is read with its inputs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings

from emitter.decisions import Dialogue, FreeText, Selected, digest
from emitter.errors import BadResolution, HatchClosed, NoSuchOption, ResolutionError, TooLong, WrongDigest
from emitter.models import BindingMoment, Hatches
from emitter.render import adaptive_card
from emitter.render.adaptive_card import AdaptiveCard
from emitter.testing.sample_moments import HOSTILE_MOMENTS, ORDINARY_MOMENTS, VALID_MOMENT
from tests.render.json.envelopes import envelopes
from tests.render.json.formats import adaptive_card as faults
from tests.render.json.formats import needs_schemas, thorough
from tests.render.json.subject_adaptive_card import AdaptiveCardSubject
from tests.work import examples

SUBJECT = AdaptiveCardSubject()
OURS = {
    *("What it rests on", "What to do"),
    *(f"Option {key}{mark}" for key in (1, 2, 3, 4) for mark in ("", " (recommended)")),
}
"""Every text that a host reads as Markdown."""


def of_type(value: Any, name: str) -> list[Any]:
    """Return every object of a type, at any depth."""
    if isinstance(value, list):
        return [each for item in value for each in of_type(item, name)]
    if not isinstance(value, dict):
        return []
    own = [value] if value.get("type") == name else []
    return own + [each for item in value.values() for each in of_type(item, name)]


@settings(max_examples=examples(50))
@given(envelopes())
def test_a_text_of_others_is_neither_markdown_nor_a_template(moment: BindingMoment) -> None:
    """It stands in runs, none of which holds what opens a template or a date."""
    drawn = adaptive_card.RENDERER.draw(moment)

    assert {each["text"] for each in of_type(drawn, "TextBlock")} <= OURS
    for text in [drawn["fallbackText"], *(each["text"] for each in of_type(drawn, "TextRun"))]:
        assert "${" not in text
        assert "{{" not in text


def test_a_template_is_shown_as_it_was_written() -> None:
    """A run ends between the characters, and nothing is added."""
    moment = VALID_MOMENT.model_copy(update={"synopsis": "Pay ${amount}, {{DATE(2026-11-22)}} or $${{{."})

    assert moment.synopsis in SUBJECT.text(adaptive_card.RENDERER.draw(moment))


@needs_schemas
@pytest.mark.parametrize("case", ["templates", "HTML", "no label", "control characters"])
def test_another_reader_of_the_schema_agrees(case: str) -> None:
    """The schema as it was published, read by jsonschema."""
    assert faults(adaptive_card.RENDERER.draw(HOSTILE_MOMENTS[case]), thorough) == []


@needs_schemas
@pytest.mark.parametrize("spoil", [{"bogus": 1}, {"version": 1}, {"body": [{"type": "TextBlock"}]}])
def test_the_schema_has_teeth(spoil: dict[str, Any]) -> None:
    """What is no card is refused, so a test that passes says something."""
    assert faults({**adaptive_card.RENDERER.draw(VALID_MOMENT), **spoil})


def test_only_the_recommended_button_is_positive() -> None:
    """And it says so; an option's button sends no input."""
    actions = [each for each in of_type(adaptive_card.RENDERER.draw(VALID_MOMENT), "Action.Execute") if "style" in each]

    assert [each["style"] for each in actions] == ["default", "positive", "default"]
    assert [each["title"] for each in actions] == ["Choose 1", "Choose 2 (recommended)", "Choose 3"]
    assert {each["associatedInputs"] for each in actions} == {"none"}


def test_an_answer_is_asked_for_and_an_objection_may_be_empty() -> None:
    """Each has a field and a button of its own."""
    answer, objection = of_type(adaptive_card.RENDERER.draw(VALID_MOMENT), "Input.Text")

    assert (answer["id"], answer["isRequired"]) == ("answer", True)
    assert (objection["id"], objection.get("isRequired", False)) == ("objection", False)
    assert answer["maxLength"] == objection["maxLength"] == 3000


def test_nothing_is_filled_in_beforehand() -> None:
    """No field has a value."""
    for moment in ORDINARY_MOMENTS.values():
        assert all("value" not in each for each in of_type(adaptive_card.RENDERER.draw(moment), "Input.Text"))


def test_a_host_of_an_earlier_version_gets_one_of_its_own() -> None:
    """Otherwise it would show the fallback text only."""
    drawn = adaptive_card.AdaptiveCard("1.5").draw(VALID_MOMENT)

    assert drawn == {**adaptive_card.RENDERER.draw(VALID_MOMENT), "version": "1.5"}


def data(**changes: Any) -> dict[str, Any]:
    """Return what an action sends."""
    return {"digest": digest(VALID_MOMENT), "outcome": "selected", "index": 1, **changes}


READ: dict[str, tuple[Any, Any]] = {
    "an invoke": ({"action": {"type": "Action.Execute", "verb": "v", "data": data()}, "trigger": "manual"}, Selected),
    "a submitted object": (data(), Selected),
    "with what a host adds": (data(msteams={"type": "task/submit"}, answer=""), Selected),
    "an answer": (data(outcome="free_text", answer=" mine "), FreeText),
    "an objection": (data(outcome="dialogue", objection="why"), Dialogue),
    "an objection that was left empty": (data(outcome="dialogue"), Dialogue),
    "an objection beside a forgotten answer": (data(outcome="dialogue", objection="why", answer="old"), Dialogue),
}


@pytest.mark.parametrize(("reply", "kind"), READ.values(), ids=READ)
def test_a_reply_is_read(reply: Any, kind: type[Any]) -> None:
    """In both forms that hosts send."""
    found = adaptive_card.RENDERER.read(VALID_MOMENT, reply)

    assert isinstance(found, kind)
    assert found.digest == digest(VALID_MOMENT)


REFUSED: dict[str, tuple[Any, type[ResolutionError]]] = {
    "another envelope": (data(digest="sha256:0"), WrongDigest),
    "no envelope": ({"outcome": "selected", "index": 1}, BadResolution),
    "an envelope that is a number": (data(digest=1), BadResolution),
    "no such option": (data(index=3), NoSuchOption),
    "no option": (data(index=None), NoSuchOption),
    "half an option": (data(index=1.0), NoSuchOption),
    "no outcome": ({"digest": digest(VALID_MOMENT)}, BadResolution),
    "an unknown outcome": (data(outcome="approved"), BadResolution),
    "an empty answer": (data(outcome="free_text", answer="\n"), BadResolution),
    "an answer that is no text": (data(outcome="free_text", answer=1), BadResolution),
    "data that is a text": ({"action": {"data": "x"}}, BadResolution),
    "an action without data": ({"action": {}}, BadResolution),
    "a text": ("1", BadResolution),
}


@pytest.mark.parametrize(("reply", "error"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_answer_is_refused(reply: Any, error: type[ResolutionError]) -> None:
    """A typed error, and nothing happens."""
    with pytest.raises(error):
        adaptive_card.RENDERER.read(VALID_MOMENT, reply)


def test_a_closed_hatch_cannot_be_forged() -> None:
    """The envelope says which vetoes there are."""
    question = VALID_MOMENT.question.model_copy(update={"hatches": Hatches(free_text=False, dialogue=False)})
    closed = VALID_MOMENT.model_copy(update={"question": question})
    for outcome in ("free_text", "dialogue"):
        with pytest.raises(HatchClosed):
            adaptive_card.RENDERER.read(closed, {"digest": digest(closed), "outcome": outcome, "answer": "x"})


@pytest.mark.parametrize("length", [10_000, 1_000_000])
def test_a_card_with_a_limit_says_what_it_does_not_show(length: int) -> None:
    """The beginning and the end stand, the question says how many characters are missing, and where they are."""
    finding = "sql: " + "SELECT 1; " * (length // 10) + "DROP TABLE customers;"
    moment = VALID_MOMENT.model_copy(update={"findings": (*VALID_MOMENT.findings, finding)})
    drawn = AdaptiveCard(max_bytes=9_000, elsewhere="Read them at https://x.example.").draw(moment)
    text = " ".join(run["text"] for block in drawn["body"] for run in block.get("inlines", ()))

    assert len(json.dumps(drawn)) <= 9_000
    assert "DROP TABLE customers;" in text
    assert all(each in text for each in VALID_MOMENT.findings)
    said = re.search(r"\(([\d,]+) characters that this rests on are not shown here. Read them at https", text)
    assert said is not None
    missing = int(said[1].replace(",", ""))
    assert f"[{missing:,} characters are not shown]" in text
    assert 0 < len(finding) - missing < 9_000


def test_a_card_that_does_not_fit_without_its_findings_is_refused() -> None:
    """Its options are never cut."""
    with pytest.raises(TooLong):
        AdaptiveCard(max_bytes=500).draw(VALID_MOMENT)
