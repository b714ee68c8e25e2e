"""Build the prepared emission: schema, prompt, request and output budget.

Nothing is sent here. Invalid input raises before the first request.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from emitter import tokens
from emitter.attempts import Verdict
from emitter.budget import (
    ContextWindowExceededError,
    TokenBudget,
    fit_to_window,
)
from emitter.client.form_plan import first_budget, plan_described, plan_form, plan_other_mode, plan_prompt_cache
from emitter.client.prepared import PreparedEmission, identify_emission
from emitter.client.prompt_writer import (
    ChangedForm,
    PromptWriter,
    build_messages,
    count_media_tokens,
    encode_examples,
    join_parts,
    load_prompts,
    show_examples,
    show_material,
)
from emitter.client.refusals import NO_REFUSALS, recall_refusals
from emitter.client.routing import describe_refusal, profile_for
from emitter.client.settings import DEFAULT_HOST, Settings
from emitter.conversation import combine_trust, parse_conversation
from emitter.core.capability_gate import NoCapableModel
from emitter.core.effects import EmissionFailure, EmissionRequest, Obstacle
from emitter.core.state import largest_budget, lowered_event
from emitter.core.verdicts import TRUNCATION_CODE, DocumentContract
from emitter.errors import InputError, PromptTooLong, UnknownModelWarning
from emitter.events import Level, LogAppended, NodeFailed
from emitter.messages import (
    NO_FIELDS,
    MediaPart,
    ModelRequest,
    with_output_budget,
)
from emitter.models import Trust
from emitter.profiles import suggest_similar_model
from emitter.prompts import Media, default_templates, redact_media

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from emitter.client.form_plan import FormPlan
    from emitter.client.prepared import EmissionIdentity
    from emitter.client.routing import ModelTarget
    from emitter.conversation import Conversation, Messages
    from emitter.events import Event
    from emitter.forms.form import FormJudge, OutputForm
    from emitter.messages import Json, StatedLimits
    from emitter.prompts import PromptTemplates
    from emitter.redaction.secret_registry import Secrets


def prepare_emission(form: OutputForm, messages: Messages, settings: Settings) -> PreparedEmission:
    """Prepare one emission. If no model can be asked, it has an obstacle: the host may still have a stored answer.

    Raises:
        InputError: An argument cannot be used.
    """
    _check_host_accepts(form.kind, settings)
    templates = default_templates() if settings.prompts is None else load_prompts(settings.prompts)
    conversation, media = _read_conversation(form, messages, settings, templates)
    if media:
        settings = _require_media_support(media, settings)
    target = settings.resolve()
    plan = plan_form(form, target, templates, settings, recall_refusals(settings, target))
    identity = identify_emission(form, plan, conversation, settings)
    prepared = _prepare_model(form, plan, conversation, settings, identity)
    # The gate comes before the window check, because a shorter prompt would not help.
    if isinstance(settings.gate, NoCapableModel):
        return _with_obstacle(prepared, describe_refusal(settings.gate))
    try:
        prepared = _fit_budget(prepared, plan)
    except ContextWindowExceededError as error:
        return _with_obstacle(prepared, _prompt_too_long(error))
    if form.judge is not None:
        prepared = _add_judge(form.judge, prepared)
    return _add_alternatives(form, prepared, templates, media) if settings.alternatives else prepared


def _prepare_model(
    form: OutputForm, plan: FormPlan, conversation: Conversation, settings: Settings, identity: EmissionIdentity
) -> PreparedEmission:
    """Return the emission for one model. Its budget is not fitted to the context window yet."""
    config, profile = settings.host.config, plan.target.profile
    kind = None if settings.kind is None else config.registry.get(settings.kind)
    contract = DocumentContract(
        plan.compiled, form.read_value, form.normalize, kind, config.secrets, form.value_pointer
    )
    request, writer, budget = _write_request(form, conversation, contract, plan, settings)
    context, correlation_id = identity
    emission = EmissionRequest(
        provider=settings.provider_ids.get(profile.provider, profile.provider),
        request=request,
        contract=contract,
        writer=writer,
        max_budget=budget.ceiling,
        ceiling=budget.owner,
        min_output_tokens=plan.min_output_tokens,
        smallest_answer=max(plan.cost.answer.typical, plan.min_output_tokens),
        kind=form.kind,
        initial_events=_report_refusals(plan, request, settings.opening)
        if plan.key.refusals != NO_REFUSALS or request.is_streamed
        else settings.opening,
        prices=settings.policy.prices,
        keep_response=settings.keep_response,
        has_host=settings.host is not DEFAULT_HOST,
    )
    return PreparedEmission(
        emission=emission,
        settings=settings,
        target=plan.target,
        context=context,
        correlation_id=correlation_id,
        codec=form.codec,
        conversation=conversation,
        is_known_model=plan.is_known_model,
    )


def _report_refusals(plan: FormPlan, request: ModelRequest, opening: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the first events of an emission, with those about what the server refused of earlier ones."""
    from emitter.core.adaptation import ignored_event, mode_event, stream_event  # noqa: PLC0415  few servers refuse a form

    events = opening
    refused = plan.key.refusals.modes
    if refused:
        events = (*events, mode_event(refused, request.output.mode, Level.INFO))
    if request.output.is_ignored:
        events = (*events, ignored_event(Level.INFO))
    return (*events, stream_event(Level.INFO)) if request.is_streamed else events


