"""What a caller hands to the ledger is looked at before anything is kept: it holds, or ``InputError`` is raised.

An envelope is read back from its wire form, by the rules of draft-morrison-binding-moment-envelope-00 (section 4):
a copy of a model that holds need not hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar, cast

from pydantic_core import PydanticSerializationError, to_jsonable_python

from emitter.decide import Unanswered
from emitter.decide.blank import is_blank
from emitter.decide.canonical import HALF_PAIR
from emitter.decide.wellformed import wellformed
from emitter.errors import BadResolution, InputError
from emitter.kinds import BindingMoment
from emitter.kinds.envelope import LONGEST_ID
from emitter.ledger.rates import Thresholds

if TYPE_CHECKING:
    from emitter.wire import Json

T = TypeVar("T")

LONGEST_ACTION: Final = 512
"""Characters of the digest of what an option would do."""
_LONGEST_SPAN: Final = 100 * 365 * 24 * 60 * 60
"""In seconds: what ends later than that has no date on every surface."""
_STORE: Final = ("find", "once", "append", "events")
MOST_TOPIC: Final = 2_000
"""Characters of the topic of a request for detail."""
MOST_DETAIL: Final = 50_000
"""Characters of the answer to a request for detail, as JSON."""


def parts(store: object, clock: object, sink: object, thresholds: object, *, deletes: bool = False) -> None:
    """Raise ``InputError`` where a ledger cannot be made of these; a store and a sink may be None.

    ``deletes`` says that words are kept for a time, so that the store has to delete them.
    """
    if store is not None and (
        isinstance(store, type) or not all(callable(getattr(store, each, None)) for each in _STORE)
    ):
        raise InputError("store is none of the stores.", hint="Give a SqliteStore, an SqlStore or a MemoryStore.")
    if deletes and store is not None and not callable(getattr(store, "forget", None)):
        raise InputError("store cannot delete words.", hint="Give it a method forget(), or pass words=None.")
    if not callable(clock):
        raise InputError("clock is a function that returns seconds since 1970.")
    if sink is not None and not callable(sink):
        raise InputError("sink is a function of one event, or None.")
    if not isinstance(thresholds, Thresholds):
        raise InputError("thresholds are Thresholds.")


def optional(name: str, given: T) -> T:
    """Return a function, or None."""
    if given is not None and not callable(given):
        raise InputError(f"{name} is a function, or None.")
    return given


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


def ids(name: str, given: object) -> tuple[str, ...]:
    """Return the ids of decisions; a single text is not a list of them."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{name} is a list of decision ids.")
    return tuple(looked_for(f"Each entry of {name}", each) for each in cast("Iterable[object]", given))


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


def topic(given: object) -> str:
    """Return what somebody wants to know more about; empty for all of a decision."""
    if not isinstance(given, str) or len(given) > MOST_TOPIC or HALF_PAIR.search(given):
        raise BadResolution(f"topic is a text of at most {MOST_TOPIC:,} characters, each a whole one.")
    return "" if is_blank(given) else given.strip()


def detail(given: object) -> Json:
    """Return the answer to a request for detail as JSON: a text, or whatever pydantic can write as JSON."""
    try:
        found = to_jsonable_python(given)
        text = json.dumps(found, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, PydanticSerializationError):
        raise InputError("answer is a text, a model, a dataclass, or other JSON.") from None
    if found in (None, "") or len(text) > MOST_DETAIL or HALF_PAIR.search(text):
        raise InputError(f"answer has 1 to {MOST_DETAIL:,} characters as JSON, each a whole one.")
    return found


def span(given: object, name: str = "expires_in") -> float | None:
    """Return for how many seconds something is open or kept, None for ever."""
    if given is None:
        return None
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 < given <= _LONGEST_SPAN:
        raise InputError(f"{name} is a number of seconds above 0 and of at most a hundred years, or None.")
    return float(given)
