"""What the library compiles passes the rules of the vendor that it is compiled for."""

from __future__ import annotations

from typing import Any

import pytest

from emitter import profile
from emitter.kinds import turn
from emitter.schema import compile_schema
from emitter.testing.rules import anthropic, azure_openai, google, openai

CHECKERS: dict[str, tuple[Any, ...]] = {
    "openai": (openai.broken,),
    "azure-openai": (azure_openai.broken,),
    "anthropic": (anthropic.broken, anthropic.broken_as_tool),
    "google": (google.broken, google.ignored),
}
"""Servers that are compatible with OpenAI are held to all of its rules, strictness too: their profile is a part of it.

Google's own must not hold a keyword without effect either, for that would be a loss nobody was told of.
"""


@pytest.mark.parametrize("vendor", [each for each in profile.names() if profile.load(each).subset.enforced])
def test_the_turn_of_a_binding_moment_is_taken_by_every_vendor(vendor: str) -> None:
    """The main job's schema breaks no published rule."""
    schema = compile_schema(turn.SCHEMA, vendor).schema

    assert [found for broken in CHECKERS.get(vendor, (openai.broken,)) for found in broken(schema)] == []
