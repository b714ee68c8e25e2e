"""What a caller makes an authority of is looked at first: it holds, or ``InputError`` is raised."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, cast

from emitter.authority.hooks import NAMES
from emitter.authority.records.form import LONGEST_NAME
from emitter.decide.canonical import HALF_PAIR
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.authority.hooks import Hook

_ALIKE: Final = 0.85
_LIMIT: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def actor(given: object) -> str:
    """Return who acts."""
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_NAME or HALF_PAIR.search(given):
        raise InputError(f"actor is a text of 1 to {LONGEST_NAME} characters, each a whole one.")
    return given


def hooks(given: object) -> tuple[Hook, ...]:
    """Return the hooks, each an object with at least one of the seven methods."""
    found = _listed("hooks", given)
    for each in found:
        if isinstance(each, type) or not any(callable(getattr(each, name, None)) for name in NAMES):
            raise InputError(
                f"A hook of type {type(each).__name__} has none of the seven methods.",
                hint=f"They are {', '.join(NAMES)}.",
            )
        _check_spelling(each)
    return cast("tuple[Hook, ...]", found)


def _check_spelling(hook: object) -> None:
    """Refuse a method that was meant to be one of the seven: a policy that is never called is none."""
    for name in dir(hook):
        meant = [] if name in NAMES else get_close_matches(name, NAMES, n=1, cutoff=_ALIKE)
        if meant:
            raise InputError(f"A hook has the method {name}, which is never called.", hint=f"Is {meant[0]} meant?")


def limits(given: object) -> frozenset[str]:
    """Return the names of the host's own limits."""
    found = _listed("limits", given)
    if not all(isinstance(each, str) and _LIMIT.fullmatch(each) for each in found):
        raise InputError("limits= names limits, in small letters, digits and underscores.")
    return frozenset(cast("tuple[str, ...]", found))


def seconds(given: object) -> float:
    """Return by how many seconds clocks may differ."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
        raise InputError("max_skew is a number of seconds, 0 or more.")
    return float(given)


def _listed(name: str, given: object) -> tuple[object, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name}= is a list.")
    return tuple(cast("Iterable[object]", given))
