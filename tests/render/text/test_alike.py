"""Labels that pass for something else are reported, and labels that do not are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.render.layout import RECOMMENDED, HatchKind, build_layout
from emitter.render.safe_text import to_skeleton
from emitter.testing.sample_moments import VALID_MOMENT, make_labelled_moment
from tests.work import examples

LAW = settings(max_examples=examples(100))
CLAIMS = "claims to be recommended; it is not"
KEY = "begins with a key that is not its own"
MARK = "begins with a mark that is not ours"
VETO = "looks like a veto; it is an option"

SECOND: dict[str, tuple[str, str | None]] = {
    "our mark in round brackets": ("Delete (recommended)", CLAIMS),
    "in square ones, and capitals": ("[RECOMMENDED] Delete", CLAIMS),
    "with a Cyrillic o": ("Delete (rec\u043emmended)", CLAIMS),
    "with a Greek o": ("Delete (rec\u03bfmmended)", CLAIMS),
    "in mathematical letters": ("Delete \U0001d42b\U0001d41e\U0001d41c\U0001d428mmended", CLAIMS),
    "in small capitals": ("ʀᴇᴄᴏᴍᴍᴇɴᴅᴇᴅ Delete", CLAIMS),
    "in boxes": (
        "\U0001f181\U0001f174\U0001f172\U0001f17e\U0001f17c\U0001f17c\U0001f174\U0001f17d\U0001f173ed",
        CLAIMS,
    ),
    "spelled out": ("R e c o m m e n d e d: Delete", CLAIMS),
    "with r and n for m": ("Delete (recornrnended)", CLAIMS),
    "with marks below": ("Delete (reco\u0323mmended)", CLAIMS),
    "with something invisible": ("Delete (recom\u200bmended)", CLAIMS),
    "another word for it": ("Delete (preferred)", CLAIMS),
    "as if it were chosen already": ("Delete [selected]", CLAIMS),
    "a star": ("\u2605 Delete", CLAIMS),
    "an emoji star behind": ("Delete \u2b50", CLAIMS),
    "a tick": ("\u2714\ufe0f Delete", CLAIMS),
    "the first option's key": ("1. Delete", KEY),
    "its own key": ("2. Delete", None),
    "a key that no option has": ("3) Delete", KEY),
    "the letter l for the digit 1": ("l. Delete", KEY),
    "the letter I": ("I) Delete", KEY),
    "a wide digit": ("\uff11\uff0e Delete", KEY),
    "a digit in a circle": ("\u2460 Delete", KEY),
    "a dark digit in a circle": ("\u2776Delete", KEY),
    "a keycap": ("1\ufe0f\u20e3 Delete", KEY),
    "a digit of another script": ("\u0661. Delete", KEY),
    "a veto's key": ("a. Delete", KEY),
    "a veto's key in brackets": ("[D] Delete", KEY),
    "a veto's key in Cyrillic": ("\u0430) Delete", KEY),
    "a veto's key in a circle": ("\u24d0 Delete", KEY),
    "a key after a dash": ("- 1 - Delete", KEY),
    "our own heading of the first": ("Option 1: Delete", KEY),
    "that, with a Cyrillic o and a dash": ("\u041eption 1 \u2013 Delete", KEY),
    "the words of its button": ("Choose 1", KEY),
    "a veto's key as an option": ("(Option A) Delete", KEY),
    "our own heading of itself": ("Option 2: Delete", None),
    "the first option's key alone": ("1", KEY),
    "a veto's key alone": ("D", KEY),
    "its own key alone": ("2", None),
    "a key alone that no option has": ("8", None),
    "a number of things to choose": ("Choose 1 of the vendors", None),
    "an option that is no key": ("Option 1B: lease", None),
    "a pointer": ("\u276f Delete", MARK),
    "a ticked box": ("[x] Delete", MARK),
    "a bullet": ("\u2022 Delete", MARK),
    "a greater-than sign": ("> Delete", MARK),
    "a veto's name": ("Answer in your own words", VETO),
    "a veto's name, half of it": ("Talk first!", VETO),
    "a veto's name with foreign letters": ("\u0410nswer in your \u043ewn words", VETO),
    "no label": ("", "has no words"),
    "nothing to be seen": ("\u200b\u2060", "has no words"),
    "the first label": ("Ship", "looks like option 1"),
    "the first label in capitals": ("SHIP.", "looks like option 1"),
    "the first label, wide": ("\uff33\uff48\uff49\uff50", "looks like option 1"),
    "the first label with a Cyrillic i": ("Sh\u0456p", "looks like option 1"),
    "the first label with an l": ("Shlp", "looks like option 1"),
    "the first label with spaces": ("S h i p", "looks like option 1"),
    "everything at once": ("\u2605 1. Talk first", f"{CLAIMS}; {KEY}; {VETO}"),
    "another label": ("Wait", None),
    "a number with a fraction": ("1.5 times as much", None),
    "a number of weeks": ("3-week rollout", None),
    "a percentage": ("> 90 % first", None),
    "a word with a slash": ("a/b test", None),
    "a letter that is no key": ("B. Wait", None),
    "a half": ("\u00bd of the fleet", None),
    "a default that is no mark": ("Restore the default settings", None),
    "a verb": ("Recommend it to the board", None),
    "another script": ("\u0423\u0434\u0430\u043b\u0438\u0442\u044c", None),
}


@pytest.mark.parametrize(("label", "warning"), SECOND.values(), ids=SECOND.keys())
def test_a_second_option_is_reported_for_what_it_is(label: str, warning: str | None) -> None:
    """Beside "Ship", which is recommended and has nothing to be reported about."""
    first, second = build_layout(make_labelled_moment("Ship", label)).choices

    assert second.warning == warning
    assert first.warning == ("looks like option 2" if warning == "looks like option 1" else None)


def test_twins_are_reported_each_other() -> None:
    """Every one of them, by the keys of the others."""
    choices = build_layout(make_labelled_moment("Keep 0", "Drop", "Keep O", "keep o")).choices

    assert [each.warning for each in choices] == [
        "looks like options 3 and 4",
        None,
        "looks like options 1 and 4",
        "looks like options 1 and 3",
    ]


def test_the_recommended_option_may_say_so() -> None:
    """It is true of this one."""
    assert build_layout(make_labelled_moment("Ship (recommended)", "Wait")).choices[0].warning is None


REASONS: dict[str, tuple[str, str | None]] = {
    "a false mark": ("(recommended) since it is fast", CLAIMS),
    "a false tick": ("\u2705 all checks passed", CLAIMS),
    "another's key": ("1. Ship", KEY),
    "a word in passing": ("recommended by the vendor", None),
    "a number": ("2 of 3 checks passed", None),
}


@pytest.mark.parametrize(("reasoning", "warning"), REASONS.values(), ids=REASONS.keys())
def test_a_reasoning_can_deceive_too(reasoning: str, warning: str | None) -> None:
    """It stands right beneath the label."""
    moment = make_labelled_moment("Ship", "Wait")
    second = moment.question.options[1].model_copy(update={"reasoning": reasoning})
    question = moment.question.model_copy(update={"options": (moment.question.options[0], second)})

    assert build_layout(moment.model_copy(update={"question": question})).choices[1].warning == warning


def test_ordinary_labels_are_left_alone() -> None:
    """A warning that is always there is none."""
    assert [each.warning for each in build_layout(VALID_MOMENT).choices] == [None] * 3


DIFFERENT = (("C", "C++"), ("+5", "-5"), ("v1.2", "v1.3"), ("Paris", "Rome"), ("10 %", "20 %"), ("in", "out"))


@pytest.mark.parametrize("labels", DIFFERENT, ids=" and ".join)
def test_labels_that_differ_in_what_is_seen_are_told_apart(labels: tuple[str, str]) -> None:
    """Signs and digits count."""
    assert [each.warning for each in build_layout(make_labelled_moment(*labels)).choices] == [None, None]


@LAW
@given(st.text(max_size=30))
def test_a_fold_folds_no_further(text: str) -> None:
    """What a text looks like looks like itself, and like the text in capitals."""
    folded = to_skeleton(text)

    assert to_skeleton(folded) == folded


def test_the_mark_is_a_word() -> None:
    """Of the recommended option, and of no other."""
    shown = build_layout(VALID_MOMENT)

    assert [each.mark for each in shown.choices] == [None, RECOMMENDED, None]
    assert shown.recommended is shown.choices[1]


@pytest.mark.parametrize("free_text", [True, False])
@pytest.mark.parametrize("dialogue", [True, False])
def test_the_layout_has_the_hatches_that_are_open(free_text: bool, dialogue: bool) -> None:
    """In order, and no other."""
    hatches = VALID_MOMENT.question.hatches.model_copy(update={"free_text": free_text, "dialogue": dialogue})
    question = VALID_MOMENT.question.model_copy(update={"hatches": hatches})
    shown = build_layout(VALID_MOMENT.model_copy(update={"question": question}))

    wanted = [kind for kind, is_open in zip(HatchKind, (free_text, dialogue), strict=True) if is_open]
    assert [each.kind for each in shown.hatches] == wanted