def _fit_budget(prepared: PreparedEmission, plan: FormPlan) -> PreparedEmission:
    """Return the emission with a budget that fits the context window and the limits that the server named before.

    Raises ``ContextWindowExceededError`` if the prompt does not fit the window. No prompt is too long for a limit that
    the server named before, because it may have another limit now.
    """
    fitted = _fit_to_window(prepared, plan)
    limits = recall_refusals(prepared.settings, plan.target).limits
    return fitted if limits is None else _fit_to_stated_limits(fitted, limits)


def _fit_to_stated_limits(prepared: PreparedEmission, limits: StatedLimits) -> PreparedEmission:
    """Return the emission with a budget that fits these limits, if they leave room for an answer."""
    emission, request = prepared.emission, prepared.request
    stated = largest_budget(emission.writer, limits, request)
    if stated is None or stated < emission.smallest_answer:
        return prepared
    emission = replace(emission, stated_budget=stated)
    if stated < request.max_output_tokens:
        event = lowered_event(request.max_output_tokens, stated, limits, Level.INFO)
        emission = replace(
            emission,
            request=with_output_budget(request, stated),
            initial_events=(*emission.initial_events, event),
        )
    return replace(prepared, emission=emission)


def _fit_to_window(prepared: PreparedEmission, plan: FormPlan) -> PreparedEmission:
    """Return the emission with a budget that fits the context window. Raises ``ContextWindowExceededError``."""
    if plan.window is None:
        return prepared
    request, emission = prepared.request, prepared.emission
    is_explicit = prepared.settings.policy.output_tokens is not None
    budget = TokenBudget(request.max_output_tokens, emission.max_budget, is_explicit, emission.ceiling)
    texts = tokens.request_texts(request, plan.cost.schema_text)
    fitted = fit_to_window(budget, texts, plan.window, count_media_tokens(request, plan.target.profile))
    if fitted is budget:
        return prepared
    request = with_output_budget(request, fitted.initial)
    return replace(
        prepared, emission=replace(emission, request=request, max_budget=fitted.ceiling, ceiling=fitted.owner)
    )


def _add_alternatives(
    form: OutputForm, prepared: PreparedEmission, templates: PromptTemplates, media: tuple[MediaPart, ...]
) -> PreparedEmission:
    """Prepare the models that are asked if the first one fails. A model that cannot take the prompt is skipped."""
    settings, opening = prepared.settings, list(prepared.emission.initial_events)
    identity = prepared.context, prepared.correlation_id
    alternatives: list[PreparedEmission] = []
    for route in settings.alternatives:
        route.require_credentials()
        own, target = settings.for_route(route), route.resolve()
        if media and (problem := _media_problem(media, target)):
            opening.append(LogAppended(Level.WARN, f"a fallback is left out: {problem}"))
            continue
        plan = plan_form(form, target, templates, own, recall_refusals(own, target))
        try:
            built = _fit_budget(_prepare_model(form, plan, prepared.conversation, own, identity), plan)
        except ContextWindowExceededError as error:
            opening.append(LogAppended(Level.WARN, f"a fallback is left out: {error}"))
            continue
        emission = replace(
            built.emission,
            request=replace(built.request, route=len(alternatives) + 1),
            judge=prepared.emission.judge,
            asked_after=route.reasons,
            initial_events=(*route.notices, *built.emission.initial_events),
        )
        alternatives.append(replace(built, emission=emission))
    emission = replace(
        prepared.emission,
        initial_events=tuple(opening),
        alternatives=tuple(alternative.emission for alternative in alternatives),
    )
    return replace(prepared, emission=emission, alternatives=tuple(alternatives))


