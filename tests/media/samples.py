"""Small media of every kind, written by code: the invoice as a PDF, images, and recordings."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "media"
RECEIPT = EXAMPLES / "receipt.jpg"
"""A photograph of a receipt, made for this project."""
INVOICE = EXAMPLES / "invoice.pdf"
"""What ``write_invoice`` returns."""
INVOICE_LINES = (
    "Acme Boxes, Old Mill Lane 4",
    "Invoice 2026-117, 20 November 2026",
    "3 boxes, small: 7.50",
    "1 tape: 2.00",
    "Delivery: 3.00",
    "Total: EUR 12.50, due on 20 December 2026",
)


def write_png(width: int = 8, height: int = 6) -> bytes:
    """Return a grey image."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, *zip(*chunks, strict=True)))


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_gif(width: int, height: int) -> bytes:
    """Return the header of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def write_webp(width: int, height: int) -> bytes:
    """Return the header of an extended WebP image."""
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + size
    return b"RIFF" + struct.pack("<I", len(body)) + body


def write_wav(seconds: float = 0.25, rate: int = 8000) -> bytes:
    """Return a silent recording."""
    file = io.BytesIO()
    with wave.open(file, "wb") as recording:
        recording.setnchannels(1)
        recording.setsampwidth(1)
        recording.setframerate(rate)
        recording.writeframes(b"\x80" * int(seconds * rate))
    return file.getvalue()


def write_mp3(frames: int = 3) -> bytes:
    """Return silent frames of 417 bytes (MPEG-1 layer III, 128 kbit/s, 44.1 kHz)."""
    return b"ID3\x04\0\0\0\0\0\0" + (b"\xff\xfb\x90\x00" + b"\0" * 413) * frames


def write_pdf(*pages: tuple[str, ...], compressed: bool = False) -> bytes:
    """Return a PDF with a page for each list of lines; ``compressed`` hides its page objects in an object stream."""
    count = max(len(pages), 1)
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, lines in enumerate(pages or ((),)):
        text = "BT /F1 12 Tf 60 780 Td 18 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        resources = "<< /Font << /F1 3 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources {resources} "
            f"/Contents {5 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream")
    return _join_objects(objects) if not compressed else _hide_objects(objects)


def _join_objects(objects: list[str]) -> bytes:
    """Return the file of these objects, with its table of offsets."""
    file, offsets = b"%PDF-1.4\n", list[int]()
    for number, item in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{item}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(file)}\n%%EOF\n"
    return file + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def _hide_objects(objects: list[str]) -> bytes:
    hidden = zlib.compress("\n".join(item for item in objects if "stream" not in item).encode())
    head = (
        f"7 0 obj\n<< /Type /ObjStm /N {len(objects)} /First 9 /Length {len(hidden)} /Filter /FlateDecode >>\nstream\n"
    )
    return b"%PDF-1.5\n" + head.encode() + hidden + b"\nendstream\nendobj\n%%EOF\n"


def write_invoice() -> bytes:
    """Return the invoice of ``INVOICE_LINES`` as a PDF of one page."""
    return write_pdf(INVOICE_LINES)
