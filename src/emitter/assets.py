"""Where ``prompts/``, ``providers/`` and ``cassettes/`` lie: inside the wheel, or in the checkout.

In a checkout the folders themselves are read, so an edit is live for the next process.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def folder(name: str) -> Traversable:
    """Return the data folder ``name``: the packaged one first, the checkout's second."""
    package = files("emitter")
    for place in (package.joinpath("_assets", name), package.joinpath("..", "..", name)):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"emitter was built without its folder {name!r}: reinstall it.")
