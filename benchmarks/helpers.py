"""What turns a schema into a vendor's: ours, and the peers' own functions, called as their libraries call them.

A helper declines where it says itself that it has no form: ours by ``Uncompilable`` or a form that is not enforced,
a peer by the exceptions that its source raises on purpose. Every other exception is a crash.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.page import peer, released

if TYPE_CHECKING:
    from collections.abc import Callable

VENDORS = ("openai", "anthropic", "google")
OURS = "emitter"
PYDANTIC_AI = "pydantic-ai-slim"


@dataclass(frozen=True, slots=True)
class Helper:
    """A peer's function: it takes a schema of its own, and ``declines`` by these exceptions."""

    transform: Callable[[Any], Any]
    declines: tuple[type[Exception], ...]

    def __call__(self, schema: Any) -> Any:
        """Return the vendor's schema; a warning that something is lost is no answer, so it is not shown."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.transform(deepcopy(schema))


def names(vendor: str) -> list[str]:
    """Return the packages that have a helper for a vendor and are installed, ours first."""
    makers = [name for name in _MAKERS.get(vendor, {}) if helper(vendor, name) is not None]
    return [OURS, *makers]


def helper(vendor: str, name: str) -> Helper | None:
    """Return a peer's helper, if it is installed."""
    return _MAKERS[vendor][name]()


def title(name: str) -> str:
    """Return a package's name and version."""
    return released(name)


def _openai() -> Helper | None:
    module = peer("openai.lib._pydantic", "openai")
    if module is None:
        return None
    strict = module._ensure_strict_json_schema  # noqa: SLF001  to_strict_json_schema does no more, once it has a schema
    return Helper(lambda schema: strict(schema, path=(), root=schema), (TypeError, ValueError))


def _anthropic() -> Helper | None:
    module = peer("anthropic", "anthropic")
    return None if module is None else Helper(module.transform_schema, (ValueError,))


def _pydantic_ai(module_name: str, class_name: str, *more: type[Exception]) -> Helper | None:
    module, errors = peer(module_name, PYDANTIC_AI), peer("pydantic_ai.exceptions", PYDANTIC_AI)
    if module is None or errors is None:
        return None
    transformer = getattr(module, class_name)
    return Helper(lambda schema: transformer(schema, strict=True).walk(), (errors.UserError, *more))


_MAKERS: dict[str, dict[str, Callable[[], Helper | None]]] = {
    "openai": {
        "openai": _openai,
        # what OpenAIProvider.model_profile chooses for OpenAI's own models; the public class is stricter on lengths
        PYDANTIC_AI: lambda: _pydantic_ai("pydantic_ai.profiles.openai", "_OpenAIJsonSchemaTransformer"),
    },
    "anthropic": {
        "anthropic": _anthropic,
        PYDANTIC_AI: lambda: _pydantic_ai(
            "pydantic_ai.providers.anthropic", "AnthropicJsonSchemaTransformer", ValueError
        ),
    },
    "google": {PYDANTIC_AI: lambda: _pydantic_ai("pydantic_ai.profiles.google", "GoogleJsonSchemaTransformer")},
}
"""google-genai has no helper for a schema: what ``response_json_schema`` is given goes out as it is."""
