"""What a tool is: its name, what it takes, and whether it is awaited."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, cast

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

_LAMBDA = "<lambda>"


def name_of(tool: object) -> str:
    """Return what a tool is called; a lambda has no name of its own, and two of them would pass for each other."""
    named = getattr(tool, "__name__", "")
    return "" if named == _LAMBDA else named


def signature_of(tool: Callable[..., Any]) -> inspect.Signature:
    """Return what a tool takes; raises ``InputError`` for what is no tool, or does not say."""
    if _given_by_place(tool):
        raise InputError(
            "The tool has arguments that no call tells, so nobody could approve them.",
            hint="Give them to partial() by their names; what is no content goes into exclude=.",
        )
    try:
        return inspect.signature(tool)
    except (TypeError, ValueError):
        raise InputError(
            "The tool does not say what it takes, so nobody could approve its arguments.",
            hint="Guard a function of yours that calls it.",
        ) from None


def _given_by_place(tool: object) -> bool:
    return isinstance(tool, functools.partial) and bool(cast("functools.partial[Any]", tool).args)


def is_async(tool: object) -> bool:
    """Tell whether a tool is awaited: a coroutine function, or an object whose call is one."""
    return any(map(inspect.iscoroutinefunction, (tool, getattr(tool, "__call__", None))))  # noqa: B004  its own code is asked for
