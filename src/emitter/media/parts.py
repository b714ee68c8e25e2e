"""Make media parts of bytes and URLs: detect the media type, and measure images, documents and audio.

Only headers are read. Sources: the PNG specification, section 11.2.2; ITU-T T.81, annex B (JPEG); the GIF89a
specification; RFC 9649 (WebP); ISO 32000-2, section 7.7.3 (PDF); RFC 2361 and Microsoft's RIFF documentation (WAV).
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from emitter.errors import InputError
from emitter.messages import MEDIUM_NAMES, MediaPart, Medium

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_NAMES = {Medium.IMAGE: "image", Medium.DOCUMENT: "document.pdf", Medium.AUDIO: "audio"}
CLASS_NAMES = {Medium.IMAGE: "Image", Medium.DOCUMENT: "Document", Medium.AUDIO: "Audio"}
"""The classes of ``emitter.media``."""
_DATA_URL = re.compile(r"data:([^,;]*)((?:;[^,;]*)*),", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def make_part(
    medium: Medium, data: bytes, media_type: str = "", *, name: str | None = None, detail: str | None = None
) -> MediaPart:
    """Return a part of bytes.

    The signature of the bytes decides the media type. The declared one is used only if the signature is unknown.

    Raises:
        InputError: The bytes are empty, or are of another medium.
    """
    subject = name or MEDIUM_NAMES[medium]
    if not data:
        raise InputError(f"{subject} is empty.")
    actual_type = detect_media_type(data) or normalize_media_type(media_type) or ("text" if is_text(data) else "")
    if not actual_type:
        raise InputError(
            f"The media type of {subject} cannot be detected from its bytes.",
            hint='Pass media_type=, such as "image/png".',
        )
    if medium_of(actual_type) is not medium:
        raise InputError(f"{subject} is {actual_type}, not {MEDIUM_NAMES[medium]}.", hint=_class_hint(actual_type))
    return MediaPart(medium, actual_type, data, name=name, detail=detail)


def make_url_part(
    medium: Medium, url: str, media_type: str = "", *, name: str | None = None, detail: str | None = None
) -> MediaPart:
    """Return a part that the vendor reads from ``url``. A ``data:`` URL is decoded here.

    The scheme is written in lower case.
    """
    if is_data_url(url):
        declared, data = decode_data_url(url)
        return make_part(medium, data, declared or media_type, name=name, detail=detail)
    if not _has_host(url):
        raise InputError("The URL has no host.")
    scheme, _, rest = url.partition(":")
    url = f"{scheme.lower()}:{rest}"
    known_type = normalize_media_type(media_type) or media_type_of_name(url_name(url))
    if medium_of(known_type) is not medium:
        known_type = ""
    return MediaPart(medium, known_type, url=url, name=name, detail=detail)


def _class_hint(media_type: str) -> str:
    medium = medium_of(media_type)
    if medium is not None:
        return f"Pass it as {CLASS_NAMES[medium]}."
    is_plain = media_type.partition("/")[0] == "text"
    return "Pass a text as Material(...)." if is_plain else "Images, PDF documents and audio can be sent."


def is_url(text: str) -> bool:
    """Return whether a text is a URL and not a path. A single letter before the colon is a Windows drive."""
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
    """Return the last part of a URL's path, without the query, which may contain a signature."""
    try:
        return unquote(urlsplit(url).path.rpartition("/")[2])
    except ValueError:
        return ""


def default_source(part: MediaPart) -> str:
    """Return the default description of a part: the name in its URL, its file name or its medium."""
    if part.url is not None and url_name(part.url):
        return url_name(part.url)
    return part.name or _DEFAULT_NAMES[part.medium]


_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypheix", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypavif", "image/avif"),
    (0, b"BM", "image/bmp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (8, b"AIFF", "audio/aiff"),
    (8, b"AIFC", "audio/aiff"),
    (4, b"ftypM4A", "audio/mp4"),
    (0, b"\x1aE\xdf\xa3", "audio/webm"),
)
"""The offset of a signature, its bytes, and the media type."""
_CONTAINERS: Mapping[str, bytes] = {
    "image/webp": b"RIFF",
    "audio/wav": b"RIFF",
    "audio/aiff": b"FORM",
}
"""The first bytes of formats whose signature follows a size field."""
_PDF_WINDOW = 1024
"""Readers accept the header of a PDF anywhere in the first 1,024 bytes."""
_SYNONYMS: Mapping[str, str] = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "application/x-pdf": "application/pdf",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
    "audio/mpeg3": "audio/mpeg",
    "audio/x-m4a": "audio/mp4",
    "audio/m4a": "audio/mp4",
    "audio/x-flac": "audio/flac",
    "audio/x-aiff": "audio/aiff",
}
_BY_SUFFIX: Mapping[str, str] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "heif": "image/heif",
    "pdf": "application/pdf",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "aac": "audio/aac",
    "aif": "audio/aiff",
    "aiff": "audio/aiff",
    "m4a": "audio/mp4",
}


def detect_media_type(data: bytes) -> str:
    """Return the media type of ``data``, or an empty string if its signature is not known."""
    for offset, signature, media_type in _SIGNATURES:
        if data.startswith(signature, offset) and data.startswith(_CONTAINERS.get(media_type, b"")):
            return media_type
    if b"%PDF-" in data[:_PDF_WINDOW]:
        return "application/pdf"
    return _detect_mpeg_frame(data)


