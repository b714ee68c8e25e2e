"""Slack's modals, and what Slack sends back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emitter.decisions import Dialogue, FreeText, Selected, digest
from emitter.errors import BadResolution, HatchClosed, NoSuchOption, ResolutionError, WrongDigest
from emitter.models import BindingMoment, Hatches
from emitter.render import slack
from emitter.render.layout import HatchKind
from emitter.testing.sample_moments import VALID_MOMENT
from tests.render.json.formats import slack as slack_faults
from tests.render.json.formats import slack_view
from tests.render.json.subject_slack import SlackSubject, submission

SUBJECT = SlackSubject()
OTHER = VALID_MOMENT.model_copy(update={"offer": "Another offer."})
CLOSED = VALID_MOMENT.model_copy(
    update={"question": VALID_MOMENT.question.model_copy(update={"hatches": Hatches(free_text=False, dialogue=False)})}
)


@pytest.mark.parametrize("kind", list(HatchKind))
def test_a_modal_asks_for_the_words_of_a_veto(kind: HatchKind) -> None:
    """It shows the question, has one field, and says which envelope and veto it is for."""
    view = slack.veto_modal(VALID_MOMENT, kind)
    field = view["blocks"][-1]

    slack_view(view)
    assert view["blocks"][0]["text"]["text"] == VALID_MOMENT.question.stem
    assert field["optional"] is (kind is HatchKind.DIALOGUE)
    assert field["element"]["max_length"] == 3000
    assert json.loads(view["private_metadata"]) == {"digest": digest(VALID_MOMENT), "outcome": kind.value}


@pytest.mark.parametrize("kind", list(HatchKind))
def test_a_closed_veto_has_no_modal(kind: HatchKind) -> None:
    """Nor a button."""
    assert SUBJECT.hatches(slack.RENDERER.draw(CLOSED)) == set()
    with pytest.raises(HatchClosed):
        slack.veto_modal(CLOSED, kind)


def test_a_modal_takes_a_long_question_and_no_endless_one() -> None:
    """A hundred blocks are what a view has."""
    long, endless = ("many words " * count for count in (20_000, 40_000))
    questions = [VALID_MOMENT.question.model_copy(update={"stem": each}) for each in (long, endless)]

    slack_view(slack.veto_modal(VALID_MOMENT.model_copy(update={"question": questions[0]}), HatchKind.FREE_TEXT))
    with pytest.raises(slack.TooLong):
        slack.veto_modal(VALID_MOMENT.model_copy(update={"question": questions[1]}), HatchKind.FREE_TEXT)


def vetoes(moment: BindingMoment) -> dict[HatchKind, Any]:
    """Return the payloads of the veto's buttons."""
    elements = slack.RENDERER.draw(moment)["blocks"][-1]["elements"]
    return {
        kind: {"type": "block_actions", "actions": [{**each, "block_id": "b", "action_ts": "1.0"}]}
        for kind, each in zip(HatchKind, elements, strict=True)
    }


@pytest.mark.parametrize("kind", list(HatchKind))
def test_a_press_of_a_veto_opens_and_resolves_nothing(kind: HatchKind) -> None:
    """The words come with the modal."""
    press = vetoes(VALID_MOMENT)[kind]

    assert slack.get_pressed_veto(VALID_MOMENT, press) is kind
    with pytest.raises(BadResolution, match=r"does not answer the decision yet\. Open veto_modal"):
        slack.RENDERER.read(VALID_MOMENT, press)


def test_a_press_of_an_option_opens_nothing() -> None:
    """It is the answer."""
    press = SUBJECT.select(slack.RENDERER.draw(VALID_MOMENT), 2)

    assert slack.get_pressed_veto(VALID_MOMENT, press) is None
    assert slack.RENDERER.read(VALID_MOMENT, press) == Selected(digest(VALID_MOMENT), 2)


def test_a_modal_that_is_sent_resolves() -> None:
    """With the words as they were written; an empty objection is one."""
    answer, objection = (slack.veto_modal(VALID_MOMENT, kind)["private_metadata"] for kind in HatchKind)

    assert slack.RENDERER.read(VALID_MOMENT, submission(answer, " *as* <is> ")) == FreeText(
        digest(VALID_MOMENT), " *as* <is> "
    )
    assert slack.RENDERER.read(VALID_MOMENT, submission(objection, "")) == Dialogue(digest(VALID_MOMENT), "")
    with pytest.raises(BadResolution):
        slack.RENDERER.read(VALID_MOMENT, submission(answer, " "))


def press_of(value: Any, action_id: str = "emitter.binding_moment.selected.0") -> Any:
    """Return the payload of one press."""
    return {"type": "block_actions", "actions": [{"type": "button", "action_id": action_id, "value": value}]}


def said(**changes: Any) -> str:
    """Return what a button carries."""
    return json.dumps({"digest": digest(VALID_MOMENT), "outcome": "selected", "index": 0, **changes})


