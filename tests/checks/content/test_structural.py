"""The structural checks: what each rule finds, how severe it is, and how a severity is changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.checks import Finding, Severity, StructuralChecks
from emitter.checks.structural import STRUCTURAL_RULES
from emitter.errors import InputError
from tests.checks.content.labelled import moment

ERROR, WARNING = Severity.ERROR, Severity.WARNING
BROKEN: dict[str, tuple[str, Severity, str, dict[str, Any]]] = {
    "a blank synopsis": ("slot-blank", ERROR, "/synopsis", {"synopsis": " \u200b\n"}),
    "a blank finding": ("slot-blank", ERROR, "/findings/1", {"findings": ("One.", "", "Three.")}),
    "a blank recommendation": ("slot-blank", ERROR, "/recommendations/0", {"recommendations": ("\t", "Go.")}),
    "a blank offer": ("slot-blank", ERROR, "/offer", {"offer": "\u3164"}),
    "a blank stem": ("slot-blank", ERROR, "/question/stem", {"stem": ""}),
    "a blank label": ("slot-blank", ERROR, "/question/options/1/label", {"labels": ("Sell", " ")}),
    "a blank reasoning": (
        "slot-blank",
        ERROR,
        "/question/options/0/reasoning",
        {"reasonings": ("...", "It is cheaper.")},
    ),
    "two sentences": ("synopsis-sentence", ERROR, "/synopsis", {"synopsis": "Collect it. Tell Anna."}),
    "two findings": ("findings-count", WARNING, "/findings", {"findings": ("One.", "Two.")}),
    "seven findings": ("findings-count", WARNING, "/findings", {"findings": tuple("abcdefg")}),
    "a repeated finding": ("finding-repeats", WARNING, "/findings/2", {"findings": ("Rain.", "Sun.", "rain")}),
    "a finding that is the synopsis": (
        "finding-repeats",
        WARNING,
        "/findings/0",
        {"findings": ("Collect the parcel on Tuesday", "Sun.", "Rain.")},
    ),
    "one recommendation": ("recommendations-count", WARNING, "/recommendations", {"recommendations": ("Go.",)}),
    "a stem of two sentences": ("stem-sentence", ERROR, "/question/stem", {"stem": "It waits. Where does it go?"}),
    "a stem with the recommended label": (
        "stem-embeds",
        WARNING,
        "/question/stem",
        {"stem": "Do we collect the parcel?"},
    ),
    "a hatch as an option": (
        "option-hatch",
        ERROR,
        "/question/options/1/label",
        {"labels": ("Sell", "**Something else**…")},
    ),
    "twins": ("option-twin", ERROR, "/question/options/1/label", {"labels": ("Roll back", "“Roll  back”.")}),
    "a finding of two lines": ("one-line", WARNING, "/findings/0", {"findings": ("One\ntwo", "Three.", "Four.")}),
    "a reasoning of two lines": (
        "one-line",
        WARNING,
        "/question/options/1/reasoning",
        {"reasonings": ("It is near.", "It is\nfar.")},
    ),
}


def find(**slots: Any) -> tuple[Finding, ...]:
    """Return what is found in a decision with these slots."""
    return StructuralChecks()(moment(**slots))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_found(name: str) -> None:
    """It is reported with its slot, its severity and a sentence that names the draft's section. Nothing else is."""
    rule, severity, pointer, slots = BROKEN[name]

    (finding,) = find(**slots)

    assert finding == Finding(pointer, rule, severity, STRUCTURAL_RULES[rule].expectation)
    assert f"(section {STRUCTURAL_RULES[rule].section})" in finding.message


def test_every_rule_is_tried() -> None:
    """The table has a row for each rule, and the decision that it spoils is in order."""
    assert {rule for rule, *_ in BROKEN.values()} == set(STRUCTURAL_RULES)
    assert find() == ()


