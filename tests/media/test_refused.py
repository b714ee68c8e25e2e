"""What a model does not take is refused before it is sent, in words that say what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from emitter import InputError, emit
from emitter.errors import CapabilityNotProvided
from emitter.media import Audio, Document, Image
from emitter.testing import Text, simulator
from tests.media.samples import RECEIPT, write_invoice, write_pdf, write_png, write_wav, write_webp

SCHEMA = {"title": "Invoice", "type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
TIFF = b"II*\0" + b"\0" * 20
URL, PDF_URL = "https://shop.example/r/receipt.png?sig=s3cret", "https://shop.example/invoice.pdf"

REFUSED: dict[str, tuple[str, Any, dict[str, Any], str]] = {
    "text only": (
        "deepseek/deepseek-chat",
        Image(RECEIPT),
        {},
        (
            "deepseek/deepseek-chat takes text only over openai-chat, not images (receipt.jpg). "
            "Choose a model that takes it, or name one in fallback=."
        ),
    ),
    "an old model": (
        "openai/gpt-3.5-turbo",
        Image(write_png()),
        {},
        "openai/gpt-3.5-turbo takes text only over openai-responses, not images.",
    ),
    "no audio": (
        "anthropic/claude-sonnet-5-5",
        Audio(write_wav(), "call"),
        {},
        "takes text, images and PDF documents over anthropic, not audio.",
    ),
    "audio, on another wire": (
        "openai/gpt-audio",
        Audio(write_wav()),
        {},
        'takes text only over openai-responses, not audio. Pass wire="openai-chat".',
    ),
    "converse, audio": (
        "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
        Audio(write_wav()),
        {},
        "takes text, images and PDF documents over bedrock-converse, not audio.",
    ),
    "converse, an image by URL": (
        "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
        Image(URL),
        {},
        "takes images over bedrock-converse only as bytes. Pass its bytes, or fetch=True.",
    ),
    "converse, S3 for a model without": (
        "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
        Document("s3://mail/invoice.pdf"),
        {},
        (
            "invoice.pdf is passed by s3 URI, and bedrock/eu.anthropic.claude-sonnet-5-5-v1:0 takes PDF documents "
            "over bedrock-converse only as bytes. Pass its bytes."
        ),
    ),
    "converse, a file id": (
        "bedrock/amazon.nova-lite-v1:0",
        Image(file_id="file-1", media_type="image/png"),
        {},
        (
            "The image is passed by file id, and bedrock/amazon.nova-lite-v1:0 takes images over bedrock-converse only "
            "as bytes or by s3 URI. Pass its bytes."
        ),
    ),
    "S3 elsewhere": (
        "openai/gpt-6-sol",
        Image("s3://mail/receipt.png"),
        {},
        (
            "receipt.png is passed by s3 URI, and openai/gpt-6-sol takes images over openai-responses only as bytes or "
            "by URL or by file id. Pass its bytes."
        ),
    ),
    "a file id that is no URI at Google": (
        "google/gemini-3.8-flash",
        Image(file_id="file-1", media_type="image/png"),
        {},
        "takes images over google only as bytes or by URL or by https or gs URI. Pass its bytes.",
    ),
    "converse, S3 without a type": (
        "bedrock/amazon.nova-lite-v1:0",
        Image("s3://mail/receipt"),
        {},
        "The media type of receipt is not known, and bedrock/amazon.nova-lite-v1:0 needs it.",
    ),
    "converse, a model for text": (
        "bedrock/amazon.nova-micro-v1:0",
        Document(write_invoice()),
        {},
        "bedrock/amazon.nova-micro-v1:0 takes text only over bedrock-converse, not PDF documents.",
    ),
    "converse, too many documents": (
        "bedrock/eu.anthropic.claude-sonnet-5-5-v1:0",
        [Document(write_invoice())] * 6,
        {},
        "There are 6 PDF documents, and bedrock/eu.anthropic.claude-sonnet-5-5-v1:0 takes at most 5 in a request.",
    ),
    "converse, too large a document": (
        "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0",
        Document(write_invoice() + b"\0" * 4_500_000),
        {},
        "takes PDF documents of at most 4,500,000 bytes. Make it smaller.",
    ),
    "interactions, another format": (
        "google/gemini-3.8-flash",
        Image(TIFF),
        {"wire": "gemini-interactions"},
        "The image is image/tiff, and google/gemini-3.8-flash takes images as image/png",
    ),
    "no PDF": (
        "groq/meta-llama/llama-4-scout-17b-16e-instruct",
        Document(write_invoice()),
        {},
        "takes text and images over openai-chat, not PDF documents.",
    ),
    "a PDF by URL": (
        "openai/gpt-6-sol",
        Document(PDF_URL),
        {"wire": "openai-chat"},
        (
            "invoice.pdf is passed by URL, and openai/gpt-6-sol takes PDF documents over openai-chat only as bytes or "
            "by file id. Pass its bytes, or fetch=True."
        ),
    ),
    "an image by URL on Bedrock": (
        "anthropic/eu.anthropic.claude-sonnet-5-5-v1:0",
        Image(URL),
        {},
        (
            "receipt.png is passed by URL, and anthropic/eu.anthropic.claude-sonnet-5-5-v1:0 takes images over "
            "anthropic only as bytes."
        ),
    ),
    "a file id": (
        "openai/gpt-6-sol",
        Image(file_id="file-1"),
        {"wire": "openai-chat"},
        (
            "The image is passed by file id, and openai/gpt-6-sol takes images over openai-chat only as bytes or by "
            "URL. Pass its bytes."
        ),
    ),
    "another format": (
        "openai/gpt-6-sol",
        Image(TIFF),
        {},
        (
            "The image is image/tiff, and openai/gpt-6-sol takes images as image/png, image/jpeg, image/webp, "
            "image/gif. Convert it."
        ),
    ),
    "an unknown type": (
        "google/gemini-3.8-flash",
        Image("https://shop.example/r/7"),
        {},
        (
            "The media type of 7 is not known, and google/gemini-3.8-flash needs it. "
            'Pass media_type=, such as "image/png".'
        ),
    ),
    "too many bytes": (
        "groq/meta-llama/llama-4-scout-17b-16e-instruct",
        Image(write_png() + b"\0" * 3_000_000),
        {},
        "meta-llama/llama-4-scout-17b-16e-instruct takes images of at most 3,000,000 bytes. Make it smaller.",
    ),
    "too many pixels": (
        "anthropic/claude-sonnet-5-5",
        Image(write_webp(8001, 20)),
        {},
        "The image has 8001 by 20 pixels, and anthropic/claude-sonnet-5-5 takes images of at most 8000 by 8000.",
    ),
    "too many pixels among many": (
        "anthropic/claude-sonnet-5-5",
        [Image(write_webp(2001, 20)), *[Image(write_png())] * 20],
        {},
        "takes images of at most 2000 by 2000 when there are more than 20.",
    ),
    "too many": (
        "groq/meta-llama/llama-4-scout-17b-16e-instruct",
        [Image(write_png())] * 6,
        {},
        "There are 6 images, and groq/meta-llama/llama-4-scout-17b-16e-instruct takes at most 5 in a request.",
    ),
    "too many pages": (
        "anthropic/claude-haiku-4-5",
        [Document(write_pdf(*[("x",)] * 60))] * 2,
        {},
        "The documents have 120 pages, and anthropic/claude-haiku-4-5 takes at most 100 in a request. Split them.",
    ),
    "too large a request": (
        "anthropic/claude-sonnet-5-5",
        [Image(write_png() + b"\0" * 7_000_000)] * 4,
        {},
        "bytes in base64, and a request to anthropic/claude-sonnet-5-5 may have 32,000,000.",
    ),
}


@pytest.mark.parametrize(("model", "media", "options", "said"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("place", ["prompt", "message", "material"])
def test_media_that_a_model_does_not_take(
    model: str, media: Any, options: dict[str, Any], said: str, place: str
) -> None:
    """Nothing is sent, wherever they stand, and the error holds neither bytes nor a signature."""
    listed = media if isinstance(media, list) else [media]
    messages: Any = {
        "prompt": ["What is owed?", *listed],
        "message": [{"role": "user", "content": ["What is owed?", *listed]}],
        "material": "What is owed?",
    }[place]
    materials = listed if place == "material" else ()
    with simulator(answers=Text("{}")) as vendor:
        with pytest.raises(InputError) as raised:
            emit(SCHEMA, messages, model=model, client=vendor.client(model), materials=materials, **options)

        assert vendor.calls == ()
    assert said in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert len(str(raised.value)) < 400


TOTAL = Text({"total": 12.5})


@pytest.mark.parametrize("media", [Image(RECEIPT), Document(write_invoice())], ids=["image", "document"])
def test_the_fallback_takes_what_the_model_does_not(monkeypatch: pytest.MonkeyPatch, media: Any) -> None:
    """Media require what a caller could have required by name."""
    with simulator(answers=TOTAL) as vendor:
        for name, value in vendor.environment().items():
            monkeypatch.setenv(name, value)
        fallback = "anthropic/claude-sonnet-5-5"
        emission = emit(SCHEMA, [media, "What is owed?"], model="deepseek/deepseek-chat", fallback=[fallback])

        assert emission.value == {"total": 12.5}
        assert [call.model for call in vendor.calls] == ["claude-sonnet-5-5"]
    assert emission.trace.events[0].type == "model.capability.substituted"


def test_a_fallback_that_does_not_take_it_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the capability."""
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    monkeypatch.setenv("GROQ_API_KEY", "k")
    with pytest.raises(CapabilityNotProvided, match="does not provide audio-input"):
        emit(SCHEMA, [Audio(write_wav())], model="deepseek/deepseek-chat", fallback=["groq/openai/gpt-oss-120b"])


def test_a_capability_can_be_required_by_name() -> None:
    """``requires`` knows who takes images, before there is one."""
    with simulator(answers=TOTAL) as vendor:
        model = "openai/gpt-6-sol"
        client = vendor.client(model)
        emit(SCHEMA, "x", model=model, client=client, requires=["vision-input"])
        with pytest.raises(CapabilityNotProvided, match="does not provide vision-input"):
            emit(SCHEMA, "x", model="openai/gpt-3.5-turbo", client=client, requires=["vision-input"])
