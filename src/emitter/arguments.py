"""Checks of arguments that several functions take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from emitter.errors import InputError


def listed(name: str, given: object, single: tuple[type, ...], what: str) -> Iterable[object]:
    """Return a setting that is a list; refuse a single one of its members, which may itself be iterable."""
    if isinstance(given, single) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a list.", hint=f"Put {what} into one.")
    return cast("Iterable[object]", given)


def check_kind(name: str, given: object, kind: type) -> None:
    """Refuse a setting of another type."""
    if not isinstance(given, kind):
        raise InputError(f"{name} is of type {type(given).__name__}; it must be of type {kind.__name__}.")


def whole(name: str, given: object) -> None:
    """Refuse what is no text, or no text that a wire can carry."""
    if not isinstance(given, str):
        raise InputError(f"{name} is of type {type(given).__name__}, not text.")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name} holds a lone surrogate.", hint="Decode it from its bytes again.") from error
