"""The recorded exchanges that stand beside the checkout, read once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / ".." / "shared" / "vendor-traffic"

needed = pytest.mark.skipif(not FOLDER.is_dir(), reason="the recorded exchanges (../shared/vendor-traffic) are absent")


@cache
def exchanges() -> dict[str, dict[str, Any]]:
    """Return the exchanges by their file."""
    found = sorted(FOLDER.rglob("*.json"))
    return {path.relative_to(FOLDER).as_posix(): json.loads(path.read_text("utf-8")) for path in found}
