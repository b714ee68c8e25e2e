"""Texts with their true counts, and the rank files where this machine has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emitter import tokens

ENCODINGS = ("o200k_base", "cl100k_base")

_ROWS = [json.loads(line) for line in Path(__file__).with_name("counts.jsonl").read_text("utf-8").splitlines()]

COUNTED = [pytest.param(row["text"], row["o200k_base"], row["cl100k_base"], id=row["id"]) for row in _ROWS]
"""Text, then its tokens in o200k_base and in cl100k_base: measured once, with tiktoken 0.14.0."""

SAMPLES = [row["text"] for row in _ROWS]


def at_hand(encoding: str) -> None:
    """Skip the test where the encoding's rank file is absent."""
    if not tokens.has_exact_counter(encoding):
        pytest.skip(f"the rank file of {encoding} is absent")
