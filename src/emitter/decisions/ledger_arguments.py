"""Validate the arguments of the ledger's methods before anything is stored.

Invalid arguments raise ``InputError`` or ``BadResolution``. An envelope is parsed again from its JSON form, because a
modified copy of a valid model can be invalid.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar, cast

from pydantic_core import PydanticSerializationError, to_jsonable_python

from emitter.decisions.canonical_json import LONE_SURROGATE, require_moment
from emitter.decisions.envelope_parsing import require_wellformed
from emitter.decisions.resolution import UnresolvedReason
from emitter.errors import BadResolution, InputError
from emitter.models.envelope import MAX_ID_LENGTH
from emitter.visible_text import has_invisible, is_blank

if TYPE_CHECKING:
    from emitter.messages import Json
    from emitter.models import BindingMoment

T = TypeVar("T")
MAX_ACTION_LENGTH: Final = 512
"""Maximum length of an action digest, in characters."""
_MAX_SECONDS: Final = 100 * 365 * 24 * 60 * 60
"""A hundred years. Later times have no date on some surfaces."""
_STORE_METHODS: Final = ("find", "get_or_create", "append", "events")
MAX_TOPIC_LENGTH: Final = 2_000
"""Maximum length of the topic of a detail request, in characters."""
MAX_DETAIL_LENGTH: Final = 50_000
"""Maximum length of the answer to a detail request, in characters of JSON."""


def check_collaborators(store: object, clock: object, on_event: object, *, must_delete: bool = False) -> None:
    """Raise ``InputError`` for an unusable object; ``must_delete`` requires a store that can delete words."""
    if store is not None and (
        isinstance(store, type) or not all(callable(getattr(store, name, None)) for name in _STORE_METHODS)
    ):
        raise InputError(
            f"store is of type {type(store).__name__}, not a store.",
            hint="Pass a SqliteStore, an SqlStore or a MemoryStore.",
        )
    if must_delete and store is not None and not callable(getattr(store, "forget", None)):
        raise InputError("store cannot delete words.", hint="Give it a forget() method, or pass words=None.")
    if not callable(clock):
        raise InputError(
            f"clock is of type {type(clock).__name__}; it must be a function that returns seconds since 1970."
        )
    if on_event is not None and not callable(on_event):
        raise InputError(f"on_event is of type {type(on_event).__name__}; it must be a function of one event, or None.")


def check_callable(name: str, value: T) -> T:
    """Return ``value`` if it is a function or None."""
    if value is not None and not callable(value):
        raise InputError(f"{name} is of type {type(value).__name__}; it must be a function, or None.")
    return value


def require_wellformed_moment(value: object) -> BindingMoment:
    """Return the envelope, parsed again from its wire form, which is all that is stored."""
    return require_wellformed(require_moment(value))


def check_short_text(name: str, value: object, min_length: int = 1) -> str:
    """Return a text of limited length without lone surrogates."""
    if not isinstance(value, str) or not min_length <= len(value) <= MAX_ID_LENGTH or LONE_SURROGATE.search(value):
        raise InputError(
            f"{name} must be a string of {min_length} to {MAX_ID_LENGTH} characters without lone surrogates."
        )
    return value


def check_principal(name: str, value: object, min_length: int = 1) -> str:
    """Return a person's name. Two names that look the same must not count as two people."""
    if (
        not isinstance(value, str)
        or not min_length <= len(value) <= MAX_ID_LENGTH
        or not value.isprintable()
        or has_invisible(value)
        or (value and is_blank(value))
    ):
        raise InputError(
            f"{name} must be a string of {min_length} to {MAX_ID_LENGTH} printable characters, none of them invisible.",
            hint="Pass the name under which you authenticated the person, such as an e-mail address.",
        )
    return value


def check_ids(name: str, value: object) -> tuple[str, ...]:
    """Return decision ids as a tuple. A single string is refused."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{name} is of type {type(value).__name__}; it must be a list of decision ids.")
    return tuple(check_text(f"Each entry of {name}", entry) for entry in cast("Iterable[object]", value))


def check_text(name: str, value: object) -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise InputError(f"{name} is of type {type(value).__name__}; it must be a string.")
    return value


def check_reason(value: object) -> UnresolvedReason:
    """Return the reason. Raises ``BadResolution`` if it is unknown."""
    try:
        return UnresolvedReason(value)
    except ValueError:
        choices = ", ".join(reason.value for reason in UnresolvedReason)
        raise BadResolution(f"The reason is unknown. Pass one of {choices}.") from None


def check_actions(value: object, moment: BindingMoment) -> tuple[str | None, ...]:
    """Return the action digests, one for each option, or none."""
    count = len(moment.question.options)
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    actions = tuple(cast("Sequence[object]", value)) if is_list else (0,)
    if len(actions) not in {0, count} or not all(map(_is_action_digest, actions)):
        raise InputError(f"actions must be empty or have {count} entries, one for each option: a digest, or None.")
    return cast("tuple[str | None, ...]", actions)


def _is_action_digest(value: object) -> bool:
    is_text = isinstance(value, str) and 0 < len(value) <= MAX_ACTION_LENGTH and LONE_SURROGATE.search(value) is None
    return value is None or is_text


def check_topic(value: object) -> str:
    """Return the topic of a detail request, or an empty string for the whole decision."""
    if not isinstance(value, str) or len(value) > MAX_TOPIC_LENGTH or LONE_SURROGATE.search(value):
        raise BadResolution(
            f"topic must be a string of at most {MAX_TOPIC_LENGTH:,} characters without lone surrogates."
        )
    return "" if is_blank(value) else value.strip()


def check_detail_answer(value: object) -> Json:
    """Return the answer to a detail request as JSON."""
    try:
        document = to_jsonable_python(value)
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, PydanticSerializationError):
        raise InputError(
            f"answer is of type {type(value).__name__}, which cannot be written as JSON.",
            hint="Pass a string, a model or other JSON.",
        ) from None
    if document in (None, "") or len(text) > MAX_DETAIL_LENGTH or LONE_SURROGATE.search(text):
        raise InputError(f"answer must have 1 to {MAX_DETAIL_LENGTH:,} characters as JSON, without lone surrogates.")
    return document


def check_seconds(value: object, name: str = "expires_in") -> float | None:
    """Return a duration in seconds; None is unlimited."""
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= _MAX_SECONDS:
        raise InputError(f"{name} must be a number of seconds above 0 and of at most a hundred years, or None.")
    return float(value)
