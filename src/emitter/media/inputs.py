"""``Image``, ``Document`` and ``Audio``: media from a file, bytes, a URL or an uploaded file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias, cast, get_args

from emitter.arguments import check_text, known_arguments
from emitter.errors import InputError
from emitter.files import open_private
from emitter.media.detection import detect_media_type, medium_of, normalize_media_type
from emitter.media.values import decode_base64, default_source, is_data_url, is_url, make_part, make_url_part, url_name
from emitter.messages import MediaPart, Medium
from emitter.models import Trust
from emitter.prompts import Media

if TYPE_CHECKING:
    Content: TypeAlias = str | os.PathLike[str] | bytes

_MAX_NAME_LENGTH = 255
_CONTENT_HINT = "Pass a path, bytes or a URL, or file_id= for a file that you uploaded to the vendor."
Detail: TypeAlias = Literal["low", "high", "original", "auto"]
_SCHEMES = ("https", "http", "gs", "s3")
"""The schemes that vendors read. Only ``https`` is fetched, and an object in S3 is an uploaded file."""


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
    """An image: PNG, JPEG, GIF, WebP, or any other format that the model takes."""

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
class _Recorded(Media):
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


class Document(_Recorded):
    """A PDF document. The arguments are those of ``Image``, without ``detail``."""

    __slots__ = ()
    _MEDIUM = Medium.DOCUMENT


class Audio(_Recorded):
    """A recording: WAV, MP3, or any other format that the model takes. The arguments are those of ``Image``."""

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
        found = normalize_media_type(media_type)
        if found and medium_of(found) is not medium:
            raise InputError(f"media_type is {media_type!r}, which is not of the medium {medium.value}.")
        return MediaPart(medium, found, file_id=arguments.file_id, detail=detail)
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
    """Return whether a text is the base64 of a file, to judge by its signature or its length."""
    try:
        data = decode_base64(text)
    except InputError:
        return False
    return bool(detect_media_type(data)) or len(text) > _MAX_NAME_LENGTH
