"""Emit a binding moment: ``emit_binding_moment``, ``stream_binding_moment`` and their async versions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from emitter.client.execution import aexecute, execute
from emitter.client.options import DecisionOptions, DecisionStreamOptions, documented_options
from emitter.client.request import prepare_emission
from emitter.client.result import Emission, HasTrace, Trace
from emitter.client.settings import Settings
from emitter.client.streams import AsyncStream, Stream
from emitter.forms.binding_moment import (
    NO_ACTIONS,
    Actions,
    DecisionTerms,
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
)

if TYPE_CHECKING:
    from typing import Unpack

    from emitter.client.options import DecisionRules
    from emitter.conversation import Messages
    from emitter.forms.binding_moment import EarlierAnswers
    from emitter.models.binding_moment import TurnAnswer


@documented_options(DecisionOptions)
def emit_binding_moment(messages: Messages, *, model: str, **options: Unpack[DecisionOptions]) -> Decision:
    """Ask a model for a decision that its principal can make.

    Args:
        messages: A prompt, or a list of messages in OpenAI, Anthropic or Google format.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.

    Returns:
        An ``Emission`` whose ``value`` is a ``BindingMoment`` and whose ``actions`` are the digests of its options, or
        ``Withheld`` if the model chose not to bind.

    Raises:
        InputError: An argument cannot be used. Nothing was sent.
        Refused: The model declined to answer. Refusals are never retried.
        Truncated: The answer was cut off even at the model's largest output budget.
        Invalid: No answer was a valid decision.
        Unreachable: The vendor could not be reached.

    Source: draft-morrison-binding-moment-envelope-00; OpenWOP ai-envelope, RFC 0032 and RFC 0033.
    """
    terms, settings = decision_settings(model, options)
    prepared = prepare_emission(binding_moment_form(terms), messages, settings)
    return to_decision(execute(prepared, settings), terms.actions)


@documented_options(DecisionOptions)
async def aemit_binding_moment(messages: Messages, *, model: str, **options: Unpack[DecisionOptions]) -> Decision:
    """Async version of ``emit_binding_moment``. ``client`` is an async SDK client."""
    terms, settings = decision_settings(model, options)
    prepared = prepare_emission(binding_moment_form(terms), messages, settings)
    return to_decision(await aexecute(prepared, settings), terms.actions)


@documented_options(DecisionStreamOptions)
def stream_binding_moment(
    messages: Messages, *, model: str, **options: Unpack[DecisionStreamOptions]
) -> Stream[Decision]:
    """Ask for a decision as ``emit_binding_moment`` does, and report its parts while they are written.

    Iterate the stream for a ``FieldComplete`` as each part is complete and valid, and then call ``result()`` for the
    ``Emission`` or ``Withheld``. The parts are ``/reasoning``, ``/kind`` (which of the four answers the model chose),
    ``/synopsis``, ``/findings``, ``/recommendations``, ``/offer``, ``/question/stem``, each ``/question/options/0`` and
    so on, and ``/question/recommended_idx``. An answer that does not bind has its own parts.

    Only ``result()`` is a decision: a ``Restart`` takes back everything that was reported.

    Args:
        messages: A prompt, or a list of messages.
        model: The provider and model name, for example ``"openai/gpt-6-sol"``.
    """
    selection = stream_selectors(options.pop("follow", ()))
    terms, settings = decision_settings(model, options)
    prepared = prepare_emission(binding_moment_form(terms), messages, settings)
    return Stream(prepared, settings, selection, partial(to_decision, actions=terms.actions))


@documented_options(DecisionStreamOptions)
def astream_binding_moment(
    messages: Messages, *, model: str, **options: Unpack[DecisionStreamOptions]
) -> AsyncStream[Decision]:
    """Async version of ``stream_binding_moment``. ``client`` is an async SDK client."""
    selection = stream_selectors(options.pop("follow", ()))
    terms, settings = decision_settings(model, options)
    prepared = prepare_emission(binding_moment_form(terms), messages, settings)
    return AsyncStream(prepared, settings, selection, partial(to_decision, actions=terms.actions))


def decision_settings(model: str, options: DecisionOptions) -> tuple[DecisionTerms, Settings]:
    """Return the terms of a decision, and the settings of its emission."""
    terms = pop_terms(options, options.pop("after", ()), options.pop("actions", NO_ACTIONS))
    return terms, Settings.from_options(model, options)


def pop_terms(options: DecisionRules, after: EarlierAnswers = (), actions: Actions = NO_ACTIONS) -> DecisionTerms:
    """Take the rules of a decision out of the options."""
    hatches, discipline = options.pop("hatches", OPEN_HATCHES), options.pop("discipline", None)
    return DecisionTerms.from_arguments(hatches, options.pop("decision_class", None), discipline, after, actions)


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
