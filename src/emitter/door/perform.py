"""Performing a plan, in either world, up to what it came to."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emitter.door.exchange import Line, Whole
from emitter.door.recording import recording
from emitter.door.result import done
from emitter.door.session import asession, session
from emitter.door.spending import warn_of_assumptions
from emitter.drive import AsyncDrive, Drive, arun, run
from emitter.emission import emission

if TYPE_CHECKING:
    from emitter.door.plan import Plan
    from emitter.door.result import Done
    from emitter.door.settings import Settings
    from emitter.sinks import Recorder


def perform(planned: Plan, settings: Settings) -> Done:
    """Ask, and return what was accepted; raises the ``EmissionError`` that it ended in."""
    warn_of_assumptions(planned)
    tell = recorder(planned, settings)
    with session(planned.profile, settings.client, settings.base_url, planned.ask.request.model) as client:
        send = partial(Whole, Line(planned, client, settings.clock, max_bytes=settings.policy.max_response_bytes))
        outcome = run(Drive(emission(planned.ask, settings.policy), send, tell, settings.limits()))
    return done(outcome, tuple(tell.told))


async def aperform(planned: Plan, settings: Settings) -> Done:
    """Do as ``perform`` does, without blocking."""
    warn_of_assumptions(planned)
    tell = recorder(planned, settings)
    async with asession(planned.profile, settings.client, settings.base_url, planned.ask.request.model) as client:
        send = partial(Whole, Line(planned, client, settings.clock, max_bytes=settings.policy.max_response_bytes))
        outcome = await arun(AsyncDrive(emission(planned.ask, settings.policy), send, tell, settings.limits()))
    return done(outcome, tuple(tell.told))


def recorder(planned: Plan, settings: Settings) -> Recorder:
    """Return what keeps the events of one emission, and hands them to the caller's sink."""
    return recording(settings, planned.context, planned.correlation_id)
