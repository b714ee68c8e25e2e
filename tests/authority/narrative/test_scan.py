"""What a scan takes, what it tells, and how modes and levels bear on one another."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority.narrative import (
    NarrativeMarker,
    NarrativePolicyLike,
    NarrativeRule,
    names_unknown_source,
    scan_narrative,
)
from emitter.checks.lexicon import LexiconRule, load_lexicon
from emitter.errors import InputError
from emitter.models.authorization import NarrativePolicy
from tests.authority.narrative.labelled import As
from tests.scenarios.answers import BOUND

LABEL = "According to the label, the tablets are safe."
LOUD = "You must take 50 mg on 3 May; the tablets are safe. Results are guaranteed."


def rules(text: str, policy: NarrativePolicyLike) -> list[str]:
    """Return the rules that a text breaks, in the order in which it does."""
    return [NarrativeRule(each.rule).value for each in scan_narrative(text, policy)]


def test_all_that_a_text_breaks_is_reported_with_its_place() -> None:
    """Every marker names the part of the text itself that broke the rule."""
    found = {
        (NarrativeRule(each.rule), LOUD[each.start : each.end])
        for each in scan_narrative(LOUD, As("hedged", ("guaranteed",), "general"))
    }
    assert found == {
        (NarrativeRule.SPECIFIC, "You must take 50 mg on 3 May"),
        (NarrativeRule.MEASUREMENT, "50 mg"),
        (NarrativeRule.IMPERATIVE, "You must take 50 mg on 3 May"),
        (NarrativeRule.UNHEDGED, "You must take 50 mg on 3 May"),
        (NarrativeRule.CLASSIFICATION, "the tablets are safe"),
        (NarrativeRule.UNHEDGED, "the tablets are safe"),
        (NarrativeRule.FORBIDDEN, "guaranteed"),
        (NarrativeRule.UNHEDGED, "Results are guaranteed"),
    }


def test_markers_stand_in_the_order_of_the_text() -> None:
    """The first is the one that begins first."""
    found = scan_narrative(LOUD, As("hedged", ("guaranteed",), "general"))
    assert [(each.start, each.end) for each in found] == sorted((each.start, each.end) for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "The label says 5\u200b0 mg.",
        "The label says \uff15\uff10 \uff4d\uff47.",
        "The label says **50** mg.",
        "The label says 5 0 m g.",
        "The label says 50&nbsp;mg.",
        "The label says 50\u00admg.",
        "The label says 5<b>0</b> mg.",
        "The label says \u0665\u0660 mg.",
    ],
    ids=ascii,
)
def test_a_place_is_one_of_the_text_as_it_was_written(text: str) -> None:
    """Where a quantity is written to be overlooked, the marker has all that it was written with."""
    (found,) = scan_narrative(text, As())
    start, end = text.index("says ") + 5, len(text) - 1
    assert NarrativeRule(found.rule) is NarrativeRule.MEASUREMENT
    assert (found.end, text[found.start : found.end].strip("*")) == (end, text[start:end].strip("*"))


def test_what_is_expected_quotes_nothing() -> None:
    """The sentence of a rule is the same whatever the text."""
    one, other = scan_narrative("Take 50 mg.", As()), scan_narrative("Swallow 7 kg of lead.", As())
    assert [each.expected for each in one] == [each.expected for each in other]


class Mode(str, Enum):
    """The modes as members of somebody's own enumeration."""

    ATTRIBUTIVE = "attributive"
    GENERAL = "general"


def test_whatever_has_the_four_is_a_policy() -> None:
    """Words, members of an enumeration, and the model of the envelope say the same."""
    plain = As("attributive", ("safe",), "general", scrub_measurements=True)
    own = As(Mode.ATTRIBUTIVE, ("safe",), Mode.GENERAL)
    model = NarrativePolicy.model_validate(
        {
            "grammar_mode": "attributive",
            "forbidden_markers": ["safe"],
            "max_specificity": "general",
            "scrub_measurements": True,
        }
    )
    assert scan_narrative(LOUD, plain) == scan_narrative(LOUD, own) == scan_narrative(LOUD, model) != ()


def test_scrubbing_is_the_callers() -> None:
    """A measurement is told whether or not the caller takes it out."""
    assert scan_narrative("It has 50 mg.", As(scrub_measurements=True)) == scan_narrative("It has 50 mg.", As()) != ()


