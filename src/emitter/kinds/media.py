"""Media: an image, a piece of audio or a file, by address or, where it is small, in the payload itself.

Source: ai-envelope.md, "Media reference payloads" (RFC 0055 §C). Optional kinds: a host that has no media does
not list them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA_IMAGE: Final = "media.image"
MEDIA_AUDIO: Final = "media.audio"
MEDIA_FILE: Final = "media.file"

MAX_INLINE_BYTES: Final = 262_144
"""Bytes that may stand in a payload as base64, where a host advertises no other ``maxInlineMediaBytes``."""


def _payload(title: str, example: str, /, **own: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": title,
        "description": "The asset is named by url, or stands in base64: one of the two.",
        "type": "object",
        "required": ["bytes"],
        "properties": {
            "url": {
                "type": "string",
                "format": "uri",
                "description": "Where the host serves the asset: for its tenant only, and not to be guessed.",
            },
            "base64": {"type": "string", "description": "The asset itself, where it is small enough."},
            "bytes": {"type": "integer", "minimum": 0, "description": "How large the asset is."},
            "mimeType": {"type": "string", "description": f"Its media type, such as {example}."},
            **own,
            "alt": {"type": "string", "description": "What to say where it cannot be shown. It should be there."},
        },
        "additionalProperties": False,
    }


MEDIA: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        MEDIA_IMAGE: _payload("Image", "image/png"),
        MEDIA_AUDIO: _payload(
            "Audio",
            "audio/ogg",
            durationSeconds={"type": "number", "minimum": 0, "description": "How long it plays, in seconds."},
        ),
        MEDIA_FILE: _payload("File", "text/csv", name={"type": "string", "description": "A name to save it under."}),
    }
)
"""The JSON Schema (2020-12) of each media kind's payload, by the kind's id."""
