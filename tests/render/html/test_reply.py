"""What a page sends back: one of three, of the envelope that was shown, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from emitter.decisions import Selected, digest
from emitter.errors import BadResolution, HatchClosed, NoSuchOption, WrongDigest
from emitter.render.html_page import RENDERER, Form, Html
from emitter.testing.sample_moments import ORDINARY_MOMENTS, VALID_MOMENT

if TYPE_CHECKING:
    from emitter.messages import Json

NAMED = {"digest": digest(VALID_MOMENT)}


REPLIES: dict[str, tuple[Json, type[Exception]]] = {
    "nothing": ({}, BadResolution),
    "no choice": (NAMED, BadResolution),
    "an unknown choice": ({**NAMED, "choice": "yes"}, BadResolution),
    "no envelope": ({"choice": "option:0"}, BadResolution),
    "another envelope": ({"digest": f"sha256:{'0' * 64}", "choice": "option:0"}, WrongDigest),
    "out of range": ({**NAMED, "choice": "option:3"}, NoSuchOption),
    "below the first": ({**NAMED, "choice": "option:-1"}, BadResolution),
    "a blank answer": ({**NAMED, "choice": "free_text", "answer": " \n"}, BadResolution),
    "two things": ({**NAMED, "choice": "option:0", "answer": "Neither."}, BadResolution),
}


@pytest.mark.parametrize(("reply", "error"), REPLIES.values(), ids=REPLIES.keys())
def test_what_answers_nothing_is_refused(reply: Json, error: type[Exception]) -> None:
    """Section 6.3: exactly one of three, of this envelope."""
    with pytest.raises(error):
        RENDERER.read(VALID_MOMENT, reply)


def test_a_closed_hatch_takes_nothing() -> None:
    """Section 5.8: what the envelope does not offer cannot be invoked."""
    closed = ORDINARY_MOMENTS["2 options-1 recommended-no hatch-bare"]

    with pytest.raises(HatchClosed):
        RENDERER.read(closed, {"digest": digest(closed), "choice": "dialogue", "objection": "Why?"})


def test_a_choice_is_read() -> None:
    """Section 6.3: the vote, from a page that stands in somebody else's application."""
    assert RENDERER.read(VALID_MOMENT, {**NAMED, "choice": "option:2", "answer": ""}) == Selected(
        digest(VALID_MOMENT), 2
    )


def test_a_typed_line_answers_a_page_without_a_form() -> None:
    """Section 8.2: the keys that it shows; a page with a form takes what the form sends alone."""
    assert RENDERER.read(VALID_MOMENT, "2") == Selected(digest(VALID_MOMENT), 1)
    with pytest.raises(BadResolution):
        Html(Form("/answer")).read(VALID_MOMENT, "2")
