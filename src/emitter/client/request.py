"""Build the prepared emission: schema, prompt, request and output budget.

Nothing is sent here. Invalid input raises before the first request.
"""

from __future__ import annotations

import inspect
import json
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from emitter import client, tokens
from emitter import prompts as prompt
from emitter.budget import (
    BudgetBounds,
    ContextWindow,
    ContextWindowExceededError,
    SchemaCost,
    TokenBudget,
    fit_to_window,
    initial_budget,
    measure_schema,
)
from emitter.client.acceptance import EnvelopeSubmitter
from emitter.client.result import Trace
from emitter.client.routing import raise_not_provided, resolve_model
from emitter.conversation import SentConversation, append_parts, combine_trust, parse_conversation
from emitter.core.capability_gate import NoCapableModel
from emitter.core.effects import Alternative, EmissionRequest
from emitter.core.verdicts import TRUNCATION_CODE, DocumentContract
from emitter.errors import InputError, PromptTooLong, Unencodable, UnknownModelWarning
from emitter.events import Level, LogAppended, NodeFailed
from emitter.messages import (
    HOUR,
    NO_FIELDS,
    MediaPart,
    Message,
    ModelRequest,
    OutputFormat,
    OutputMode,
    Role,
    Usage,
    as_list,
    as_mapping,
    with_output_budget,
)
from emitter.models import Trust
from emitter.profiles import suggest_similar_model
from emitter.prompts import Example, Material, Media
from emitter.schema import LossReason, compile_schema
from emitter.schema.compiler import UndeclaredProperties
from emitter.schema.formats import FORMAT_DESCRIPTIONS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from emitter.client.judging import PreparedJudge
    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.conversation import Conversation, Messages
    from emitter.forms.form import OutputForm
    from emitter.messages import Json
    from emitter.policy import Policy
    from emitter.profiles import ProviderProfile, WireFormat
    from emitter.profiles.tables import PromptCaching, RequestParameter
    from emitter.prompts import PromptTemplates
    from emitter.redaction.secret_registry import Secrets
    from emitter.schema import Compiled, Loss
    from emitter.schema.references import SchemaRegistry
    from emitter.telemetry.sinks import EventRecorder

_EXAMPLE_HINT = "An example must be one that your checks and validators take."


@dataclass(frozen=True, slots=True)
class PreparedEmission:
    """An emission that is ready to be sent, and the submitter that takes its answer to the host.

    ``alternatives`` are the same for the models to ask if the first one fails, and ``conversation`` is what the caller
    passed, as it is sent to each of them.
    """

    settings: Settings
    target: ModelTarget
    emission_request: EmissionRequest
    submitter: EnvelopeSubmitter
    is_known_model: bool
    judge: PreparedJudge | None = None
    alternatives: tuple[PreparedEmission, ...] = ()
    conversation: SentConversation | None = None

    @property
    def profile(self) -> ProviderProfile:
        """The facts about the provider."""
        return self.target.profile

    @property
    def wire(self) -> WireFormat:
        """The wire format of the requests."""
        return self.target.wire

    @property
    def models(self) -> tuple[PreparedEmission, ...]:
        """The emission for each of its models, by ``ModelRequest.route``. The judge's is the last one."""
        return (self, *self.alternatives) if self.judge is None else (self, *self.alternatives, self.judge.prepared)

    @property
    def node_id(self) -> str:
        """The id of the emitting node."""
        return self.submitter.context.node_id


