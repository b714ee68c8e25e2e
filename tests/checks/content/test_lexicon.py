"""The English lexicon: each rule's own examples, the phrase language, and that a guess refuses nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.checks import DEFAULT_CHECKS, EnglishLexicon, Severity
from emitter.checks.lexicon import LexiconRule, PhraseAutomaton, load_lexicon
from emitter.checks.text import split_tokens
from emitter.errors import InputError
from emitter.models.binding_moment import Meta
from tests.checks.content.labelled import moment

LEXICON = load_lexicon("english")
EXAMPLES = [
    pytest.param(rule, text, finds, id=f"{rule.id}-{text}")
    for rule in LEXICON.rules.values()
    for finds, texts in ((True, rule.finds), (False, rule.passes))
    for text in texts
]


@pytest.mark.parametrize(("rule", "text", "finds"), EXAMPLES)
def test_an_example_of_the_lexicon_holds(rule: LexiconRule, text: str, *, finds: bool) -> None:
    """The file says of each rule what it must find and what it must not."""
    assert (rule in LEXICON.find(rule.slot, text)) is finds


@pytest.mark.parametrize("rule", LEXICON.rules.values(), ids=lambda rule: rule.id)
def test_a_rule_has_examples_a_section_and_no_power_to_refuse(rule: LexiconRule) -> None:
    """It asks for one correction at most."""
    assert rule.finds
    assert rule.passes
    assert rule.section.startswith("5.")
    assert rule.severity in {Severity.RETRY, Severity.WARNING}


@given(st.lists(st.text(), min_size=5, max_size=5), st.sampled_from([rule.finds[0] for rule in LEXICON.rules.values()]))
def test_no_text_makes_a_guess_an_error(texts: list[str], found: str) -> None:
    """Whatever is in the slots."""
    synopsis, recommendation, stem, label, note = (f"{text} {found}" for text in texts)
    spoken = moment(
        synopsis=synopsis,
        recommendations=(recommendation, found),
        stem=stem,
        labels=(found, label),
        meta=Meta(calibration_note=note),
    )
    assert Severity.ERROR not in {finding.severity for finding in EnglishLexicon()(spoken)}


PHRASES: dict[str, tuple[str, str, bool]] = {
    "words": ("a b", "x a b y", True),
    "words apart": ("a b", "a x b", False),
    "one of several": ("a|b c", "b c", True),
    "an optional word that is there": ("a [x|y] b", "a y b", True),
    "an optional word that is not": ("a [x|y] b", "a b", True),
    "several optional words": ("a [x] [y] b", "a y b", True),
    "an optional last word": ("a [b]", "a", True),
    "a gap of none": ("a .. b", "a b", True),
    "a gap of four": ("a .. b", "a 1 2 3 4 b", True),
    "a gap of five": ("a .. b", "a 1 2 3 4 5 b", False),
    "a gap over a comma": ("a .. b", "a, b", False),
    "two gaps": ("a .. b .. c", "a x b y c", True),
    "a list": ("a {n}", "a two", True),
    "the beginning": ("^ a", "a b", True),
    "not the beginning": ("^ a", "b a", False),
    "the beginning of a clause": ("^ a", "b; a", True),
    "the end": ("a ^", "b a.", True),
    "the whole": ("^ a ^", "A!", True),
    "a comma": (", a", "b, a", True),
    "a question mark": ("? ^", "a?", True),
    "a number": ("a #", "a 1,450", True),
    "another number": ("# b", "1.5 b", True),
    "a contraction": ("do not", "I don't.", True),
    "a quotation": ("a", 'b "a" c', False),
    "an invisible character": ("abc", "a\u200bbc", True),
    "look-alike letters": ("depends", "It dереnds.", True),  # noqa: RUF001
    "overlapping phrases": ("a a b", "a a a b", True),
}


@pytest.mark.parametrize(("phrase", "text", "found"), PHRASES.values(), ids=PHRASES)
def test_a_phrase_matches(phrase: str, text: str, *, found: bool) -> None:
    """Each element of the phrase language does what its description says."""
    automaton = PhraseAutomaton([(phrase, "tag")], {"n": "one two"})

    assert (automaton.find(split_tokens(text)) == {"tag"}) is found


@given(
    st.lists(st.sampled_from(["a", "b", "c", "x"]), max_size=12), st.lists(st.sampled_from(["a", "b", "c"]), min_size=1)
)
def test_phrases_of_words_are_found_as_sublists(tokens: list[str], phrase: list[str]) -> None:
    """The automaton agrees with a plain search, on the first use of a state and on the next."""
    automaton = PhraseAutomaton([(" ".join(phrase), "tag")], {})
    expected = any(tokens[index : index + len(phrase)] == phrase for index in range(len(tokens)))

    assert [automaton.find(tokens) == {"tag"} for _ in range(2)] == [expected] * 2


def test_an_exception_takes_a_finding_back() -> None:
    """A decision that also commits is not found, wherever it does."""
    assert [rule.id for rule in LEXICON.find("synopsis", "It depends on the port.")] == ["synopsis-defers"]
    assert not list(LEXICON.find("synopsis", "It depends on the port; release the order."))


def test_a_subordinate_clause_is_not_read() -> None:
    """What a reason says is not what the sentence says."""
    assert not list(LEXICON.find("synopsis", "The contract stands, because the price depends on you."))


@pytest.mark.parametrize("severity", ["warning", "off"])
def test_a_rule_is_softened(severity: str) -> None:
    """It is reported, or not checked."""
    lexicon = EnglishLexicon({"synopsis-defers": severity})

    found = lexicon(moment(synopsis="It depends on the weather."))

    assert [finding.severity.value for finding in found] == ([] if severity == "off" else [severity])


def test_a_guess_cannot_be_made_an_error() -> None:
    """The lexicon can be wrong, so it may ask and may not refuse."""
    with pytest.raises(InputError, match="The severity of synopsis-defers cannot be 'error'"):
        EnglishLexicon({"synopsis-defers": "error"})


def test_every_slot_of_the_lexicon_is_read() -> None:
    """A rule for a slot that nobody reads would find nothing."""
    spoken = moment(
        synopsis="It depends on the weather.",
        recommendations=("Weigh the trade-offs.", "Sell."),
        stem="Don't you agree that we should collect it?",
        labels=("Sell", "I need more information"),
        meta=Meta(calibration_note="As always, please verify."),
    )
    found = [finding for checker in DEFAULT_CHECKS for finding in checker(spoken)]

    assert {LEXICON.rules[finding.rule].slot for finding in found} == {rule.slot for rule in LEXICON.rules.values()}
    assert all(finding.message.endswith(f"(section {LEXICON.rules[finding.rule].section})") for finding in found)


def test_the_cache_of_states_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that reaches ever new states empties the cache instead of filling the memory."""
    monkeypatch.setattr("emitter.checks.lexicon._MAX_STATES", 3)
    automaton = PhraseAutomaton([("a .. b .. c .. d", "tag")], {})

    assert automaton.find(["a", "x", "b", "y", "c", "z", "d"]) == {"tag"}
    assert len(automaton._states) <= 3


def test_a_lexicon_rule_is_a_value() -> None:
    """Rules compare by what they say."""
    rule = LEXICON.rules["note-ritual"]
    assert replace(rule) == rule
