"""Which dialect a recorded acceptance or rejection speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing import vendor_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.testing.schema_rules import SchemaViolation


def checker(vendor: str, surface: str) -> Callable[[object], list[SchemaViolation]]:
    """Return the checker of the dialect in which a vendor reads schemas on a surface."""
    match vendor:
        case "openai":
            return vendor_rules.OPENAI.find_violations
        case "azure-openai":
            return vendor_rules.AZURE_OPENAI.find_violations
        case "anthropic":
            return (
                vendor_rules.ANTHROPIC.find_violations
                if surface.startswith("output")
                else vendor_rules.ANTHROPIC_TOOL.find_violations
            )
        case _:
            return (
                vendor_rules.GOOGLE.find_violations
                if "JsonSchema" in surface
                else vendor_rules.GOOGLE_OPENAPI.find_violations
            )