def is_text(data: bytes) -> bool:
    """Return whether ``data`` is UTF-8 text."""
    # Image and audio files contain NUL bytes or are not valid UTF-8. A PDF may be plain ASCII.
    if b"\0" in data or data.startswith(b"%PDF-"):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _detect_mpeg_frame(data: bytes) -> str:
    """Return the type of raw MPEG audio, which begins with eleven set bits; a layer of zero is AAC."""
    if len(data) < 2 or data[0] != 0xFF or data[1] & 0xE0 != 0xE0:  # noqa: PLR2004  the sync word
        return ""
    return "audio/aac" if data[1] & 0x06 == 0 else "audio/mpeg"


def normalize_media_type(media_type: str) -> str:
    """Return a media type in lower case, without parameters, by its usual name."""
    plain = media_type.partition(";")[0].strip().lower()
    return _SYNONYMS.get(plain, plain)


def media_type_of_name(name: str) -> str:
    """Return the media type of a file name's extension, or an empty string."""
    return _BY_SUFFIX.get(name.rpartition(".")[2].lower(), "")


def medium_of(media_type: str) -> Medium | None:
    """Return the medium of a media type, or None if it is not an image, a PDF document or audio."""
    family = media_type.partition("/")[0]
    if media_type == "application/pdf":
        return Medium.DOCUMENT
    return {"image": Medium.IMAGE, "audio": Medium.AUDIO}.get(family)


class PixelSize(NamedTuple):
    """The size of an image."""

    width: int
    height: int


def measure_image(data: bytes) -> PixelSize | None:
    """Return the size of a PNG, JPEG, GIF or WebP image, or None if its header cannot be read."""
    try:
        size = _read_size(data)
    except IndexError:  # the header is cut off
        return None
    return size if size is not None and size.width > 0 and size.height > 0 else None


def _read_size(data: bytes) -> PixelSize | None:
    match detect_media_type(data):
        case "image/png" if data[12:16] == b"IHDR":
            return _pixel_size(data[16:20], data[20:24], "big")
        case "image/jpeg":
            return _measure_jpeg(data)
        case "image/gif":
            return _pixel_size(data[6:8], data[8:10], "little")
        case "image/webp":
            return _measure_webp(data)
        case _:
            return None


def _measure_webp(data: bytes) -> PixelSize | None:
    match data[12:16]:
        case b"VP8 ":
            size = _pixel_size(data[26:28], data[28:30], "little")
            return PixelSize(size.width & 0x3FFF, size.height & 0x3FFF)
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return PixelSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            size = _pixel_size(data[24:27], data[27:30], "little")
            return PixelSize(size.width + 1, size.height + 1)
        case _:
            return None


_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})


def _measure_jpeg(data: bytes) -> PixelSize | None:
    """Follow the segments to the frame header."""
    position = 2
    while position < len(data):
        if data[position] != 0xFF:  # noqa: PLR2004  every marker begins with it
            return None
        marker = data[position + 1]
        if marker == 0xFF:  # noqa: PLR2004  a fill byte
            position += 1
        elif marker in _JPEG_FRAMES:
            return _pixel_size(data[position + 7 : position + 9], data[position + 5 : position + 7], "big")
        elif marker in _JPEG_WITHOUT_LENGTH:
            position += 2
        else:
            position += 2 + max(2, int.from_bytes(data[position + 2 : position + 4], "big"))
    return None


def _pixel_size(width: bytes, height: bytes, order: Literal["little", "big"]) -> PixelSize:
    return PixelSize(int.from_bytes(width, order), int.from_bytes(height, order))


_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_OBJECT_STREAM = re.compile(rb"/ObjStm(?:(?!endobj).){0,512}?stream\r?\n", re.DOTALL)
_MAX_INFLATED = 1 << 24


def count_pages(data: bytes) -> int | None:
    """Return the pages of a PDF, or None if they cannot be counted, as in an encrypted one."""
    # Since PDF 1.5 page objects may be inside compressed object streams. The limit protects from decompression bombs.
    pages, room = len(_PAGE.findall(data)), _MAX_INFLATED
    for stream in _OBJECT_STREAM.finditer(data):
        if room <= 0:
            return None
        objects = _inflate(memoryview(data)[stream.end() :], room)
        pages, room = pages + len(_PAGE.findall(objects)), room - len(objects) - 1
    return pages or None


def _inflate(data: memoryview, limit: int) -> bytes:
    """Return the decompressed stream at the start of ``data``, up to a limit."""
    try:
        return zlib.decompressobj().decompress(data, limit)
    except zlib.error:
        return b""


_WAV_HEADER = 12
_CHUNK_HEADER = 8
_LOWEST_BIT_RATE = 1_000
"""Bytes a second of the slowest speech recordings (8 kbit/s)."""


def measure_seconds(data: bytes) -> float:
    """Return the length of a recording: exact for WAV, and an upper bound for the compressed formats."""
    if detect_media_type(data) == "audio/wav":
        seconds = _measure_wav(data)
        if seconds is not None:
            return seconds
    return len(data) / _LOWEST_BIT_RATE


def _measure_wav(data: bytes) -> float | None:
    position, byte_rate = _WAV_HEADER, 0
    while position + _CHUNK_HEADER <= len(data):
        name = data[position : position + 4]
        size = int.from_bytes(data[position + 4 : position + 8], "little")
        if name == b"fmt ":
            byte_rate = int.from_bytes(data[position + 16 : position + 20], "little")
        if name == b"data" and byte_rate:
            return min(size, len(data) - position - _CHUNK_HEADER) / byte_rate
        position += _CHUNK_HEADER + size + size % 2
    return None