def prepare_emission(form: OutputForm, messages: Messages, settings: Settings) -> PreparedEmission:
    """Prepare one emission.

    Raises:
        InputError: An argument cannot be used.
        PromptTooLong: The prompt leaves no room for an answer.
        CapabilityNotProvided: No allowed model has the required capabilities.
    """
    _check_host_accepts(form.kind, settings)
    inputs = _read_inputs(form, messages, settings)
    media = inputs.media
    if media:
        settings = _settle_media(media, settings)
    target = resolve_model(settings.model, settings.client, settings.wire)
    plan = plan_form(form, target, inputs.templates, settings)
    config = settings.host.config
    kind = None if settings.kind is None else config.registry.get(settings.kind)
    contract = DocumentContract(plan.compiled, form.read_value, form.normalize, kind, config.secrets)
    submitter = EnvelopeSubmitter.for_emission(form, contract, settings, inputs)
    if isinstance(settings.gate, NoCapableModel) and submitter.find_accepted() is None:
        raise_not_provided(settings.gate, submitter.make_recorder(settings.on_event))
    judge = None if form.judge is None else client.prepare_judge(form.judge, settings)
    try:
        emission_request = _build_emission_request(form, inputs, plan, settings, submitter)
        if judge is not None:
            emission_request = replace(emission_request, judge=judge)
    except ContextWindowExceededError as error:
        raise _prompt_too_long(error, submitter.make_recorder(settings.on_event)) from None
    conversation = SentConversation(inputs.conversation.system, inputs.conversation.messages, inputs.shown)
    prepared = PreparedEmission(
        settings, target, emission_request, submitter, plan.is_known_model, judge, conversation=conversation
    )
    return _add_alternatives(form, inputs, prepared) if settings.alternatives else prepared


def _build_emission_request(
    form: OutputForm, inputs: EmissionInputs, plan: FormPlan, settings: Settings, submitter: EnvelopeSubmitter
) -> EmissionRequest:
    """Return the request to one model; may raise ``ContextWindowExceededError``."""
    profile = plan.target.profile
    writer, request, budget = _write_request(form, inputs, submitter.contract, plan, settings)
    budget = _fit_budget(plan, request, budget, inputs.media)
    return EmissionRequest(
        provider=settings.provider_ids.get(profile.provider, profile.provider),
        request=request if budget.initial == request.max_output_tokens else with_output_budget(request, budget.initial),
        contract=submitter.contract,
        writer=writer,
        max_budget=budget.ceiling,
        min_output_tokens=plan.min_output_tokens,
        kind=form.kind,
        initial_events=settings.opening,
        host=submitter,
        prices=settings.policy.prices,
        keep_response=settings.keep_response,
    )


def _add_alternatives(form: OutputForm, inputs: EmissionInputs, prepared: PreparedEmission) -> PreparedEmission:
    """Prepare the models to ask if the first one fails. One whose window is too small for the prompt is left out."""
    settings, opening = prepared.settings, list(prepared.emission_request.initial_events)
    others: list[PreparedEmission] = []
    alternatives: list[Alternative] = []
    for route in settings.alternatives:
        route.require_credentials()
        own, target = settings.for_route(route), route.resolve()
        if inputs.media and (problem := _media_problem(inputs.media, target)):
            opening.append(LogAppended(Level.WARN, f"a fallback is left out: {problem}"))
            continue
        plan = plan_form(form, target, inputs.templates, own)
        contract = replace(prepared.emission_request.contract, compiled=plan.compiled)
        submitter = replace(prepared.submitter, contract=contract)
        try:
            built = _build_emission_request(form, inputs, plan, own, submitter)
        except ContextWindowExceededError as error:
            opening.append(LogAppended(Level.WARN, f"a fallback is left out: {error}"))
            continue
        built = replace(built, request=replace(built.request, route=len(others) + 1), judge=prepared.judge)
        alternatives.append(Alternative(built, route.reasons, route.notices))
        others.append(PreparedEmission(own, target, built, submitter, plan.is_known_model))
    emission_request = replace(
        prepared.emission_request, initial_events=tuple(opening), alternatives=tuple(alternatives)
    )
    return replace(prepared, emission_request=emission_request, alternatives=tuple(others))


def _make_redactor(secrets: Secrets) -> Callable[[str], str]:
    return lambda text: secrets.redact_text(text).value


def _settle_media(media: tuple[MediaPart, ...], settings: Settings) -> Settings:
    """Return the settings, with a fallback model if only that one takes the media; may raise ``InputError``."""
    from emitter.media import rules  # noqa: PLC0415  few emissions have media

    if settings.alternatives:
        settings = settings.requiring(rules.required_capabilities(media))
    if not isinstance(settings.gate, NoCapableModel):
        target = resolve_model(settings.model, settings.client, settings.wire)
        rules.check_media(media, rules.MediaTarget(*target))
    return settings


