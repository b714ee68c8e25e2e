"""``emit_authorization`` and ``aemit_authorization``: they compose the parts and decide nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from emitter.authority.envelope.terms import DEFAULT_NARRATIVE, Stamp, Terms
from emitter.authority.envelope.verifying import Unverified, checked
from emitter.authority.envelope.wanted import shown, wanted
from emitter.door.perform import aperform, perform
from emitter.door.plan import plan
from emitter.door.result import Emission
from emitter.door.settings import More, Settings
from emitter.errors import InputError
from emitter.kinds import AUTHORIZATION, AuthorizationEnvelope
from emitter.kinds.authorization import EnforcementMode
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Unpack

    from emitter.authority.envelope.reading import OracleReading
    from emitter.authority.envelope.verifying import Verify
    from emitter.conversation import Situation
    from emitter.door.plan import Plan
    from emitter.door.result import Done
    from emitter.kinds.authorization import NarrativePolicy, WorkflowDeclaration
    from emitter.prompt import Material
    from emitter.sinks import Sink

Authorized: TypeAlias = Emission[AuthorizationEnvelope | Unverified]
"""What comes back; ``Unverified`` comes from ASYNC workflows alone."""


def emit_authorization(  # noqa: PLR0913  all but the model and the workflow have a default
    situation: Situation,
    *,
    model: str,
    workflow: WorkflowDeclaration,
    oracles: Sequence[OracleReading] = (),
    narrative: NarrativePolicy = DEFAULT_NARRATIVE,
    actions: Collection[str] | None = None,
    verify: Verify | None = None,
    client: object = None,
    materials: Iterable[Material | str] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Authorized:
    """Turn a situation into an authorization envelope: what may be shown as established, or why nothing is.

    ``workflow`` declares whether authority may be emitted at all. ``oracles`` are readings that you obtained: the
    model may cite them, and what it claims must be what they say; a claim's provenance is built from them. Where two
    disagree on an axis, the model can only say that they do. ``narrative`` is the policy of text without authority,
    ``actions`` are those that may be proposed (None: any). ``verify`` is asked of each cited record before a claim of
    an INLINE workflow is handed out. ``model``, ``client``, ``materials``, ``policy``, ``sink`` and ``more`` are those
    of ``emit_binding_moment``.

    Returns an ``Emission`` whose ``value`` is one of the six kinds, a refusal among them, for ``handle``; in an ASYNC
    workflow a claim comes as ``Unverified``, to be settled. With a store, what was accepted before is held to the
    terms and verified anew. Raises ``InputError`` before anything is sent, and ``Refused``, ``Truncated``, ``Invalid``
    or ``Unreachable``, each with the whole trace.

    Source: RFC-0010, "Authorization Envelope".
    """
    terms = _terms(Terms.of(workflow, oracles, narrative, actions), verify)
    settings = _shown(Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more), terms)
    return _emission(perform(_planned(terms, verify, situation, settings), settings))


async def aemit_authorization(  # noqa: PLR0913  all but the model and the workflow have a default
    situation: Situation,
    *,
    model: str,
    workflow: WorkflowDeclaration,
    oracles: Sequence[OracleReading] = (),
    narrative: NarrativePolicy = DEFAULT_NARRATIVE,
    actions: Collection[str] | None = None,
    verify: Verify | None = None,
    client: object = None,
    materials: Iterable[Material | str] = (),
    policy: Policy | None = None,
    sink: Sink | None = None,
    **more: Unpack[More],
) -> Authorized:
    """Do as ``emit_authorization`` does, without blocking; ``client`` is an async one, ``verify`` answers at once."""
    terms = _terms(Terms.of(workflow, oracles, narrative, actions), verify)
    settings = _shown(Settings(model, client, materials, policy or DEFAULT_POLICY, sink, **more), terms)
    return _emission(await aperform(_planned(terms, verify, situation, settings), settings))


def _terms(terms: Terms, verify: Verify | None) -> Terms:
    """Return the terms; raises ``InputError`` for a ``verify`` that would not be asked, or could not answer."""
    if verify is not None:
        checked(verify)
        if terms.workflow.enforcement_mode is EnforcementMode.ASYNC:
            raise InputError(
                "verify was given, and an ASYNC workflow verifies later.", hint="Call settle(verify) on the value."
            )
    return terms


def _shown(settings: Settings, terms: Terms) -> Settings:
    """Return the settings with the readings among the materials; none of them may show the model a secret.

    A ``kind`` that names what is made anyway says nothing about the form in which the model proposes it.
    """
    readings = shown(terms)
    if settings.host.rules.secrets.json([each.text for each in readings]).count:
        raise InputError("A reading holds a secret of the host's.", hint="No model is shown one: leave it out.")
    kind = None if settings.kind == AUTHORIZATION else settings.kind
    return replace(settings, kind=kind, materials=(*settings.shown(), *readings))


def _planned(terms: Terms, verify: Verify | None, situation: Situation, settings: Settings) -> Plan:
    host = settings.host
    return plan(wanted(terms, lambda: Stamp(host.mint(), host.mint(), host.stamp()), verify), situation, settings)


def _emission(done: Done) -> Authorized:
    return Emission(done.value, done.envelope, done.trace)
