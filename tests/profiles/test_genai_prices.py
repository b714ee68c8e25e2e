"""The tables, compared with the ``genai-prices`` package: windows, and prices for the models of the vendors' SDKs.

A difference is either mended or named here, with its reason.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

import pytest
from genai_prices.data import providers

from emitter.errors import InputError
from emitter.messages import Usage
from emitter.prices import ListedPrices
from emitter.profiles import load_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genai_prices.types import ModelInfo

SAME_VENDOR = ("openai", "anthropic", "google", "mistral", "deepseek", "groq")
"""Profiles whose provider has the same id there."""
NOT_FOR_TEXT = re.compile(r"audio|embed|guard|image|live|ocr|orpheus|realtime|transcribe|tts|voxtral|vision")
ROUNDED = "theirs is rounded"
DIFFERENCES = {
    "openai/gpt-4-32k": ROUNDED,
    "openai/gpt-4.1*": ROUNDED,
    "openai/gpt-5.5*": f"{ROUNDED}: the pages of 5.4 and 5.6, the models before and after, say 1,050,000",
    "openai/gpt-5.3": "theirs is the chat model; we take it for gpt-5.3-codex, which has 400,000 there, too",
    "google/gemini-1.5-pro": "theirs is that of its first weeks; their gemini-pro-1.5 has 2,000,000",
    "google/gemini-*": ROUNDED,
}
"""Our row stands, because of this."""


class Window(NamedTuple):
    """A model's window, as they and we say it."""

    name: str
    theirs: int
    ours: int


def text_models(provider_id: str) -> Iterator[ModelInfo]:
    """Yield the provider's models that write text and have a window."""
    provider = next(each for each in providers if each.id == provider_id)
    return (model for model in provider.models if model.context_window and not NOT_FOR_TEXT.search(model.id))


def windows() -> Iterator[Window]:
    """Yield the windows of all models that we have a row for. An elastic window refuses nothing."""
    targets = [(name, name, "") for name in SAME_VENDOR] + [("anthropic", "aws", "anthropic.")]
    for name, provider_id, part in targets:
        for model in text_models(provider_id):
            limits = load_profile(name).model_limits(model.id)
            hosted = name == "google" and model.id.startswith("claude")  # a Claude is not reached through Google's wire
            if part in model.id and not limits.elastic and not hosted:
                yield Window(f"{provider_id}/{model.id}", model.context_window or 0, limits.context)


ALL = list(windows())


def test_there_is_something_to_compare() -> None:
    """The package has the models that people use."""
    assert {"openai/gpt-6-sol", "anthropic/claude-opus-5-5", "google/gemini-3.8-flash"} <= {each.name for each in ALL}
    assert len(ALL) > 80


@pytest.mark.parametrize("window", ALL, ids=lambda each: each.name)
def test_a_window_is_theirs_or_the_difference_has_a_reason(window: Window) -> None:
    """The vendors' pages move; a window that is too small refuses prompts, one that is too large is paid for."""
    reason = next((reason for match, reason in DIFFERENCES.items() if fnmatchcase(window.name, match)), None)
    if reason is None:
        assert window.ours == window.theirs
    elif reason.startswith(ROUNDED):
        assert abs(window.ours - window.theirs) <= window.ours * 0.06


@pytest.mark.parametrize("match", DIFFERENCES)
def test_a_difference_that_is_gone_is_not_named(match: str) -> None:
    """The table holds what differs today."""
    assert any(fnmatchcase(each.name, match) and each.ours != each.theirs for each in ALL)


SDK_MODELS = {
    "openai": pytest.importorskip("openai.types.shared.chat_model").ChatModel,
    "anthropic": pytest.importorskip("anthropic.types.model").Model,
}
WITHOUT_A_PRICE = {
    "openai/gpt-6.2-sol": "the package lists 6.1 as the latest",
    "openai/gpt-6.2-astra": "the package lists 6.1 as the latest",
    "anthropic/claude-mythos-5": "of this family the package lists 5.2 alone",
    "anthropic/claude-mythos-5-1": "of this family the package lists 5.2 alone",
    "anthropic/claude-mythos-preview": "of this family the package lists 5.2 alone",
}
"""The package has no price, because of this."""


def _strings(annotation: object) -> set[str]:
    """Return the strings of every ``Literal`` inside ``annotation``."""
    inner = getattr(annotation, "__args__", ())
    return {each for each in inner if isinstance(each, str)}.union(*(_strings(each) for each in inner))


def _has_price(name: str, model: str) -> bool:
    try:
        return ListedPrices(name, model).cost_of(Usage(1000, 1000)) > 0
    except InputError:
        return False


@pytest.mark.parametrize("name", SDK_MODELS)
def test_every_model_of_the_sdk_has_a_price(name: str) -> None:
    """Or is named above; one whose price was added since is not."""
    models = _strings(SDK_MODELS[name])
    assert len(models) > 20
    missing = {f"{name}/{model}" for model in models if not _has_price(name, model)}
    assert missing == {model for model in WITHOUT_A_PRICE if model.startswith(f"{name}/")}