def _media_problem(media: tuple[MediaPart, ...], target: ModelTarget) -> str:
    """Return why a model does not take the media, or an empty text."""
    from emitter.media import rules  # noqa: PLC0415  few emissions have media

    try:
        rules.check_media(media, rules.MediaTarget(*target))
    except InputError as error:
        return str(error.args[0])
    return ""


def _count_media_tokens(media: Sequence[MediaPart], profile: ProviderProfile, model: str) -> int:
    """Return an upper bound on the tokens of media."""
    if not media:
        return 0
    from emitter.media.rules import estimate_media_tokens  # noqa: PLC0415  few emissions have media

    return estimate_media_tokens(media, profile, model)


class EmissionInputs(NamedTuple):
    """The texts that a request is built from.

    ``system_texts`` starts with the form's own, and ``shown`` are the materials and the history as they are shown.
    """

    templates: PromptTemplates
    conversation: Conversation
    materials: list[Material | Media]
    history: tuple[str, ...]
    system_texts: tuple[str | None, ...]
    shown: tuple[str | MediaPart, ...]

    @property
    def turns(self) -> tuple[Message | Material | Media | str, ...]:
        """The messages, materials and history."""
        return (*self.conversation.messages, *self.materials, *self.history)

    @property
    def media(self) -> tuple[MediaPart, ...]:
        """The media of the messages and materials."""
        media: list[MediaPart] = []
        for message in self.conversation.messages:
            if message.parts:
                media += message.media
        for material in self.materials:
            if isinstance(material, Media):
                media.append(material.part)
        return tuple(media)

    @property
    def trust(self) -> Trust:
        """The trust of all of them."""
        if self.history:  # it repeats words of a model
            return Trust.UNTRUSTED
        if not self.materials:
            return self.conversation.trust
        return combine_trust((self.conversation.trust, *(material.trust for material in self.materials)))


def _read_inputs(form: OutputForm, messages: Messages, settings: Settings) -> EmissionInputs:
    templates = prompt.load() if settings.prompts is None else load_prompts(settings.prompts)
    materials = settings.resolve_materials()
    redact = _make_redactor(settings.host.config.secrets) if settings.host.config.secrets.ids else None
    conversation = parse_conversation(messages, templates, has_heading=form.has_heading, redact=redact)
    if redact is not None:
        materials = [prompt.redact_media(item, redact) if isinstance(item, Media) else item for item in materials]
    history = form.render_history(templates) if form.render_history else ()
    system_texts = (form.system_prompt(templates), settings.instructions, *conversation.system)
    shown: tuple[str | MediaPart, ...] = history
    if materials:
        shown = (*[part for material in materials for part in _show_material(templates, material)], *history)
    return EmissionInputs(templates, conversation, materials, history, system_texts, shown)


@dataclass(frozen=True, slots=True, eq=False)
class FormPlan:
    """The parts of a request that every emission of a form to a model has in common.

    ``rule`` and ``schema_parts`` are parts of the system prompt. ``thinking_tokens`` applies if the caller sets no
    options, ``window`` is None if prompts are not checked against it, and ``caching`` if nothing is known.
    """

    target: ModelTarget
    compiled: Compiled
    output: OutputFormat
    rule: str
    schema_parts: tuple[str, ...]
    cost: SchemaCost
    max_output: int
    min_output_tokens: int
    thinking_tokens: int
    window: ContextWindow | None
    is_known_model: bool
    caching: PromptCaching | None = None


class _PlanKey(NamedTuple):
    """Everything that a plan depends on."""

    schema: object
    name: str
    has_heading: bool
    target: ModelTarget
    templates: PromptTemplates
    degrade: bool
    undeclared: UndeclaredProperties | None
    registry: SchemaRegistry | None


def plan_form(form: OutputForm, target: ModelTarget, templates: PromptTemplates, settings: Settings) -> FormPlan:
    """Return the plan of a form; it is cached unless the schema is a dict, which the caller may change."""
    undeclared = None if settings.undeclared is None else UndeclaredProperties(settings.undeclared)
    key = _PlanKey(
        *(form.schema, form.name, form.has_heading, target),
        *(templates, settings.degrade, undeclared, settings.registry),
    )
    try:
        return _cached_plan(key)
    except TypeError:  # it cannot be hashed
        return _make_plan(key)


