"""A document under a schema of the caller's own, as a kind of envelope.

OpenWOP wants every domain kind namespaced, and a kind to have one schema; the caller's schema has no id that we
may speak for. So the kind is ours, and says no more than it knows: which document this is, and what it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emitter.wire import Json

DOCUMENT = "vendor.emitter.document"
"""The kind's id; its payload is ``{name, document}``."""


def payload(name: str, document: Json) -> dict[str, Json]:
    """Return the envelope's payload; ``document`` may be any JSON value, valid against the caller's schema."""
    return {"name": name, "document": document}
