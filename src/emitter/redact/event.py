"""Striking secrets out of what is told: an event's own texts, at any depth."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from emitter.redact import Secrets

T = TypeVar("T")


def struck(event: T, secrets: Secrets) -> T:
    """Return the event with every secret struck out of its fields; the same event where it holds none."""
    if not secrets:
        return event
    given: Any = event
    texts = {each.name: getattr(given, each.name) for each in fields(given)}
    clean = {name: secrets.json(value) for name, value in texts.items() if not isinstance(value, Enum)}
    found = {name: each.value for name, each in clean.items() if each.count}
    return replace(given, **found) if found else event
