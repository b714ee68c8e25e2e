"""The flag of staged adoption: whether a tool emits, for everybody, for now, or for this caller.

Source: draft-morrison-binding-moment-envelope-00, section 7.3: "This memo places no requirement on the flag mechanism".
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Enabled: TypeAlias = "bool | Callable[[], bool] | Callable[[Any], bool]"
"""A fixed flag, one that is asked at each call, or one that is asked with the call's context."""


def takes_context(enabled: Enabled) -> bool:
    """Tell whether a flag wants to see the call's context."""
    return callable(enabled) and bool(inspect.signature(enabled).parameters)


def is_on(enabled: Enabled, context: Any) -> bool:
    """Return what a flag says of this call."""
    if not callable(enabled):
        return enabled
    ask: Callable[..., bool] = enabled
    return ask(context) if takes_context(enabled) else ask()
