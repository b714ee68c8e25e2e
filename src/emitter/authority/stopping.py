"""STOP / TAKEOVER and RESUME: nothing of what was stopped begins, and what runs is told.

Source: delegation-invariants, "STOP / TAKEOVER (deterministic intervention)".
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from emitter.authority.journal import Draft
from emitter.authority.parts import after
from emitter.authority.records import Resume, Stop, StopScope, TakeoverMode
from emitter.authority.records.form import written
from emitter.authority.rules import places
from emitter.authority.steps import Ours
from emitter.errors import InputError
from emitter.sinks import new_id

if TYPE_CHECKING:
    from emitter.authority.parts import Parts
    from emitter.authority.records import Intent
    from emitter.authority.rules.state import State
    from emitter.authority.steps import Steps


@dataclass(frozen=True, slots=True)
class Stopped:
    """A stop, as it stands in the chain, and the acts that had begun before it and have no receipt yet."""

    stop: Stop
    running: tuple[Intent, ...] = ()


@dataclass(frozen=True, slots=True)
class StopRequest:
    """What shall be stopped, and by whose request: the same ``request_id`` again is the same stop."""

    workflow_id: str
    step_id: str | None = None
    takeover_mode: TakeoverMode | str | None = None
    delegate_to: str | None = None
    reason: str | None = None
    request_id: str | None = None

    def record(self, at: str) -> Stop:
        """Return the record; raises ``InputError`` for what none can be made of."""
        scope = StopScope.CHAIN if self.step_id is None else StopScope.STEP
        members = {name: getattr(self, name) for name in self.__slots__}
        try:
            return Stop.of(**members, timestamp=at, stop_scope=scope)
        except ValidationError as error:
            raise InputError(f"That is no stop: {error.errors()[0]['msg']}.") from None


def stop(parts: Parts, wanted: StopRequest) -> Steps[Stopped]:
    """Stop a step or a whole chain; recorded, nothing of it begins, in whichever process."""
    stopped: Stopped
    stopped, is_new = yield Ours(partial(_recorded, parts, wanted))
    parts.running.tell(stopped.stop)  # another process may have recorded it, and told those that run there
    if is_new:
        yield from after(parts, "on_stop", stopped.stop)
        if stopped.stop.takeover_mode is not None:
            yield from after(parts, "on_takeover", stopped.stop)
    return stopped


def resume(parts: Parts, workflow_id: str, request_id: str) -> Resume:
    """Lift a pause, or what a person took over: new confirms can be granted, those from before stay dead."""

    def make(state: State, at: float) -> Draft[Resume]:
        places.check_resumable(state, request_id)
        named = {"resume_id": new_id(), "workflow_id": workflow_id, "request_id": request_id}
        return Draft(Resume.of(**named, timestamp=written(at)))

    return parts.journal.add(workflow_id, make)


def _recorded(parts: Parts, wanted: StopRequest) -> tuple[Stopped, bool]:
    asked = wanted if wanted.request_id is not None else _named(wanted)
    asked.record(written(0))

    def make(state: State, at: float) -> Draft[Stop]:
        known = state.stops.get(str(asked.request_id))
        if known is None:
            return Draft(asked.record(written(at)))
        if known != asked.record(known.timestamp):
            raise InputError("The id is another stop's.", hint="Give another request_id, or none.")
        raise _Stands

    is_new = False
    with suppress(_Stands):
        parts.journal.add(asked.workflow_id, make)
        is_new = True
    return parts.journal.look(asked.workflow_id, partial(_seen, request_id=str(asked.request_id))), is_new


class _Stands(Exception):
    """The same stop was recorded before."""


def _named(wanted: StopRequest) -> StopRequest:
    members = {name: getattr(wanted, name) for name in wanted.__slots__}
    return StopRequest(**{**members, "request_id": new_id()})


def _seen(state: State, request_id: str) -> Stopped:
    found = state.stops[request_id]
    running = [each for each in state.unfinished.values() if found.step_id in (None, each.step_id)]
    return Stopped(found, tuple(running))
