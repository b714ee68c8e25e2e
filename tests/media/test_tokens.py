"""The tokens of media, at most, by the vendors' published formulas."""

from __future__ import annotations

import pytest

from emitter.media.rules import UNKNOWN_PAGES, estimate_media_tokens
from emitter.messages import MediaPart, Medium
from emitter.profiles import load_profile, profile_names
from emitter.profiles.tables import ImageSupport
from tests.media.samples import write_pdf, write_png, write_wav, write_webp


def image(data: bytes | None) -> MediaPart:
    """Return an image, or one by URL."""
    return MediaPart(Medium.IMAGE, "image/png", data, None if data else "https://a.example/b.png")


def pdf(*pages: tuple[str, ...]) -> MediaPart:
    """Return a document, or one by URL."""
    data = write_pdf(*pages) if pages else None
    return MediaPart(Medium.DOCUMENT, "application/pdf", data, None if data else "https://a.example/b.pdf")


@pytest.mark.parametrize(
    ("name", "model", "part", "tokens"),
    [
        ("anthropic", "claude-sonnet-4-5", image(write_png(200, 200)), 68),  # the guide's table says 64
        ("anthropic", "claude-sonnet-4-5", image(write_webp(1092, 1092)), 1598),  # 1,521 patches and 5 %
        ("anthropic", "claude-sonnet-4-5", image(write_webp(8000, 8000)), 1700),
        ("anthropic", "claude-opus-5", image(write_webp(8000, 8000)), 5024),
        ("anthropic", "claude-sonnet-4-5", image(None), 1700),
        ("anthropic", "claude-sonnet-4-5", pdf(("a",), ("b",)), 9400),
        ("anthropic", "claude-sonnet-4-5", pdf(), 4700 * UNKNOWN_PAGES),
        ("openai", "gpt-4o", image(write_webp(1024, 1024)), 765),  # the guide's example
        ("openai", "gpt-4o", image(write_webp(4096, 8192)), 1445),
        ("openai", "gpt-4.1-mini", image(write_webp(1024, 1024)), 1762),  # 1,024 patches of at most 1.72
        ("openai", "gpt-audio", MediaPart(Medium.AUDIO, "audio/wav", write_wav(2)), 20),
        ("google", "gemini-3.8-flash", image(write_png()), 1120),
        ("google", "gemini-2.5-flash", image(write_png(384, 384)), 1290),
        ("google", "gemini-3.8-flash", MediaPart(Medium.AUDIO, "audio/wav", write_wav(60, 100)), 1920),
        ("google", "gemini-3.8-flash", MediaPart(Medium.AUDIO, "audio/mpeg", file_id="f"), 0),
        ("bedrock", "eu.anthropic.claude-sonnet-5-5-v1:0", image(None), 5024),
        ("bedrock", "amazon.nova-lite-v1:0", image(write_png()), 1800),
        ("bedrock", "mistral.voxtral-mini-3b-2507", MediaPart(Medium.AUDIO, "audio/wav", write_wav(4, 100)), 50),
        ("deepseek", "deepseek-chat", image(write_png()), 0),
    ],
)
def test_the_tokens_of_a_medium(name: str, model: str, part: MediaPart, tokens: int) -> None:
    """The bound is not below what the vendor publishes."""
    assert estimate_media_tokens([part], load_profile(name), model) == tokens
    assert estimate_media_tokens([part, part], load_profile(name), model) == 2 * tokens


@pytest.mark.parametrize("name", profile_names())
def test_no_image_is_counted_above_its_ceiling(name: str) -> None:
    """Each row's ceiling is reached by some image, so it is not an empty number."""
    for row in load_profile(name).media:
        support = row.image
        if isinstance(support, ImageSupport):
            assert support.base_tokens <= support.max_tokens
            assert support.patch_tokens or support.base_tokens == support.max_tokens
