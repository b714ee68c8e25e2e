"""Patterns for names, as the validator reads them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jsonschema_rs


@lru_cache(maxsize=4096)
def _pattern(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern})


def matches(pattern: str, name: str) -> bool:
    """Tell whether ``pattern`` is found in ``name``, as the validator reads it and in bounded time."""
    return bool(_pattern(pattern).is_valid(name))
