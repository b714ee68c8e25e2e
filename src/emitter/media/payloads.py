"""Media as payloads of OpenWOP's kinds ``media.image``, ``media.audio`` and ``media.file`` (RFC 0055).

A host whose registry has the kinds (``emitter.host.kinds.media_kinds``) accepts what ``media_payload`` returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.errors import InputError
from emitter.media.detection import measure_seconds, medium_of, normalize_media_type
from emitter.media.inputs import Audio, Document, Image
from emitter.media.values import decode_base64
from emitter.messages import Medium, as_mapping
from emitter.models import Trust
from emitter.models.standard_kinds import MAX_INLINE_BYTES, MEDIA_AUDIO, MEDIA_FILE, MEDIA_IMAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.models import AIEnvelope
    from emitter.prompts import Media

_KINDS = {Medium.IMAGE: MEDIA_IMAGE, Medium.AUDIO: MEDIA_AUDIO, Medium.DOCUMENT: MEDIA_FILE}
_CLASSES = {Medium.IMAGE: Image, Medium.AUDIO: Audio, Medium.DOCUMENT: Document}


def media_kind(media: Media) -> str:
    """Return the kind of the payload of ``media``; a document is a file."""
    return _KINDS[media.part.medium]


def media_payload(
    media: Media, *, url: str | None = None, alt: str | None = None, max_inline_bytes: int = MAX_INLINE_BYTES
) -> dict[str, Json]:
    """Return the payload of ``media``.

    Args:
        media: An image, document or recording with its bytes.
        url: The address at which your host serves it. Required above ``max_inline_bytes``.
        alt: What to say where it cannot be shown. Defaults to its source.
        max_inline_bytes: The limit that the host advertises.

    Raises:
        InputError: The bytes are not known here, or are too many to stand in the payload.
    """
    part = media.part
    if part.data is None:
        raise InputError("The size of media without bytes is not known.", hint="Pass its bytes, or fetch=True.")
    if url is None and len(part.data) > max_inline_bytes:
        raise InputError(
            f"{media.source} has {len(part.data):,} bytes, and a payload may hold {max_inline_bytes:,}.",
            hint="Pass url=, the address at which your host serves it.",
        )
    payload: dict[str, Json] = {"bytes": len(part.data), "mimeType": part.media_type, "alt": alt or media.source}
    payload |= {"base64": part.base64} if url is None else {"url": url}
    if part.medium is Medium.AUDIO and part.media_type == "audio/wav":
        payload["durationSeconds"] = measure_seconds(part.data)
    if part.medium is Medium.DOCUMENT and part.name:
        payload["name"] = part.name
    return payload


def media_from_envelope(envelope: AIEnvelope) -> Media:
    """Return the media of an accepted envelope, with the envelope's trust.

    Raises:
        InputError: The envelope is of another kind, or its file is neither an image, a PDF document nor audio.
    """
    mediums = {kind: medium for medium, kind in _KINDS.items()}
    if envelope.type not in mediums:
        raise InputError(f"An envelope of the kind {envelope.type} holds no media.")
    trust = envelope.meta.content_trust or Trust.TRUSTED
    return _media_from_payload(mediums[envelope.type], as_mapping(envelope.payload), trust)


def _media_from_payload(medium: Medium, payload: Mapping[str, Any], trust: Trust) -> Media:
    media_type = normalize_media_type(str(payload.get("mimeType") or ""))
    actual = medium_of(media_type) or medium if medium is Medium.DOCUMENT else medium
    source = payload.get("name") or payload.get("alt") or None
    content: Any = payload.get("url") or decode_base64(str(payload.get("base64") or ""))
    media: Media = _CLASSES[actual](content, source, trust, media_type=media_type or None)
    return media
