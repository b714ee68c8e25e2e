"""The rules on findings, moves, stems, options and the note, by example."""

from __future__ import annotations

import pytest

from emitter.checks import LintRule, LintSeverity, lint
from emitter.checks.english import content_stems, find_repeats, restates
from emitter.checks.question_rules import find_duplicate_labels, is_hatch_label
from emitter.checks.recommendations import is_consideration
from emitter.checks.rules import is_boilerplate
from tests.checks.lint.labelled import moment


@pytest.mark.parametrize(
    ("move", "expected"),
    [
        ("Weigh the trade-offs.", True),
        ("Consider the risks.", True),
        ("Think about the timing.", True),
        ("Keep in mind that fees apply.", True),
        ("Be aware of the fee.", True),
        ("Consider it approved.", False),
        ("Consider the ticket closed.", False),
        ("Consider the fee and transfer 400 euros.", False),
        ("Weigh each pallet at the gate.", False),
        ("Keep the risk register in the safe.", False),
        ("Think of a name and register it.", False),
        ("Bear in mind the deadline by setting an alarm.", False),
        ("Cost is a factor here.", True),
        ("The budget should not be forgotten.", True),
        ("Long-term maintenance burden.", True),
        ("Quality over speed.", True),
        ("Balance quality and price.", True),
        ("Trade-offs between price and quality.", True),
        ("Look into the alternatives to Postgres.", True),
        ("Balance the till and the safe.", False),
        ("The bus matters for 40 guests: book it.", False),
        ("Insurance for all staff.", False),
        ("Discuss matters with Bo and sign.", False),
    ],
)
def test_a_consideration_is_no_move(move: str, *, expected: bool) -> None:
    """An attitude is none; what it leads to is one."""
    assert is_consideration(move) is expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Something else", True),
        ("Other (please specify)", True),
        ("Other: ____", True),
        ("Let's discuss", True),
        ("Talk first", True),
        ("None of the above", True),
        ("Ask me later", True),
        ("I'd rather explain it in my own words", True),
        ("Explain the figures before I choose", True),
        ("Tell me more first", True),
        ("Let me ask my wife", True),
        ("Custom dosage...", True),
        ("A different amount (please say)", True),
        ("Other treatment (describe)", True),
        ("Neither of the two", True),
        ("Put the decision off", True),
        ("Custom-made insoles", False),
        ("Explain the fee to the customer first", False),
        ("Let Anna choose", False),
        ("Reconsider the bids", False),
        ("Discuss the contract with legal", False),
        ("Talk to the landlord before signing", False),
        ("Ask the customer", False),
        ("Do nothing", False),
        ("Other supplier", False),
        ("Neither", False),
        ("No", False),
        ("", False),
    ],
)
def test_a_hatch_in_disguise(label: str, *, expected: bool) -> None:
    """It answers nothing; an action that has talk or waiting in it answers."""
    assert is_hatch_label(label) is expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("Hold", "hold"), [1]),
        (("Roll back", "Roll-back.", "“Roll back”"), [1, 2]),
        (("Pay 15", "Pay 1.5"), []),
        (("Pay €5", "Pay $5"), []),
        (("C", "C++"), []),
        (("\U0001f44d", "\U0001f44e"), []),
        (("+1", "-1"), []),
        (("", " "), [1]),
    ],
)
def test_options_that_read_alike(labels: tuple[str, ...], expected: list[int]) -> None:
    """Case and punctuation tell no options apart; numbers and symbols do."""
    assert list(find_duplicate_labels(labels)) == expected