def _make_plan(key: _PlanKey) -> FormPlan:
    profile, wire, model = key.target
    compiled = compile_schema(
        key.schema, profile, degrade=key.degrade, undeclared=key.undeclared, registry=key.registry
    )
    output, parts = _output_spec(key.name, compiled, key.templates, key.target)
    cost, limits, minimum = measure_schema(compiled), profile.model_limits(model), profile.wires[wire].tokens.minimum
    window = ContextWindow(
        model=f"{profile.name}/{model}",
        size=limits.context,
        typical_answer=max(cost.answer.typical, minimum),
        load_tokenizer=partial(_exact_counter, profile.token_encoding(model)),
        max_input=limits.max_input,
    )
    return FormPlan(
        target=key.target,
        compiled=compiled,
        output=output,
        rule="" if key.has_heading else render_unknown_rule(key.templates, compiled),
        schema_parts=parts,
        cost=cost,
        max_output=limits.max_output,
        min_output_tokens=minimum,
        thinking_tokens=profile.thinking_tokens(wire, model, {}),
        window=None if limits.elastic else window,
        is_known_model=profile.is_known_model(model),
        caching=profile.prompt_caching(model),
    )


_cached_plan = lru_cache(maxsize=256)(_make_plan)


def _exact_counter(encoding: str | None) -> Callable[[str], int] | None:
    return tokens.make_token_counter(encoding) if tokens.has_exact_counter(encoding) else None


def _write_request(
    form: OutputForm, inputs: EmissionInputs, contract: DocumentContract, plan: FormPlan, settings: Settings
) -> tuple[PromptWriter, ModelRequest, TokenBudget]:
    """Return the writer of further requests, and the first request with a budget that is not checked yet."""
    options: Mapping[str, Json] = NO_FIELDS
    if settings.parameters or settings.extra_body != {}:
        from emitter.client.model_settings import build_parameters  # noqa: PLC0415  most emissions set nothing

        options = build_parameters(
            settings.parameters, settings.extra_body, plan.target, is_fallback=settings.is_fallback
        )
    budget = _first_budget(plan, settings.policy, options)
    templates, turns = inputs.templates, inputs.conversation.messages
    task, *instructions = inputs.system_texts
    system = join_parts(task, plan.rule, *instructions)
    shown = inputs.shown
    messages, examples = build_messages(templates, turns, shown, "begin"), ""
    if form.examples:
        encoded = _encode_examples(contract, form.examples)
        examples, example_turns = _show_examples(templates, encoded, plan.output.mode)
        messages = (*example_turns, *messages)
    prefix = join_parts(task, plan.rule, settings.instructions, *plan.schema_parts, examples)
    request = ModelRequest(
        model=plan.target.model,
        system=join_parts(prefix, *inputs.conversation.system),
        messages=messages,
        output=plan.output,
        max_output_tokens=budget.initial,
        options=options,
        headers=settings.extra_headers,
    )
    if plan.caching is not None and (settings.cache_prompt is not None or plan.caching.is_free):
        from emitter.client.prompt_cache import plan_prompt_cache  # noqa: PLC0415  most emissions ask for nothing

        cache = plan_prompt_cache(settings.cache_prompt, request, prefix, plan)
        request = request if cache is None else replace(request, cache=cache)
    return PromptWriter(templates, plan.compiled, plan.target, system, turns, shown), request, budget


def _show_examples(
    templates: PromptTemplates, examples: list[Example[Json]], mode: OutputMode
) -> tuple[str, tuple[Message, ...]]:
    """Return the part of the system prompt and the turns that show examples.

    The answer to an input is a turn of the assistant, unless the model is to call a tool, which is not text.
    """
    in_turns = [example for example in examples if example.input and mode is not OutputMode.TOOL]
    turns: list[Message] = []
    for example in in_turns:
        turns += build_messages(templates, (Message(Role.USER, example.input.strip()),), (), "begin")
        turns.append(Message(Role.ASSISTANT, json.dumps(example.output, ensure_ascii=False)))
    rest = prompt.render_examples(templates, [example for example in examples if example not in in_turns])
    return join_parts(rest, prompt.render_example_turns(templates, len(turns))), tuple(turns)


