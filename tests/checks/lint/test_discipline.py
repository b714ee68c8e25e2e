"""Each rule: where it finds something, how severe that is, and how it is switched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emitter.checks import DEFAULT_LINT_CONFIG, LintConfig, LintFinding, LintRule, LintSeverity, lint
from emitter.checks.rules import DEFAULT_SEVERITIES, EXPECTED_BY_RULE, LINT_CHECKS
from emitter.errors import InputError
from emitter.models.binding_moment import Meta
from tests.checks.lint.broken import BROKEN
from tests.checks.lint.labelled import moment


def found(**slots: Any) -> tuple[LintFinding, ...]:
    """Return what is found in a decision with these slots."""
    return lint(moment(**slots))


def test_nothing_is_found_where_nothing_is_amiss() -> None:
    """The decision that the other tests spoil is in order."""
    assert found() == ()


def test_every_rule_is_checked_expected_and_tried() -> None:
    """No rule is without a check, a sentence, or a row of the table here."""
    assert set(LINT_CHECKS) == set(EXPECTED_BY_RULE) == set(DEFAULT_SEVERITIES) == set(LintRule)
    assert {row[0] for row in BROKEN.values()} == set(LintRule)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule(name: str) -> None:
    """It is found in its slot, with its severity, its section of the draft and a sentence of ours."""
    rule, severity, slot, section, slots = BROKEN[name]
    assert LintFinding(slot, rule, severity, section, EXPECTED_BY_RULE[rule]) in found(**slots)


@pytest.mark.parametrize("name", BROKEN)
def test_nothing_else_is_an_error(name: str) -> None:
    """What breaks one rule is not refused for another."""
    rule, _, _, _, slots = BROKEN[name]
    assert {each.rule for each in found(**slots) if each.severity is LintSeverity.ERROR} <= {rule}


UNSEEN = "\u200b\u00ad\u034f\u0336\ufe0f\u2063\U000e0041\x08"
HIDING: dict[str, dict[str, Any]] = {
    "synopsis-defers": {"synopsis": "It de|pends on the weat|her."},
    "stem-leads": {"stem": "Do|n't you ag|ree that we sho|uld collect it?"},
    "option-hatch": {"labels": ("Collect it", "Some|thing el|se")},
    "option-twin": {"labels": ("Collect it", "Col|lect it")},
    "recommendation-consideration": {"recommendations": ("We|igh the tra|de-offs.", "Sell.")},
}


@pytest.mark.parametrize("unseen", UNSEEN, ids=lambda each: f"U+{ord(each):04X}")
@pytest.mark.parametrize("rule", HIDING)
def test_nothing_hides_behind_what_nobody_sees(rule: str, unseen: str) -> None:
    """A text is judged as it is read: a character that a reader does not see parts no word."""
    spoilt = {
        slot: said.replace("|", unseen) if isinstance(said, str) else tuple(each.replace("|", unseen) for each in said)
        for slot, said in HIDING[rule].items()
    }
    assert rule in {each.rule.value for each in found(**spoilt)}


def test_nothing_hides_behind_letters_that_pass_for_others() -> None:
    """Of another alphabet, or in another width."""
    assert found(synopsis="It dереnds on the weаther.")[0].rule is LintRule.SYNOPSIS_DEFERS  # noqa: RUF001
    assert found(synopsis="It ｄｅｐｅｎｄｓ on the weather.")[0].rule is LintRule.SYNOPSIS_DEFERS  # noqa: RUF001
    assert LintRule.OPTION_TWIN in {each.rule for each in found(labels=("Collect it", "Соllесt іt"))}  # noqa: RUF001


@pytest.mark.parametrize("severity", LintSeverity)
@pytest.mark.parametrize("name", BROKEN)
def test_a_rule_is_switched(name: str, severity: LintSeverity) -> None:
    """Off finds nothing; warn and error find the same, as severe as asked."""
    rule, _, _, _, slots = BROKEN[name]
    switched = lint(moment(**slots), LintConfig.from_mapping({rule.value: severity.value}))
    severities = {each.severity for each in switched if each.rule is rule}
    assert severities == (set() if severity is LintSeverity.OFF else {severity})


def test_errors_come_first() -> None:
    """The severe findings stand before the others, each group in the order of the envelope."""
    everything = found(
        synopsis="It depends. Perhaps.",
        findings=("One.",),
        recommendations=("Consider the risks.",),
        stem="Should we not just release it?",
        labels=("Release it", "Something else", "Other"),
    )
    severities = [each.severity for each in everything]
    assert severities == sorted(severities, key=[LintSeverity.ERROR, LintSeverity.WARN].index)
    assert [each.slot for each in everything if each.rule is LintRule.OPTION_HATCH] == [
        "/question/options/1/label",
        "/question/options/2/label",
    ]


@pytest.mark.parametrize("changed", [{"synopsis-defer": "off"}, {"synopsis-defers": "loud"}])
def test_a_discipline_that_there_is_not(changed: dict[str, str]) -> None:
    """The error names the rules and what each can be."""
    with pytest.raises(InputError, match=r"The rules are slot-blank, synopsis-defers, .*; each is off, warn or error"):
        LintConfig.from_mapping(changed)


def test_the_default_discipline_changes_nothing() -> None:
    """It is what an empty one is."""
    assert LintConfig.from_mapping({}) == DEFAULT_LINT_CONFIG


@pytest.mark.parametrize("count", [3, 6])
def test_counts_at_the_bounds(count: int) -> None:
    """Three findings are enough and six not too many; likewise two moves and four."""
    told = tuple(f"Shelf {each}{each} holds crate {each}." for each in range(count))
    assert found(findings=told, recommendations=told[: 2 if count == 3 else 4]) == ()


WORDS = st.text("Qz", min_size=4, max_size=12)


@given(WORDS, st.lists(WORDS, min_size=2, max_size=4))
def test_no_word_of_the_envelope_is_repeated(synopsis: str, labels: list[str]) -> None:
    """What is expected is said in sentences of ours, whatever stands in the envelope."""
    everything = found(synopsis=f"{synopsis}?", stem=f"Not {synopsis}?", labels=tuple(labels), findings=(synopsis,))
    assert everything
    assert {each.expected for each in everything} <= set(EXPECTED_BY_RULE.values())


MARKS = st.text(
    " '\"?.,:;\u201c\u201d\u2018\u2019()-\u2014\n\taA1\u00df\u3042\u3002\uff1f\u061f\u200b\u0301\U0001f600", max_size=12
)


@given(*[st.one_of(st.text(), MARKS)] * 4)
@example("?", "?", "'", "'")
@example("'", "'?", "", "“")
def test_any_text_is_read(synopsis: str, stem: str, label: str, note: str) -> None:
    """Whatever Unicode stands in a slot, the answer is findings, the same each time."""
    spoken = moment(
        synopsis=synopsis,
        stem=stem,
        labels=(label, note, synopsis),
        findings=(stem, label),
        recommendations=(note,),
        meta=Meta(calibration_note=note),
    )
    assert lint(spoken) == lint(spoken)
    assert all(each.slot.startswith("/") and each.severity is not LintSeverity.OFF for each in lint(spoken))
