"""The simulated vendor takes and refuses media by the vendors' published rules, in the vendors' words."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.profiles.model import WireFormat
from emitter.testing import Text, simulator
from emitter.testing.media_rules import strip_media
from tests.media.samples import write_invoice, write_mp3, write_pdf, write_png, write_wav, write_webp
from tests.testing.asking import Question, address, body, headers, http

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Simulator

RESPONSES, CHAT = WireFormat.OPENAI_RESPONSES, WireFormat.OPENAI_CHAT
ANTHROPIC, GOOGLE = WireFormat.ANTHROPIC, WireFormat.GOOGLE
CONVERSE, INTERACTIONS = WireFormat.BEDROCK_CONVERSE, WireFormat.GEMINI_INTERACTIONS
SONNET, NOVA = "eu.anthropic.claude-sonnet-5-5-v1:0", "us.amazon.nova-lite-v1:0"


def encoded(data: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(data).decode()


PNG, PDF, WAV, MP3 = map(encoded, (write_png(), write_invoice(), write_wav(), write_mp3()))
URL = "https://shop.example/a.png"


def chat_image(url: str) -> dict[str, Any]:
    """Return an image of a chat completion."""
    return {"type": "image_url", "image_url": {"url": url}}


def chat_file(data: str, **more: str) -> dict[str, Any]:
    """Return a file of a chat completion."""
    return {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data}", **more}}


def chat_audio(data: str, form: str) -> dict[str, Any]:
    """Return a recording of a chat completion."""
    return {"type": "input_audio", "input_audio": {"data": data, "format": form}}


def claude(kind: str, media_type: str, data: str) -> dict[str, Any]:
    """Return a block with data."""
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}


def gemini(media_type: str, data: str) -> dict[str, Any]:
    """Return a part with data."""
    return {"inlineData": {"mimeType": media_type, "data": data}}


def converse(kind: str, form: str, data: str, **more: Any) -> dict[str, Any]:
    """Return a block with data."""
    return {kind: {"format": form, "source": {"bytes": data}, **more}}


ASKED = {"text": "What is owed?"}
TAKEN: dict[str, tuple[WireFormat, str, list[Any]]] = {
    "responses": (
        RESPONSES,
        "gpt-6-sol",
        [
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
            {"type": "input_image", "file_id": "file-1", "detail": "auto"},
            {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
            {"type": "input_file", "file_url": URL},
        ],
    ),
    "chat": (
        CHAT,
        "gpt-6-sol",
        [chat_image(URL), chat_file(PDF, filename="a.pdf"), {"type": "file", "file": {"file_id": "f"}}],
    ),
    "chat audio": (CHAT, "gpt-audio", [chat_audio(WAV, "wav"), chat_audio(MP3, "mp3")]),
    "anthropic": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [
            claude("image", "image/png", PNG),
            claude("document", "application/pdf", PDF),
            {"type": "image", "source": {"type": "url", "url": URL}},
            {"type": "document", "source": {"type": "file", "file_id": "f"}},
        ],
    ),
    "google": (
        GOOGLE,
        "gemini-3.8-flash",
        [
            gemini("image/png", PNG),
            gemini("application/pdf", PDF),
            gemini("audio/mp3", MP3),
            {"fileData": {"mimeType": "image/png", "fileUri": URL}},
        ],
    ),
}
TAKEN |= {
    "interactions": (
        INTERACTIONS,
        "gemini-3.8-flash",
        [
            {"type": "image", "data": PNG, "mime_type": "image/png"},
            {"type": "document", "data": PDF, "mime_type": "application/pdf"},
            {"type": "audio", "data": MP3, "mime_type": "audio/mpeg"},
            {"type": "image", "uri": URL},
        ],
    ),
    "converse": (
        CONVERSE,
        SONNET,
        [ASKED, converse("image", "png", PNG), converse("document", "pdf", PDF, name="a (b) [c] d-e")],
    ),
    "converse in S3": (
        CONVERSE,
        NOVA,
        [ASKED, {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://mail/a.png"}}}}],
    ),
    "converse audio": (CONVERSE, "mistral.voxtral-mini-3b-2507", [ASKED, converse("audio", "wav", WAV)]),
}
LARGE_IMAGE, LARGE_PDF = encoded(write_png() + bytes(4_000_000)), encoded(write_invoice() + bytes(4_500_000))
REFUSED: dict[str, tuple[WireFormat, str, list[Any], str]] = {
    "converse: another format": (
        CONVERSE,
        SONNET,
        [ASKED, converse("image", "tiff", PNG)],
        (
            "Value 'tiff' at 'messages.1.member.content.2.member.image.format' failed to satisfy constraint: Member "
            "must satisfy enum value set: [png, jpeg, gif, webp]"
        ),
    ),
    "converse: audio": (
        CONVERSE,
        SONNET,
        [ASKED, converse("audio", "wav", WAV)],
        "This model doesn't support the audio content block",
    ),
    "converse: an image for a model without": (
        CONVERSE,
        "amazon.nova-micro-v1:0",
        [converse("image", "png", PNG)],
        "This model doesn't support the image content block",
    ),
    "converse: S3 for a model without": (
        CONVERSE,
        SONNET,
        [{"image": {"format": "png", "source": {"s3Location": {"uri": "s3://mail/a.png"}}}}],
        "doesn't support an S3 location",
    ),
    "converse: a name twice": (
        CONVERSE,
        SONNET,
        [ASKED, converse("document", "pdf", PDF, name="a"), converse("document", "pdf", PDF, name="A")],
        "Messages can't contain duplicate document names.",
    ),
    "converse: a name with a dot": (
        CONVERSE,
        SONNET,
        [ASKED, converse("document", "pdf", PDF, name="a.pdf")],
        "The document file name can only contain alphanumeric characters",
    ),
    "converse: a document alone": (
        CONVERSE,
        SONNET,
        [converse("document", "pdf", PDF, name="a")],
        "Add a text block to the message",
    ),
    "converse: too many documents": (
        CONVERSE,
        SONNET,
        [ASKED, *(converse("document", "pdf", PDF, name=f"a{index}") for index in range(6))],
        "You can't include more than 5 documents in a request.",
    ),
    "converse: no PDF": (
        CONVERSE,
        SONNET,
        [ASKED, converse("document", "pdf", PNG, name="a")],
        "messages.0.content.1.document.source.bytes: The PDF specified was not valid.",
    ),
    "converse: no image": (
        CONVERSE,
        SONNET,
        [converse("image", "png", PDF)],
        "messages.0.content.0.image.source.bytes: Could not process image",
    ),
    "converse: too large an image": (
        CONVERSE,
        SONNET,
        [converse("image", "png", LARGE_IMAGE)],
        "messages.0.content.0.image.source.bytes: image exceeds 5 MB maximum: 5333428 bytes > 5242880 bytes",
    ),
    "converse: too many pixels": (
        CONVERSE,
        SONNET,
        [converse("image", "webp", encoded(write_webp(8001, 2)))],
        "At least one of the image dimensions exceed max allowed size: 8000 pixels",
    ),
    "converse: too large a document": (
        CONVERSE,
        "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
        [ASKED, converse("document", "pdf", LARGE_PDF, name="a")],
        "The document exceeds the maximum size of 4500000 bytes",
    ),
    "converse: no source": (
        CONVERSE,
        SONNET,
        [{"image": {"format": "png", "source": {}}}],
        "bytes or s3Location is required",
    ),
    "interactions: another type": (
        INTERACTIONS,
        "gemini-3.8-flash",
        [{"type": "image", "data": PNG, "mime_type": "image/tiff"}],
        "Unsupported MIME type: image/tiff",
    ),
    "interactions: another part": (
        INTERACTIONS,
        "gemini-3.8-flash",
        [{"type": "input_image", "image_url": URL}],
        "'input_image' is not a type of content",
    ),
    "interactions: nothing": (
        INTERACTIONS,
        "gemini-3.8-flash",
        [{"type": "image", "mime_type": "image/png"}],
        "data or uri is required",
    ),
    "interactions: no base64": (
        INTERACTIONS,
        "gemini-3.8-flash",
        [{"type": "image", "data": "%%", "mime_type": "image/png"}],
        "(TYPE_BYTES), Base64 decoding failed",
    ),
    "responses: audio": (
        RESPONSES,
        "gpt-audio",
        [chat_audio(WAV, "wav")],
        "Invalid value: 'input_audio'. Supported values are: 'input_text'",
    ),
    "responses: another format": (
        RESPONSES,
        "gpt-6-sol",
        [{"type": "input_image", "image_url": f"data:image/png;base64,{encoded(b'II*' + bytes(9))}"}],
        "You uploaded an unsupported image. Please make sure your image has of one the following formats",
    ),
    "responses: no base64": (
        RESPONSES,
        "gpt-6-sol",
        [{"type": "input_image", "image_url": "data:image/png;base64,%%"}],
        "but got an invalid base64-encoded value",
    ),
    "responses: no URL": (
        RESPONSES,
        "gpt-6-sol",
        [{"type": "input_image", "image_url": "receipt.png"}],
        "Expected a valid URL",
    ),
    "responses: a file without a name": (
        RESPONSES,
        "gpt-6-sol",
        [{"type": "input_file", "file_data": PDF}],
        "Missing required parameter: 'input[0].content[0].filename'",
    ),
    "responses: a file that is no PDF": (
        RESPONSES,
        "gpt-6-sol",
        [{"type": "input_file", "filename": "a", "file_data": f"data:audio/mpeg;base64,{MP3}"}],
        "but got unsupported MIME type 'audio/mpeg'",
    ),
    "responses: a model for text": (
        RESPONSES,
        "gpt-3.5-turbo",
        [{"type": "input_image", "image_url": URL}],
        "only supported by certain models",
    ),
    "chat: a part of another API": (
        CHAT,
        "gpt-6-sol",
        [{"type": "input_image", "image_url": URL}],
        "Invalid value: 'input_image'. Supported values are: 'text', 'image_url'",
    ),
    "chat: a file by URL": (
        CHAT,
        "gpt-6-sol",
        [{"type": "file", "file": {"filename": "a", "file_data": URL}}],
        "but got an invalid base64-encoded value",
    ),
    "chat: audio for a model without": (
        CHAT,
        "gpt-6-sol",
        [chat_audio(WAV, "wav")],
        "input_audio is only supported by certain models",
    ),
    "chat: audio in another format": (
        CHAT,
        "gpt-audio",
        [chat_audio(WAV, "ogg")],
        "Supported values are: 'wav' and 'mp3'",
    ),
    "chat: audio declared falsely": (CHAT, "gpt-audio", [chat_audio(MP3, "wav")], "not of valid wav format"),
    "anthropic: declared falsely": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [claude("image", "image/jpeg", PNG)],
        "messages.0.content.0.image.source.base64.data: Image does not match the provided media type image/jpeg",
    ),
    "anthropic: another type": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [claude("image", "image/tiff", PNG)],
        "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ),
    "anthropic: no image": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [claude("image", "image/png", PDF)],
        "The file format is invalid or unsupported",
    ),
    "anthropic: no PDF": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [claude("document", "application/pdf", PNG)],
        "The PDF specified was not valid.",
    ),
    "anthropic: audio": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [chat_audio(WAV, "wav")],
        "messages.0.content.0: Input tag 'input_audio' found using 'type' does not match any of the expected tags",
    ),
    "anthropic: plain http": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [{"type": "image", "source": {"type": "url", "url": "http://a.example"}}],
        "Only HTTPS URLs are supported",
    ),
    "anthropic: too many pixels": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [claude("image", "image/webp", encoded(write_webp(8001, 2)))],
        "At least one of the image dimensions exceed max allowed size: 8000 pixels",
    ),
    "anthropic: too many pixels among many": (
        ANTHROPIC,
        "claude-sonnet-5-5",
        [claude("image", "image/webp", encoded(write_webp(2001, 2)))] * 21,
        "for many-image requests: 2000 pixels",
    ),
    "anthropic: too many pages": (
        ANTHROPIC,
        "claude-haiku-4-5",
        [claude("document", "application/pdf", encoded(write_pdf(*[("x",)] * 101)))],
        "Too much media: 101 document pages + 0 images > 100",
    ),
    "google: another type": (
        GOOGLE,
        "gemini-3.8-flash",
        [gemini("image/tiff", PNG)],
        "Unsupported MIME type: image/tiff",
    ),
    "google: a file without a type": (
        GOOGLE,
        "gemini-3.8-flash",
        [{"fileData": {"fileUri": URL}}],
        "mime_type is required",
    ),
    "google: no base64": (
        GOOGLE,
        "gemini-3.8-flash",
        [gemini("image/png", "%%")],
        "(TYPE_BYTES), Base64 decoding failed",
    ),
    "google: no PDF": (GOOGLE, "gemini-3.8-flash", [gemini("application/pdf", PNG)], "The document has no pages."),
    "google: no image": (GOOGLE, "gemini-3.8-flash", [gemini("image/png", PDF)], "Unable to process input image"),
}


@pytest.fixture(scope="module")
def vendor() -> Iterator[Simulator]:
    """Return a vendor that answers everything."""
    with simulator(answers=Text('{"vendor": "Acme", "total": 12}')) as started:
        yield started


def ask(vendor: Simulator, wire: WireFormat, model: str, parts: list[Any]) -> Any:
    """Send a turn of these parts and return the response."""
    asked = Question(model=model)
    sent = body(wire, asked)
    key, content = {RESPONSES: ("input", "content"), GOOGLE: ("contents", "parts")}.get(wire, ("messages", "content"))
    sent["input" if wire is INTERACTIONS else key] = [{"role": "user", content: parts}]
    return http().post(address(vendor, wire, asked), json=sent, headers=headers(wire, asked.key))


@pytest.mark.parametrize(("wire", "model", "parts"), TAKEN.values(), ids=TAKEN.keys())
def test_media_that_the_vendor_takes(vendor: Simulator, wire: WireFormat, model: str, parts: list[Any]) -> None:
    """Every published form is answered, and its data is not billed as text."""
    response = ask(vendor, wire, model, parts)

    assert response.status_code == 200, response.text
    assert 50 < vendor.calls[-1].usage.input < 5000


@pytest.mark.parametrize(("wire", "model", "parts", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_media_that_the_vendor_refuses(
    vendor: Simulator, wire: WireFormat, model: str, parts: list[Any], said: str
) -> None:
    """The status and the words are the vendor's own."""
    response = ask(vendor, wire, model, parts)

    assert response.status_code == 400
    assert said in (response.json().get("error") or response.json())["message"]


