"""Other people's vectors, which stand beside the checkout; a test that needs them is skipped, by name, without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

VECTORS = Path(__file__).parents[3].joinpath("../shared/vectors").resolve()

Vector = dict[str, Any]


def vectors(name: str, table: str = "vectors") -> list[Vector]:
    """Return the vectors of a file; none where it is absent."""
    file = VECTORS / name
    return json.loads(file.read_text("utf-8"))[table] if file.is_file() else []


def cases(found: Iterable[Vector], name: str) -> list[Any]:
    """Return one case for each vector, under the vector's own id, or a skipped one for the file."""
    absent = pytest.mark.skip(reason=f"{VECTORS / name} is absent")
    return [pytest.param(each, id=each["id"]) for each in found] or [pytest.param({}, id=name, marks=absent)]