@pytest.mark.parametrize(
    "text", [BOUND["turn"], None, b"It is safe.", ["It is safe."]], ids=lambda each: type(each).__name__
)
def test_only_a_text_is_scanned(text: Any) -> None:
    """An envelope is never read as a narrative: its synopsis is imperative, and its findings have numbers."""
    with pytest.raises(InputError, match="it must be a string"):
        scan_narrative(text, As())


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (As("poetic"), "attributive, hedged, educational"),
        (As(max_specificity="exact"), "general, contextualized"),
        (As(forbidden_markers=("cure", "\u200b ")), "blank"),
    ],
    ids=["mode", "level", "marker"],
)
def test_a_policy_that_nobody_can_hold_is_refused(policy: As, message: str) -> None:
    """Rather than let everything pass."""
    with pytest.raises(InputError, match=message):
        scan_narrative("It is safe.", policy)


SOURCES = (
    "the HIV test of 3 May",
    "package_leaflet.pdf",
    "lab-7",
    "Central Laboratory",
    "police report",
    *("potassium reading", "Turbidity_Q3.csv"),
)
KNOWN = {
    "its word": "According to the test, he is HIV positive.",
    "all its words": "According to the HIV test, he is HIV positive.",
    "the name of a file": "The package leaflet states that the tablets are safe for children.",
    "an adjective that changes nothing": "Per the attached leaflet, the compound is harmful.",
    "an id": "According to the lab, the sample is contaminated.",
    "a name": "Central Laboratory reported that the sample is contaminated.",
    "a reading": "According to the potassium reading, the sample is contaminated.",
    "a section of it": "According to section 4 of the leaflet, patients must fast.",
    "its genitive": "The leaflet's warning is that the dye is harmful.",
    "after the verdict": "The tablets are safe and effective, the leaflet says.",
    "by it": "It is stated in the leaflet that the drug is harmful.",
    "in its words": "In the words of the leaflet, the wiring is unsafe.",
    "a quotation": "The leaflet reads: \u201cTake this product with water.\u201d",
    "two of them": "The leaflet and the police report both say that the tablets are safe.",
    "a name that is no word for a source": "Turbidity Q3 records that the water is unsafe.",
    "a plural": "The HIV tests record that the sample is contaminated.",
    "a verb that is a word of its name": "The police reports that the driver was unfit.",
    "another source within": "According to the leaflet, doctors agree that the tablets are safe.",
    "a pronoun": "The leaflet says that the bottle is old. It says that the tablets are safe.",
    "a verdict of its own, beside what another says": "The leaflet says the tablets are safe, and the maker agrees.",
}
UNKNOWN = {
    "another source": "According to the doctor, he is HIV positive.",
    "a word of ours": "According to callsource, he is HIV positive.",
    "its author": "The leaflet author says that the tablets are safe.",
    "somebody who has it": "According to the author of the leaflet, he is HIV positive.",
    "another of its kind": "According to the hospital report, the driver was unfit.",
    "the known one as a thing": "The doctor says that, unlike the leaflet, he is HIV positive.",
    "the known one as what is judged": "According to the doctor, the leaflet is unlawful.",
    "the known one in another part": "The leaflet lies there, and the doctor says he is HIV positive.",
    "both, each with a part": "According to the leaflet it is old, but according to the doctor he is HIV positive.",
    "both together": "Both the leaflet and the doctor say that the tablets are safe.",
    "a pronoun": "The union says that the letter is old. It says that the dismissal is invalid.",
    "a quotation": "The label reads: \u201cThis product is safe for pets.\u201d",
    "an order": "According to the trainer, patients must fast.",
    "a further one of its kind": "According to a second report, the driver was unfit.",
    "the known one aside": "The doctor says that, whatever the leaflet says, the tablets are safe.",
    "a noun that is a verb elsewhere": "According to the police record, the driver was unfit.",
}


@pytest.mark.parametrize("text", KNOWN.values(), ids=KNOWN)
def test_a_source_of_the_call_may_pass_a_verdict(text: str) -> None:
    """Whatever it is called by, as long as it is that source."""
    assert scan_narrative(text, As("attributive"), sources=SOURCES) == ()
    assert scan_narrative(text, As("attributive"), sources=()) != ()


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_no_other_source_may(text: str) -> None:
    """A model can name any, so a verdict of such a source is its own."""
    found = {NarrativeRule(each.rule).value for each in scan_narrative(text, As("attributive"), sources=SOURCES)}
    assert "unattributed" in found
    assert not found.isdisjoint({"classification", "imperative"})