@pytest.mark.parametrize("count", [3, 6])
def test_counts_at_the_bounds(count: int) -> None:
    """Three findings are enough and six not too many; likewise two recommendations and four."""
    texts = tuple(f"Shelf {index} holds crate {index}." for index in range(count))
    assert find(findings=texts, recommendations=texts[: 2 if count == 3 else 4]) == ()


@pytest.mark.parametrize(
    "labels",
    [
        ("Pay 15", "Pay 1.5"),
        ("Pay €5", "Pay $5"),
        ("Use C", "Use C++"),
        ("\U0001f44d", "\U0001f44e"),
        ("+1", "-1"),
        ("Edit env", "Edit .env"),
        ("Yes", "No"),
        ("Neither", "None"),
        ("Other supplier", "Discuss the contract with legal"),
    ],
    ids=" / ".join,
)
def test_options_that_differ_are_no_twins_and_no_hatches(labels: tuple[str, ...]) -> None:
    """Numbers, symbols and names tell options apart, and an option that mentions talk is still an answer."""
    assert find(labels=labels) == ()


@pytest.mark.parametrize("labels", [("Collect it", "Col\u200blect it"), ("Collect it", "Соllесt іt")])  # noqa: RUF001
def test_labels_that_look_the_same_are_twins(labels: tuple[str, ...]) -> None:
    """Invisible characters and look-alike letters make no other option."""
    assert [finding.rule for finding in find(labels=labels)] == ["option-twin"]


@pytest.mark.parametrize(
    ("stem", "recommended", "embedded"),
    [
        ("Do we collect the parcel?", 0, True),
        ("Do we collect the parcel?", 1, False),
        ("Do we collect the parcel or return it to the sender?", 0, False),
        ("When does the parcel arrive?", 0, False),
    ],
)
def test_a_stem_embeds_the_recommended_label_only(stem: str, recommended: int, *, embedded: bool) -> None:
    """A stem that names another option, or all of them, recommends none."""
    assert ("stem-embeds" in {each.rule for each in find(stem=stem, recommended=recommended)}) is embedded


@pytest.mark.parametrize("severity", Severity)
@pytest.mark.parametrize("name", BROKEN)
def test_a_severity_is_changed(name: str, severity: Severity) -> None:
    """A rule that is off finds nothing; otherwise it finds the same with another severity."""
    rule, _, _, slots = BROKEN[name]

    found = StructuralChecks({rule: severity.value})(moment(**slots))

    assert {finding.severity for finding in found} == (set() if severity is Severity.OFF else {severity})


@pytest.mark.parametrize(
    ("severities", "message"),
    [
        ({"option-twins": "off"}, "There is no rule 'option-twins'. The rules are slot-blank, "),
        ({"option-twin": "loud"}, "The severity of option-twin cannot be 'loud'. It is one of error, retry, warning"),
    ],
)
def test_an_unknown_rule_or_severity_is_refused(severities: dict[str, str], message: str) -> None:
    """The error lists what there is."""
    with pytest.raises(InputError) as raised:
        StructuralChecks(severities)

    assert str(raised.value).startswith(message)


def test_equal_settings_are_equal_checks() -> None:
    """They identify the same decision in a store."""
    one, other = (StructuralChecks({"one-line": "off"}) for _ in range(2))
    assert one == other
    assert repr(one) == repr(other) != repr(StructuralChecks())


@given(st.text(), st.text(), st.lists(st.text(), min_size=2, max_size=4))
def test_any_text_is_checked(synopsis: str, stem: str, labels: list[str]) -> None:
    """Whatever is in a slot, the findings are the same each time, and their messages are the rules' own."""
    checked = moment(synopsis=synopsis, stem=stem, labels=tuple(labels), findings=(stem, *labels))

    found = StructuralChecks()(checked)

    assert found == StructuralChecks()(checked)
    assert {finding.message for finding in found} <= {rule.expectation for rule in STRUCTURAL_RULES.values()}
