"""What the library compiles passes the rules of the vendor that it is compiled for."""

from __future__ import annotations

from typing import Any

import pytest

from emitter import profiles as profile
from emitter.models import binding_moment
from emitter.schema import compile_schema
from emitter.testing import vendor_rules

CHECKERS: dict[str, tuple[Any, ...]] = {
    "openai": (vendor_rules.OPENAI.find_violations,),
    "azure-openai": (vendor_rules.AZURE_OPENAI.find_violations,),
    "anthropic": (vendor_rules.ANTHROPIC.find_violations, vendor_rules.ANTHROPIC_TOOL.find_violations),
    "google": (vendor_rules.GOOGLE.find_violations, vendor_rules.GOOGLE_IGNORED.find_violations),
}
CHECKERS["bedrock"] = CHECKERS["anthropic"]
"""Servers that are compatible with OpenAI are held to all of its rules, strictness too: their profile is a part of it.

Google's own must not hold a keyword without effect either, for that would be a loss nobody was told of.
"""


@pytest.mark.parametrize(
    "vendor", [each for each in profile.profile_names() if profile.load_profile(each).subset.enforced]
)
def test_the_turn_of_a_binding_moment_is_taken_by_every_vendor(vendor: str) -> None:
    """The main job's schema breaks no published rule."""
    schema = compile_schema(binding_moment.TURN_SCHEMA, vendor).schema

    assert [
        found for broken in CHECKERS.get(vendor, (vendor_rules.OPENAI.find_violations,)) for found in broken(schema)
    ] == []