def test_azure_takes_no_files_in_a_chat(vendor: Simulator) -> None:
    """Recorded: text and images are all that there is."""
    url = f"{vendor.url}/openai/deployments/gpt-6-sol/chat/completions?api-version=2024-10-21"
    sent = body(CHAT, Question())
    sent["messages"] = [{"role": "user", "content": [chat_file(PDF, filename="a.pdf")]}]
    response = http().post(url, json=sent, headers=headers(CHAT, "a-key"))

    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_value")
    assert "Content blocks are expected to be either text or image_url type" in response.text


def test_a_request_that_is_too_large(vendor: Simulator) -> None:
    """Anthropic measures each image and the request, both in base64."""
    large, huge = encoded(write_png() + bytes(7_900_000)), encoded(write_png() + bytes(6_100_000))
    one = ask(vendor, ANTHROPIC, "claude-sonnet-5-5", [claude("image", "image/png", large)])
    many = ask(vendor, ANTHROPIC, "claude-sonnet-5-5", [claude("image", "image/png", huge)] * 4)

    assert (one.status_code, many.status_code) == (400, 413)
    assert "image exceeds 10 MB maximum: 10533440 bytes > 10485760 bytes" in one.text.replace(
        str(len(large)), "10533440"
    )


def test_media_are_taken_out_of_what_is_counted_as_text() -> None:
    """Only the text is left, and each medium counts by its size."""
    turns = [{"role": "user", "content": [{"type": "text", "text": "a"}, claude("image", "image/png", PNG)]}]
    left, tokens = strip_media(turns)

    assert (left, tokens) == ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}], 1)
    assert PNG not in json.dumps(left)
    assert strip_media("plain") == ("plain", 0)
