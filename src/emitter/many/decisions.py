"""``emit_binding_moments`` and ``aemit_binding_moments``: they compose the parts and decide nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emitter.door.settings import More, Settings
from emitter.kinds import OPEN_HATCHES, Hatches
from emitter.many.batched import chosen
from emitter.many.job import AnySituations, Job, Situations, checked, count, stream
from emitter.many.run import AsyncRun, How
from emitter.many.threaded import Run
from emitter.many.work import Asking, work
from emitter.moment.acting import NO_ACTIONS
from emitter.moment.result import Decision, decision
from emitter.moment.terms import Terms
from emitter.moment.wanted import wanted
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike
    from typing import Unpack

    from emitter.batch import Batch
    from emitter.decide.lint import Discipline
    from emitter.many.bar import Report
    from emitter.many.work import Work
    from emitter.moment.acting import Actions
    from emitter.moment.after import After
    from emitter.prompt import Material
    from emitter.sinks import Sink


def emit_binding_moments(  # noqa: PLR0913  every one but the model has a default
    situations: Situations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: Discipline | None = None,
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Run[Decision]:
    """Turn each of many situations into a decision that its principal can make.

    Everything about the many is as in ``emit_many``, everything about the decision as in ``emit_binding_moment``;
    what is of one situation alone, ``after`` and ``actions``, stands in its ``Job``.
    """
    checked(situations, asynchronous=False)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    how = How(in_flight, ordered, journal, progress, chosen(batch))
    asked = _work(partial(Terms.of, hatches, decision_class, discipline), settings)
    return Run(asked, iter(situations), count(situations), how)


def aemit_binding_moments(  # noqa: PLR0913  every one but the model has a default
    situations: AnySituations,
    *,
    model: str,
    client: object = None,
    in_flight: int = 32,
    ordered: bool = True,
    journal: str | PathLike[str] | None = None,
    progress: Report | bool | None = None,
    batch: Batch | bool = False,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: Discipline | None = None,
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncRun[Decision]:
    """Do as ``emit_binding_moments`` does, without blocking; see ``aemit_many``."""
    checked(situations, asynchronous=True)
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    how = How(in_flight, ordered, journal, progress, chosen(batch))
    asked = _work(partial(Terms.of, hatches, decision_class, discipline), settings)
    return AsyncRun(asked, stream(situations), count(situations), how)


def _work(terms: Callable[[After, Actions], Terms], settings: Settings) -> Work[Decision]:
    def deciding(given: Job) -> Asking[Decision]:
        own = terms(given.after, given.actions)
        return Asking(wanted(own), partial(decision, actions=own.actions))

    return work(wanted(terms((), NO_ACTIONS)), settings, decision, deciding)
