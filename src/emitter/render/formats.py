"""The names of all renderers, each loaded when it is asked for."""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.render.surface import Renderer

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "text": "emitter.render.plain_text",
        "markdown": "emitter.render.markdown",
        "notification": "emitter.render.notification",
        "html": "emitter.render.html",
        "slack": "emitter.render.slack",
        "adaptive-card": "emitter.render.adaptive_card",
        "a2ui": "emitter.render.a2ui",
        "openwop-surface": "emitter.render.openwop_surface",
        "elicitation": "emitter.render.elicitation",
    }
)
"""Where each format's ``RENDERER`` is."""


def renderer(name: str) -> Renderer[Any]:
    """Return the renderer of a format; raises ``InputError`` that lists the formats there are."""
    module = FORMATS.get(name)
    if module is None:
        raise InputError("There is no such format.", hint=f"There are {', '.join(FORMATS)}.")
    found: Renderer[Any] = importlib.import_module(module).RENDERER
    return found
