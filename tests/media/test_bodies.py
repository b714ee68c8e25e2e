"""What is sent for each medium, on every wire, through the vendors' own SDKs."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from emitter.messages import MediaPart, Medium, Message, Role
from emitter.profiles import WireFormat
from tests.adapters.bodies import VENDORS, text
from tests.adapters.sending import Line, request, saying, send
from tests.media.samples import write_invoice, write_mp3, write_png, write_wav

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")
pytest.importorskip("boto3")

RESPONSES, CHAT = WireFormat.OPENAI_RESPONSES, WireFormat.OPENAI_CHAT
ANTHROPIC, GOOGLE = WireFormat.ANTHROPIC, WireFormat.GOOGLE
CONVERSE, INTERACTIONS = WireFormat.BEDROCK_CONVERSE, WireFormat.GEMINI_INTERACTIONS


def encoded(data: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(data).decode()


PNG, PDF, WAV, MP3 = map(encoded, (write_png(), write_invoice(), write_wav(), write_mp3()))
URL, PDF_URL = "https://shop.example/receipt.png", "https://shop.example/invoice.pdf"

IMAGE = MediaPart(Medium.IMAGE, "image/png", write_png(), name="receipt.png")
IMAGE_URL = MediaPart(Medium.IMAGE, "image/png", url=URL, name="receipt.png")
IMAGE_FILE = MediaPart(Medium.IMAGE, "image/png", file_id="file-1")
IMAGE_LOW = replace(IMAGE, detail="low")
DOCUMENT = MediaPart(Medium.DOCUMENT, "application/pdf", write_invoice(), name="invoice.pdf")
UNNAMED = replace(DOCUMENT, name=None)
DOCUMENT_URL = MediaPart(Medium.DOCUMENT, "application/pdf", url=PDF_URL)
DOCUMENT_FILE = MediaPart(Medium.DOCUMENT, "application/pdf", file_id="file-1")
AUDIO = MediaPart(Medium.AUDIO, "audio/wav", write_wav())
AUDIO_MP3 = MediaPart(Medium.AUDIO, "audio/mpeg", write_mp3())
IN_S3 = "s3://mail/receipt.png"
IMAGE_S3 = MediaPart(Medium.IMAGE, "image/png", file_id=IN_S3, name="receipt.png")
ODDLY_NAMED = replace(DOCUMENT, name="Müller's  offer_(v2).final.pdf")

BODIES: dict[str, tuple[WireFormat, MediaPart, dict[str, Any]]] = {
    "responses image": (
        RESPONSES,
        IMAGE,
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
    ),
    "responses image, low": (
        RESPONSES,
        IMAGE_LOW,
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "low"},
    ),
    "responses image by URL": (RESPONSES, IMAGE_URL, {"type": "input_image", "image_url": URL, "detail": "auto"}),
    "responses image by id": (RESPONSES, IMAGE_FILE, {"type": "input_image", "file_id": "file-1", "detail": "auto"}),
    "responses PDF": (
        RESPONSES,
        DOCUMENT,
        {"type": "input_file", "filename": "invoice.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
    ),
    "responses PDF without a name": (
        RESPONSES,
        UNNAMED,
        {"type": "input_file", "filename": "document.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
    ),
    "responses PDF by URL": (RESPONSES, DOCUMENT_URL, {"type": "input_file", "file_url": PDF_URL}),
    "responses PDF by id": (RESPONSES, DOCUMENT_FILE, {"type": "input_file", "file_id": "file-1"}),
    "chat image": (CHAT, IMAGE, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}),
    "chat image, low": (
        CHAT,
        IMAGE_LOW,
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
    ),
    "chat image by URL": (CHAT, IMAGE_URL, {"type": "image_url", "image_url": {"url": URL}}),
    "chat PDF": (
        CHAT,
        DOCUMENT,
        {"type": "file", "file": {"filename": "invoice.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
    ),
    "chat PDF by id": (CHAT, DOCUMENT_FILE, {"type": "file", "file": {"file_id": "file-1"}}),
    "chat PDF by URL, as OpenRouter takes it": (
        CHAT,
        DOCUMENT_URL,
        {"type": "file", "file": {"filename": "document.pdf", "file_data": PDF_URL}},
    ),
    "chat WAV": (CHAT, AUDIO, {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}),
    "chat MP3": (CHAT, AUDIO_MP3, {"type": "input_audio", "input_audio": {"data": MP3, "format": "mp3"}}),
    "anthropic image": (
        ANTHROPIC,
        IMAGE,
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ),
    "anthropic image by URL": (ANTHROPIC, IMAGE_URL, {"type": "image", "source": {"type": "url", "url": URL}}),
    "anthropic image by id": (
        ANTHROPIC,
        IMAGE_FILE,
        {"type": "image", "source": {"type": "file", "file_id": "file-1"}},
    ),
    "anthropic PDF": (
        ANTHROPIC,
        DOCUMENT,
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
            "title": "invoice.pdf",
        },
    ),
    "anthropic PDF by URL": (ANTHROPIC, DOCUMENT_URL, {"type": "document", "source": {"type": "url", "url": PDF_URL}}),
    "anthropic PDF by id": (
        ANTHROPIC,
        DOCUMENT_FILE,
        {"type": "document", "source": {"type": "file", "file_id": "file-1"}},
    ),
    "google image": (GOOGLE, IMAGE, {"inlineData": {"mime_type": "image/png", "data": PNG}}),
    "google image by URL": (GOOGLE, IMAGE_URL, {"fileData": {"mime_type": "image/png", "file_uri": URL}}),
    "google image by id": (GOOGLE, IMAGE_FILE, {"fileData": {"mime_type": "image/png", "file_uri": "file-1"}}),
    "google PDF": (GOOGLE, DOCUMENT, {"inlineData": {"mime_type": "application/pdf", "data": PDF}}),
    "google PDF by URL": (GOOGLE, DOCUMENT_URL, {"fileData": {"mime_type": "application/pdf", "file_uri": PDF_URL}}),
    "google WAV": (GOOGLE, AUDIO, {"inlineData": {"mime_type": "audio/wav", "data": WAV}}),
    "google MP3": (GOOGLE, AUDIO_MP3, {"inlineData": {"mime_type": "audio/mp3", "data": MP3}}),
    "converse image": (CONVERSE, IMAGE, {"image": {"format": "png", "source": {"bytes": PNG}}}),
    "converse image in S3": (
        CONVERSE,
        IMAGE_S3,
        {"image": {"format": "png", "source": {"s3Location": {"uri": IN_S3}}}},
    ),
    "converse PDF": (
        CONVERSE,
        DOCUMENT,
        {"document": {"format": "pdf", "source": {"bytes": PDF}, "name": "invoice"}},
    ),
    "converse PDF without a name": (
        CONVERSE,
        UNNAMED,
        {"document": {"format": "pdf", "source": {"bytes": PDF}, "name": "document"}},
    ),
    "converse PDF with a name that the vendor does not take": (
        CONVERSE,
        ODDLY_NAMED,
        {"document": {"format": "pdf", "source": {"bytes": PDF}, "name": "M ller s offer (v2) final"}},
    ),
    "converse WAV": (CONVERSE, AUDIO, {"audio": {"format": "wav", "source": {"bytes": WAV}}}),
    "converse MP3": (CONVERSE, AUDIO_MP3, {"audio": {"format": "mp3", "source": {"bytes": MP3}}}),
    "interactions image": (INTERACTIONS, IMAGE, {"type": "image", "data": PNG, "mime_type": "image/png"}),
    "interactions image by URL": (INTERACTIONS, IMAGE_URL, {"type": "image", "uri": URL, "mime_type": "image/png"}),
    "interactions image by id": (
        INTERACTIONS,
        IMAGE_FILE,
        {"type": "image", "uri": "file-1", "mime_type": "image/png"},
    ),
    "interactions image of an unknown type": (
        INTERACTIONS,
        replace(IMAGE_URL, media_type=""),
        {"type": "image", "uri": URL},
    ),
    "interactions PDF": (INTERACTIONS, DOCUMENT, {"type": "document", "data": PDF, "mime_type": "application/pdf"}),
    "interactions PDF by URL": (
        INTERACTIONS,
        DOCUMENT_URL,
        {"type": "document", "uri": PDF_URL, "mime_type": "application/pdf"},
    ),
    "interactions WAV": (INTERACTIONS, AUDIO, {"type": "audio", "data": WAV, "mime_type": "audio/wav"}),
    "interactions MP3": (INTERACTIONS, AUDIO_MP3, {"type": "audio", "data": MP3, "mime_type": "audio/mpeg"}),
}
TEXTS: dict[WireFormat, dict[str, Any]] = {
    RESPONSES: {"type": "input_text", "text": "What is owed?"},
    CHAT: {"type": "text", "text": "What is owed?"},
    ANTHROPIC: {"type": "text", "text": "What is owed?"},
    GOOGLE: {"text": "What is owed?"},
    CONVERSE: {"text": "What is owed?"},
    INTERACTIONS: {"type": "text", "text": "What is owed?"},
}
MESSAGES = {RESPONSES: "input", INTERACTIONS: "input", GOOGLE: "contents"}


def content(wire: WireFormat, body: dict[str, Any]) -> Any:
    """Return the content of the first turn of the user, in the plain alphabet of base64."""
    messages = body[MESSAGES.get(wire, "messages")]
    parts = messages[1 if wire is CHAT else 0]["parts" if wire is GOOGLE else "content"]
    for part in parts if wire is GOOGLE else ():
        if "inlineData" in part:
            part["inlineData"]["data"] = part["inlineData"]["data"].replace("-", "+").replace("_", "/")
    return parts


@pytest.mark.parametrize("world", ["sync", "async"])
@pytest.mark.parametrize(("wire", "part", "sent"), BODIES.values(), ids=BODIES.keys())
def test_a_medium_is_sent_as_the_vendor_wants_it(
    wire: WireFormat, part: MediaPart, sent: dict[str, Any], world: str
) -> None:
    """Text and media keep their order, and a turn without media stays a text."""
    turns = (Message.from_parts(Role.USER, ["What is owed?", part]), Message(Role.USER, "Answer."))
    vendor = saying(text(wire, "{}"))

    send(Line(VENDORS[wire], wire, world), vendor, replace(request(), messages=turns))

    assert content(wire, vendor.body) == [TEXTS[wire], sent]
    last = vendor.body[MESSAGES.get(wire, "messages")][-1]
    assert last.get("content", last.get("parts")) in ("Answer.", [{**TEXTS[wire], "text": "Answer."}])


def test_converse_names_every_document_differently_and_beside_a_text() -> None:
    """The vendor refuses a name that is there twice, in capitals or not, and a turn of a document alone."""
    turns = (
        Message.from_parts(Role.USER, [DOCUMENT, replace(DOCUMENT, name="INVOICE.PDF"), UNNAMED]),
        Message.from_parts(Role.USER, ["Again.", DOCUMENT, replace(DOCUMENT, name="invoice 2.pdf"), IMAGE]),
    )
    vendor = saying(text(CONVERSE, "{}"))
    send(Line("bedrock", CONVERSE), vendor, replace(request(), messages=turns))

    first, second = (message["content"] for message in vendor.body["messages"])
    named = [block["document"]["name"] for block in [*first, *second] if "document" in block]
    assert named == ["invoice", "INVOICE 2", "document", "invoice 3", "invoice 2 2"]
    assert first[-1] == {"text": "document"}
    assert [next(iter(block)) for block in second] == ["text", "document", "document", "image"]


def test_a_long_name_is_cut() -> None:
    """Names have 200 characters at most, whatever their number."""
    named = replace(DOCUMENT, name="a" * 300 + ".pdf")
    vendor = saying(text(CONVERSE, "{}"))
    turns = (Message.from_parts(Role.USER, ["x", named, named]),)
    send(Line("bedrock", CONVERSE), vendor, replace(request(), messages=turns))

    names = [block["document"]["name"] for block in vendor.body["messages"][0]["content"][1:]]
    assert names == ["a" * 200, "a" * 198 + " 2"]