ONE = press_of(said())["actions"][0]
REFUSED: dict[str, tuple[Any, type[ResolutionError]]] = {
    "another envelope": (press_of(said(digest=digest(OTHER))), WrongDigest),
    "no envelope": (press_of(json.dumps({"outcome": "selected", "index": 0})), BadResolution),
    "no such option": (press_of(said(index=3)), NoSuchOption),
    "an option below the first": (press_of(said(index=-1)), NoSuchOption),
    "an option by true": (press_of(said(index=True)), NoSuchOption),
    "an option by a word": (press_of(said(index="0")), NoSuchOption),
    "no outcome": (press_of(said(outcome=None)), BadResolution),
    "an outcome of a list": (press_of(said(outcome=[])), BadResolution),
    "no value": (press_of(None), BadResolution),
    "a value that is no JSON": (press_of("{"), BadResolution),
    "a value that is no object": (press_of("[]"), BadResolution),
    "a deep value": (press_of("[" * 100_000), BadResolution),
    "another's button": (press_of(said(), "other.app"), BadResolution),
    "two buttons": ({"type": "block_actions", "actions": [ONE, ONE]}, BadResolution),
    "no button": ({"type": "block_actions", "actions": []}, BadResolution),
    "a closed modal": ({"type": "view_closed", "view": {"private_metadata": said()}}, BadResolution),
    "another's modal": (submission("{}", "words"), BadResolution),
    "a modal that says an option": (submission(said(), "words"), BadResolution),
    "a modal of another envelope": (submission(said(outcome="dialogue", digest=digest(OTHER)), ""), WrongDigest),
    "a modal without state": ({"type": "view_submission", "view": {"private_metadata": said()}}, BadResolution),
    "nothing": (None, BadResolution),
}


@pytest.mark.parametrize(("payload", "error"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_answer_is_refused(payload: Any, error: type[ResolutionError]) -> None:
    """A typed error, and nothing happens."""
    with pytest.raises(error):
        slack.RENDERER.read(VALID_MOMENT, payload)


def test_a_press_of_another_envelopes_veto_opens_nothing() -> None:
    """Its modal would ask the wrong question."""
    with pytest.raises(WrongDigest):
        slack.get_pressed_veto(OTHER, vetoes(VALID_MOMENT)[HatchKind.DIALOGUE])


def test_a_closed_hatch_cannot_be_forged() -> None:
    """The envelope, not the payload, says which vetoes there are."""
    for kind in HatchKind:
        forged = json.dumps({"digest": digest(CLOSED), "outcome": kind.value})
        with pytest.raises(HatchClosed):
            slack.RENDERER.read(CLOSED, submission(forged, "words"))


DETAIL = slack.Slack(detail=True)


def pressed_detail(moment: BindingMoment) -> dict[str, Any]:
    """Return the payload of the button that asks for detail."""
    (button,) = DETAIL.draw(moment)["blocks"][-1]["elements"]
    return {"type": "block_actions", "actions": [button]}


def asked_detail(moment: BindingMoment, topic: str | None) -> dict[str, Any]:
    """Return the payload of the modal that asks for detail."""
    view = slack.detail_modal(moment)
    values = {"words": {"words": {"type": "plain_text_input", "value": topic}}}
    return {"type": "view_submission", "view": {**view, "state": {"values": values}}}


def test_detail_is_asked_for_in_a_modal_and_resolves_nothing() -> None:
    """The button opens it, its submission has the topic, and neither is a resolution."""
    drawn, view = DETAIL.draw(VALID_MOMENT), slack.detail_modal(VALID_MOMENT)
    assert slack_faults(drawn) == []
    slack_view(view)
    assert slack.wants_detail(VALID_MOMENT, pressed_detail(VALID_MOMENT))
    assert slack.get_pressed_veto(VALID_MOMENT, pressed_detail(VALID_MOMENT)) is None
    assert [slack.get_detail_topic(VALID_MOMENT, asked_detail(VALID_MOMENT, each)) for each in ("the <log>", None)] == [
        "the <log>",
        "",
    ]
    for payload in (pressed_detail(VALID_MOMENT), asked_detail(VALID_MOMENT, "the log")):
        with pytest.raises(BadResolution):
            DETAIL.read(VALID_MOMENT, payload)


def test_what_asks_for_no_detail_has_no_topic() -> None:
    """An option's button, and a veto's modal."""
    assert slack.get_detail_topic(VALID_MOMENT, SUBJECT.select(slack.RENDERER.draw(VALID_MOMENT), 0)) is None
    assert not slack.wants_detail(VALID_MOMENT, SUBJECT.select(slack.RENDERER.draw(VALID_MOMENT), 0))
    assert (
        slack.get_detail_topic(
            VALID_MOMENT, submission(slack.veto_modal(VALID_MOMENT, HatchKind.DIALOGUE)["private_metadata"], "Why now?")
        )
        is None
    )
    assert len(slack.RENDERER.draw(VALID_MOMENT)["blocks"]) + 1 == len(DETAIL.draw(VALID_MOMENT)["blocks"])


def test_detail_is_of_this_envelope() -> None:
    """Another one's button and modal ask for nothing here."""
    with pytest.raises(WrongDigest):
        slack.wants_detail(OTHER, pressed_detail(VALID_MOMENT))
    with pytest.raises(WrongDigest):
        slack.get_detail_topic(OTHER, asked_detail(VALID_MOMENT, "the log"))
