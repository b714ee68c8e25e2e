"""``emit_binding_moment`` and ``aemit_binding_moment``: they compose the parts and decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from emitter.drive import Limits, arun, run
from emitter.emission import emission
from emitter.kinds import OPEN_HATCHES, BindingMoment, Hatches
from emitter.moment.plan import More, Plan, Settings, plan
from emitter.moment.result import Emission, Withheld, conclude
from emitter.moment.session import asession, session
from emitter.remedy import Policy
from emitter.sinks import Recorder, Sink

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from emitter.conversation import Situation
    from emitter.prompt import Material

Decision: TypeAlias = Emission[BindingMoment] | Withheld
"""What comes back: a binding moment, or an honest "not yet"."""


def emit_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Decision:
    """Turn a situation into a decision that its principal can make.

    ``situation`` is a text, or the agent's own message list in any vendor's form. ``model`` is
    ``vendor/model``. ``client`` is an SDK client of your own, of any flavour; without one it is made from
    the vendor's usual environment variables. ``materials`` are texts that bear on the decision, with their
    trust. ``decision_class`` and ``hatches`` go into the envelope as given. ``policy`` says what may be
    spent, ``sink`` is called with every event as it happens.

    Returns an ``Emission`` whose ``value`` is a ``BindingMoment``, or ``Withheld`` when the model chose not
    to bind. Raises ``InputError`` before anything is sent, and ``Refused``, ``Truncated``, ``Invalid`` or
    ``Unreachable``, each with the whole trace.

    Source: draft-morrison-binding-moment-envelope-00; OpenWOP ai-envelope, RFC 0032 and RFC 0033.
    """
    settings = Settings(model, materials, decision_class, hatches, policy or Policy(), **more)
    planned = plan(situation, settings, client)
    recorder = _recorder(planned, settings, sink)
    with session(planned, client, settings.base_url) as send:
        outcome = run(emission(planned.ask, settings.policy), send, recorder, _limits(settings))
    return conclude(planned, settings, outcome, tuple(recorder.told))


async def aemit_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Situation,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Decision:
    """Do as ``emit_binding_moment`` does, without blocking; ``client`` is an async one."""
    settings = Settings(model, materials, decision_class, hatches, policy or Policy(), **more)
    planned = plan(situation, settings, client)
    recorder = _recorder(planned, settings, sink)
    async with asession(planned, client, settings.base_url) as send:
        outcome = await arun(emission(planned.ask, settings.policy), send, recorder, _limits(settings))
    return conclude(planned, settings, outcome, tuple(recorder.told))


def _recorder(planned: Plan, settings: Settings, sink: Sink | None) -> Recorder:
    return Recorder(settings.run_id, settings.node_id, planned.correlation_id, sink)


def _limits(settings: Settings) -> Limits:
    return Limits(settings.policy.timeout, settings.policy.deadline, settings.clock)
