"""Shared state of the operations of an `Authority`, which `emitter.interpreter` executes.

`ActiveActions` tracks the actions running in this process, so that a stop reaches them.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast
from weakref import WeakValueDictionary

from emitter.authority import configuration
from emitter.authority.journal import CONFLICTING_RECEIPT_MESSAGE, HOOK_FAILED_MESSAGE, NewRecord
from emitter.authority.records import Expire, parse_timestamp
from emitter.authority.rules import ActorClock, check_grant_live, check_not_stopped, get_grant_state
from emitter.errors import AuthorityError, ConfirmExpired, InputError
from emitter.interpreter import BlockingStep, UserCodeStep
from emitter.problems import warn_of_problem
from emitter.stores import locks as forks

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from emitter.authority.configuration import AuthorityHook
    from emitter.authority.journal import Journal
    from emitter.authority.records import AuthorityRecord, Intent, Receipt, Stop
    from emitter.authority.rules import WorkflowState
    from emitter.decisions.ledger import Ledger
    from emitter.decisions.resolution import AnswerVerifier
    from emitter.interpreter import Steps


class RunningAction:
    """An action that is running: its ``intent``, and checks on whether it may continue.

    ``current_action()`` returns it inside a tool. ``intent.intent_id`` can be the idempotency key of a request.
    """

    __slots__ = ("_clock_at", "_journal", "_lock", "_stop", "_stop_listeners", "intent")

    def __init__(self, intent: Intent, journal: Journal, clock_at: Callable[[float], ActorClock]) -> None:
        self.intent = intent
        self._journal = journal
        self._clock_at = clock_at
        self._stop_listeners: list[Callable[[Stop], object]] = []
        self._stop: Stop | None = None
        self._lock = threading.Lock()

    @property
    def is_stopped(self) -> bool:
        """True if the workflow or step was stopped, or the confirm was revoked or has expired."""
        try:
            self.check()
        except AuthorityError:
            return True
        return False

    def check(self) -> None:
        """Raise ``WorkflowStopped``, ``ConfirmRevoked`` or ``ConfirmExpired`` if the action may not continue.

        Call it right before a tool commits what it prepared.
        """
        try:
            self._journal.read(self.intent.workflow_id, self._check_live)
        except ConfirmExpired:
            self._journal.append(self.intent.workflow_id, self._make_expiry)
            raise

    def on_stop(self, callback: Callable[[Stop], object]) -> None:
        """Call ``callback`` in the stopping thread when this process stops the action, or now if it was stopped."""
        configuration.check_callable("callback", callback)
        with self._lock:
            stop = self._stop
            if stop is None:
                self._stop_listeners.append(callback)
        # Outside the lock: the callback may call on_stop() itself.
        if stop is not None:
            callback(stop)

    def notify_stop(self, stop: Stop) -> None:
        """Call the stop listeners, ignoring what they raise."""
        with self._lock:
            listeners = () if self._stop == stop else tuple(self._stop_listeners)
            self._stop = stop
        for listener in listeners:
            with suppress(Exception):  # a failing listener does not undo the stop
                listener(stop)

    def _check_live(self, state: WorkflowState) -> None:
        last = 0.0 if state.last is None else parse_timestamp(state.last.at)
        now = self._clock_at(max(self._journal.now(), last))
        check_not_stopped(state, self.intent.step_id, now.actor)
        check_grant_live(get_grant_state(state, self.intent.authorization_ref), now)

    def _make_expiry(self, state: WorkflowState, at: float) -> NewRecord[Expire] | None:
        """Return a record of the expiry, which then holds even if a clock is set back, unless there is an end."""
        confirm_id = self.intent.authorization_ref
        if get_grant_state(state, confirm_id).end is not None:
            return None
        return NewRecord(Expire.at(at, self.intent.workflow_id, confirm_id))


CallerT = TypeVar("CallerT")


class ActiveActions:
    """The actions running in this process, and the tool that made the first call under each id."""

    __slots__ = ("__weakref__", "_actions", "_first_callers", "_lock")

    def __init__(self) -> None:
        self._actions: set[RunningAction] = set()
        self._first_callers: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._lock = threading.Lock()
        forks.register_fork_handler(self)

    def add(self, action: RunningAction) -> None:
        """Register an action that begins."""
        with self._lock:
            self._actions.add(action)

    def remove(self, action: RunningAction) -> None:
        """Unregister an action that ended."""
        with self._lock:
            self._actions.discard(action)

    def is_running(self, intent: Intent) -> bool:
        """Return True if an action runs in this process."""
        with self._lock:
            return any(action.intent == intent for action in self._actions)

    def first_caller(self, call_id: str, caller: CallerT) -> CallerT:
        """Return the first caller under an id in this process, while it is alive, or else ``caller``."""
        with self._lock:
            first: CallerT = self._first_callers.setdefault(call_id, caller)
        return first

    def notify_stop(self, stop: Stop) -> None:
        """Notify each action that a stop affects."""
        with self._lock:
            actions = tuple(self._actions)
        for action in actions:
            affects_step = stop.step_id is None or stop.step_id == action.intent.step_id
            if action.intent.workflow_id == stop.workflow_id and affects_step:
                action.notify_stop(stop)

    def after_fork(self, *, child: bool) -> None:
        """Forget the parent's actions in a forked child."""
        if child:
            self._lock = threading.Lock()
            self._actions = set()


