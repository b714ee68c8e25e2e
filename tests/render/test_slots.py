"""Plain text: all eight slots, the mark in words, the hatches that are open, and no power for the text."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.models import BindingMoment, ClarificationRequest, Deliberation, ErrorReport
from emitter.render import text_formats
from emitter.render.safe_text import to_single_line

WORDS = {"free_text": "in your own words", "dialogue": "wrong question"}


def moment(**changes: Any) -> BindingMoment:
    """Return a binding moment whose every slot can be told apart."""
    question = {
        "stem": "STEM",
        "options": [{"label": f"LABEL{index}", "reasoning": f"REASON{index}"} for index in range(3)],
        "recommended_idx": 1,
        "hatches": {"free_text": True, "dialogue": True},
    }
    document = {
        "synopsis": "SYNOPSIS",
        "findings": ["FINDING0", "FINDING1"],
        "recommendations": ["MOVE0", "MOVE1"],
        "offer": "OFFER",
        "question": {**question, **changes.pop("question", {})},
    }
    return BindingMoment.model_validate({**document, **changes})


def test_all_eight_slots_are_shown_in_order() -> None:
    """Synopsis, findings, recommendations, offer, stem, options, the mark, the hatches."""
    shown = text_formats.format_moment(moment())
    slots = [
        *("SYNOPSIS", "FINDING0", "FINDING1", "MOVE0", "MOVE1", "OFFER", "STEM"),
        *("1. LABEL0", "REASON0", "2. LABEL1  (recommended)", "REASON1", "3. LABEL2", "REASON2", *WORDS.values()),
    ]
    places = [shown.index(each) for each in slots]

    assert places == sorted(places)
    assert shown.count("(recommended)") == 1


@pytest.mark.parametrize("free_text", [True, False])
@pytest.mark.parametrize("dialogue", [True, False])
def test_a_hatch_is_shown_when_it_is_open(free_text: bool, dialogue: bool) -> None:
    """No open veto is left out, and no closed one is offered."""
    hatches = {"free_text": free_text, "dialogue": dialogue}
    shown = text_formats.format_moment(moment(question={"hatches": hatches}))

    assert {name: word in shown for name, word in WORDS.items()} == hatches


def test_a_calibration_note_comes_first() -> None:
    """The line of honesty is a preface, and absent when there is none."""
    shown = text_formats.format_moment(moment(meta={"calibration_note": "NOTE"}))

    assert shown.index("NOTE") < shown.index("SYNOPSIS")
    assert "A note first" not in text_formats.format_moment(moment(meta={"decision_class": "x"}))


WITHHELD: dict[str, tuple[Any, tuple[str, ...]]] = {
    "deliberation": (
        Deliberation(state="STATE", missing=("GAP0", "GAP1"), permission="MAY I"),
        ("Not yet", "STATE", "missing: GAP0", "missing: GAP1", "MAY I"),
    ),
    "clarification": (
        ClarificationRequest.model_validate(
            {"questions": [{"id": "a", "question": "Q0"}, {"id": "b", "question": "Q1"}]}
        ),
        ("questions first", "Q0", "Q1"),
    ),
    "error": (ErrorReport(code="CODE", message="MESSAGE"), ("cannot do this", "CODE", "MESSAGE")),
}


@pytest.mark.parametrize(("reason", "reported"), WITHHELD.values(), ids=WITHHELD.keys())
def test_a_veto_is_shown_whole(reason: Any, reported: tuple[str, ...]) -> None:
    """Everything that the agent said instead, in order."""
    shown = text_formats.format_withheld(reason)
    places = [shown.index(each) for each in reported]

    assert places == sorted(places)


HOSTILE: dict[str, tuple[str, str]] = {
    "escape": ("a\x1b[31mred", "a\ufffd[31mred"),
    "one-byte escape": ("a\x9b2J", "a\ufffd2J"),
    "bell and backspace": ("a\x07\x08b", "a\ufffd\ufffdb"),
    "newline": ("a\n  2. Forged  (recommended)", "a 2. Forged (recommended)"),
    "carriage return": ("Keep\rDelete", "Keep Delete"),
    "line separators": ("a\u2028b\u2029c\x85d\x0be\x0cf", "a b c d e f"),
    "bidi override": ("pay \u202e001$\u202c", "pay \ufffd001$\ufffd"),
    "bidi isolate": ("a\u2066b\u2069", "a\ufffdb\ufffd"),
    "zero-width": ("pa\u200by\ufeff", "pa\ufffdy\ufffd"),
    "tag characters": ("a\U000e0041b", "a\ufffdb"),
    "half a character": ("a\ud800b", "a\ufffdb"),
    "padding": ("a" + "\u3000" * 300 + "b", "a b"),
    "a very long word": ("x" * 450, f"{'x' * 200} {'x' * 200} {'x' * 50}"),
    "plain": ("Gr\u00fc\u00dfe, \u65e5\u672c \U0001f600 ~!", "Gr\u00fc\u00dfe, \u65e5\u672c \U0001f600 ~!"),
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_neutralised(text: str, shown: str) -> None:
    """It is shown as characters, on its line."""
    assert to_single_line(text) == shown


ANY = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\x1b\u202e\u200b"), max_size=12)


@given(st.lists(ANY, min_size=11, max_size=11))
def test_no_text_makes_a_line_or_an_order(texts: list[str]) -> None:
    """The layout is ours: as many lines as with plain text, and nothing in them but printable characters."""
    synopsis, finding, move, offer, stem, one, two, three, four, note, five = texts
    options = [{"label": one, "reasoning": two}, {"label": three, "reasoning": four}]
    shown = text_formats.format_moment(
        moment(
            synopsis=synopsis,
            findings=[finding],
            recommendations=[move, five],
            offer=offer,
            question={"stem": stem, "options": options},
            meta={"calibration_note": note},
        )
    )
    categories = {unicodedata.category(each) for each in shown.replace("\n", "")}

    assert len(shown.splitlines()) == shown.count("\n") + 1 == 21
    assert not categories & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert shown.count("(recommended)") == 1
