"""Kinds of OpenWOP's own that a host may take or leave: media, and the A2UI surface."""

from __future__ import annotations

from typing import Any, Final

from emitter.accept.catalogue.kind import Kind, canonical
from emitter.accept.catalogue.rules import IdsDiffer, Sourced, alt_is_there, one_source
from emitter.errors import InputError
from emitter.kinds.a2ui import A2UI, A2UI_SURFACE, CATALOG_VERSION
from emitter.kinds.media import MAX_INLINE_BYTES, MEDIA

A2UI_KIND: Final = Kind(
    A2UI_SURFACE, 1, canonical(A2UI_SURFACE, A2UI), advice=(IdsDiffer(("surface", "components")),), pin=CATALOG_VERSION
)
"""``ui.a2ui-surface``. Two components of one id are taken, with a warning: only one of the answers can come back."""


def media_kinds(max_inline_bytes: int = MAX_INLINE_BYTES) -> tuple[Kind, ...]:
    """Return ``media.image``, ``media.audio`` and ``media.file``.

    ``max_inline_bytes`` is what the host advertises as ``aiProviders.maxInlineMediaBytes``: an asset of more bytes
    must come by url. Raises ``InputError`` for what is no number of bytes.
    """
    most: Any = max_inline_bytes
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise InputError("max_inline_bytes must be a whole number of bytes, 0 or more.")
    rules, advice = (Sourced(max_inline_bytes),), (one_source, alt_is_there)
    return tuple(Kind(kind_id, 1, canonical(kind_id, schema), rules, advice) for kind_id, schema in MEDIA.items())