_NO_TEXT = "-"
"""A placeholder for the text to judge, which is not known when the judge is prepared."""


def _add_judge(form: FormJudge, prepared: PreparedEmission) -> PreparedEmission:
    """Return the emission with its judge. Raises ``InputError`` if the judge's model cannot be used."""
    from emitter.client.judging import PreparedJudge, review_form  # noqa: PLC0415  few emissions have a judge

    settings = prepared.settings
    own = Settings(
        form.judge.model,
        client=form.judge.client,
        run_id=settings.run_id,
        clock=settings.clock,
        policy=replace(settings.policy, nl_to_format=False, prices=form.judge.prices),
        prompts=settings.prompts,
        provider_ids=settings.provider_ids,
        pool=settings.pool,
        profile=profile_for(form.judge.model, settings.profile),
    )
    judging = prepare_emission(review_form(), _NO_TEXT, own)
    emission = replace(prepared.emission, judge=PreparedJudge(form.judge, judging, form.content))
    return replace(prepared, emission=emission, judging=judging)


def _make_redactor(secrets: Secrets) -> Callable[[str], str]:
    return lambda text: secrets.redact_text(text).value


def _require_media_support(media: tuple[MediaPart, ...], settings: Settings) -> Settings:
    """Return the settings, routed to a fallback model if the named model does not take the media."""
    from emitter.media import rules  # noqa: PLC0415  few emissions have media

    if settings.alternatives:
        settings = settings.requiring(rules.required_capabilities(media))
    if not isinstance(settings.gate, NoCapableModel):
        target = settings.resolve()
        rules.check_media(media, rules.MediaTarget(*target))
    return settings


def _media_problem(media: tuple[MediaPart, ...], target: ModelTarget) -> str:
    """Return the reason why a model does not take the media, or an empty string."""
    from emitter.media import rules  # noqa: PLC0415  few emissions have media

    try:
        rules.check_media(media, rules.MediaTarget(*target))
    except InputError as error:
        return str(error.args[0])
    return ""


def _read_conversation(
    form: OutputForm, messages: Messages, settings: Settings, templates: PromptTemplates
) -> tuple[Conversation, tuple[MediaPart, ...]]:
    """Return the conversation with the materials and the history, and the media in it."""
    materials = settings.resolve_materials()
    redact = _make_redactor(settings.host.config.secrets) if settings.host.config.secrets.ids else None
    conversation = parse_conversation(messages, templates, has_heading=form.has_heading, redact=redact)
    media: list[MediaPart] = []
    for message in conversation.messages:
        if message.parts:
            media += message.media
    history = form.render_history(templates) if form.render_history else ()
    if not materials and not history:
        return conversation, tuple(media)
    if redact is not None:
        materials = [redact_media(item, redact) if isinstance(item, Media) else item for item in materials]
    media += [material.part for material in materials if isinstance(material, Media)]
    shown = [part for material in materials for part in show_material(templates, material)]
    trust = combine_trust((conversation.trust, *(material.trust for material in materials)))
    if history:  # the history quotes envelopes that a model wrote
        trust = Trust.UNTRUSTED
    return replace(conversation, shown=(*shown, *history), trust=trust), tuple(media)


