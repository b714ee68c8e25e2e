"""A model for each wire, with the options that choose the wire."""

from __future__ import annotations

from typing import Any

import pytest

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "responses": ("openai/gpt-6-sol", {}),
    "chat": ("openai/gpt-6-sol", {"wire": "openai-chat"}),
    "anthropic": ("anthropic/claude-sonnet-5-5", {}),
    "google": ("google/gemini-3.8-flash", {}),
    "converse": ("bedrock/eu.anthropic.claude-sonnet-5-5-v1:0", {}),
    "interactions": ("google/gemini-3.8-flash", {"wire": "gemini-interactions"}),
}
every_model = pytest.mark.parametrize(("model", "options"), MODELS.values(), ids=MODELS.keys())
