"""Checks of arguments that several public functions share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from emitter.errors import InputError


def check_list(name: str, value: object, item_types: tuple[type, ...], description: str) -> Iterable[object]:
    """Return an argument that must be a list. A single item is rejected, even if it is iterable."""
    if isinstance(value, item_types) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list.", hint=f"Put {description} into one.")
    return cast("Iterable[object]", value)


def check_type(name: str, value: object, expected: type) -> None:
    """Raise ``InputError`` if the argument has another type."""
    if not isinstance(value, expected):
        raise InputError(f"{name} is of type {type(value).__name__}; it must be of type {expected.__name__}.")


def check_text(name: str, value: object) -> None:
    """Raise ``InputError`` if the argument is not a text that can be encoded as UTF-8."""
    if not isinstance(value, str):
        raise InputError(f"{name} is of type {type(value).__name__}, not text.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name} holds a lone surrogate.", hint="Decode it from its bytes again.") from error