def _show_material(templates: PromptTemplates, material: Material | Media) -> tuple[str | MediaPart, ...]:
    if isinstance(material, Media):
        return prompt.render_media(templates, material.part, material.source, material.trust)
    return (prompt.render_material(templates, material),)


def _first_budget(plan: FormPlan, policy: Policy, options: Mapping[str, Json]) -> TokenBudget:
    """Return the output budget of the first call and the ceiling for raising it, before the prompt is counted."""
    if not options:
        return _budget(plan, plan.thinking_tokens, policy.output_tokens, policy.max_output_tokens)
    profile, wire, model = plan.target
    thinking = profile.thinking_tokens(wire, model, options)
    return _budget(plan, thinking, policy.output_tokens, policy.max_output_tokens)


@lru_cache(maxsize=256)
def _budget(plan: FormPlan, thinking: int, requested: int | None, limit: int | None) -> TokenBudget:
    ceiling = min(plan.max_output, limit or plan.max_output)
    bounds = BudgetBounds(plan.min_output_tokens, ceiling)
    initial = initial_budget(plan.cost.answer, thinking, bounds, requested=requested)
    return TokenBudget(initial, ceiling, is_explicit=requested is not None)


def _fit_budget(
    plan: FormPlan, request: ModelRequest, budget: TokenBudget, media: tuple[MediaPart, ...]
) -> TokenBudget:
    """Return the budget that fits beside the prompt and its media.

    Raises:
        ContextWindowExceededError: The prompt leaves no room for an answer.
    """
    if plan.window is None:
        return budget
    media_tokens = _count_media_tokens(media, plan.target.profile, plan.target.model) if media else 0
    return fit_to_window(budget, tokens.request_texts(request, plan.cost.schema_text), plan.window, media_tokens)


def _prompt_too_long(error: ContextWindowExceededError, record: EventRecorder) -> PromptTooLong:
    """Record that nothing is sent, and return the error for a prompt without room for an answer."""
    sentence, code = str(error), TRUNCATION_CODE
    record(NodeFailed(code, sentence, 0, {}))
    return PromptTooLong(sentence, code=code, trace=Trace((), tuple(record.events)))


def _check_host_accepts(kind: str, settings: Settings) -> None:
    """Reject a kind that the host does not accept, before it costs anything."""
    if settings.kind not in (None, kind):
        raise InputError(
            f"kind is {settings.kind!r}, but this function emits {kind}.", hint="Leave out kind=, or use emit()."
        )
    rules = settings.host.config
    if not rules.accepts_envelopes or kind not in rules.registry:
        raise InputError(f"The host does not accept {kind}.", hint="Pass a host= whose registry has the kind.")


def _output_spec(
    name: str, compiled: Compiled, prompts: PromptTemplates, target: ModelTarget
) -> tuple[OutputFormat, tuple[str, ...]]:
    """Return the output format and the parts of the prompt that describe it.

    A schema that the vendor cannot enforce is not sent as one.
    """
    mode = (
        target.profile.preferred_output_mode(target.wire, target.model)
        if compiled.enforced
        else _unenforced_mode(compiled, target)
    )
    output = OutputFormat(
        name, as_mapping(compiled.schema), mode, strict=target.profile.sends_strict(target.wire, target.model)
    )
    enforces = target.profile.enforces_schema(target.wire, target.model)
    return output, render_form(prompts, compiled, output, enforces_schema=enforces)


def _unenforced_mode(compiled: Compiled, target: ModelTarget) -> OutputMode:
    allowed = target.profile.model_limits(target.model).modes
    is_supported = OutputMode.JSON_OBJECT in target.profile.wires[target.wire].output.modes
    usable = is_supported and (allowed is None or OutputMode.JSON_OBJECT in allowed)
    return OutputMode.JSON_OBJECT if usable and _is_object_schema(compiled.original) else OutputMode.TEXT


def _is_object_schema(schema: Json) -> bool:
    """Return whether every document of the schema is an object, judging by its root."""
    node = as_mapping(schema)
    if "$ref" in node:
        node = as_mapping(as_mapping(node.get("$defs")).get(str(node["$ref"]).removeprefix("#/$defs/")))
    return node.get("type") == "object"


