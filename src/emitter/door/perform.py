"""Performing a plan, in either world, up to what it came to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.door.result import done
from emitter.door.session import asession, session
from emitter.drive import arun, run
from emitter.emission import emission
from emitter.sinks import Recorder

if TYPE_CHECKING:
    from emitter.door.plan import Plan
    from emitter.door.result import Done
    from emitter.door.settings import Settings


def perform(planned: Plan, settings: Settings) -> Done:
    """Ask, and return what was accepted; raises the ``EmissionError`` that it ended in."""
    recorder = _recorder(planned, settings)
    with session(planned, settings.client, settings.base_url) as send:
        outcome = run(emission(planned.ask, settings.policy), send, recorder, settings.limits())
    return done(outcome, tuple(recorder.told))


async def aperform(planned: Plan, settings: Settings) -> Done:
    """Do as ``perform`` does, without blocking."""
    recorder = _recorder(planned, settings)
    async with asession(planned, settings.client, settings.base_url) as send:
        outcome = await arun(emission(planned.ask, settings.policy), send, recorder, settings.limits())
    return done(outcome, tuple(recorder.told))


def _recorder(planned: Plan, settings: Settings) -> Recorder:
    return Recorder(settings.run_id, planned.node_id, planned.correlation_id, settings.sink)
