"""The wheel carries every prompt, profile and cassette that is edited here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

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


@pytest.mark.parametrize("name", FOLDERS)
def test_an_asset_folder_is_found(name: str) -> None:
    """The look-up finds the folder in this installation."""
    assert any(True for _ in find_data_folder(name).iterdir())


def test_a_missing_folder_is_said() -> None:
    """A build without its folders says so."""
    with pytest.raises(FileNotFoundError, match="reinstall"):
        find_data_folder("no-such-folder")
