"""Corpora are read in either form, and what is broken in them is reported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.schema.proof.corpora import DRAFTS, SCHEMASTORE, SUITE, Case, read

if TYPE_CHECKING:
    from pathlib import Path

GROUP = {
    "description": "a group",
    "schema": {"type": "string"},
    "tests": [{"description": "x", "data": "a", "valid": True}, {"description": "y", "data": 1, "valid": False}],
}


def reported(path: Path) -> tuple[list[Case], list[str]]:
    """Read everything, and return the complaints too."""
    complaints: list[str] = []
    return list(read(path, complaints.append)), complaints


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_folder_names_the_draft(tmp_path: Path, draft: str) -> None:
    """A schema of the suite that does not say its draft is given the one of its folder."""
    folder = tmp_path / draft / "optional"
    folder.mkdir(parents=True)
    other = {**GROUP, "schema": {"$schema": "urn:x"}}
    folder.joinpath("type.json").write_text(json.dumps([GROUP, other, {**GROUP, "schema": True}]))
    cases, complaints = reported(tmp_path)

    assert complaints == []
    assert [each.schema for each in cases] == [{"$schema": DRAFTS[draft], "type": "string"}, {"$schema": "urn:x"}, True]
    assert {each.draft for each in cases} == {draft}
    assert cases[0] == Case(f"{draft}/type: a group", cases[0].schema, draft, ["a"], [1])


def test_lines_are_read_and_broken_ones_reported(tmp_path: Path) -> None:
    """A line may have a name and tests or only a schema, and one that is broken takes no other with it."""
    lines = (
        *('{"name": "n", "schema": {}, "tests": [{"data": null, "valid": true}]}', '{"schema": false}', "{"),
        *('{"schema": 3}', "[]", '"x"', "[" * 100_000, '{"name": 3, "schema": {}, "tests": [1, {"valid": true}]}'),
    )
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join(lines) + "\n")
    cases, complaints = reported(file)

    assert cases == [Case("lines: n", {}, valid=[None]), Case("lines.jsonl:2", False), Case("lines.jsonl:8", {})]
    assert [each.split(": ")[0] for each in complaints] == [f"lines.jsonl:{n}" for n in (3, 4, 6, 7)]


def test_files_that_are_no_text_are_reported(tmp_path: Path) -> None:
    """A file in another encoding is passed over."""
    tmp_path.joinpath("a.json").write_bytes(b"\xff\xfe")
    tmp_path.joinpath("b.json").write_text(json.dumps(GROUP))
    cases, complaints = reported(tmp_path)

    assert [each.name for each in cases] == ["b: a group"]
    assert len(complaints) == 1


def test_files_that_are_schemas_themselves_are_read(tmp_path: Path) -> None:
    """A folder of plain JSON Schemas is a corpus, whatever its schemas describe."""
    plain = {"title": "Plain", "type": "object", "properties": {"schema": {"type": "string"}}}
    tmp_path.joinpath("a.json").write_text(json.dumps(plain))
    tmp_path.joinpath("b.json").write_text(json.dumps({"anyOf": [{"type": "string"}, {"type": "null"}]}))
    tmp_path.joinpath("c.jsonl").write_text(json.dumps(GROUP) + "\n" + json.dumps({"$ref": "#/$defs/x", "$defs": {}}))
    cases, complaints = reported(tmp_path)

    assert complaints == []
    assert [each.name for each in cases] == ["a: Plain", "b.json[0]", "c: a group", "c.jsonl:2"]
    assert cases[0].schema == plain


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    """A missing path and an empty folder are mistakes of the caller."""
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        reported(tmp_path / "absent")
    with pytest.raises(ValueError, match="holds no"):
        reported(tmp_path)


def test_the_corpora_are_counted() -> None:
    """No part of the corpora is left out unseen."""
    for corpus, count in {SUITE: 1230, SCHEMASTORE: 410}.items():
        if not corpus.exists():
            pytest.skip(f"{corpus} is absent")
        cases, complaints = reported(corpus)
        assert (len(cases), complaints) == (count, [])
