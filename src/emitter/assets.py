"""Locate the packaged ``prompts/``, ``providers/`` and ``cassettes/`` folders.

An installed wheel contains them inside the package. A checkout reads the folders themselves, so edits take effect in
the next process.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def find_data_folder(name: str) -> Traversable:
    """Return the data folder ``name`` of the package, or of the checkout."""
    package = files("emitter")
    for folder in (package.joinpath("_assets", name), package.joinpath("..", "..", name)):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"emitter was built without its folder {name!r}: reinstall it.")


def read_file(path: str, size: int) -> bytes:
    """Return at most the first ``size`` bytes of a file of the caller's. Raises ``OSError``."""
    with open(path, "rb") as file:  # noqa: PTH123  the core must not load pathlib
        return file.read(size)