def _encode_examples(contract: DocumentContract, examples: tuple[Example[Json], ...]) -> list[Example[Json]]:
    """Return the examples in the vendor's form; raise ``InputError`` for an invalid one."""
    return [
        Example(example.input, _encode_example(contract, index, example.output))
        for index, example in enumerate(examples)
    ]


def _encode_example(contract: DocumentContract, index: int, example: Json) -> Json:
    result = contract.check(example)
    if result.failure is not None:
        raised = f"{result.failure} on examples[{index}]."
        raise InputError(raised, hint=_EXAMPLE_HINT) from result.failure.error
    if result.violations:
        raise InputError(
            f"examples[{index}] does not hold: {'; '.join(map(str, result.violations))}.",
            hint=prompt.suggest_example(example),
        )
    try:
        return contract.compiled.encode(example)
    except Unencodable as error:
        raise InputError(f"examples[{index}] cannot be shown: {error}.") from error


MAX_LISTED_RULES = 40
"""The most rules that are listed apart from the schema."""
_MAX_LISTED_VALUE = 200
_LISTED_REASONS = frozenset({LossReason.UNSUPPORTED, LossReason.DEGRADED})
"""Rules that are lost for another reason are stated where they apply."""


def load_prompts(folder: str | os.PathLike[str]) -> PromptTemplates:
    """Load the prompt templates, with those of the caller's folder in place of the library's."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"prompts={str(folder)!r} is not a folder.")
    return prompt.load(path)


def render_form(
    prompts: PromptTemplates, compiled: Compiled, output: OutputFormat, *, enforces_schema: bool
) -> tuple[str, ...]:
    """Return the prompt's description of the schema.

    This is the whole schema if the vendor does not enforce it, and otherwise the rules that are not enforced. The parts
    of the schema that did not fit into descriptions follow.
    """
    if not compiled.enforced:
        return (prompt.render_schema(prompts, cast("Json", compiled.original)),)
    descriptions = "\n".join(_iter_descriptions(compiled.schema))
    rules = prompt.render_losses(
        prompts, [loss for loss in compiled.losses if _is_listed(loss, descriptions)][:MAX_LISTED_RULES]
    )
    is_sent = output.mode is OutputMode.TOOL or (output.mode is OutputMode.JSON_SCHEMA and enforces_schema)
    pieces = prompt.render_appendix(prompts, compiled.appendix)
    return (rules, pieces) if is_sent else (rules, prompt.render_schema(prompts, output.schema), pieces)


def render_unknown_rule(prompts: PromptTemplates, compiled: Compiled) -> str:
    """Return the instruction for unknown values: write null or leave them out, as the schema allows."""
    null, absent = _allows_null_or_absent(cast("Json", compiled.schema if compiled.enforced else compiled.original))
    name = {(True, True): "unknown_either", (True, False): "unknown_null", (False, True): "unknown_absent"}
    return prompts.fill(name.get((null, absent), "unknown"))


def _allows_null_or_absent(schema: Json) -> tuple[bool, bool]:
    """Return whether a schema allows null anywhere, and whether it has optional properties."""
    null = absent = False
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        table = as_mapping(node)
        types: Any = table.get("type")
        null |= types == "null" or "null" in as_list(types)
        absent |= bool(as_mapping(table.get("properties")).keys() - set(map(str, as_list(table.get("required")))))
        pending.extend(table.values() if isinstance(node, dict) else as_list(node))
    return null, absent


def _is_listed(loss: Loss, descriptions: str) -> bool:
    """Return whether a lost rule must be listed, because no description states it."""
    if loss.why not in _LISTED_REASONS or len(loss.value) > _MAX_LISTED_VALUE:
        return False
    words = FORMAT_DESCRIPTIONS.get(loss.value.strip('"'), "") if loss.keyword == "format" else ""
    return f"{loss.keyword} {loss.value}" not in descriptions and not (words and words in descriptions)


def _iter_descriptions(schema: Json) -> Iterator[str]:
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        table = as_mapping(node)
        if isinstance(table.get("description"), str):
            yield table["description"]
        pending.extend(table.values() if isinstance(node, dict) else as_list(node))


def join_parts(*parts: str | None) -> str:
    """Join the parts that are not empty, with a blank line between them."""
    return "\n\n".join(filter(None, parts))


def build_messages(
    prompts: PromptTemplates, turns: tuple[Message, ...], materials: tuple[str | MediaPart, ...], instruction: str
) -> tuple[Message, ...]:
    """Return the turns with the materials. The last one is a user turn, as every vendor requires."""
    return append_parts(turns, (*materials, _final_instruction(prompts, instruction)))


@lru_cache(maxsize=16)
def _final_instruction(prompts: PromptTemplates, name: str) -> str:
    return prompts.fill(name)


_WORDS_SOURCE = "the answer in plain words"


@dataclass(frozen=True, slots=True)
class PromptWriter:
    """Writes further requests from the prompt templates and the texts of the first one.

    ``system`` is the system prompt without the schema, and ``shown`` are the materials and the history.
    """

    templates: PromptTemplates
    compiled: Compiled
    target: ModelTarget
    system: str
    turns: tuple[Message, ...]
    shown: tuple[str | MediaPart, ...]

    def count_tokens(self, request: ModelRequest) -> int:
        """Return the input tokens of a request."""
        counted = tokens.count_request_tokens(request, self.target.profile.token_encoding(request.model))
        media = [part for message in request.messages for part in message.media]
        return counted + _count_media_tokens(media, self.target.profile, request.model)

    def expect_input(self, request: ModelRequest, tokens: int) -> Usage:
        """Return the usage of so many input tokens at their dearest, with those that may be written to a cache."""
        caching, cache = self.target.profile.prompt_caching(request.model), request.cache
        if caching is None or tokens < caching.minimum or not caching.may_write(cache):
            return Usage(input=tokens)
        is_long = cache is not None and cache.lifetime == HOUR
        return Usage(input=tokens, cache_write=tokens, cache_write_1h=tokens if is_long else 0)

    def instruct(self, request: ModelRequest, template: str, **values: str) -> ModelRequest:
        """Return the request with a template as its corrective fragment."""
        return replace(request, correction=self.templates.fill(template, **values))

    def taken_settings(self, request: ModelRequest) -> Mapping[str, RequestParameter]:
        """Return the model settings that the model takes on its wire."""
        return self.target.profile.accepted_parameters(self.target.wire, request.model)

    def describe(self, request: ModelRequest) -> ModelRequest:
        """Return the request that asks for the answer in plain words."""
        schema = json.dumps(self.compiled.original, ensure_ascii=False)
        return replace(
            request,
            system=join_parts(self.system, self.templates.fill("in_words", schema=schema)),
            messages=build_messages(self.templates, self.turns, self.shown, "begin_in_words"),
            output=replace(request.output, mode=OutputMode.TEXT),
            correction=None,
            cache=None,
        )

    def convert(self, request: ModelRequest, words: str) -> ModelRequest:
        """Return the request that asks to convert the words, which are shown as untrusted text."""
        encodable = words.encode(errors="replace").decode()  # no wire can carry a lone surrogate
        answer = prompt.render_material(self.templates, Material(encodable, _WORDS_SOURCE, Trust.UNTRUSTED))
        text = join_parts(
            self.templates.fill("into_form", answer=answer), render_unknown_rule(self.templates, self.compiled)
        )
        return replace(request, messages=(Message(Role.USER, text),), correction=None)


def warn_unknown_models(prepared: PreparedEmission) -> None:
    """Warn the caller about the limits that are assumed for unknown models."""
    if prepared.is_known_model and not prepared.alternatives:
        return
    for each in prepared.models:
        if not each.is_known_model:
            _warn_unknown_model(each)


def _warn_unknown_model(prepared: PreparedEmission) -> None:
    facts, request = prepared.profile, prepared.emission_request.request
    limits, mode = facts.model_limits(request.model), request.output.mode.value
    thinking = "that it thinks" if facts.thinking_tokens(prepared.wire, request.model, {}) else "that it does not think"
    similar = suggest_similar_model(facts.name, request.model)
    warnings.warn(
        f"{facts.name}/{request.model} is an unknown model. {similar}Assuming a context window of "
        f"{limits.context:,} tokens, "
        f"at most {limits.max_output:,} output tokens, the output mode {mode} and {thinking}; "
        f"the first call may write {request.max_output_tokens:,} tokens. Set Policy.output_tokens and "
        "Policy.max_output_tokens if that is wrong.",
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
