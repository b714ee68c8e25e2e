"""What a person types: a number, or a letter and words; anything else is no answer, and never consent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.decisions import Dialogue, FreeText, Selected, digest
from emitter.errors import BadResolution, HatchClosed, NoSuchOption, ResolutionError
from emitter.models import Hatches
from emitter.render import text_formats
from emitter.render.replies import parse_typed_reply, parse_typed_topic, typing_instructions
from emitter.testing.sample_moments import VALID_MOMENT, make_moment
from tests.work import examples

LAW = settings(max_examples=examples(100))
THIS = digest(VALID_MOMENT)
SAID: dict[str, tuple[str, Any]] = {
    "a number": ("2", Selected(THIS, 1)),
    "a number with its dot": ("3.", Selected(THIS, 2)),
    "a number with a bracket": ("1)", Selected(THIS, 0)),
    "a number and the key that ends a line": (" 2 \r\n", Selected(THIS, 1)),
    "an answer": ("a wait for Monday", FreeText(THIS, "wait for Monday")),
    "an answer after a colon": ("a: wait", FreeText(THIS, "wait")),
    "an answer after a dot, without a space": ("a.wait", FreeText(THIS, "wait")),
    "an answer with a capital": ("A wait", FreeText(THIS, "wait")),
    "an answer that is a number": ("a 2", FreeText(THIS, "2")),
    "an answer of two lines": ("a one\ntwo", FreeText(THIS, "one\ntwo")),
    "an objection": ("d who asks?", Dialogue(THIS, "who asks?")),
    "an objection without words": ("d", Dialogue(THIS, "")),
    "an objection with a bracket": ("D) why", Dialogue(THIS, "why")),
}


@pytest.mark.parametrize(("reply", "resolution"), SAID.values(), ids=SAID.keys())
def test_what_can_be_typed(reply: str, resolution: Any) -> None:
    """One of the three, bound to the envelope."""
    assert parse_typed_reply(VALID_MOMENT, reply) == resolution


NOT_SAID: dict[str, tuple[Any, type[ResolutionError]]] = {
    "nothing": ("", BadResolution),
    "a zero too many": ("01", BadResolution),
    "blank": (" \t\n", BadResolution),
    "a yes": ("yes", BadResolution),
    "a key that is none": ("b because", BadResolution),
    "a word that begins with a key": ("alright", BadResolution),
    "a number and more": ("2 please", BadResolution),
    "two numbers": ("1, 2", BadResolution),
    "a fraction": ("1.5", BadResolution),
    "a signed number": ("+1", BadResolution),
    "a digit of another script": ("\u0662", BadResolution),
    "no text": (2, BadResolution),
    "an answer without words": ("a", BadResolution),
    "an answer of blanks": ("a:  ", BadResolution),
    "number nought": ("0", NoSuchOption),
    "one too many": ("4", NoSuchOption),
    "far too many": ("999999999", NoSuchOption),
    "more digits than a number has": ("1" * 5000, BadResolution),
}


@pytest.mark.parametrize(("reply", "error"), NOT_SAID.values(), ids=NOT_SAID.keys())
def test_what_is_no_answer(reply: Any, error: type[ResolutionError]) -> None:
    """A typed error, and nothing of the reply in it."""
    with pytest.raises(error) as caught:
        parse_typed_reply(VALID_MOMENT, reply)

    assert type(caught.value) is error
    assert "because" not in str(caught.value)


def test_what_is_no_answer_is_told_what_would_be() -> None:
    """The sentence is an instruction, not a riddle."""
    with pytest.raises(BadResolution, match="Type 1, 2 or 3 to choose, a and your answer, or d and your objection"):
        parse_typed_reply(VALID_MOMENT, "hm")


MAY: dict[str, tuple[Hatches, str]] = {
    "both": (Hatches(free_text=True, dialogue=True), "1 or 2 to choose, a and your answer, or d and your objection."),
    "an answer": (Hatches(free_text=True, dialogue=False), "1 or 2 to choose, or a and your answer."),
    "an objection": (Hatches(free_text=False, dialogue=True), "1 or 2 to choose, or d and your objection."),
    "neither": (Hatches(free_text=False, dialogue=False), "1 or 2 to choose."),
}


@pytest.mark.parametrize(("hatches", "may"), MAY.values(), ids=MAY.keys())
def test_only_what_is_open_is_offered(hatches: Hatches, may: str) -> None:
    """And what is closed is refused by its own error."""
    moment = make_moment(2, 0, hatches)

    assert typing_instructions(moment) == f"Type {may}"
    for reply, is_open in (("a word", hatches.free_text), ("d word", hatches.dialogue)):
        if not is_open:
            with pytest.raises(HatchClosed):
                parse_typed_reply(moment, reply)


@LAW
@given(st.text(max_size=20))
def test_no_line_is_an_accident(reply: str) -> None:
    """A choice is a number alone, a veto begins with its letter, and all else is an error."""
    try:
        found = parse_typed_reply(VALID_MOMENT, reply)
    except ResolutionError:
        return
    said = reply.strip()
    match found:
        case Selected(index=index):
            assert said.rstrip(".)") == str(index + 1)
        case FreeText(answer=answer):
            assert said.lower().startswith("a")
            assert said.endswith(answer)
        case Dialogue(objection=objection):
            assert said.lower().startswith("d")
            assert said.endswith(objection)


@pytest.mark.parametrize(
    "surface", [text_formats.PLAIN_TEXT_RENDERER, text_formats.MARKDOWN_RENDERER], ids=lambda each: each.name
)
def test_a_drawing_ends_with_what_can_be_typed(surface: Any) -> None:
    """Nobody has to know the keys."""
    assert surface.draw(VALID_MOMENT).endswith(typing_instructions(VALID_MOMENT))


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        ("m the log", "the log"),
        (" M. the log ", "the log"),
        ("m", ""),
        ("m:", ""),
        ("many thanks", None),
        ("a m", None),
        ("2", None),
        ("", None),
    ],
)
def test_a_line_may_ask_for_detail(reply: str, asked: str | None) -> None:
    """By the letter m and a topic; it is no answer for that."""
    assert parse_typed_topic(reply) == asked
    if asked is not None:
        with pytest.raises(BadResolution):
            parse_typed_reply(VALID_MOMENT, reply)
