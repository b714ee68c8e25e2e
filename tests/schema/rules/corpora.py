"""The recorded acceptances and rejections that stand beside the checkout, and which dialect each one speaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.schema.rules import anthropic, azure_openai, google, google_openapi, openai

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.schema.rules.reading import Breach

CORPORA = Path(__file__).parents[3].joinpath("../shared/corpora").resolve()

Line = dict[str, Any]


def lines(name: str) -> list[Line]:
    """Return a corpus, or skip the test when the folder is absent."""
    file = CORPORA / name
    if not file.is_file():
        pytest.skip(f"{file} is absent")
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]


def checker(vendor: str, surface: str) -> Callable[[object], list[Breach]]:
    """Return the checker of the dialect in which a vendor reads schemas on a surface."""
    match vendor:
        case "openai":
            return openai.broken
        case "azure-openai":
            return azure_openai.broken
        case "anthropic":
            return anthropic.broken if surface.startswith("output") else anthropic.broken_as_tool
        case _:
            return google.broken if "JsonSchema" in surface else google_openapi.broken