@pytest.mark.parametrize(
    ("stem", "rules"),
    [
        ("What happens to the record?", set[LintRule]()),
        ("Release or hold?", set[LintRule]()),
        ("Is the record released or held?", set[LintRule]()),
        ("Decide whether the record is released.", set[LintRule]()),
        ("Should the record be released?", {LintRule.STEM_YES_NO}),
        ("Release the record?", {LintRule.STEM_YES_NO}),
        ("How soon do we release the record?", {LintRule.STEM_EMBEDS}),
        ("When do we release the record, and when do we hold it?", set[LintRule]()),
        ("We take it back, right?", {LintRule.STEM_LEADS}),
        ("Please approve the release.", {LintRule.STEM_LEADS}),
        ("Which record do we recommend to release?", {LintRule.STEM_EMBEDS}),
        ("I recommend a release; what happens to it?", {LintRule.STEM_LEADS}),
        ("How do we treat the clearly marked record?", set[LintRule]()),
        ("What is a just fee for the record?", set[LintRule]()),
        ("How is “obviously wrong” in the record read?", set[LintRule]()),
        ("Why hold it?", {LintRule.STEM_LEADS}),
        ("Why is it held, and where does it go?", set[LintRule]()),
        ("The vendor is waiting, so shall we let it go?", {LintRule.STEM_LEADS, LintRule.STEM_YES_NO}),
        ("Since the record is late, shall we let it go?", {LintRule.STEM_LEADS, LintRule.STEM_YES_NO}),
        ("Since the record is late, what happens to it?", set[LintRule]()),
        ("Ready to let the record go?", {LintRule.STEM_LEADS}),
        ("Ready or not, where does the record go?", set[LintRule]()),
        ("Are we supposed to put up with this?", {LintRule.STEM_LEADS, LintRule.STEM_YES_NO}),
        ("Is there any reason to keep the record?", {LintRule.STEM_LEADS, LintRule.STEM_YES_NO}),
        ("What happens to the record, as any careful owner would ask?", {LintRule.STEM_LEADS}),
    ],
)
def test_a_stem_that_leads(stem: str, rules: set[LintRule]) -> None:
    """A side taken by the question is an error, yes or no a warning, and a choice nothing."""
    asked = moment(stem=stem, labels=("Release the record now", "Hold it"))
    assert {each.rule for each in lint(asked)} == rules


@pytest.mark.parametrize("recommended", [0, 1])
def test_naming_the_other_option_embeds_no_recommendation(recommended: int) -> None:
    """The same stem embeds the option it names, when that is the recommended one."""
    asked = moment(
        stem="How soon do we release the record?", labels=("Release the record", "Hold it"), recommended=recommended
    )
    assert (LintRule.STEM_EMBEDS in {each.rule for each in lint(asked)}) is (recommended == 0)


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("None.", True),
        ("n/a", True),
        ("-", True),
        ("", True),
        ("As always, check the figures.", True),
        ("I am an AI model.", True),
        ("The figures are good.", True),
        ("I earlier called the risk small; it is not.", False),
        ("My first estimate was too low.", False),
        ("Gestern nannte ich das Risiko klein.", False),
    ],
)
def test_a_note_for_its_own_sake(note: str, *, expected: bool) -> None:
    """A note takes back something said before, or is ritual."""
    assert is_boilerplate(note) is expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Four of five words are there.", "Words, there are five; of four.", True),
        ("The vendor mis-keyed dates.", "The vendor mis-keyed the date, so release it.", True),
        ("The vendor owes 400 euros since March.", "The vendor mis-keyed the date.", False),
        ("It ships.", "Ship it.", True),
        ("It does not ship.", "Ship it.", False),
        ("", "Ship it.", False),
    ],
)
def test_a_text_that_restates_another(one: str, other: str, *, expected: bool) -> None:
    """Four fifths of the content words do, of three or more, or all of them."""
    assert restates(content_stems(one), content_stems(other)) is expected


def test_what_is_told_again_is_named_once_each() -> None:
    """Each later telling is named by its place, the first one never."""
    assert list(find_repeats(["It ships now.", "Rain.", "It ships.", "Now it ships!", "", ""])) == [2, 3]


@pytest.mark.parametrize(
    ("reasonings", "recommended", "expected"),
    [
        (("It is near.", "You risk losing it."), 0, True),
        (("It is near, at some risk.", "You risk losing it."), 0, False),
        (("It is near.", "You risk losing it."), 1, False),
        (("It is near.", "It is far."), 0, False),
    ],
)
def test_losses_on_one_side(reasonings: tuple[str, ...], recommended: int, *, expected: bool) -> None:
    """Fear of every other option, and none of the recommended one, is told."""
    found = lint(moment(reasonings=reasonings, recommended=recommended, stem="Where does the parcel go?"))
    assert (("/question/options", LintSeverity.WARN) in {(each.slot, each.severity) for each in found}) is expected
