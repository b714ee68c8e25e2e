"""A terminal like most: it knows colours, and nobody asked for lines."""

from __future__ import annotations

import pytest

from emitter.terminal import picker


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what a terminal is known by."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "EMITTER_PLAIN", "ACCESSIBLE", "PROMPT_TOOLKIT_COLOR_DEPTH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(picker, "ESCAPE_TIMEOUT", 0.02)  # this terminal is near: a key's sequence comes in one piece
