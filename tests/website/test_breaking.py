"""A change of a public name that may break a caller is found, and asks for a line in the changelog."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

griffe = pytest.importorskip("griffe")
breaking = pytest.importorskip("website.breaking")

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = {
    "__init__.py": "",
    "errors.py": "class Gone:\n    pass\n\ndef kept(a: int, b: int = 1) -> int:\n    return a\n\ndef _own(a): ...\n",
    "inner.py": "def unlisted(a): ...\n",
}
CHANGES: dict[str, tuple[str, str, list[str]]] = {
    "nothing": ("a: int", "a: int", []),
    "a further option": ("b: int = 1", "b: int = 1, c: int = 2", []),
    "a private function": ("def _own(a)", "def _own(b)", []),
    "a name": ("class Gone", "class Other", ["emitter.errors.Gone: removed"]),
    "an argument": ("b: int = 1", "", ["emitter.errors.kept: parameter was removed"]),
    "a default": ("b: int = 1", "b: int", ["emitter.errors.kept: parameter is now required"]),
}


@pytest.mark.parametrize(("old", "new", "reported"), CHANGES.values(), ids=CHANGES)
def test_what_breaks_a_caller_is_listed(old: str, new: str, reported: list[str]) -> None:
    """And nothing else is."""
    after = {**BEFORE, "errors.py": BEFORE["errors.py"].replace(old, new), "inner.py": "def unlisted(): ...\n"}
    with (
        griffe.temporary_visited_package("emitter", modules=BEFORE) as earlier,
        griffe.temporary_visited_package("emitter", modules=after) as later,
    ):
        assert list(breaking.find_breakages(earlier, later)) == reported


def test_a_breaking_change_needs_a_line_in_the_changelog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a repository of its own, at its first commit."""
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "src" / "emitter"
    package.mkdir(parents=True)
    for name, text in BEFORE.items():
        (package / name).write_text(text)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *command], check=True)  # noqa: S607
    (package / "errors.py").write_text(BEFORE["errors.py"].replace("class Gone", "class Other"))
    monkeypatch.setattr(breaking, "load_package", lambda: griffe.load("emitter", search_paths=["src"]))

    assert breaking.main(["HEAD"]) == 1
    assert capsys.readouterr().out == "emitter.errors.Gone: removed\n"
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n- Gone is Other.\n")
    assert breaking.main(["HEAD"]) == 0
