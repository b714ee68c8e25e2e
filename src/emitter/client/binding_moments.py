"""Emit a binding moment: ``emit_binding_moment``, ``stream_binding_moment`` and their async versions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from emitter.client.execution import aexecute, execute
from emitter.client.request import prepare_emission
from emitter.client.result import Emission, HasTrace, Trace
from emitter.client.settings import EmitOptions, Settings
from emitter.client.streams import AsyncStream, Stream
from emitter.forms.binding_moment import (
    NO_ACTIONS,
    Actions,
    DecisionOptions,
    binding_moment_form,
    option_digests,
    stream_selectors,
)
from emitter.models import (
    OPEN_HATCHES,
    AIEnvelope,
    BindingMoment,
    ClarificationRequest,
    Deliberation,
    ErrorReport,
    Hatches,
)
from emitter.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    from emitter.checks import LintConfig
    from emitter.conversation import Messages
    from emitter.forms.binding_moment import EarlierAnswers
    from emitter.models.binding_moment import TurnAnswer
    from emitter.prompts import Material
    from emitter.telemetry.sinks import Sink


def emit_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: LintConfig | None = None,
    after: EarlierAnswers = (),
    actions: Actions = NO_ACTIONS,
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Decision:
    """Ask a model for a decision that its principal can make.

    Args:
        situation: A prompt, or a list of messages in OpenAI, Anthropic or Google format.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.
        client: An SDK client of any flavour. By default one is created from the vendor's environment variables.
        materials: Texts that bear on the decision, with their trust.
        decision_class: A class for the envelope's ``meta``, such as ``"consent"``.
        hatches: The vetoes that the principal has. Both are open by default.
        discipline: The severity of each content rule, such as ``LintConfig.of({"synopsis-modal": "off"})``.
        after: The continuations of earlier envelopes from ``continue_after``, earliest first. The model reads them and
            must not repeat a refused question. The envelope is then untrusted, since they repeat a model's words.
        actions: One to four options that do something, as label to action digest, or None for no action. The envelope
            offers exactly these labels beside the model's own options. The model reads the labels but no digest. The
            envelope is then untrusted, since anyone's words may be in a label.
        policy: Limits on attempts, tokens, time and cost. Defaults to ``Policy()``.
        on_event: A function that is called with every event.
        **more: See ``emitter.client.settings.EmitOptions``.

    Returns:
        An ``Emission`` whose ``value`` is a ``BindingMoment`` and whose ``actions`` are the digests of its options, or
        ``Withheld`` if the model chose not to bind.

    Raises:
        InputError: An argument cannot be used. Nothing was sent.
        Refused: The model declined to answer. Refusals are never retried.
        Truncated: The answer was cut off even at the largest output budget.
        Invalid: No answer was a valid decision.
        Unreachable: The vendor could not be reached.

    Source: draft-morrison-binding-moment-envelope-00; OpenWOP ai-envelope, RFC 0032 and RFC 0033.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
    prepared = prepare_emission(binding_moment_form(options), situation, settings)
    return to_decision(execute(prepared, settings), options.actions)


async def aemit_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Messages,
    *,
    model: str,
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: LintConfig | None = None,
    after: EarlierAnswers = (),
    actions: Actions = NO_ACTIONS,
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Decision:
    """Async version of ``emit_binding_moment``. ``client`` is an async SDK client."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
    prepared = prepare_emission(binding_moment_form(options), situation, settings)
    return to_decision(await aexecute(prepared, settings), options.actions)


def stream_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Messages,
    *,
    model: str,
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: LintConfig | None = None,
    after: EarlierAnswers = (),
    actions: Actions = NO_ACTIONS,
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> Stream[Decision]:
    """Ask for a decision as ``emit_binding_moment`` does, and report its parts while they are written.

    Iterate the stream for a ``FieldComplete`` as each part is complete and valid, and then call ``result()`` for the
    ``Emission`` or ``Withheld``. The parts are ``/reasoning``, ``/kind`` (which of the four answers the model chose),
    ``/synopsis``, ``/findings``, ``/recommendations``, ``/offer``, ``/question/stem``, each ``/question/options/0`` and
    so on, and ``/question/recommended_idx``. An answer that does not bind has its own parts. ``follow`` names texts
    that are reported while they are written, as ``TextDelta``: ``/reasoning``, ``/synopsis``, ``/offer`` or
    ``/question/stem``.

    Only ``result()`` is a decision: a ``Restart`` takes back everything that was reported.
    """
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
    prepared = prepare_emission(binding_moment_form(options), situation, settings)
    return Stream(prepared, settings, stream_selectors(follow), partial(to_decision, actions=options.actions))


def astream_binding_moment(  # noqa: PLR0913  every one but the model has a default
    situation: Messages,
    *,
    model: str,
    follow: Iterable[str] = (),
    client: object = None,
    materials: Iterable[Material | str] = (),
    decision_class: str | None = None,
    hatches: Hatches = OPEN_HATCHES,
    discipline: LintConfig | None = None,
    after: EarlierAnswers = (),
    actions: Actions = NO_ACTIONS,
    policy: Policy | None = None,
    on_event: Sink | None = None,
    **more: Unpack[EmitOptions],
) -> AsyncStream[Decision]:
    """Async version of ``stream_binding_moment``. ``client`` is an async SDK client."""
    settings = Settings(model, client, materials, policy or DEFAULT_POLICY, on_event, **more)
    options = DecisionOptions.from_arguments(hatches, decision_class, discipline, after, actions)
    prepared = prepare_emission(binding_moment_form(options), situation, settings)
    return AsyncStream(prepared, settings, stream_selectors(follow), partial(to_decision, actions=options.actions))


@dataclass(frozen=True)
class Withheld(HasTrace):
    """The agent's veto: it chose not to bind. This is a success of the turn, not a failure.

    ``reason`` is a deliberation (the agent asks leave to go on), a clarification request or an error report.
    """

    reason: Deliberation | ClarificationRequest | ErrorReport
    envelope: AIEnvelope
    trace: Trace

    @property
    def actions(self) -> tuple[str | None, ...]:
        """Always empty: nothing is offered."""
        return ()


Decision: TypeAlias = Emission[BindingMoment] | Withheld
"""The result of ``emit_binding_moment``."""


def to_decision(emission: Emission[TurnAnswer], actions: Actions = NO_ACTIONS) -> Decision:
    """Return the emission as a decision, with the digests of its options."""
    if isinstance(emission.value, BindingMoment):
        digests = option_digests(actions, emission.value)
        return Emission(emission.value, emission.envelope, emission.trace, digests)
    return Withheld(emission.value, emission.envelope, emission.trace)
