"""What the rules make of the labelled texts; ``python -m tests.authority.narrative.report`` prints it all."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest

from emitter.authority.narrative import NarrativeRule, scan_narrative
from tests.authority.narrative import labelled, report
from tests.authority.narrative.labelled import DATA, FILES, HALVES, PARTS, As, part, read, score

FEWEST, FEWEST_FRESH = 400, 80
EACH = pytest.mark.parametrize("rule", NarrativeRule, ids=[each.value for each in NarrativeRule])
PAGE = DATA.joinpath("README.md").read_text("utf-8")

FLOORS = {
    NarrativeRule.MEASUREMENT: (0.97, 0.97),
    NarrativeRule.CLASSIFICATION: (0.90, 0.95),
    NarrativeRule.IMPERATIVE: (0.80, 0.95),
    NarrativeRule.FORBIDDEN: (1.0, 1.0),
    NarrativeRule.UNATTRIBUTED: (0.93, 0.85),
    NarrativeRule.UNHEDGED: (0.95, 0.80),
    NarrativeRule.PARTICULAR: (0.95, 0.95),
    NarrativeRule.SPECIFIC: (0.88, 0.90),
    NarrativeRule.LEAK: (0.95, 0.95),
}
"""The precision and the recall that neither half may fall below."""


def test_the_set_is_whole() -> None:
    """Every text has an id of its own, and stands once a mode and a level."""
    lines = [line for name in PARTS for line, _ in part(name)]
    assert len({line.id for line in lines}) == len(lines)
    assert len({(line.text, line.mode, line.specificity) for line in lines}) == len(lines)


def test_there_are_enough() -> None:
    """The halves have the 400 texts that were asked for, and 80 more were written when the rules stood."""
    assert sum(len(read(name)) for name in FILES) >= FEWEST
    assert len(part("fresh")) >= FEWEST_FRESH


@EACH
@pytest.mark.parametrize("name", HALVES)
def test_the_set_is_balanced(rule: NarrativeRule, name: str) -> None:
    """In both halves each rule has texts that break it, and texts that do not."""
    found = score(rule, name)
    assert len(found.hits) + len(found.missed) >= 8
    assert len(found.wrong) + len(found.passed) >= 5


def test_texts_that_look_the_other_way_are_many() -> None:
    """A third at least of the texts break no rule, and as many break one."""
    clean = [not line.labels for name in HALVES for line, _ in part(name)]
    assert len(clean) / 3 <= sum(clean) <= len(clean) * 2 / 3


def test_the_halves_are_reported_by_hash() -> None:
    """A text is for tuning when the first byte of the SHA-256 of its id is below 128, and neither half is small."""
    sizes = [len(part(name)) for name in HALVES]
    assert sum(sizes) == sum(len(read(name)) for name in FILES)
    assert min(sizes) >= 0.35 * sum(sizes)
    assert (labelled.half("n001"), labelled.half("n005")) == ("tuning", "test")


@EACH
@pytest.mark.parametrize("name", HALVES)
def test_precision_and_recall(rule: NarrativeRule, name: str) -> None:
    """They stay where they were measured."""
    found = score(rule, name)
    precision, recall = (share / whole for share, whole in (found.precision, found.recall))
    assert (precision, recall) >= (0, 0)
    assert precision >= FLOORS[rule][0], found.wrong
    assert recall >= FLOORS[rule][1], found.missed


@EACH
def test_texts_in_order_are_seldom_refused(rule: NarrativeRule) -> None:
    """Over all parts, few texts that keep a rule are found to break it, where not all are unusual ones."""
    fractions = [score(rule, name).false_positives for name in PARTS if name != "fresh_attribution"]
    assert sum(wrong for wrong, _ in fractions) <= 0.07 * sum(whole for _, whole in fractions)


def test_the_report_names_every_miss(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text that was missed or found wrongly stands in it, and the parts that were not asked for do not."""
    monkeypatch.setattr("sys.argv", ["report", "fresh"])
    report.main()
    said = capsys.readouterr().out
    for found in (score(rule, "fresh") for rule in NarrativeRule):
        assert all(f"{line.id} ({line.mode})" in said for line in (*found.missed, *found.wrong))
    assert "more_tuning" not in said


FIGURES = (*product(("tuning", "test", "fresh"), NarrativeRule), ("fresh_attribution", NarrativeRule.UNATTRIBUTED))


@pytest.mark.parametrize(("name", "rule"), FIGURES)
def test_the_figures_are_those_of_the_page(name: str, rule: NarrativeRule) -> None:
    """Else run the report, and write down in tests/data/narratives/README.md what it prints."""
    (row,) = re.findall(rf"^\| {name} \| {rule.value} \| (.*) \|$", PAGE, re.MULTILINE)
    found = score(rule, name)
    assert row.split(" | ") == [report.shown(*each) for each in (found.precision, found.recall)]


def test_the_sources_of_a_call_are_told_from_others() -> None:
    """No narrative in order is refused, and one attribution to a source that the call lacks is missed."""
    lines = [json.loads(line) for line in DATA.joinpath("sources.jsonl").read_text("utf-8").splitlines()]
    refused = {
        line["id"]
        for line in lines
        if scan_narrative(line["text"], As(line["mode"], (), line["specificity"]), sources=line["sources"])
    }
    assert refused <= {line["id"] for line in lines if line["label"] == "bad"}
    assert len({line["id"] for line in lines if line["label"] == "bad"} - refused) <= 1