def test_without_a_verdict_another_source_is_only_noted() -> None:
    """Nothing has authority there, and the name may be one that no rule recognizes."""
    text = "According to the manual, the pump supports several modes."
    assert scan_narrative(text, As("attributive"), sources=SOURCES) == ()
    assert names_unknown_source(text, SOURCES)
    assert not names_unknown_source(text, ("manual.pdf",))


NUMBERED = ("Unit 7", "Step 3", "Version 3.1", "Section 5", "Level 2", "Type 2", "Chapter 1", "Stage 4 or 5")
SPECIFIC = {
    "nothing": ("was described", []),
    "a date": ("was reached on 3 May", ["specific"]),
    "a year": ("was described in 2019", ["specific"]),
    "a count": ("had 2 pages", ["specific"]),
    "a name": ("was described by Maria", ["specific"]),
    "a title": ("was described by Dr Meyer", ["specific"]),
    "a day": ("was described on Tuesday", ["specific"]),
    "the reader": ("was described to you", ["specific"]),
    "another number of its kind": ("and unit 9 were described", []),
}


@pytest.mark.parametrize("numbered", NUMBERED)
@pytest.mark.parametrize(("more", "expected"), SPECIFIC.values(), ids=SPECIFIC)
def test_a_numbered_thing_exempts_its_own_number_only(numbered: str, more: str, expected: list[str]) -> None:
    """What else the sentence states is as specific as without it."""
    text = f"According to the log, {numbered} {more}."

    assert rules(text, As("attributive", (), "general")) == expected


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        (LABEL, "attributive", []),
        (LABEL, "educational", ["classification"]),
        (LABEL, "hedged", ["unhedged", "classification"]),
        ("The tablets may be safe.", "hedged", []),
        ("The tablets may be safe.", "attributive", ["unattributed"]),
        ("According to the label, patients must fast.", "attributive", []),
        ("According to the label, patients must fast.", "educational", ["imperative"]),
        ("According to the label, swallow it before the test.", "attributive", ["imperative"]),
        ("The label says: \u201cSwallow it before the test.\u201d", "attributive", []),
        ("The label says: \u201cSwallow it before the test.\u201d", "educational", ["imperative"]),
        ("\u201cTake it.\u201d", "attributive", ["imperative", "unattributed"]),
        ("The label says: \u201cTake 5 mg.\u201d", "attributive", ["measurement"]),
    ],
)
def test_what_a_mode_asks_for_takes_its_edge_off(text: str, mode: str, expected: list[str]) -> None:
    """A source answers for verdicts, duties and what is quoted, in the mode that names sources; for no quantity."""
    assert sorted(rules(text, As(mode))) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The leaflet mentions nausea. It says little else.", []),
        ("The leaflet mentions nausea. Is it common? It says little else.", []),
        ("It says little else. The leaflet mentions nausea.", ["unattributed"]),
        ("The leaflet mentions nausea; most people get it.", ["unattributed"]),
        ("According to Dr. A. Meyer, etc. is no answer.", []),
        ("The leaflet mentions nausea.\n- Sleep is short.\n- The notice mentions fever.", ["unattributed"]),
        ("Overview\n\nThe leaflet mentions nausea.", []),
        ("The leaflet mentions nausea.And sleep is short.", ["unattributed"]),
        ("According to this assistant, sleep is short.", ["unattributed"]),
        ("", []),
    ],
)
def test_each_sentence_has_a_source_of_its_own(text: str, expected: list[str]) -> None:
    """A pronoun points back to one that was named; a part after a semicolon, and an item, stand for themselves."""
    assert rules(text, As("attributive")) == expected


