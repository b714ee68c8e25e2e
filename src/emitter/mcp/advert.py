"""The advert: a tool that may hand over a binding moment says so in the list of tools.

Source: draft-morrison-binding-moment-envelope-00, section 7.2. Its "annotation" is written into the tool's ``_meta``,
once bare and once with a prefix, since mcp 2.3 drops what it does not know from ``annotations``; it is read from all
three. An advert is advisory: every result is looked at all the same.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from emitter.wire import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

PREFIX = "alt.emitter"
"""The reverse of a name under ``.alt``, which RFC 9476 keeps out of the DNS: nobody can own it, and none is claimed."""

EMITS = "emits_binding_moment"
"""The draft's recommended name."""

ADVERT: Mapping[str, bool] = MappingProxyType({EMITS: True, f"{PREFIX}/{EMITS}": True})
"""What goes into a tool's ``_meta``."""


def advert(meta: Mapping[str, Json] | None = None) -> dict[str, Json]:
    """Return a tool's ``_meta`` with the advert added to it."""
    return {**(meta or {}), **ADVERT}


def advertises(tool: object) -> bool:
    """Tell whether a tool of ``tools/list``, as the SDK's model or as JSON, advertises that it may emit."""
    dump: Any = getattr(tool, "model_dump", None)
    told = mapping(dump(by_alias=True) if dump is not None else tool)
    marks = [*mapping(told.get("_meta")).items(), *mapping(told.get("annotations")).items()]
    return any(value is True and (name == EMITS or name.endswith(f"/{EMITS}")) for name, value in marks)
