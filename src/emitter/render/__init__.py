"""Draw a decision for any surface, and read the answer that the surface sends back.

``get_renderer(name)`` returns the renderer of a format in ``FORMATS``. Every renderer shows the same eight slots of
a binding moment. To write your own, implement ``Renderer`` and draw the layout that
``emitter.render.layout.build_layout`` returns.
"""

from __future__ import annotations

import pkgutil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.decisions import Resolution, Unresolved
    from emitter.messages import Json
    from emitter.models import BindingMoment

Output_co = TypeVar("Output_co", covariant=True)


class Renderer(Protocol[Output_co]):
    """Draws decisions for one kind of surface and reads that surface's replies."""

    @property
    def name(self) -> str:
        """The format's name, as in ``emitter render --to NAME``."""
        ...

    def draw(self, moment: BindingMoment) -> Output_co:
        """Return the decision as text or as a JSON document."""
        ...

    def read(self, moment: BindingMoment, reply: Json) -> Resolution | Unresolved:
        """Return the resolution that a reply means.

        Raises:
            ResolutionError: The reply is not a valid answer to this decision.
        """
        ...


FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "text": "emitter.render.text_formats:PLAIN_TEXT_RENDERER",
        "markdown": "emitter.render.text_formats:MARKDOWN_RENDERER",
        "notification": "emitter.render.text_formats:NOTIFICATION_RENDERER",
        "html": "emitter.render.html_page:RENDERER",
        "slack": "emitter.render.slack:RENDERER",
        "adaptive-card": "emitter.render.adaptive_card:RENDERER",
        "a2ui": "emitter.render.a2ui:A2UI_RENDERER",
        "openwop-surface": "emitter.render.a2ui:OPENWOP_RENDERER",
        "elicitation": "emitter.render.elicitation:RENDERER",
    }
)
"""The renderer of each format, as ``module:name``. Renderers are loaded on first use."""


def get_renderer(name: str) -> Renderer[Any]:
    """Return the renderer of a format.

    Raises:
        InputError: The format is unknown. The error lists all formats.
    """
    path = FORMATS.get(name)
    if path is None:
        raise InputError(f"There is no format {name!r}.", hint=f"Use one of {', '.join(FORMATS)}.")
    renderer: Renderer[Any] = pkgutil.resolve_name(path)
    return renderer