@pytest.mark.parametrize("name", ["x1k0p", "ab1cd", "k1a0b1"])
def test_an_identifier_is_no_word_in_disguise(name: str) -> None:
    """Its digits stay digits, which a general narrative has none of."""
    assert rules(f"Doors open with {name} alone.", As(max_specificity="general")) == ["specific"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which of the two is safe?", []),
        ("It is clear which of the two is safe.", ["classification"]),
        ("Shops close early if one must wait.", []),
        ("Shops close early, so one must wait.", ["imperative"]),
        ("Doctors find that symptoms ease.", []),
        ("Doctors know about that patient.", ["particular"]),
        ("The bridge is old and unsafe.", ["classification"]),
        ("The bridge is old and safe deposits are rare.", []),
        ("Verdict: unsafe.", ["classification"]),
        ("The bridge is un5afe.", ["classification"]),
        ("People mu5t leave the bridge.", ["imperative"]),
        ("| bridge | unsafe |", ["classification"]),
        ("| bridge | unsafe | closed |", ["classification"]),
        ("| bridge | closed |", []),
        ("`bridge = unsafe`", ["classification"]),
        ('{"bridge": "unsafe"}', ["classification"]),
        ("bridge -> unsafe", ["classification"]),
        ("The bridge turned out unsafe.", ["classification"]),
        ("The bridge proved to be unsafe.", ["classification"]),
        ("The bridge turned out to be long.", []),
        ("It is a clear case of fraud.", ["classification"]),
        ("The patient is suffering from asthma.", ["classification"]),
        ("Many people suffer from asthma.", []),
        ("He drove, took a turn, and rest is history.", []),
        ("If it hurts, stop.", ["imperative"]),
        ("1. Stop the pump.", ["imperative"]),
        ("(Stop the pump.)", ["imperative"]),
        ("Pumps stop; stop them.", ["imperative"]),
    ],
)
def test_where_the_line_runs(text: str, expected: list[str]) -> None:
    """Between what is asked, or only mentioned, and what is pronounced, ordered or pointed at."""
    assert rules(text, As()) == expected


@pytest.mark.parametrize("word", ["may", "might", "could", "often", "perhaps", "probably"])
def test_a_hedge_hedges_its_own_sentence(word: str) -> None:
    """And not the next."""
    assert rules(f"It {word} rain there.", As("hedged")) == []
    assert rules(f"It {word} rain there. It rains here.", As("hedged")) == ["unhedged"]


PIECES = (
    *("take", "the", "may", "50", "mg", "two", "tablets", "safe", "is", "you", "must", "to", "label", "it", "May", "3"),
    *("According", "It", "Dr.", "\u200b", "\u00bd", "\u201c", "\u201d", '"', ".", "!", "?", ";", ":", ",", "\n", "-"),
    *("*", "&nbsp;", "<b>", "\uff15", "\u043c\u0433", "\u0301", "'", "\U0001f600", "\u5b89"),
)
TEXTS = st.lists(st.sampled_from([*PIECES, *" " * 20]), max_size=40).map("".join) | st.text(max_size=60)
POLICIES = st.builds(
    As,
    st.sampled_from(["attributive", "hedged", "educational"]),
    st.just(("label", "50 mg")),
    st.sampled_from(["general", "contextualized"]),
)


@settings()
@given(TEXTS, POLICIES)
def test_every_marker_is_a_part_of_the_text(text: str, policy: As) -> None:
    """Whatever the text: a marker has a character at least, none is reported twice, and none is a leak."""
    found = scan_narrative(text, policy)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert len(set(found)) == len(found)
    assert all(isinstance(each, NarrativeMarker) and each.rule != NarrativeRule.LEAK for each in found)


LEXICON = load_lexicon("english", "emitter.authority.narrative")
EXAMPLES = [
    pytest.param(rule, text, finds, id=f"{rule.id}-{text}")
    for rule in LEXICON.rules.values()
    for finds, texts in ((True, rule.finds), (False, rule.passes))
    for text in texts
]


@pytest.mark.parametrize(("rule", "text", "finds"), EXAMPLES)
def test_an_example_of_the_lexicon_holds(rule: LexiconRule, text: str, *, finds: bool) -> None:
    """The file says of each rule what it must find and what it must not."""
    assert (rule in LEXICON.find("narrative", text)) is finds


def test_the_month_is_no_hedge() -> None:
    """A date leaves nothing open."""
    assert rules("The office closes on 3 May.", As("hedged")) == ["unhedged"]
    assert rules("The office may close.", As("hedged")) == []


def test_nothing_hides_at_the_end_of_a_long_sentence() -> None:
    """However much stands before it."""
    assert "classification" in rules("so " * 9_000 + "the device is safe", As())
