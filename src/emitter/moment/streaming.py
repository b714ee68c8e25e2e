"""``stream_binding_moment`` and ``astream_binding_moment``: a decision that is told while it is written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emitter.door.plan import plan
from emitter.door.running import AsyncStream, Stream
from emitter.door.settings import More, Settings
from emitter.kinds import OPEN_HATCHES, Hatches
from emitter.moment.acting import NO_ACTIONS, Actions
from emitter.moment.result import Decision, decision
from emitter.moment.terms import Terms
from emitter.moment.wanted import wanted
from emitter.moment.watch import watched
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from emitter.conversation import Situation
    from emitter.decide.lint import Discipline
    from emitter.moment.after import After
    from emitter.prompt import Material
    from emitter.sinks import Sink


def stream_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Situation,
    *,
    model: str,
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: Discipline | None = None,
    after: After = (),
    actions: Actions = NO_ACTIONS,
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Stream[Decision]:
    """Do as ``emit_binding_moment`` does, and tell of the decision while it is written.

    Returns a ``Stream``: iterate it for a ``Slot`` as each part of the decision is whole and valid, and ask its
    ``result()`` for the ``Emission`` or ``Withheld``. The slots are ``/reasoning``, ``/kind`` (which of the four
    things the model chose), ``/synopsis``, ``/findings``, ``/recommendations``, ``/offer``, ``/question/stem``,
    each ``/question/options/0`` and so on, and ``/question/recommended_idx``; what a model that does not bind
    says instead has slots of its own. ``follow`` names texts that are told as they are written (``TextDelta``):
    ``/reasoning``, ``/synopsis``, ``/offer`` or ``/question/stem``.

    Nothing that is told on the way is a decision: a ``Restart`` takes it back, and only ``result()`` binds.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    terms = Terms.of(hatches, decision_class, discipline, after, actions)
    planned = plan(wanted(terms), situation, settings)
    return Stream(planned, settings, watched(follow), partial(decision, actions=terms.actions))


def astream_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Situation,
    *,
    model: str,
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: Discipline | None = None,
    after: After = (),
    actions: Actions = NO_ACTIONS,
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> AsyncStream[Decision]:
    """Do as ``stream_binding_moment`` does, without blocking; ``client`` is an async one."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    terms = Terms.of(hatches, decision_class, discipline, after, actions)
    planned = plan(wanted(terms), situation, settings)
    return AsyncStream(planned, settings, watched(follow), partial(decision, actions=terms.actions))
