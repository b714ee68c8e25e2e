"""``emit_binding_moment`` and ``aemit_binding_moment``: they compose the parts and decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.door.perform import aperform, perform
from emitter.door.plan import plan
from emitter.door.settings import More, Settings
from emitter.kinds import OPEN_HATCHES, Hatches
from emitter.moment.acting import NO_ACTIONS, Actions
from emitter.moment.result import Decision, decision
from emitter.moment.terms import Terms
from emitter.moment.wanted import wanted
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from emitter.conversation import Situation
    from emitter.decide.lint import Discipline
    from emitter.moment.after import After
    from emitter.prompt import Material
    from emitter.sinks import Sink


def emit_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Situation,
    *,
    model: str,
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
) -> Decision:
    """Turn a situation into a decision that its principal can make.

    ``situation`` is a text, or the agent's own message list in any vendor's form. ``model`` is
    ``vendor/model``. ``client`` is an SDK client of your own, of any flavour; without one it is made from
    the vendor's usual environment variables. ``materials`` are texts that bear on the decision, with their
    trust. ``decision_class`` and ``hatches`` go into the envelope as given. ``discipline`` says how severe each
    rule about the content is (``Discipline.of({"synopsis-modal": "off"})``). ``after`` is what ``continue_after``
    returned for earlier envelopes, the earliest first: the model reads it, and may not ask a refused question again;
    as a model's words are in it, the envelope counts as untrusted. ``actions`` are one to four options that do
    something: by label, the digest of what choosing it would do, or None. The envelope offers exactly these labels,
    each once, beside options of the model's own; the model reads the labels and never a digest. As anybody's words
    may be in a label, the envelope counts as untrusted.
    ``policy`` says what may be spent, ``sink`` is called with every event as it happens.

    ``more`` is described by ``emitter.door.settings.More``: ``host``, ``run_id``, ``requires``, ``instructions``, ...

    Returns an ``Emission`` whose ``value`` is a ``BindingMoment``, and whose ``actions`` are the digests of its
    options in order (for ``Ledger.open``), or ``Withheld`` when the model chose not to bind. Raises ``InputError``
    before anything is sent, and ``Refused``, ``Truncated``, ``Invalid`` or ``Unreachable``, each with the whole trace.

    Source: draft-morrison-binding-moment-envelope-00; OpenWOP ai-envelope, RFC 0032 and RFC 0033.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    terms = Terms.of(hatches, decision_class, discipline, after, actions)
    planned = plan(wanted(terms), situation, settings)
    return decision(perform(planned, settings), terms.actions)


async def aemit_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Situation,
    *,
    model: str,
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
) -> Decision:
    """Do as ``emit_binding_moment`` does, without blocking; ``client`` is an async one."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more)
    terms = Terms.of(hatches, decision_class, discipline, after, actions)
    planned = plan(wanted(terms), situation, settings)
    return decision(await aperform(planned, settings), terms.actions)
