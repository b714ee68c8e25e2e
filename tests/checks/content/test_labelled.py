"""How the default checks judge the labelled texts; ``python -m tests.checks.content.report`` prints it all."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.checks import Severity
from emitter.checks.lexicon import LexiconRule, load_lexicon
from emitter.checks.structural import STRUCTURAL_RULES
from emitter.decisions import MalformedEnvelope, parse_moment
from tests.checks.content import labelled, report
from tests.checks.content.labelled import ASKED, HALVES, PARTS, SETS, Set, check, moment, score
from tests.scenarios.answers import BOUND
from tests.shared import CORPORA

FEWEST = 300
LEXICON = load_lexicon("english")
SYNOPSES, STEMS, OPTIONS, RECOMMENDATIONS = SETS
EACH = pytest.mark.parametrize("asked", SETS, ids=[each.name for each in SETS])


@EACH
def test_the_set_is_whole(asked: Set) -> None:
    """Every text stands once, with an id of its own and one of two labels, and both labels are in every part."""
    for part in PARTS:
        lines = asked.lines(part)
        assert len({line["label"] for line in lines}) == 2
        assert asked.found in {line["label"] for line in lines}
    everything = [line for part in PARTS for line in asked.lines(part)]
    assert len({line["id"] for line in everything}) == len({line["text"] for line in everything}) == len(everything)


def test_there_are_enough() -> None:
    """The two halves have more than the 300 texts that were asked for, synopses and stems for the most part."""
    assert sum(len(each.lines(half)) for each in (SYNOPSES, STEMS) for half in HALVES) >= FEWEST


def test_synopses_come_in_pairs() -> None:
    """Each committed synopsis has a deferring one on the same matter, ties among them."""
    ids = {line["id"] for half in HALVES for line in SYNOPSES.lines(half)}
    assert {each.replace("committed", "deferring") for each in ids} == {each for each in ids if "deferring" in each}
    ties = [line["label"] for half in HALVES for line in SYNOPSES.lines(half) if line["family"] == "tie"]
    assert min(ties.count("committed"), ties.count("deferring")) >= 10


@EACH
def test_the_halves_are_reported_by_hash(asked: Set) -> None:
    """A text is for tuning when the first byte of its SHA-256 is below 128, and neither half is small."""
    sizes = [len(asked.lines(half)) for half in HALVES]
    assert sum(sizes) == len(labelled.read(asked.name))
    assert min(sizes) >= 0.35 * sum(sizes)
    assert labelled.half("Ship it.") == "tuning"
    assert labelled.half("Hold it.") == "test"


WARNINGS = [rule for rule in LEXICON.rules.values() if rule.severity is Severity.WARNING and rule.slot != "note"]


@pytest.mark.parametrize("rule", WARNINGS, ids=[rule.id for rule in WARNINGS])
def test_a_warning_is_right_far_more_often_than_wrong(rule: LexiconRule) -> None:
    """Where it stands alone, since beside a correction it says nothing new. Others train people to ignore it."""
    right = wrong = 0
    for each in SETS:
        for line in (line for part in PARTS for line in each.lines(part)):
            found = [finding for finding in check(each.place(line)) if finding.pointer == each.slot]
            if rule.id in [finding.rule for finding in found] and not any(f.severity in ASKED for f in found):
                right, wrong = right + (line["label"] == each.found), wrong + (line["label"] != each.found)
    assert right > 2 * wrong


@pytest.mark.parametrize("part", PARTS)
def test_no_text_in_order_is_refused(part: str) -> None:
    """An error comes from a structural rule, and from none where nothing is wrong."""
    errors = [
        (finding.rule, line["label"] == asked.found)
        for asked in SETS
        for line in asked.lines(part)
        for finding in check(asked.place(line))
        if finding.severity is Severity.ERROR
    ]
    assert {rule for rule, _ in errors} <= set(STRUCTURAL_RULES)
    assert all(is_broken for _, is_broken in errors)


FLOORS = {
    ("synopses", "tuning"): (0.97, 0.80),
    ("synopses", "test"): (0.97, 0.60),
    ("stems", "tuning"): (0.97, 0.53),
    ("stems", "test"): (0.97, 0.50),
    ("options", "tuning"): (0.97, 0.75),
    ("options", "test"): (0.97, 0.70),
    ("recommendations", "tuning"): (0.95, 0.90),
    ("recommendations", "test"): (0.90, 0.75),
}


@pytest.mark.parametrize("half", HALVES)
@EACH
def test_precision_and_recall(asked: Set, half: str) -> None:
    """They stay where they were measured."""
    found = score(asked, half)
    precision, recall = (part / whole for part, whole in (found.precision, found.recall))
    least_precise, least_found = FLOORS[asked.name, half]
    assert precision >= least_precise
    assert recall >= least_found


@EACH
def test_texts_in_order_are_seldom_asked_again(asked: Set) -> None:
    """Over all parts, ninety-eight of a hundred stems, options, recommendations and synopses in order pass."""
    fractions = [score(asked, part).false_positives for part in PARTS]
    assert sum(wrong for wrong, _ in fractions) <= 0.02 * sum(whole for _, whole in fractions)


def test_the_report_names_every_miss(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text that was missed or found wrongly stands in it."""
    monkeypatch.setattr("sys.argv", ["report", "test"])
    report.main()
    said = capsys.readouterr().out
    for asked in SETS:
        found = score(asked, "test")
        assert all(line["text"] in said for line in (*found.missed, *found.wrong))
    assert "tuning" not in said


LANGUAGES = labelled.read("languages")


@pytest.mark.parametrize("line", LANGUAGES, ids=[f"{line['id']}-{line['family']}" for line in LANGUAGES])
def test_other_languages_are_let_pass(line: dict[str, Any]) -> None:
    """A plain sentence of another language asks for no correction in any slot that takes a sentence."""
    said = line["text"]
    spoken = moment(synopsis=said, recommendations=(said, "Sell."), findings=(said,), labels=("Sell", said))
    assert [each for each in check(spoken) if each.severity in ASKED] == []


def _own() -> list[dict[str, Any]]:
    turn: dict[str, Any] = {name: each for name, each in BOUND["turn"].items() if name != "kind"}
    return [{**turn, "question": {**turn["question"], "hatches": {"free_text": True, "dialogue": True}}}]


def _vectors() -> list[dict[str, Any]]:
    file = CORPORA.parent / "vectors/emilia_resolution.v1.json"
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    return list(_envelopes(labelled.json.loads(file.read_text("utf-8"))))


def _envelopes(value: Any) -> Any:
    if isinstance(value, dict):
        if "synopsis" in value:
            yield value
        for each in value.values():
            yield from _envelopes(each)
    if isinstance(value, list):
        for each in value:
            yield from _envelopes(each)


@pytest.mark.parametrize("envelopes", [_own, _vectors], ids=["our scenarios", "the vectors of another"])
def test_decisions_in_order_are_let_pass(envelopes: Any) -> None:
    """The decisions of the scenarios, and of EMILIA's vectors, are not asked for again."""
    spoken = [parse_moment(each) for each in envelopes()]
    wellformed = [each for each in spoken if not isinstance(each, MalformedEnvelope)]
    assert wellformed
    assert [each for one in wellformed for each in check(one) if each.severity in ASKED] == []