CURRENT_ACTION: Final[ContextVar[RunningAction]] = ContextVar("emitter.authority.act")


def current_action() -> RunningAction:
    """Return the action that is running, so that a tool can check whether it may continue.

    Raises:
        InputError: No guarded tool is running here.
    """
    action = CURRENT_ACTION.get(None)
    if action is None:
        raise InputError("No guarded tool is running here.", hint="Call it inside the tool, in its own thread or task.")
    return action


CallerCheck: TypeAlias = "Callable[[], object]"
_CALLER_CHECKS: Final[ContextVar[tuple[CallerCheck, ...]]] = ContextVar("emitter.authority.callers", default=())


@contextmanager
def checking_caller(check: CallerCheck) -> Generator[None]:
    """Call ``check`` right before each act of a guarded call that is made in this context.

    It raises if the caller does not want the act any more, for example because its workflow was cancelled while the
    person was asked. It may block.
    """
    token = _CALLER_CHECKS.set((*_CALLER_CHECKS.get(), check))
    try:
        yield
    finally:
        _CALLER_CHECKS.reset(token)


def check_caller() -> Steps[None]:
    """Raise what a check of ``checking_caller`` raises. Each act passes here before its intent is written."""
    for check in _CALLER_CHECKS.get():
        yield BlockingStep(check)


@dataclass(frozen=True, slots=True)
class AuthorityContext:
    """The state that the operations of an authority share. ``limit_names`` are the caller's own limits."""

    journal: Journal
    ledger: Ledger
    actor: str
    hooks: tuple[AuthorityHook, ...]
    limit_names: frozenset[str]
    max_skew: float
    active_actions: ActiveActions
    check_answer: AnswerVerifier | None = None

    def clock_at(self, at: float) -> ActorClock:
        """Return the actor and the time, in seconds since 1970, with the permitted skew."""
        return ActorClock(self.actor, at, self.max_skew)


def run_hooks_before(
    context: AuthorityContext, hook_name: str, argument: object, *, copied: bool = False
) -> Steps[None]:
    """Call the hooks before an action; what one raises prevents it. With ``copied`` they get a copy of the record."""
    if copied and context.hooks:
        argument = cast("AuthorityRecord", argument).model_copy(deep=True)
    for hook in context.hooks:
        call = getattr(hook, hook_name, None)
        if call is not None:
            yield UserCodeStep(partial(call, argument))


def run_hooks_after(context: AuthorityContext, hook_name: str, argument: object) -> Steps[None]:
    """Call the hooks after an action; what one raises is reported, and the others are still called."""
    for step in run_hooks_before(context, hook_name, argument):
        try:
            yield step
        except Exception as error:  # noqa: BLE001  the action and its record exist already
            report_callback_error(context, hook_name, error)


def report_callback_error(context: AuthorityContext, name: str, error: Exception) -> None:
    """Report a callback that raised after an action by name and type only: its message may contain anything."""
    fields = {"hook": name, "error": type(error).__name__}
    context.journal.emit_warning(HOOK_FAILED_MESSAGE, fields, name)
    message = f"{name} raised {type(error).__name__}; the records are unaffected."
    warn_of_problem(message)


def report_conflicting_receipt(context: AuthorityContext, receipt: Receipt) -> None:
    """Report an action that ended differently from how it was resolved by hand."""
    fields = {"receipt_id": receipt.receipt_id}
    context.journal.emit_warning(CONFLICTING_RECEIPT_MESSAGE, fields, receipt.workflow_id)
    warn_of_problem("An action ended differently from its receipt, which was written by resolve_unfinished().")
