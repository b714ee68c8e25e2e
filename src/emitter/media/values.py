"""Make media of bytes and URLs."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from emitter.errors import InputError
from emitter.media.detection import (
    detect_media_type,
    is_text,
    media_type_of_name,
    medium_of,
    normalize_media_type,
)
from emitter.messages import MEDIUM_NAMES, MediaPart, Medium

_DEFAULT_NAMES = {Medium.IMAGE: "image", Medium.DOCUMENT: "document.pdf", Medium.AUDIO: "audio"}
CLASS_NAMES = {Medium.IMAGE: "Image", Medium.DOCUMENT: "Document", Medium.AUDIO: "Audio"}
"""The classes of ``emitter.media``."""
_DATA_URL = re.compile(r"data:([^,;]*)((?:;[^,;]*)*),", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def make_part(
    medium: Medium, data: bytes, media_type: str = "", *, name: str | None = None, detail: str | None = None
) -> MediaPart:
    """Return a part of bytes.

    The signature of the bytes decides the media type. A declared one counts only if the signature is not known.

    Raises:
        InputError: The bytes are empty, or are of another medium.
    """
    subject = name or MEDIUM_NAMES[medium]
    if not data:
        raise InputError(f"{subject} is empty.")
    found = detect_media_type(data) or normalize_media_type(media_type) or ("text" if is_text(data) else "")
    if not found:
        raise InputError(
            f"The media type of {subject} cannot be told from its bytes.", hint='Pass media_type=, such as "image/png".'
        )
    if medium_of(found) is not medium:
        raise InputError(f"{subject} is {found}, not {MEDIUM_NAMES[medium]}.", hint=_class_hint(found))
    return MediaPart(medium, found, data, name=name, detail=detail)


def make_url_part(
    medium: Medium, url: str, media_type: str = "", *, name: str | None = None, detail: str | None = None
) -> MediaPart:
    """Return a part that the vendor reads from ``url``; the bytes of a ``data:`` URL are taken out of it.

    The scheme is written in lower case.
    """
    if is_data_url(url):
        declared, data = decode_data_url(url)
        return make_part(medium, data, declared or media_type, name=name, detail=detail)
    if not _has_host(url):
        raise InputError("The URL has no host.")
    scheme, _, rest = url.partition(":")
    url = f"{scheme.lower()}:{rest}"
    found = normalize_media_type(media_type) or media_type_of_name(url_name(url))
    if medium_of(found) is not medium:
        found = ""
    return MediaPart(medium, found, url=url, name=name, detail=detail)


def _class_hint(media_type: str) -> str:
    medium = medium_of(media_type)
    if medium is not None:
        return f"Pass it as {CLASS_NAMES[medium]}."
    is_plain = media_type.partition("/")[0] == "text"
    return "Pass a text as Material(...)." if is_plain else "Images, PDF documents and audio can be sent."


def is_url(text: str) -> bool:
    """Return whether a text is a URL and not a path. A single letter is a drive of Windows."""
    return _SCHEME.match(text) is not None


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).netloc)
    except ValueError:
        return False


def is_data_url(text: str) -> bool:
    """Return whether a URL contains the data itself."""
    return text[:5].lower() == "data:"


def decode_data_url(url: str) -> tuple[str, bytes]:
    """Return the media type and the bytes of a ``data:`` URL (RFC 2397)."""
    header = _DATA_URL.match(url)
    if header is None:
        raise InputError("The data: URL has no comma before its data.")
    content = url[header.end() :]
    is_base64 = header[2].lower().endswith(";base64")
    return header[1], decode_base64(unquote(content)) if is_base64 else unquote_to_bytes(content)


def decode_base64(text: str) -> bytes:
    """Return the bytes of a text in base64, with either alphabet; raise ``InputError`` for any other text."""
    plain = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError("The data is not valid base64.") from error


def url_name(url: str) -> str:
    """Return the last part of a URL's path. It has no query, which may be a signature."""
    try:
        return unquote(urlsplit(url).path.rpartition("/")[2])
    except ValueError:
        return ""


def default_source(part: MediaPart) -> str:
    """Return a text that says what a part is, for one whose caller does not."""
    if part.url is not None and url_name(part.url):
        return url_name(part.url)
    return part.name or _DEFAULT_NAMES[part.medium]
