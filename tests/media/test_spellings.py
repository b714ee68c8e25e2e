"""The vendors' own part formats: each is read on any wire, or refused with its place."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from anthropic.types import Base64PDFSource, TextBlock
from google.genai import types as google
from hypothesis import given
from hypothesis import strategies as st

from emitter import Trust
from emitter.conversation import Conversation, parse_conversation
from emitter.errors import InputError
from emitter.grounding import MEDIA_PARTS
from emitter.media import Document, Image
from emitter.media.spellings import MEDIA_KINDS
from emitter.messages import MediaPart, Medium
from emitter.prompts import load
from tests.media.samples import INVOICE, write_invoice, write_mp3, write_png, write_wav

PROMPTS = load()
PNG, PDF, WAV, MP3 = (
    base64.b64encode(each).decode() for each in (write_png(), write_invoice(), write_wav(), write_mp3())
)
URL, PDF_URL = "https://shop.example/receipt.png", "https://shop.example/invoice.pdf"
IMAGE = MediaPart(Medium.IMAGE, "image/png", write_png())
IMAGE_URL = MediaPart(Medium.IMAGE, "image/png", url=URL)
DOCUMENT = MediaPart(Medium.DOCUMENT, "application/pdf", write_invoice())
NAMED = MediaPart(Medium.DOCUMENT, "application/pdf", write_invoice(), name="invoice.pdf")
DOCUMENT_URL = MediaPart(Medium.DOCUMENT, "application/pdf", url=PDF_URL)
AUDIO, AUDIO_MP3 = MediaPart(Medium.AUDIO, "audio/wav", write_wav()), MediaPart(Medium.AUDIO, "audio/mpeg", write_mp3())


def user(*content: Any) -> list[Any]:
    """Return a message of the user."""
    return [{"role": "user", "content": list(content)}]


def parts(messages: Any) -> tuple[Any, ...]:
    """Return the parts of the only turn."""
    [turn] = parse_conversation(messages, PROMPTS).messages
    return turn.parts or (turn.text,)


READ: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "responses image": (
        user({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}),
        (MediaPart(Medium.IMAGE, "image/png", write_png(), detail="auto"),),
    ),
    "responses image by URL": (user({"type": "input_image", "image_url": URL}), (IMAGE_URL,)),
    "responses image by id": (
        user({"type": "input_image", "file_id": "file-1"}),
        (MediaPart(Medium.IMAGE, file_id="file-1"),),
    ),
    "responses file": (
        user({"type": "input_file", "filename": "invoice.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}),
        (NAMED,),
    ),
    "responses file in plain base64": (user({"type": "input_file", "file_data": PDF}), (DOCUMENT,)),
    "responses file by URL": (user({"type": "input_file", "file_url": PDF_URL}), (DOCUMENT_URL,)),
    "responses file by id": (
        user({"type": "input_file", "file_id": "file-1"}),
        (MediaPart(Medium.DOCUMENT, file_id="file-1"),),
    ),
    "responses audio": (user({"type": "input_audio", "input_audio": {"data": MP3, "format": "mp3"}}), (AUDIO_MP3,)),
    "chat image": (user({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}), (IMAGE,)),
    "chat image by URL, low": (
        user({"type": "image_url", "image_url": {"url": URL, "detail": "low"}}),
        (MediaPart(Medium.IMAGE, "image/png", url=URL, detail="low"),),
    ),
    "chat file": (
        user({"type": "file", "file": {"filename": "invoice.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}}),
        (NAMED,),
    ),
    "chat file by id": (
        user({"type": "file", "file": {"file_id": "file-1"}}),
        (MediaPart(Medium.DOCUMENT, file_id="file-1"),),
    ),
    "chat audio": (user({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}), (AUDIO,)),
    "anthropic image": (
        user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}),
        (IMAGE,),
    ),
    "anthropic image, declared falsely": (
        user({"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": PNG}}),
        (IMAGE,),
    ),
    "anthropic image by URL": (user({"type": "image", "source": {"type": "url", "url": URL}}), (IMAGE_URL,)),
    "anthropic image by id": (
        user({"type": "image", "source": {"type": "file", "file_id": "file-1"}}),
        (MediaPart(Medium.IMAGE, file_id="file-1"),),
    ),
    "anthropic document": (
        user(
            {
                "type": "document",
                "title": "invoice.pdf",
                "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
            }
        ),
        (NAMED,),
    ),
    "anthropic document with context": (
        user({"type": "document", "context": "From Acme.", "source": {"type": "url", "url": PDF_URL}}),
        (DOCUMENT_URL, "From Acme."),
    ),
    "anthropic text document": (
        user(
            {
                "type": "document",
                "title": "Letter",
                "source": {"type": "text", "media_type": "text/plain", "data": "Pay 12.50."},
            }
        ),
        ("Letter\n\nPay 12.50.",),
    ),
    "anthropic document of blocks": (
        user(
            {
                "type": "document",
                "source": {
                    "type": "content",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image", "source": {"type": "url", "url": URL}},
                    ],
                },
            }
        ),
        ("a", IMAGE_URL),
    ),
    "anthropic sdk objects": (
        user(
            TextBlock(type="text", text="a"),
            {
                "type": "document",
                "source": Base64PDFSource(type="base64", media_type="application/pdf", data=PDF).model_dump(),
            },
        ),
        ("a", DOCUMENT),
    ),
    "google image": (
        [{"role": "user", "parts": [{"text": "a"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]}],
        ("a", IMAGE),
    ),
    "google image, protobuf names": (
        [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}]}],
        (IMAGE,),
    ),
    "google sdk image": (
        [google.Content(role="user", parts=[google.Part.from_bytes(data=write_png(), mime_type="image/png")])],
        (IMAGE,),
    ),
    "google PDF": ([{"parts": [{"inlineData": {"mimeType": "application/pdf", "data": PDF}}]}], (DOCUMENT,)),
    "google audio": ([{"parts": [{"inlineData": {"mimeType": "audio/mp3", "data": MP3}}]}], (AUDIO_MP3,)),
    "google file": ([{"parts": [{"fileData": {"mimeType": "application/pdf", "fileUri": PDF_URL}}]}], (DOCUMENT_URL,)),
    "google sdk file": (
        [google.Content(role="user", parts=[google.Part.from_uri(file_uri=PDF_URL, mime_type="application/pdf")])],
        (DOCUMENT_URL,),
    ),
    "interactions image": (user({"type": "image", "data": PNG, "mime_type": "image/png"}), (IMAGE,)),
    "interactions image by URL, in a step": (
        [{"type": "user_input", "content": [{"type": "image", "uri": URL, "resolution": "low"}]}],
        (IMAGE_URL,),
    ),
    "interactions document": (user({"type": "document", "data": PDF, "mime_type": "application/pdf"}), (DOCUMENT,)),
    "interactions audio": (user({"type": "audio", "data": MP3, "mime_type": "audio/mp3"}), (AUDIO_MP3,)),
    "converse image": (user({"image": {"format": "png", "source": {"bytes": write_png()}}}), (IMAGE,)),
    "converse image in base64, as a body has it": (
        user({"image": {"format": "png", "source": {"bytes": PNG}}}),
        (IMAGE,),
    ),
    "converse image in S3": (
        user({"image": {"format": "jpeg", "source": {"s3Location": {"uri": "s3://mail/a.jpg"}}}}),
        (MediaPart(Medium.IMAGE, "image/jpeg", file_id="s3://mail/a.jpg"),),
    ),
    "converse document with text, and a mark": (
        user(
            {"text": "What is owed?"},
            {"cachePoint": {"type": "default"}},
            {"document": {"format": "pdf", "name": "invoice", "source": {"bytes": write_invoice()}, "context": "old"}},
        ),
        ("What is owed?", MediaPart(Medium.DOCUMENT, "application/pdf", write_invoice(), name="invoice"), "old"),
    ),
    "converse document of text": (
        user({"document": {"format": "md", "name": "notes", "source": {"bytes": b"# One"}}}),
        ("notes\n\n# One",),
    ),
    "converse document of texts": (
        user({"document": {"name": "notes", "source": {"content": [{"text": "one"}, {"text": "two"}]}}}),
        ("notes\n\none\n\ntwo",),
    ),
    "converse audio": (user({"audio": {"format": "mp3", "source": {"bytes": write_mp3()}}}), (AUDIO_MP3,)),
    "ours in a message": (user("What is owed?", Image(write_png())), ("What is owed?", IMAGE)),
    "ours as a message's content": ([{"role": "user", "content": Document(write_invoice())}], (DOCUMENT,)),
    "ours as a prompt": ([Image(write_png()), "What is owed?"], (IMAGE, "# The situation\n\nWhat is owed?")),
    "ours alone": (Image(write_png()), (IMAGE,)),
    "blank texts beside it": (user(" ", Image(write_png()), ""), (IMAGE,)),
}


@pytest.mark.parametrize(("messages", "expected"), READ.values(), ids=READ.keys())
def test_a_part_is_read(messages: Any, expected: tuple[Any, ...]) -> None:
    """Bytes are decoded and their type is detected; URLs and ids are kept; text keeps its place."""
    assert parts(messages) == expected
    assert parse_conversation(messages, PROMPTS).trust is Trust.TRUSTED


REFUSED: dict[str, tuple[Any, str]] = {
    "chat image without a URL": (
        user({"type": "image_url", "image_url": {"url": "u"}}),
        "messages[0] cannot be read. The part has no URL. Put Image(...) of emitter.media in its place.",
    ),
    "chat image without a host": (
        user({"type": "image_url", "image_url": {"url": "https://"}}),
        "The URL has no host.",
    ),
    "langchain image": (
        user({"type": "image", "base64": base64.b64encode(write_png()).decode(), "mime_type": "image/png"}),
        "no source of type base64, url or file. Put Image(...) of emitter.media in its place.",
    ),
    "responses file without content": (
        user({"type": "input_file"}),
        "neither file_data, file_url nor file_id. Put Document(...) of emitter.media in its place.",
    ),
    "audio without data": (
        user({"type": "input_audio", "input_audio": {}}),
        "The part has no audio data. Put Audio(...) of emitter.media in its place.",
    ),
    "anthropic image without a source": (
        user({"type": "image", "source": {}}),
        "no source of type base64, url or file",
    ),
    "anthropic document of a tool call": (
        user({"type": "document", "source": {"type": "content", "content": [{"type": "tool_use"}]}}),
        "contains a part of type 'tool_use'",
    ),
    "broken base64": (
        user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "a"}}),
        "not valid base64",
    ),
    "a PDF as an image": (
        user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PDF}}),
        "an image is application/pdf, not an image. Pass it as Document.",
    ),
    "interactions image without content": (user({"type": "image"}), "no source of type base64, url or file"),
    "interactions audio without content": (user({"type": "audio"}), "neither data, a URI nor a source"),
    "converse image without content": (
        user({"image": {"format": "png", "source": {}}}),
        "no source of bytes, text or s3Location",
    ),
    "converse document of another format": (
        user({"document": {"format": "docx", "name": "a", "source": {"bytes": b"PK"}}}),
        "a is application/docx, not a PDF document. Images, PDF documents and audio can be sent.",
    ),
    "google video": (
        [{"parts": [{"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}]}],
        "the media type 'video/mp4'. Images, PDF documents and audio can be sent.",
    ),
    "google file without a URI": ([{"parts": [{"fileData": {"mimeType": "image/png"}}]}], "has no file_uri"),
    "an image of the system": (
        [{"role": "system", "content": [Image(URL)]}, *user("x")],
        "messages[0] holds an image in a turn of the system. Put it into a turn of the user",
    ),
    "an image of the agent": (
        [*user("x"), {"role": "assistant", "content": [Image(URL)]}],
        "messages[1] holds an image in a turn of the assistant",
    ),
    "a prompt with a message in it": (
        [Image(URL), {"role": "user", "content": "x"}],
        "The prompt holds a value of type dict beside its media. Pass texts and media, or messages",
    ),
}


@pytest.mark.parametrize(("messages", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_a_part_that_cannot_be_read_is_refused(messages: Any, said: str) -> None:
    """The error names the message and what is wrong with the part."""
    with pytest.raises(InputError) as raised:
        parse_conversation(messages, PROMPTS)

    assert said in str(raised.value)
    assert PDF[:40] not in str(raised.value)


TOOL_RESULTS: dict[str, Any] = {
    "anthropic": user(
        {
            "type": "tool_result",
            "content": [
                {"type": "text", "text": "seen"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            ],
        }
    ),
    "responses": [
        {
            "type": "function_call_output",
            "output": [
                {"type": "input_text", "text": "seen"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
            ],
        }
    ],
    "converse": user(
        {
            "toolResult": {
                "toolUseId": "t",
                "content": [{"text": "seen"}, {"image": {"format": "png", "source": {"bytes": write_png()}}}],
            }
        }
    ),
    "interactions": [
        {
            "type": "function_result",
            "call_id": "c",
            "result": [
                {"type": "text", "text": "seen"},
                {"type": "image", "data": PNG, "mime_type": "image/png"},
            ],
        }
    ],
    "chat": [
        {
            "role": "tool",
            "content": [
                {"type": "text", "text": "seen"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            ],
        }
    ],
}


@pytest.mark.parametrize("messages", TOOL_RESULTS.values(), ids=TOOL_RESULTS.keys())
def test_what_a_tool_saw_is_fenced(messages: Any) -> None:
    """A screenshot is as little trusted as the text beside it."""
    conversation = parse_conversation(messages, PROMPTS)
    before, image, after = conversation.messages[0].parts

    assert conversation.trust is Trust.UNTRUSTED
    assert image == IMAGE
    assert "seen" in before
    assert before.rstrip().endswith('<UNTRUSTED type="material" source="tool result">')
    assert after == "</UNTRUSTED>"


def test_untrusted_media_are_fenced() -> None:
    """The fence stands around the image, names its source, and taints the whole; the file's name is not sent."""
    image = Image(write_png(), 'the "shop" <b>', Trust.UNTRUSTED)
    named = Document(INVOICE, trust=Trust.UNTRUSTED)
    conversation = parse_conversation(user("What is owed?", image, named), PROMPTS)
    before, first, between, second, after = conversation.messages[0].parts

    assert conversation.trust is Trust.UNTRUSTED
    assert before.startswith("What is owed?\n\n# Material from a source that nobody vouches for")
    assert before.endswith('<UNTRUSTED type="material" source="the &quot;shop&quot; &lt;b&gt;">')
    assert (first, second) == (IMAGE, DOCUMENT)
    assert between.startswith("</UNTRUSTED>\n\n")
    assert after == "</UNTRUSTED>"


KEYS = st.sampled_from(
    [
        "type",
        "source",
        "image_url",
        "url",
        "data",
        "media_type",
        "file",
        "file_data",
        "inlineData",
        "mimeType",
        "input_audio",
        "image",
        "document",
        "format",
        "bytes",
        "uri",
        "content",
    ]
)
WORDS = st.sampled_from(
    [*MEDIA_KINDS, "base64", "url", "text", "content", "image/png", URL, PNG, f"data:image/png;base64,{PNG}"]
)
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=4) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_part_is_read_or_refused(part: dict[str, Any]) -> None:
    """No JSON makes reading raise anything but an input error."""
    try:
        conversation = parse_conversation(user(part), PROMPTS)
    except InputError as error:
        assert str(error)  # noqa: PT017  either outcome is right
    else:
        assert isinstance(conversation, Conversation)


def test_every_kind_of_part_has_its_reader() -> None:
    """The list that is at hand for every message is that of the readers, which are loaded later."""
    assert MEDIA_PARTS == MEDIA_KINDS
