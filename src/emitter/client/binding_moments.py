"""Emit a binding moment: ``emit_binding_moment``, ``stream_binding_moment`` and their async versions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from emitter import client, forms, models
from emitter.client.options import DecisionOptions, DecisionStreamOptions, documented_options

if TYPE_CHECKING:
    from typing import Unpack

    from emitter.client import AsyncStream, Emission, Settings, Stream
    from emitter.client.options import DecisionRules
    from emitter.client.result import Decision
    from emitter.conversation import Messages
    from emitter.forms import DecisionTerms
    from emitter.forms.binding_moment import Actions, EarlierAnswers
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
        Truncated: The answer was cut off in every attempt, with twice the budget each time.
        Invalid: No answer was a valid decision.
        Unreachable: The vendor could not be reached.

    Source: draft-morrison-binding-moment-envelope-00; OpenWOP ai-envelope, RFC 0032 and RFC 0033.
    """
    terms, settings = decision_settings(model, options)
    prepared = client.prepare_emission(forms.binding_moment_form(terms), messages, settings)
    return to_decision(client.execute(prepared), terms.actions)


@documented_options(DecisionOptions)
async def aemit_binding_moment(messages: Messages, *, model: str, **options: Unpack[DecisionOptions]) -> Decision:
    """Async version of ``emit_binding_moment``. ``client`` is an async SDK client."""
    terms, settings = decision_settings(model, options)
    prepared = client.prepare_emission(forms.binding_moment_form(terms), messages, settings)
    return to_decision(await client.aexecute(prepared), terms.actions)


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
    selection = forms.decision_selectors(options.pop("follow", ()))
    terms, settings = decision_settings(model, options)
    prepared = client.prepare_emission(forms.binding_moment_form(terms), messages, settings)
    return client.Stream(prepared, selection, partial(to_decision, actions=terms.actions))


@documented_options(DecisionStreamOptions)
def astream_binding_moment(
    messages: Messages, *, model: str, **options: Unpack[DecisionStreamOptions]
) -> AsyncStream[Decision]:
    """Async version of ``stream_binding_moment``. ``client`` is an async SDK client."""
    selection = forms.decision_selectors(options.pop("follow", ()))
    terms, settings = decision_settings(model, options)
    prepared = client.prepare_emission(forms.binding_moment_form(terms), messages, settings)
    return client.AsyncStream(prepared, selection, partial(to_decision, actions=terms.actions))


def decision_settings(model: str, options: DecisionOptions) -> tuple[DecisionTerms, Settings]:
    """Return the terms of a decision, and the settings of its emission."""
    terms = pop_terms(options, options.pop("after", ()), options.pop("actions", forms.NO_ACTIONS))
    return terms, client.Settings.from_options(model, options)


def pop_terms(options: DecisionRules, after: EarlierAnswers, actions: Actions) -> DecisionTerms:
    """Remove the rules of a decision from the options, and return them as terms."""
    hatches, checks = options.pop("hatches", models.OPEN_HATCHES), options.pop("checks", None)
    decision_class = options.pop("decision_class", None)
    return forms.DecisionTerms.from_arguments(hatches, decision_class, checks, after, actions)


def to_decision(emission: Emission[TurnAnswer], actions: Actions) -> Decision:
    """Return the emission as a decision, with the digests of its options."""
    if isinstance(emission.value, models.BindingMoment):
        digests = forms.option_digests(actions, emission.value)
        return client.Emission(
            emission.value,
            emission.envelope,
            emission.trace,
            digests,
            emission.findings,
            emission.response,
            emission.conversation,
        )
    return client.Withheld(emission.value, emission.envelope, emission.trace, emission.response, emission.conversation)
