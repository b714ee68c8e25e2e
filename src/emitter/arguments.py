"""Argument checks that several public functions share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Final, TypeVar, cast

from emitter.errors import InputError, UnknownArgument

C = TypeVar("C", bound=type)
_SURROGATE_HINT: Final = (
    'Replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"). '
    "Most come from JSON with half of an escaped pair, such as \\ud83d alone."
)


def check_list(name: str, value: object, item_types: tuple[type, ...], description: str) -> Iterable[object]:
    """Return an argument that must be a list. A single item, such as a string, is rejected even if it is iterable."""
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
        raise InputError(f"{name} contains a lone surrogate.", hint=_SURROGATE_HINT) from error


def is_async(function: object) -> bool:
    """Return True for a coroutine function, an async generator function, or an object whose ``__call__`` is one."""
    candidates = (function, getattr(function, "__call__", None))  # noqa: B004  its code is inspected
    return any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in candidates)


def known_arguments(**corrections: str) -> Callable[[C], C]:
    """Decorate a class so that an unknown argument raises ``UnknownArgument`` with a suggestion.

    Args:
        corrections: By a wrong name, the right one, such as ``prompt="input"``, or the sentence of the hint. Close
            spellings need no entry.
    """

    def decorate(cls: C) -> C:
        create: Callable[..., None] = vars(cls)["__init__"]
        _, *names = inspect.signature(create).parameters

        @wraps(create)
        def __init__(self: Any, *args: Any, **values: Any) -> None:  # noqa: N807  it replaces the method
            if unknown := values.keys() - names:
                raise _unknown_argument(type(self).__name__, min(unknown), names, corrections)
            create(self, *args, **values)

        cast("Any", cls).__init__ = __init__
        return cls

    return decorate


def _unknown_argument(owner: str, name: str, names: list[str], corrections: dict[str, str]) -> UnknownArgument:
    from difflib import get_close_matches  # noqa: PLC0415  only a mistake needs it

    near = corrections.get(name) or next(iter(get_close_matches(name, names, 1, 0.7)), None)
    known = f"Did you mean {near!r}?" if near else f"Its arguments are {', '.join(names)}."
    hint = near if near and near not in names else known
    return UnknownArgument(f"There is no argument {name!r} of {owner}.", hint=hint)
