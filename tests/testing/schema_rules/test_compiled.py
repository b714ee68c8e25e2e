"""What the library compiles passes the rules of the vendor that it is compiled for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from emitter import profiles as profile
from emitter.messages import as_mapping
from emitter.models import binding_moment
from emitter.schema import compile_schema
from emitter.schema.json_data import resolve_reference
from emitter.testing import vendor_rules

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKERS: dict[str, tuple[Any, ...]] = {
    "openai": (vendor_rules.OPENAI.find_violations,),
    "azure-openai": (vendor_rules.AZURE_OPENAI.find_violations,),
    "anthropic": (vendor_rules.ANTHROPIC.find_violations, vendor_rules.ANTHROPIC_TOOL.find_violations),
    "google": (vendor_rules.GOOGLE.find_violations, vendor_rules.GOOGLE_IGNORED.find_violations),
}
CHECKERS["bedrock"] = CHECKERS["anthropic"]
"""Google's own must not hold a keyword without effect either, for that would be a loss nobody was told of."""


def checkers(vendor: str) -> tuple[Callable[[Any], list[Any]], ...]:
    """Return the checks of a vendor's rules.

    Servers that are compatible with OpenAI are held to all of its rules, strictness too, but for the keywords and
    formats that the engines behind them know besides, and for open objects. ``tests/engines`` asks those.
    """
    if vendor in CHECKERS:
        return CHECKERS[vendor]
    subset = profile.load_profile(vendor).subset
    known = {*subset.keywords, *subset.formats} if subset.engines else set()

    def check(schema: Any) -> list[Any]:
        found = [each for each in vendor_rules.OPENAI.find_violations(schema) if each.detail not in known]
        return [each for each in found if not (subset.open_objects and _is_about_an_open_object(schema, each))]

    return (check,)


def _is_about_an_open_object(schema: Any, violation: Any) -> bool:
    """Return whether a violation is that an object, or its other properties, may be anything."""
    if violation.rule == "object_must_be_closed":
        return as_mapping(resolve_reference(schema, f"#{violation.pointer}")).get("additionalProperties") == {}
    return violation.rule == "type_missing" and violation.pointer.endswith("/additionalProperties")


@pytest.mark.parametrize(
    "vendor", [each for each in profile.profile_names() if profile.load_profile(each).subset.enforced]
)
def test_the_turn_of_a_binding_moment_is_taken_by_every_vendor(vendor: str) -> None:
    """The main job's schema breaks no published rule."""
    schema = compile_schema(binding_moment.TURN_SCHEMA, vendor).schema

    assert [found for broken in checkers(vendor) for found in broken(schema)] == []
