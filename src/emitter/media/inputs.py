"""``Image``, ``Document`` and ``Audio``: media from a file, bytes, a URL or an uploaded file.

``media_payload`` and ``media_from_envelope`` convert them to and from OpenWOP's kinds ``media.image``, ``media.audio``
and ``media.file`` (RFC 0055). A host accepts these kinds if its registry has ``emitter.host.kinds.media_kinds``.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast, get_args

from emitter.arguments import check_text, known_arguments
from emitter.errors import InputError
from emitter.files import open_private
from emitter.media.parts import (
    decode_base64,
    default_source,
    detect_media_type,
    is_data_url,
    is_url,
    make_part,
    make_url_part,
    measure_seconds,
    medium_of,
    normalize_media_type,
    url_name,
)
from emitter.messages import MediaPart, Medium, as_mapping
from emitter.models import Trust
from emitter.models.standard_kinds import MAX_INLINE_BYTES, MEDIA_AUDIO, MEDIA_FILE, MEDIA_IMAGE
from emitter.prompts import Media

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.messages import Json
    from emitter.models import AIEnvelope

    Content: TypeAlias = str | os.PathLike[str] | bytes

_MAX_NAME_LENGTH = 255
_CONTENT_HINT = "Pass a path, bytes or a URL, or file_id= for a file that you uploaded to the vendor."
Detail: TypeAlias = Literal["low", "high", "original", "auto"]
_SCHEMES = ("https", "http", "gs", "s3")
"""The URL schemes that vendors read. Only ``https`` is fetched here, and an S3 URI counts as an uploaded file."""


class _Arguments(NamedTuple):
    """The arguments of ``Image``, ``Document`` and ``Audio``."""

    content: Content | None
    source: str | None
    trust: Trust
    media_type: str | None
    file_id: str | None
    fetch: bool
    detail: Detail | None = None


_CONTENT_NAMES = dict.fromkeys(("url", "path", "file", "data", "image", "base64"), "content")


@known_arguments(**_CONTENT_NAMES)
class Image(Media):
    """An image: PNG, JPEG, GIF, WebP, or any other format that the model accepts."""

    __slots__ = ()

    def __init__(  # noqa: PLR0913  all have a default
        self,
        content: Content | None = None,
        source: str | None = None,
        trust: Trust = Trust.TRUSTED,
        *,
        media_type: str | None = None,
        file_id: str | None = None,
        fetch: bool = False,
        detail: Detail | None = None,
    ) -> None:
        """Read the image, unless it is a URL or an uploaded file.

        Args:
            content: A path, bytes or a URL. The vendor reads the URL. A ``data:`` URL is decoded here.
            source: A short text that tells the model where the image is from. Defaults to the file name.
            trust: Untrusted media are fenced in the prompt and make the envelope untrusted.
            media_type: The media type of a URL, an uploaded file, or bytes whose type cannot be detected.
            file_id: The vendor's id of an uploaded file, its URI at Google, or its URI in S3 on Bedrock.
            fetch: Fetch the URL here and send the bytes. Only ``https`` and public addresses are allowed.
            detail: OpenAI's level of detail: ``"low"``, ``"high"``, ``"original"`` or ``"auto"``.

        Raises:
            InputError: The file cannot be read, is not an image, or the URL cannot be fetched.
        """
        _set_fields(self, Medium.IMAGE, _Arguments(content, source, trust, media_type, file_id, fetch, detail))


@known_arguments(**_CONTENT_NAMES)
class _MediaWithoutDetail(Media):
    """A medium that has no level of detail."""

    __slots__ = ()
    _MEDIUM: ClassVar[Medium]

    def __init__(  # noqa: PLR0913  all have a default
        self,
        content: Content | None = None,
        source: str | None = None,
        trust: Trust = Trust.TRUSTED,
        *,
        media_type: str | None = None,
        file_id: str | None = None,
        fetch: bool = False,
    ) -> None:
        """Read the medium, unless it is a URL or an uploaded file. The arguments are those of ``Image``."""
        _set_fields(self, self._MEDIUM, _Arguments(content, source, trust, media_type, file_id, fetch))


class Document(_MediaWithoutDetail):
    """A PDF document. The arguments are those of ``Image``, without ``detail``."""

    __slots__ = ()
    _MEDIUM = Medium.DOCUMENT


class Audio(_MediaWithoutDetail):
    """A recording: WAV, MP3, or any other format that the model accepts. The arguments are those of ``Image``."""

    __slots__ = ()
    _MEDIUM = Medium.AUDIO


def _set_fields(media: Media, medium: Medium, arguments: _Arguments) -> None:
    """Check the arguments and set the fields of a new value."""
    name = type(media).__name__
    if not isinstance(arguments.trust, Trust):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
        raise InputError(f"{name}.trust is {arguments.trust!r}; it must be Trust.TRUSTED or Trust.UNTRUSTED.")
    for field in ("source", "media_type", "file_id", "detail"):
        if getattr(arguments, field) is not None:
            check_text(f"{name}.{field}", getattr(arguments, field))
    if arguments.detail is not None and arguments.detail not in get_args(Detail):
        raise InputError(f"{name}.detail is {arguments.detail!r}; it must be one of {', '.join(get_args(Detail))}.")
    if (arguments.content is None) == (not arguments.file_id):
        raise InputError(f"{name} needs a content or a file_id, and not both.", hint=_CONTENT_HINT)
    part = _make_part(medium, arguments)
    object.__setattr__(media, "part", part)
    object.__setattr__(media, "source", arguments.source or default_source(part))
    object.__setattr__(media, "trust", arguments.trust)


def _make_part(medium: Medium, arguments: _Arguments) -> MediaPart:
    content, media_type, detail = arguments.content, arguments.media_type or "", arguments.detail
    if arguments.file_id:
        normalized = normalize_media_type(media_type)
        if normalized and medium_of(normalized) is not medium:
            raise InputError(f"media_type is {media_type!r}, which is not of the medium {medium.value}.")
        return MediaPart(medium, normalized, file_id=arguments.file_id, detail=detail)
    if isinstance(content, bytes | bytearray | memoryview):
        return make_part(medium, bytes(content), media_type, detail=detail)
    if isinstance(content, str) and is_url(content) and not isinstance(content, os.PathLike):
        return _part_of_url(medium, content, arguments)
    if isinstance(content, str | os.PathLike):
        path = Path(cast("str | os.PathLike[str]", content))
        return make_part(medium, _read_file(path), media_type, name=path.name, detail=detail)
    raise InputError(f"The content is of type {type(content).__name__}.", hint=_CONTENT_HINT)


def _part_of_url(medium: Medium, url: str, arguments: _Arguments) -> MediaPart:
    media_type, detail = arguments.media_type or "", arguments.detail
    if is_data_url(url):
        return make_url_part(medium, url, media_type, detail=detail)
    scheme = url.partition(":")[0].lower()
    if scheme not in _SCHEMES:
        raise InputError(f"No vendor reads {scheme}: URLs.", hint="Pass the path of a file, or its bytes.")
    check_text("The URL", url)
    name = url_name(url) or None
    if arguments.fetch:
        from emitter.media.fetching import fetch_url  # noqa: PLC0415  loads an HTTP client

        fetched = fetch_url(url)
        return make_part(medium, fetched.data, media_type or fetched.media_type, name=name, detail=detail)
    part = make_url_part(medium, url, media_type, name=name, detail=detail)
    # Bedrock reads an object in S3 by its URI, as other vendors read an uploaded file by its id.
    return replace(part, url=None, file_id=part.url) if scheme == "s3" else part


def _read_file(path: Path) -> bytes:
    try:
        with open(open_private(path, os.O_RDONLY), "rb") as file:  # noqa: PTH123  the descriptor is checked
            return file.read()
    except (OSError, ValueError) as error:
        if _is_base64(str(path)):
            raise InputError("The content is base64, not a path.", hint="Pass bytes: base64.b64decode(...).") from None
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path.name} cannot be read: {reason}.") from error


def _is_base64(text: str) -> bool:
    """Return whether a text is probably the base64 of a file: it has a known signature, or is too long for a path."""
    try:
        data = decode_base64(text)
    except InputError:
        return False
    return bool(detect_media_type(data)) or len(text) > _MAX_NAME_LENGTH


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
        alt: The text to show instead of the media. Defaults to its source.
        max_inline_bytes: The limit that the host advertises.

    Raises:
        InputError: The media have no bytes here, or too many for a payload and no ``url``.
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
        raise InputError(f"An envelope of the kind {envelope.type} has no media.")
    trust = envelope.meta.content_trust or Trust.TRUSTED
    return _media_from_payload(mediums[envelope.type], as_mapping(envelope.payload), trust)


def _media_from_payload(medium: Medium, payload: Mapping[str, Any], trust: Trust) -> Media:
    media_type = normalize_media_type(str(payload.get("mimeType") or ""))
    actual = medium_of(media_type) or medium if medium is Medium.DOCUMENT else medium
    source = payload.get("name") or payload.get("alt") or None
    content: Any = payload.get("url") or decode_base64(str(payload.get("base64") or ""))
    media: Media = _CLASSES[actual](content, source, trust, media_type=media_type or None)
    return media
