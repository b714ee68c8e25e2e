"""The hooks that an `Authority` calls, and the validation of the arguments that callers pass to it.

Each hook is a method with one of seven names; an object may define any of them. A hook that raises before an action
stops the action. If one raises afterwards, the error is logged, because the action and its receipt already exist.

Source: delegation-invariants, "Stable hook points".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast, runtime_checkable

from pydantic import ValidationError

from emitter.authority.records import MAX_NAME_LENGTH, MAX_TTL_SECONDS, AuthorityRecord
from emitter.decisions import ledger_arguments
from emitter.decisions.canonical_json import LONE_SURROGATE
from emitter.decisions.ledger import Ledger
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.authority.records import ActionRequest, Confirm, ConfirmRequest, Receipt, Stop

HOOK_NAMES: Final = (
    "before_confirm",
    "after_confirm",
    "before_execute",
    "after_execute",
    "on_stop",
    "on_takeover",
    "emit_receipt",
)


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """A finished action: its request, its receipt, and the tool's return value (None if it raised)."""

    request: ActionRequest
    receipt: Receipt
    value: Any = None


@runtime_checkable
class BeforeConfirm(Protocol):
    """Called before a confirm is granted. Raise to prevent it.

    For a guarded call it is called before the principal is asked, and again before the confirm is written.
    """

    def before_confirm(self, confirm_request: ConfirmRequest, /) -> object:
        """Inspect the request, and raise to reject it."""
        ...


@runtime_checkable
class AfterConfirm(Protocol):
    """Called after a confirm is written to the chain."""

    def after_confirm(self, confirm_record: Confirm, /) -> object:
        """Handle the confirm."""
        ...


@runtime_checkable
class BeforeExecute(Protocol):
    """Called before an action's intent is written. Raise to prevent the action."""

    def before_execute(self, action_request: ActionRequest, /) -> object:
        """Inspect the request, and raise to reject it."""
        ...


@runtime_checkable
class AfterExecute(Protocol):
    """Called after an action has ended and its receipt is written."""

    def after_execute(self, action_result: ActionOutcome, /) -> object:
        """Handle the outcome."""
        ...


@runtime_checkable
class OnStop(Protocol):
    """Called after a stop is written to the chain."""

    def on_stop(self, stop_request: Stop, /) -> object:
        """Handle the stop."""
        ...


@runtime_checkable
class OnTakeover(Protocol):
    """Called after ``on_stop`` for a stop with a takeover mode."""

    def on_takeover(self, takeover_request: Stop, /) -> object:
        """Hand over control."""
        ...


@runtime_checkable
class EmitReceipt(Protocol):
    """Called with every receipt after it is written to the chain."""

    def emit_receipt(self, receipt_record: Receipt, /) -> object:
        """Forward the receipt."""
        ...


AuthorityHook = BeforeConfirm | AfterConfirm | BeforeExecute | AfterExecute | OnStop | OnTakeover | EmitReceipt
"""An object with at least one of the seven hook methods."""
R = TypeVar("R", bound=AuthorityRecord)
_MAX_CLOCK: Final = 253_402_300_800 - MAX_TTL_SECONDS
"""The year 10,000 less the longest time to live, so that every end date can be displayed."""
_SIMILARITY_CUTOFF: Final = 0.85
_LIMIT_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def validate_record(kind: type[R], value: object) -> R:
    """Return a validated copy of a record, because ``model_copy(update=)`` skips validation."""
    if not isinstance(value, kind):
        raise InputError(f"Expected a {kind.__name__}, got {type(value).__name__}.")
    members = {name: getattr(value, name, None) for name in kind.model_fields}
    nested = {name: member for name, member in members.items() if isinstance(member, AuthorityRecord)}
    members |= {name: validate_record(type(record), record) for name, record in nested.items()}
    try:
        return kind.from_members(**members)
    except ValidationError as error:
        first_error = error.errors()[0]
        place = ".".join(str(member) for member in first_error["loc"])
        raise InputError(f"Invalid {kind.__name__}, at {place}: {first_error['msg']}.") from None


def validate_name(field: str, value: object) -> str:
    """Return the id of a workflow, action, stop or actor, or raise ``InputError``."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_LENGTH or LONE_SURROGATE.search(value):
        raise InputError(f"{field} must be a string of 1 to {MAX_NAME_LENGTH} characters without lone surrogates.")
    return value


def check_callable(field: str, value: object) -> None:
    """Raise ``InputError`` unless ``value`` is callable."""
    if not callable(value):
        raise InputError(f"{field} must be a function.")


def checked_clock(clock: Callable[[], float]) -> Callable[[], float]:
    """Wrap a clock so that an invalid time raises instead of keeping confirms alive forever."""

    def read() -> float:
        at: Any = clock()
        if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < _MAX_CLOCK:
            raise InputError("clock= must return a time.", hint="Return seconds since 1970, as time.time does.")
        return float(at)

    return read


def check_dependencies(store: object, ledger: object, clock: object, on_event: object) -> None:
    """Raise ``InputError`` for an unusable store, ledger, clock or sink; all but the clock may be None."""
    ledger_arguments.check_collaborators(store, clock, on_event)
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InputError("ledger= must be a Ledger.")


def validate_hooks(hooks: object) -> tuple[AuthorityHook, ...]:
    """Return the hooks; each must have at least one of the seven methods."""
    items = _as_tuple("hooks", hooks)
    for hook in items:
        if isinstance(hook, type) or not any(callable(getattr(hook, name, None)) for name in HOOK_NAMES):
            raise InputError(
                f"A hook of type {type(hook).__name__} has none of the seven hook methods.",
                hint=f"Define one of {', '.join(HOOK_NAMES)}.",
            )
        _check_hook_spelling(hook)
    return cast("tuple[AuthorityHook, ...]", items)


def _check_hook_spelling(hook: object) -> None:
    """Reject a misspelled hook method, because a policy that is never called protects nothing."""
    for name in dir(hook):
        matches = [] if name in HOOK_NAMES else get_close_matches(name, HOOK_NAMES, n=1, cutoff=_SIMILARITY_CUTOFF)
        if matches:
            raise InputError(f"The hook method {name} would never be called.", hint=f"Did you mean {matches[0]}?")


def validate_limit_names(names: object) -> frozenset[str]:
    """Return the names of the caller's own limits."""
    items = _as_tuple("limits", names)
    if not all(isinstance(item, str) and _LIMIT_NAME.fullmatch(item) for item in items):
        raise InputError("limits= must list names like max_files: a letter, then letters, digits or underscores.")
    return frozenset(cast("tuple[str, ...]", items))


def validate_max_skew(value: object) -> float:
    """Return the number of seconds by which clocks may differ."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_TTL_SECONDS:
        raise InputError(f"max_skew must be a number of seconds from 0 to {MAX_TTL_SECONDS:,}.")
    return float(value)


def _as_tuple(name: str, values: object) -> tuple[object, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name}= must be a list.")
    return tuple(cast("Iterable[object]", values))
