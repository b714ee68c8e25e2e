"""The report's command: what it prints, how it ends, and that nothing hangs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from emitter import profiles as profile
from tests.schema.proof import report, workers
from tests.schema.proof.corpora import Case
from tests.schema.proof.table import COLUMNS, groups, page, rows
from tests.schema.proof.verdict import Report, same
from tests.schema.proof.workers import Task, proofs
from tests.testing.schema_rules.shapes import TEXT, closed, many

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {"name": "good", "schema": closed(a=TEXT), "tests": [{"data": {"a": "x"}, "valid": True}]}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write a corpus of one good schema and one broken line."""
    file = tmp_path / "own.jsonl"
    file.write_text(f"{json.dumps(GOOD)}\n{{\n")
    return file


def test_a_page_is_printed(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table with a line for the profile, complaints on standard error, and success."""
    assert report.main([str(corpus), "--profile", "openai", "--samples", "2", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()

    assert out.splitlines()[0].split("  ")[0] == "profile"
    assert out.splitlines()[1].startswith("openai")
    assert "own.jsonl:2: not JSON" in err


def test_json_is_printed(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as JSON, with a cell for every column."""
    assert report.main([str(corpus), "--profile", "google", "--profile", "openai", "--json", "--limit", "1"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert {name: set(cells) for name, cells in found["profiles"].items()} == {
        "google": set(COLUMNS),
        "openai": set(COLUMNS),
    }
    assert found["findings"] == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["absent"], "there is no file or folder absent"),
        ([""], "no schema"),
        (["own.jsonl", "--profile", "x"], "there is no profile 'x'"),
        (["own.jsonl", "--limit", "0"], "--limit"),
        (["own.jsonl", "--samples", "-1"], "--samples"),
        (["own.jsonl", "--jobs", "many"], "--jobs"),
    ],
)
def test_mistakes_are_said(
    arguments: list[str],
    word: str,
    corpus: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever is wrong with the command line is one sentence and status 2."""
    corpus.write_text("{")
    monkeypatch.chdir(corpus.parent)
    try:
        status = report.main(arguments)
    except SystemExit as error:
        status = error.code

    assert status == 2
    assert word in capsys.readouterr().err


def test_every_profile_is_proved_or_stood_for() -> None:
    """No profile is left out of the default."""
    assert sorted(name for first, others in report.distinct().items() for name in (first, *others)) == [
        *profile.profile_names()
    ]


def test_failures_are_grouped_by_reason() -> None:
    """The same reason is reported once, with its count, its profiles and examples; a grave one comes first."""
    reports = [Report(f"case {number}", name) for number in range(8) for name in ("one", "two")]
    for each in reports:
        each.fail("checked", "says otherwise", each.case)
        each.fail("checked", "says otherwise", "again")
    reports[0].fail("sound", "minimum", "5")
    reports[1].refused = "no sound form"
    text = "\n".join(page(reports))

    assert [(each.law, each.profiles.total()) for each in groups(reports)] == [
        ("sound", 1),
        ("checked", 16),
        ("refused", 1),
    ]
    assert "16 x says otherwise  (one, two)" in text
    assert text.count("case 4") == 1
    assert text.count("case 5") == 0
    assert rows(reports)["one"]["schemas"] == "8"


def test_a_proof_that_takes_too_long_is_reported() -> None:
    """The others are proved all the same."""
    slow = Task(Case("slow", many(400, TEXT)), ("openai", "google", "anthropic"), 40)
    quick = Task(Case("quick", closed(a=TEXT)), ("openai",), 1)
    found = {(each.case, each.profile): each for each in proofs([slow, quick], 1, 0.05)}

    assert set(found) == {("slow", name) for name in slow.profiles} | {("quick", "openai")}
    assert found["slow", "google"].red("timeout")
    assert found["quick", "openai"].failures == []


def test_a_process_that_dies_is_reported() -> None:
    """Its proof counts as a crash, and what is left of its task goes on elsewhere."""
    worker = workers._Worker(30)
    worker.give(Task(Case("any", closed(a=TEXT)), ("openai", "google"), 1))
    worker._process.kill()
    worker._process.join()
    found = worker.hear()

    assert found is not None
    assert found.red("total")
    assert worker.gone
    assert worker.task is not None
    assert worker.task.profiles == ("google",)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ({"a": None}, {}, True),
        ({"a": [{"b": None}]}, {"a": [{}]}, True),
        ([None], [], False),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 2}, False),
        (None, {}, False),
    ],
)
def test_null_is_absent_and_nothing_else_is(one: object, other: object, alike: bool) -> None:
    """Values are compared as the lens promises."""
    assert same(one, other) is alike
    assert same(other, one) is alike
