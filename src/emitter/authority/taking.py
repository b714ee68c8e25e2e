"""What a caller makes an authority of is looked at first: it holds, or ``InputError`` is raised."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pydantic import ValidationError

from emitter.authority.hooks import NAMES
from emitter.authority.records.form import LONGEST_NAME, LONGEST_TTL, Record
from emitter.decide.canonical import HALF_PAIR
from emitter.errors import InputError
from emitter.ledger import Ledger, Thresholds, taking

if TYPE_CHECKING:
    from emitter.authority.hooks import Hook

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_LAST: Final = 253_402_300_800 - LONGEST_TTL
"""The year 10,000, and what may be granted last before it: no date is later on every surface."""
_ALIKE: Final = 0.85
_LIMIT: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def record(kind: type[R], given: object) -> R:
    """Return a record as it holds, and as nobody else has it: a copy that was updated need not hold."""
    if not isinstance(given, kind):
        raise InputError(f"{kind.__name__} is wanted, and {type(given).__name__} was given.")
    members = {name: getattr(given, name, None) for name in kind.model_fields}
    try:
        return kind.of(**{name: _within(each) for name, each in members.items()})
    except ValidationError as error:
        found = error.errors()[0]
        place = ".".join(str(each) for each in found["loc"])
        raise InputError(f"That is no {kind.__name__}, for its {place}: {found['msg']}.") from None


def _within(given: object) -> object:
    return record(type(given), given) if isinstance(given, Record) else given


def name(what: str, given: object) -> str:
    """Return a name: of a workflow, an act, a stop or an actor."""
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_NAME or HALF_PAIR.search(given):
        raise InputError(f"{what} is a text of 1 to {LONGEST_NAME} characters, each a whole one.")
    return given


def function(what: str, given: object) -> None:
    """Raise where something cannot be called, before anything is done by it."""
    if not callable(given):
        raise InputError(f"{what} is a function.")


def optional(what: str, given: T) -> T:
    """Return a function, or None; raises for what is neither."""
    if given is not None:
        function(what, given)
    return given


def clock(given: Callable[[], float]) -> Callable[[], float]:
    """Return a clock that tells a time, or raises: by one that is none nothing would ever be over."""

    def read() -> float:
        at: Any = given()
        if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < _LAST:
            raise InputError("clock= returned no time.", hint="It returns seconds since 1970, as time.time does.")
        return float(at)

    return read


def parts(store: object, ledger: object, clock: object, sink: object) -> None:
    """Raise where there can be no authority of these; a store, a ledger and a sink may be None."""
    taking.parts(store, clock, sink, Thresholds())
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InputError("ledger= is a Ledger.")


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
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= LONGEST_TTL:
        raise InputError(f"max_skew is a number of seconds, 0 to {LONGEST_TTL:,}.")
    return float(given)


def _listed(name: str, given: object) -> tuple[object, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name}= is a list.")
    return tuple(cast("Iterable[object]", given))
