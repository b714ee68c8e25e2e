"""What a caller hands to the ledger is looked at before anything is kept: it holds, or ``InputError`` is raised.

An envelope is read back from its wire form, by the rules of draft-morrison-binding-moment-envelope-00 (section 4):
a copy of a model that holds need not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from emitter.decide import Unanswered
from emitter.decide.canonical import HALF_PAIR
from emitter.decide.wellformed import wellformed
from emitter.errors import BadResolution, InputError
from emitter.kinds import BindingMoment
from emitter.kinds.envelope import LONGEST_ID
from emitter.ledger.rates import Thresholds

LONGEST_ACTION: Final = 512
"""Characters of the digest of what an option would do."""
_LONGEST_SPAN: Final = 100 * 365 * 24 * 60 * 60
"""In seconds: what ends later than that has no date on every surface."""
_STORE: Final = ("find", "once", "append", "events")


def parts(store: object, clock: object, sink: object, thresholds: object) -> None:
    """Raise ``InputError`` where a ledger cannot be made of these; a store and a sink may be None."""
    if store is not None and (
        isinstance(store, type) or not all(callable(getattr(store, each, None)) for each in _STORE)
    ):
        raise InputError("store is none of the stores.", hint="Give a SqliteStore, an SqlStore or a MemoryStore.")
    if not callable(clock):
        raise InputError("clock is a function that returns seconds since 1970.")
    if sink is not None and not callable(sink):
        raise InputError("sink is a function of one event, or None.")
    if not isinstance(thresholds, Thresholds):
        raise InputError("thresholds are Thresholds.")


def envelope(given: object) -> BindingMoment:
    """Return the envelope as its wire form says it, which is all that is kept of it."""
    if not isinstance(given, BindingMoment):
        raise InputError("A decision is opened with a BindingMoment.", hint="Read it with emitter.decide.read().")
    return wellformed(given)


def named(name: str, given: object, least: int = 1) -> str:
    """Return a short text, each of whose characters is a whole one."""
    if not isinstance(given, str) or not least <= len(given) <= LONGEST_ID or HALF_PAIR.search(given):
        raise InputError(f"{name} is a text of {least} to {LONGEST_ID} characters, each a whole one.")
    return given


def looked_for(name: str, given: object) -> str:
    """Return a text that is only looked for: nothing need be under it."""
    if not isinstance(given, str):
        raise InputError(f"{name} is a text.")
    return given


def reason(given: object) -> Unanswered:
    """Return for which reason nobody decided; raises ``BadResolution``."""
    try:
        return Unanswered(given)
    except ValueError:
        known = ", ".join(each.value for each in Unanswered)
        raise BadResolution(f"The reason for which nobody decided is one of {known}.") from None


def actions(given: object, moment: BindingMoment) -> tuple[str | None, ...]:
    """Return the digests of what the options would do, one an option, or none at all."""
    count = len(moment.question.options)
    is_list = isinstance(given, Sequence) and not isinstance(given, str)
    found = tuple(cast("Sequence[object]", given)) if is_list else (0,)
    if len(found) not in {0, count} or not all(map(_is_action, found)):
        raise InputError(f"actions are none, or {count}: one an option, each a digest or None.")
    return cast("tuple[str | None, ...]", found)


def _is_action(given: object) -> bool:
    is_text = isinstance(given, str) and 0 < len(given) <= LONGEST_ACTION and HALF_PAIR.search(given) is None
    return given is None or is_text


def span(given: object) -> float | None:
    """Return for how many seconds a decision is open, None for ever."""
    if given is None:
        return None
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 < given <= _LONGEST_SPAN:
        raise InputError("expires_in is a number of seconds above 0 and of at most a hundred years, or None.")
    return float(given)
