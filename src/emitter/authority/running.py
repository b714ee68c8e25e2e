"""The acts that run in this process: they are told when they are stopped, and may look whether they still may go on.

Source: delegation-invariants, STOP: it halts execution. Nothing can halt a function from outside; so nothing more
begins, and what runs is told.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakValueDictionary

from emitter.authority import taking
from emitter.authority.journal import Draft
from emitter.authority.records import Expire
from emitter.authority.records.form import moment, written
from emitter.authority.rules.allow import check_live, check_running, held
from emitter.errors import AuthorityError, ConfirmExpired, InputError
from emitter.store import forks

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority.journal import Journal
    from emitter.authority.records import Intent, Stop
    from emitter.authority.rules.allow import Now
    from emitter.authority.rules.state import State


@dataclass(slots=True, eq=False)
class Act:
    """An act that runs: its ``intent``, and whether it may still go on."""

    intent: Intent
    _journal: Journal
    _now: Callable[[float], Now]
    _told: list[Callable[[Stop], object]] = field(default_factory=list["Callable[[Stop], object]"])
    _stop: Stop | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_stopped(self) -> bool:
        """Whether its workflow or step was stopped, its confirm was revoked, or its time is over, by whomever."""
        try:
            self.check()
        except AuthorityError:
            return True
        return False

    def check(self) -> None:
        """Raise ``WorkflowStopped``, ``ConfirmRevoked`` or ``ConfirmExpired`` where it may not go on.

        A tool that prepares first and commits afterwards calls this right before it commits.
        """
        try:
            self._journal.look(self.intent.workflow_id, self._check)
        except ConfirmExpired:
            with suppress(_Ended):
                self._journal.add(self.intent.workflow_id, self._expire)
            raise

    def on_stop(self, tell: Callable[[Stop], object]) -> None:
        """Have ``tell`` called when this process stops the act, in the thread that stops it; at once if it was."""
        taking.function("tell", tell)
        with self._lock:
            stop = self._stop
            if stop is None:
                self._told.append(tell)
        if stop is not None:
            tell(stop)

    def tell(self, stop: Stop) -> None:
        """Tell it that it is stopped; what those raise who are told keeps nobody else from it."""
        with self._lock:
            told = () if self._stop == stop else tuple(self._told)
            self._stop = stop
        for each in told:
            with suppress(Exception):  # the stop stands; it is their own code that failed
                each(stop)

    def _check(self, state: State) -> None:
        last = 0.0 if state.last is None else moment(state.last.at)
        now = self._now(max(self._journal.now(), last))
        check_running(state, self.intent.step_id, now.actor)
        check_live(held(state, self.intent.authorization_ref), now)

    def _expire(self, state: State, at: float) -> Draft[Expire]:
        """Return the record that the time is over, so that it stays so for a clock that is set back."""
        confirm_id = self.intent.authorization_ref
        if held(state, confirm_id).end is not None:
            raise _Ended
        return Draft(Expire(timestamp=written(at), workflow_id=self.intent.workflow_id, confirm_id=confirm_id))


class _Ended(Exception):
    """It stands recorded that the confirm authorizes nothing more."""


T = TypeVar("T")


class Running:
    """The acts that run in this process, and which tool made the first call under each id."""

    __slots__ = ("__weakref__", "_acts", "_callers", "_lock")

    def __init__(self) -> None:
        self._acts: set[Act] = set()
        self._callers: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._lock = threading.Lock()
        forks.hold(self)

    def add(self, act: Act) -> None:
        """Take up an act that begins."""
        with self._lock:
            self._acts.add(act)

    def remove(self, act: Act) -> None:
        """Leave out an act that ended."""
        with self._lock:
            self._acts.discard(act)

    def has(self, intent: Intent) -> bool:
        """Tell whether an act runs here."""
        with self._lock:
            return any(each.intent == intent for each in self._acts)

    def first(self, call_id: str, caller: T) -> T:
        """Return who made the first call under an id here, as long as that is in use; ``caller`` where nobody did."""
        with self._lock:
            found: T = self._callers.setdefault(call_id, caller)
        return found

    def tell(self, stop: Stop) -> None:
        """Tell each act that a stop is of."""
        with self._lock:
            acts = tuple(self._acts)
        for each in acts:
            is_step = stop.step_id is None or stop.step_id == each.intent.step_id
            if each.intent.workflow_id == stop.workflow_id and is_step:
                each.tell(stop)

    def forking(self) -> None:
        """Do nothing: nobody holds the lock for long."""

    def forked(self, *, child: bool) -> None:
        """Begin anew in a child: what runs in the parent runs there."""
        if child:
            self._lock = threading.Lock()
            self._acts = set()


CURRENT: Final[ContextVar[Act]] = ContextVar("emitter.authority.act")


def current_act() -> Act:
    """Return the act in which this is called, for a tool that wants to know whether it may still go on.

    Raises ``InputError`` where no guarded tool is running.
    """
    act = CURRENT.get(None)
    if act is None:
        raise InputError("No guarded tool is running here.", hint="Call it inside the tool, in its own thread or task.")
    return act
