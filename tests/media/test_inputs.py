"""Images, documents and audio as a caller passes them."""

from __future__ import annotations

import base64
import os
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Trust
from emitter.errors import InputError
from emitter.media import Audio, Document, Image
from emitter.messages import MediaPart, Medium
from tests.media.samples import INVOICE, RECEIPT, write_invoice, write_mp3, write_png, write_wav

if TYPE_CHECKING:
    from pathlib import Path

PNG = write_png()
PNG_URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
IMAGE, DOCUMENT, AUDIO = Medium

PARTS: dict[str, tuple[Any, MediaPart, str]] = {
    "path": (Image(RECEIPT), MediaPart(IMAGE, "image/jpeg", RECEIPT.read_bytes(), name="receipt.jpg"), "receipt.jpg"),
    "path as text": (
        Document(str(INVOICE)),
        MediaPart(DOCUMENT, "application/pdf", write_invoice(), name="invoice.pdf"),
        "invoice.pdf",
    ),
    "bytes": (Image(PNG), MediaPart(IMAGE, "image/png", PNG), "image"),
    "bytearray": (Audio(bytearray(write_wav())), MediaPart(AUDIO, "audio/wav", write_wav()), "audio"),
    "declared falsely": (Image(PNG, media_type="image/jpeg"), MediaPart(IMAGE, "image/png", PNG), "image"),
    "declared, unknown bytes": (Image(b"?", media_type="image/x-new"), MediaPart(IMAGE, "image/x-new", b"?"), "image"),
    "data URL": (Image(PNG_URL), MediaPart(IMAGE, "image/png", PNG), "image"),
    "URL": (
        Image("https://shop.example/r/receipt.png?sig=s3cret", "the shop"),
        MediaPart(IMAGE, "image/png", url="https://shop.example/r/receipt.png?sig=s3cret", name="receipt.png"),
        "the shop",
    ),
    "URL without an ending": (
        Document("https://shop.example/7"),
        MediaPart(DOCUMENT, url="https://shop.example/7", name="7"),
        "7",
    ),
    "URL in capitals": (
        Image("HTTPS://Shop.example/A.png"),
        MediaPart(IMAGE, "image/png", url="https://Shop.example/A.png", name="A.png"),
        "A.png",
    ),
    "storage URL": (
        Audio("gs://bucket/a.mp3"),
        MediaPart(AUDIO, "audio/mpeg", url="gs://bucket/a.mp3", name="a.mp3"),
        "a.mp3",
    ),
    "file id": (Document(file_id="file-1"), MediaPart(DOCUMENT, file_id="file-1"), "document.pdf"),
    "detail": (Image(PNG, detail="low"), MediaPart(IMAGE, "image/png", PNG, detail="low"), "image"),
}


@pytest.mark.parametrize(("media", "part", "source"), PARTS.values(), ids=PARTS.keys())
def test_a_medium_is_read_at_once(media: Any, part: MediaPart, source: str) -> None:
    """A file is read when it is named, and its bytes decide its type; a URL is left to the vendor."""
    assert (media.part, media.source, media.trust) == (part, source, Trust.TRUSTED)


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (Image, "Image needs a content or a file_id, and not both. Pass a path, bytes or a URL"),
    "both": (lambda: Image(PNG, file_id="f"), "Image needs a content or a file_id, and not both"),
    "a number": (lambda: Audio(7), "The content is of type int. Pass a path"),  # type: ignore[arg-type]
    "no such file": (lambda: Image("nowhere.png"), "nowhere.png cannot be read: No such file or directory."),
    "a folder": (lambda: Image(RECEIPT.parent), "media cannot be read"),
    "empty": (lambda: Image(b""), "an image is empty"),
    "unknown bytes": (
        lambda: Image(b"\xfehello"),
        "The media type of an image cannot be detected from its bytes. Pass media_type=",
    ),
    "text": (lambda: Image(b"hello"), "an image is text, not an image. Pass a text as Material(...)."),
    "a path of text": (lambda: Document(__file__), "test_inputs.py is text, not a PDF document. Pass a text as Mat"),
    "base64": (lambda: Image(base64.b64encode(PNG).decode()), "The content is base64, not a path. Pass bytes: base64"),
    "base64 of any file": (lambda: Image(base64.b64encode(b"\0" * 300).decode()), "The content is base64, not a path."),
    "no host": (lambda: Image("https://"), "The URL has no host."),
    "no bucket": (lambda: Document("s3:///invoice.pdf"), "The URL has no host."),
    "no address": (lambda: Image("https://["), "The URL has no host."),
    "an unknown detail": (
        lambda: Image(PNG, detail="ultra"),  # type: ignore[arg-type]
        "Image.detail is 'ultra'; it must be one of low, high, original, auto.",
    ),
    "a document as an image": (
        lambda: Image(INVOICE),
        "invoice.pdf is application/pdf, not an image. Pass it as Document.",
    ),
    "text as a document": (
        lambda: Document(b"x", media_type="text/plain"),
        "is text/plain, not a PDF document. Pass a text as Material(...).",
    ),
    "a file URL": (lambda: Image("file:///etc/passwd"), "No vendor reads file: URLs. Pass the path of a file"),
    "broken base64": (lambda: Image("data:image/png;base64,%%%"), "not valid base64"),
    "no comma": (lambda: Image("data:image/png"), "has no comma"),
    "trust in words": (lambda: Image(PNG, trust="no"), "Image.trust is 'no'"),  # type: ignore[arg-type]
    "a source of bytes": (lambda: Image(PNG, b"x"), "Image.source is of type bytes, not text"),  # type: ignore[arg-type]
    "a file id of another medium": (lambda: Image(file_id="f", media_type="audio/wav"), "not of the medium image"),
}


@pytest.mark.parametrize(("make", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_medium_is_refused(make: Any, said: str) -> None:
    """The error says what is wrong and what to pass."""
    with pytest.raises(InputError) as raised:
        make()

    assert said in str(raised.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A file whose reading may never end is refused."""
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(InputError, match="not a regular file"):
        Image(tmp_path / "pipe.png")


def test_a_medium_is_a_value() -> None:
    """It can be compared, hashed and pickled, and shows neither its bytes nor its URL."""
    image, address = Image(RECEIPT, trust=Trust.UNTRUSTED), Image("https://shop.example/a.png?sig=s3cret")

    assert pickle.loads(pickle.dumps(image)) == image == Image(RECEIPT, trust=Trust.UNTRUSTED)
    assert len({image, Image(RECEIPT), Image(RECEIPT, trust=Trust.UNTRUSTED)}) == 2
    assert "s3cret" not in repr(address)
    assert repr(Image(PNG)) != repr(Image(write_png(9, 9)))
    assert len(repr(image)) < 400
    with pytest.raises(AttributeError):
        image.source = "elsewhere"  # type: ignore[misc]


def test_a_recording_in_another_format() -> None:
    """MP3 goes by its own name."""
    assert Audio(write_mp3()).part.media_type == "audio/mpeg"
