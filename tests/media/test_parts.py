"""What is read from the first bytes of a file: its type, and how large it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.media.parts import (
    PixelSize,
    count_pages,
    detect_media_type,
    measure_image,
    measure_seconds,
    media_type_of_name,
    normalize_media_type,
)
from tests.media.samples import RECEIPT, write_gif, write_mp3, write_pdf, write_png, write_wav, write_webp

TYPES: dict[str, tuple[bytes, str]] = {
    "png": (write_png(), "image/png"),
    "jpeg": (RECEIPT.read_bytes(), "image/jpeg"),
    "gif": (write_gif(3, 4), "image/gif"),
    "webp": (write_webp(3, 4), "image/webp"),
    "tiff": (b"II*\0", "image/tiff"),
    "heic": (b"\0\0\0\x18ftypheic", "image/heic"),
    "pdf": (write_pdf(), "application/pdf"),
    "pdf behind a byte order mark": (b"\xef\xbb\xbf" + write_pdf(), "application/pdf"),
    "wav": (write_wav(), "audio/wav"),
    "mp3 with a tag": (write_mp3(), "audio/mpeg"),
    "mp3 without a tag": (write_mp3()[10:], "audio/mpeg"),
    "aac": (b"\xff\xf1\x50\x80", "audio/aac"),
    "ogg": (b"OggS\0\2", "audio/ogg"),
    "flac": (b"fLaC\0", "audio/flac"),
    "text": (b"From Acme: 12.50.", ""),
    "WEBP outside a RIFF file": (b"12345678WEBP", ""),
    "nothing": (b"", ""),
}


@pytest.mark.parametrize(("data", "expected"), TYPES.values(), ids=TYPES.keys())
def test_the_type_is_reported_from_the_bytes(data: bytes, expected: str) -> None:
    """The signature decides."""
    assert detect_media_type(data) == expected


@pytest.mark.parametrize(
    ("data", "size"),
    [
        pytest.param(write_png(640, 480), PixelSize(640, 480), id="png"),
        pytest.param(RECEIPT.read_bytes(), PixelSize(420, 560), id="jpeg"),
        pytest.param(write_gif(300, 2), PixelSize(300, 2), id="gif"),
        pytest.param(write_webp(4000, 3), PixelSize(4000, 3), id="webp"),
        pytest.param(b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x07\x40\x01\x00", PixelSize(8, 6), id="lossless webp"),
        pytest.param(write_png()[:20], None, id="cut png"),
        pytest.param(RECEIPT.read_bytes()[:40], None, id="cut jpeg"),
        pytest.param(write_pdf(), None, id="pdf"),
    ],
)
def test_the_size_of_an_image(data: bytes, size: PixelSize | None) -> None:
    """Width and height stand in the header."""
    assert measure_image(data) == size


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "in an object stream"])
def test_the_pages_of_a_document(*, compressed: bool) -> None:
    """Page objects are counted, also those that modern writers compress; the tree of pages is none."""
    assert count_pages(write_pdf(("one",), ("two",), ("three",), compressed=compressed)) == 3


def test_a_document_whose_pages_are_hidden() -> None:
    """An encrypted document keeps its pages to itself."""
    assert count_pages(b"%PDF-1.7\n<< /Encrypt 5 0 R >>") is None


def test_a_document_that_inflates_without_end_is_not_followed() -> None:
    """The work is bounded, whatever a document claims."""
    assert count_pages(write_pdf(*[("x",)] * 2000, compressed=True) * 200) is None


@pytest.mark.parametrize(
    ("data", "seconds"),
    [pytest.param(write_wav(1.5), 1.5, id="wav"), pytest.param(write_mp3(), 1.261, id="mp3: at the lowest rate")],
)
def test_the_length_of_a_recording(data: bytes, seconds: float) -> None:
    """WAV says it; for the others the bound holds whatever the rate."""
    assert measure_seconds(data) == seconds


@pytest.mark.parametrize(
    ("written", "usual"),
    [("IMAGE/JPG", "image/jpeg"), ("audio/x-wav; codecs=1", "audio/wav"), ("audio/mp3", "audio/mpeg"), ("", "")],
)
def test_synonyms_are_one_type(written: str, usual: str) -> None:
    """Parameters and case do not count."""
    assert normalize_media_type(written) == usual


def test_the_ending_of_a_name() -> None:
    """Only a URL is judged by it."""
    assert (media_type_of_name("Receipt.JPG"), media_type_of_name("receipt")) == ("image/jpeg", "")


@given(st.binary(max_size=200), st.sampled_from([sample for sample, _ in TYPES.values()]))
def test_any_bytes_are_measured_or_not(tail: bytes, head: bytes) -> None:
    """No bytes make measuring raise."""
    for data in (tail, head[:40] + tail, head[: len(tail)]):
        measure_image(data)
        count_pages(data)
        assert measure_seconds(data) >= 0