def _write_request(
    form: OutputForm, conversation: Conversation, contract: DocumentContract, plan: FormPlan, settings: Settings
) -> tuple[ModelRequest, PromptWriter, TokenBudget]:
    """Return the first request with a budget that is not fitted yet, and the writer of later requests."""
    options: Mapping[str, Json] = NO_FIELDS
    if settings.parameters or settings.extra_body != {}:
        from emitter.client.model_settings import build_parameters  # noqa: PLC0415  most emissions set nothing

        options = build_parameters(
            settings.parameters, settings.extra_body, plan.target, is_fallback=settings.is_fallback
        )
    budget = first_budget(plan, settings, options)
    templates, task = plan.templates, form.system_prompt(plan.templates)
    system = join_parts(task, plan.rule, settings.instructions, *conversation.system)
    messages, examples = build_messages(templates, conversation, "begin"), ""
    if form.examples:
        encoded = encode_examples(contract, form.examples)
        examples, example_turns = show_examples(templates, encoded, plan.output.mode)
        messages = (*example_turns, *messages)
    prefix = join_parts(task, plan.rule, settings.instructions, *plan.schema_parts, examples)
    request = ModelRequest(
        model=plan.target.model,
        system=join_parts(prefix, *conversation.system),
        messages=messages,
        output=plan.output,
        max_output_tokens=budget.initial,
        options=options,
        headers=settings.extra_headers,
        is_streamed=recall_refusals(settings, plan.target).needs_stream,
    )
    if plan.is_cache_free or settings.cache_prompt is not None:
        cache = plan_prompt_cache(settings.cache_prompt, request, prefix, plan)
        request = request if cache is None else replace(request, cache=cache)
    write = partial(_write_request, form, conversation, contract, settings=settings)
    rewrite = partial(_rewrite_request, write, plan)
    return request, PromptWriter(templates, plan.compiled, plan.target, system, conversation, rewrite), budget


def _rewrite_request(
    write: Callable[[FormPlan], tuple[ModelRequest, PromptWriter, TokenBudget]], plan: FormPlan, form: ChangedForm
) -> tuple[ModelRequest, PromptWriter] | None:
    """Return the first request in another form than that of the plan, which the server refused or ignored."""
    other = plan_described(plan) if form is ChangedForm.DESCRIBED else plan_other_mode(plan)
    return None if other is None else write(other)[:2]


def _prompt_too_long(error: ContextWindowExceededError) -> Obstacle:
    """Return the obstacle of a prompt that leaves no room for an answer."""
    failure = EmissionFailure(Verdict.OVERFLOWED, TRUNCATION_CODE, str(error), error=PromptTooLong)
    return Obstacle(failure, (NodeFailed(failure.code, failure.message, 0, {}),))


def _with_obstacle(prepared: PreparedEmission, obstacle: Obstacle) -> PreparedEmission:
    return replace(prepared, emission=replace(prepared.emission, obstacle=obstacle))


def _check_host_accepts(kind: str, settings: Settings) -> None:
    """Reject a kind that the host does not accept, before a paid call."""
    if settings.kind not in (None, kind):
        raise InputError(
            f"kind is {settings.kind!r}, but this function emits {kind}.", hint="Leave out kind=, or use emit()."
        )
    config = settings.host.config
    if not config.accepts_envelopes or kind not in config.registry:
        raise InputError(f"The host does not accept {kind}.", hint="Pass a host= whose registry has the kind.")


def warn_unknown_models(prepared: PreparedEmission) -> None:
    """Warn the caller about the limits that are assumed for unknown models."""
    if prepared.is_known_model and not prepared.alternatives:
        return
    for each in prepared.models:
        if not each.is_known_model:
            _warn_unknown_model(each)


def _warn_unknown_model(prepared: PreparedEmission) -> None:
    facts, request = prepared.profile, prepared.request
    limits, mode = facts.model_limits(request.model), request.output.mode.value
    thinks = facts.thinking_tokens(prepared.wire, request.model, {}) > 0
    thinking = "that it thinks" if thinks else "that it does not think"
    similar = suggest_similar_model(facts.name, request.model)
    warnings.warn(
        f"{facts.name}/{request.model} is an unknown model. {similar}Assuming a context window of "
        f"{limits.context:,} tokens, "
        f"at most {limits.max_output:,} output tokens, the output mode {mode} and {thinking}; "
        f"the first call may write {request.max_output_tokens:,} tokens. Set Policy.output_tokens and "
        "Policy.max_output_tokens if that is wrong, or state what is right: "
        "profile=Profile.from_name(...).override(context=..., max_output=...).",
        UnknownModelWarning,
        stacklevel=_caller_stack_level(),
    )


def _caller_stack_level() -> int:
    """Return the stack level of the first frame outside this library, for ``warnings.warn``."""
    frame: FrameType | None = inspect.currentframe()
    levels = 0
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE:
        frame, levels = frame.f_back, levels + 1
    return levels


_PACKAGE = __name__.partition(".")[0]
