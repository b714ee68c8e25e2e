"""The wheel carries every prompt, profile and cassette that is edited here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from emitter.assets import find_data_folder

ROOT = Path(__file__).parents[1]
FOLDERS = ("prompts", "providers", "cassettes")


def test_the_wheel_carries_every_asset() -> None:
    """The wheel's file list holds the folders to the file, and the type marker."""
    carried = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    edited = {
        f"emitter/_assets/{path.relative_to(ROOT).as_posix()}"
        for name in FOLDERS
        for path in (ROOT / name).rglob("*")
        if path.is_file()
    }

    assert edited
    assert edited == {each for each in carried if each.startswith("emitter/_assets/")}
    assert "emitter/py.typed" in carried


@pytest.mark.parametrize("builder", [WheelBuilder, SdistBuilder])
def test_tests_and_benchmarks_are_not_distributed(builder: type[WheelBuilder | SdistBuilder]) -> None:
    """The package alone, and what it was built from."""
    carried = {Path(file.distribution_path).parts[0] for file in builder(str(ROOT)).recurse_included_files()}

    assert carried <= {
        "emitter",
        "src",
        *FOLDERS,
        "CHANGELOG.md",
        "README.md",
        "hatch_build.py",
        "LICENSE",
        "pyproject.toml",
        ".gitignore",
    }


def test_the_description_has_no_address_within_the_repository() -> None:
    """An index shows it by itself; the text of the links stays, and so do links to elsewhere."""
    metadata = ProjectMetadata(str(ROOT), PluginManager()).core
    text = metadata.readme
    links = re.findall(r"\]\(([^)]*)\)", text)

    assert metadata.readme_content_type == "text/markdown"
    assert "Get a typed object" in text
    assert "Slack or over MCP, choose an option" in text
    assert "![" not in text
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_hints_name_extras_that_exist() -> None:
    """What an error or a page says to install is the distribution and one of its extras."""
    code = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    pages = [path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))]
    named = {extra for text in code for extra in re.findall(r'MissingExtra\([^)]*extra="(\w+)"', text)}
    named |= {extra for text in (*code, *pages) for extra in re.findall(r"pip install 'llm-emitter\[(\w+)\]'", text)}

    assert named
    assert named <= set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    assert not [text for text in (*code, *pages) if "pip install 'emitter" in text]


@pytest.mark.parametrize("name", FOLDERS)
def test_an_asset_folder_is_found(name: str) -> None:
    """The look-up finds the folder in this installation."""
    assert any(True for _ in find_data_folder(name).iterdir())


def test_a_missing_folder_is_said() -> None:
    """A build without its folders says so."""
    with pytest.raises(FileNotFoundError, match="reinstall"):
        find_data_folder("no-such-folder")
