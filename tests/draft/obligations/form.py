"""Naming the checks of the contract that every surface is held to."""

from __future__ import annotations


def contract(*names: str) -> tuple[str, ...]:
    """Return checks of the contract; each of our surfaces runs it."""
    return tuple(f"src/emitter/testing/surfaces.py::{each}" for each in names)
