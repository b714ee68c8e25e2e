"""Which dialect a recorded acceptance or rejection speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.testing.rules import anthropic, azure_openai, google, google_openapi, openai

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.testing.rules.reading import Breach


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
