"""Keep media out of cassettes: a digest stands in the request, and a file beside the cassette holds the bytes."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, cast

from emitter.files import private_opener
from emitter.media.parts import detect_media_type
from emitter.messages import MediaPart, Medium

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emitter.messages import Json

_DATA_URL = re.compile(r"(data:[^,;]*(?:;[^,;]*)*;base64,)([A-Za-z0-9+/_=-]+)", re.IGNORECASE)
_DATA_MEMBERS = frozenset({"bytes", "data", "file_data"})
_SUFFIXES = {"image/jpeg": "jpg", "audio/mpeg": "mp3", "": "bin"}


def extract_media(body: Json) -> tuple[Json, dict[str, bytes]]:
    """Return the body of a request with digests in place of its media, and the media by their digests."""
    media: dict[str, bytes] = {}

    def keep(text: str, encoded: str, prefix: str) -> str:
        data = _decode(encoded)
        if data is None or not detect_media_type(data):
            return text
        digest = MediaPart(Medium.IMAGE, data=data).digest
        media[digest] = data
        return f"{prefix}{digest}"

    def extract(node: Json, name: str = "") -> Json:
        if isinstance(node, list):
            return [extract(item) for item in cast("list[Json]", node)]
        if isinstance(node, dict):
            return {key: extract(item, key) for key, item in cast("dict[str, Json]", node).items()}
        if isinstance(node, str):
            url = _DATA_URL.fullmatch(node)
            if url is not None:
                return keep(node, url[2], url[1])
            return keep(node, node, "") if name in _DATA_MEMBERS else node
        return node

    return extract(body), media


def _decode(text: str) -> bytes | None:
    """Return the bytes of a base64 text in either alphabet, or None."""
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None


def media_folder(cassette: Path) -> Path:
    """Return the folder of a cassette's media."""
    return cassette.with_suffix(".media")


def save_media(media: Mapping[str, bytes], cassette: Path) -> None:
    """Write the media beside the cassette, each under its digest."""
    folder = media_folder(cassette)
    for digest, data in media.items():
        folder.mkdir(parents=True, exist_ok=True)
        kind = detect_media_type(data)
        name = f"{digest.removeprefix('sha256:')}.{_SUFFIXES.get(kind, kind.rpartition('/')[2])}"
        if not (folder / name).exists():
            with open(folder / name, "xb", opener=private_opener) as file:
                file.write(data)
