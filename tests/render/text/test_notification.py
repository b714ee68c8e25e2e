"""The notification: a short title, a body of ours, an expanded view with everything, replies that name the envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emitter.decisions import Dialogue, FreeText, digest
from emitter.errors import BadResolution, ResolutionError, WrongDigest
from emitter.models import Meta
from emitter.render.safe_text import cell_width, to_single_line
from emitter.render.text_formats import MAX_TITLE_WIDTH, NOTIFICATION_RENDERER
from emitter.testing.sample_moments import HOSTILE_MOMENTS, VALID_MOMENT, make_moment
from tests.work import examples

LAW = settings(max_examples=examples(100))
THIS = digest(VALID_MOMENT)


def test_the_whole_document() -> None:
    """What a notifier is handed."""
    moment = VALID_MOMENT.model_copy(update={"meta": Meta(decision_class="release", calibration_note="Sorry.")})
    drawn = NOTIFICATION_RENDERER.draw(moment)
    expanded = drawn.pop("expanded")

    assert drawn == {
        "id": digest(moment),
        "title": "Synopsis: the release is ready and should go out tonight.",
        "body": "A decision with 3 options is yours; recommended is 2. Open it to read and to answer.",
        "actions": [
            {"id": "option:0", "title": "Choose 1"},
            {"id": "option:1", "title": "Choose 2 (recommended)"},
            {"id": "option:2", "title": "Choose 3"},
            {"id": "free_text", "title": "Answer in your own words", "asks": "Your answer"},
            {"id": "dialogue", "title": "This is the wrong question: talk first", "asks": "Your objection"},
        ],
    }
    assert list(expanded) == [
        *("note", "synopsis", "findings", "recommendations", "offer", "stem", "options", "hatches", "decision_class"),
    ]
    assert (expanded["note"], expanded["decision_class"]) == ("Sorry.", "release")


@pytest.mark.parametrize("moment", HOSTILE_MOMENTS.values(), ids=HOSTILE_MOMENTS.keys())
def test_body_and_actions_have_no_word_of_the_envelope(moment: Any) -> None:
    """A body may be read as markup, and a button as the surface's own."""
    question = moment.question
    drawn = NOTIFICATION_RENDERER.draw(moment)
    plain = NOTIFICATION_RENDERER.draw(make_moment(len(question.options), question.recommended_idx, question.hatches))

    assert (drawn["body"], drawn["actions"]) == (plain["body"], plain["actions"])
    assert json.loads(json.dumps(drawn)) == drawn


@LAW
@example("words " * 40)
@example("a " + "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 40)
@example("x" * 200)
@example("\u65e5\u672c" * 50)
@example("x" * MAX_TITLE_WIDTH)
@given(st.text(min_size=1, max_size=300))
def test_the_title_is_short(synopsis: str) -> None:
    """The synopsis, or as many whole words of it as there is room for, and a sign that there is more.

    Only a first word that leaves no room for the sign is cut.
    """
    title = NOTIFICATION_RENDERER.draw(
        VALID_MOMENT.model_copy(update={"synopsis": synopsis.encode(errors="ignore").decode()})
    )["title"]
    whole = to_single_line(synopsis.encode(errors="ignore").decode())

    if cell_width(whole) <= MAX_TITLE_WIDTH:
        assert title == whole
        return
    words = whole.split()
    starts = [f"{' '.join(words[:count])}\u2026" for count in range(1, len(words))]
    fitting = [start for start in starts if cell_width(start) <= MAX_TITLE_WIDTH]
    assert cell_width(title) <= MAX_TITLE_WIDTH
    assert title == fitting[-1] if fitting else title.endswith("\u2026") and words[0].startswith(title[:-1] or " ")


REPLIES: dict[str, tuple[Any, type[ResolutionError]]] = {
    "an option with words": ({"id": THIS, "action": "option:0", "text": "but not today"}, BadResolution),
    "an answer without words": ({"id": THIS, "action": "free_text"}, BadResolution),
    "words that are none": ({"id": THIS, "action": "free_text", "text": 1}, BadResolution),
    "an action that is none": ({"id": THIS, "action": "default"}, BadResolution),
    "no action": ({"id": THIS}, BadResolution),
    "a closed notification": ({"id": THIS, "action": ""}, BadResolution),
    "no id": ({"action": "option:0"}, BadResolution),
    "another id": ({"id": THIS.upper(), "action": "option:0"}, WrongDigest),
    "no object": ("option:0", BadResolution),
}


@pytest.mark.parametrize(("reply", "error"), REPLIES.values(), ids=REPLIES.keys())
def test_a_reply_that_is_no_answer(reply: Any, error: type[ResolutionError]) -> None:
    """A tap on the notification itself decides nothing."""
    with pytest.raises(error):
        NOTIFICATION_RENDERER.read(VALID_MOMENT, reply)


def test_words_go_with_a_veto() -> None:
    """As they were typed."""
    assert NOTIFICATION_RENDERER.read(VALID_MOMENT, {"id": THIS, "action": "free_text", "text": " No. "}) == FreeText(
        THIS, " No. "
    )
    assert NOTIFICATION_RENDERER.read(VALID_MOMENT, {"id": THIS, "action": "dialogue", "text": "Why?"}) == Dialogue(
        THIS, "Why?"
    )
