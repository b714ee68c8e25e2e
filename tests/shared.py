"""The corpora that stand beside the checkout; a test that needs one is skipped, by name, where it is absent."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[1].joinpath("../shared").resolve()
CORPORA = SHARED / "corpora"

Line = dict[str, Any]


def lines(name: str) -> list[Line]:
    """Return a corpus, or skip the test when the folder is absent."""
    file = CORPORA / name
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    text = lzma.decompress(file.read_bytes()).decode() if file.suffix == ".xz" else file.read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
