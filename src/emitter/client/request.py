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

from emitter import prompts as prompt
from emitter import tokens
from emitter.adapters import ADAPTERS
from emitter.adapters.clients import find_credentials
from emitter.adapters.request_options import check_options
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
from emitter.client.acceptance import (
    EnvelopeSubmitter,
    RequestFingerprint,
    emission_correlation_id,
    make_recorder,
    resolve_node_id,
)
from emitter.client.result import Trace
from emitter.client.settings import raise_not_provided, resolve_model
from emitter.client.transport import AnswerRedactor
from emitter.conversation import combine_trust, parse_conversation
from emitter.core.capability_gate import NoCapableModel
from emitter.core.effects import EmissionRequest
from emitter.core.verdicts import DocumentContract, TerminalCode
from emitter.errors import InputError, PromptTooLong, Unencodable, UnknownModelWarning
from emitter.events import NodeFailed
from emitter.host import EnvelopeContext
from emitter.messages import (
    Message,
    ModelRequest,
    OutputFormat,
    OutputMode,
    Role,
    as_list,
    as_mapping,
    with_output_budget,
)
from emitter.models import Trust
from emitter.profiles import WireFormat
from emitter.prompts import Material
from emitter.schema import LossReason, compile_schema
from emitter.schema.compiler import UndeclaredProperties
from emitter.schema.formats import FORMAT_DESCRIPTIONS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from emitter.client.settings import ModelTarget, Settings
    from emitter.conversation import Conversation, Messages
    from emitter.forms.form import EnvelopeCodec, OutputForm
    from emitter.messages import Json
    from emitter.policy import Policy
    from emitter.profiles import ProviderProfile
    from emitter.prompts import PromptTemplates
    from emitter.schema import Compiled, Loss, Violation
    from emitter.telemetry.sinks import EventRecorder

_NO_DOCUMENT_TEXT = "the answer holds no single JSON document"
_EXAMPLE_HINT = "An example must be one that your checks and validators take."


@dataclass(frozen=True, slots=True)
class PreparedEmission:
    """An emission that is ready to be sent."""

    profile: ProviderProfile
    wire: WireFormat
    emission_request: EmissionRequest
    context: EnvelopeContext
    correlation_id: str
    codec: EnvelopeCodec

    @property
    def model(self) -> str:
        """The model's own id, without the provider."""
        return self.emission_request.request.model

    @property
    def node_id(self) -> str:
        """The id of the emitting node."""
        return self.context.node_id


def prepare_emission(form: OutputForm, messages: Messages, settings: Settings) -> PreparedEmission:
    """Prepare one emission.

    Raises:
        InputError: An argument cannot be used.
        PromptTooLong: The prompt leaves no room for an answer.
        CapabilityNotProvided: No allowed model has the required capabilities.
    """
    _check_host_accepts(form.kind, settings)
    target = resolve_model(settings.model, settings.client, settings.wire)
    profile, wire = target.profile, target.wire
    check_options(settings.options, ADAPTERS[wire].RESERVED_OPTIONS, require_json=wire is not WireFormat.GOOGLE)
    inputs = _read_inputs(form, messages, settings)
    contract = _make_contract(form, profile, settings)
    node_id = resolve_node_id(settings, form.default_node_id)
    context = EnvelopeContext(settings.run_id, node_id, settings.contract, inputs=inputs.trust)
    fingerprint = RequestFingerprint(inputs.system_texts, inputs.turns, contract, form.cache_key)
    correlation_id = emission_correlation_id(settings, context, form.kind, fingerprint)
    submitter = EnvelopeSubmitter(
        settings.host, contract, context, correlation_id, form.codec, settings.turn, form.kind
    )
    if isinstance(settings.gate, NoCapableModel) and submitter.find_accepted() is None:
        raise_not_provided(settings.gate, make_recorder(settings, context, correlation_id))
    request, fallback = _build_request(form, inputs, contract, target, settings)
    try:
        budget = output_budget(request, contract.compiled, (profile, wire), settings.policy)
    except ContextWindowExceededError as error:
        raise _prompt_too_long(error, make_recorder(settings, context, correlation_id)) from None
    emission_request = EmissionRequest(
        provider=settings.provider_ids.get(profile.provider, profile.provider),
        request=with_output_budget(request, budget.initial),
        contract=contract,
        write_correction=partial(_write_correction, inputs.templates),
        max_budget=budget.ceiling,
        min_output_tokens=profile.wires[wire].tokens.minimum,
        kind=form.kind,
        count_input_tokens=partial(_count_input_tokens, profile),
        fallback=fallback,
        initial_events=settings.opening,
        redact=AnswerRedactor(settings.host.config.secrets, partial(find_credentials, profile, settings.client)),
        host=submitter,
    )
    return PreparedEmission(profile, wire, emission_request, context, correlation_id, form.codec)


class _Inputs(NamedTuple):
    """The texts that a request is built from."""

    templates: PromptTemplates
    conversation: Conversation
    materials: list[Material]
    history: tuple[str, ...]
    system_texts: tuple[str | None, ...]

    @property
    def turns(self) -> tuple[Message | Material | str, ...]:
        return (*self.conversation.messages, *self.materials, *self.history)

    @property
    def trust(self) -> Trust:
        if self.history:  # it repeats words of a model
            return Trust.UNTRUSTED
        return combine_trust((self.conversation.trust, *(material.trust for material in self.materials)))


def _read_inputs(form: OutputForm, messages: Messages, settings: Settings) -> _Inputs:
    templates, materials = load_prompts(settings.prompts), settings.resolve_materials()
    conversation = parse_conversation(messages, templates, has_heading=form.has_heading)
    history = form.render_history(templates) if form.render_history else ()
    system_texts = (form.system_prompt(templates), settings.instructions, *conversation.system)
    return _Inputs(templates, conversation, materials, history, system_texts)


def _build_request(
    form: OutputForm, inputs: _Inputs, contract: DocumentContract, target: ModelTarget, settings: Settings
) -> tuple[ModelRequest, DescribeThenConvert | None]:
    """Return the first request, still without a budget, and the two-step fallback if the policy allows one."""
    templates, turns, compiled = inputs.templates, inputs.conversation.messages, contract.compiled
    task, *instructions = inputs.system_texts
    rule = "" if form.has_heading else render_unknown_rule(templates, compiled)
    system = join_parts(task, rule, *instructions)
    shown = (*(prompt.render_material(templates, material) for material in inputs.materials), *inputs.history)
    spec = _output_spec(form.name, compiled, templates, target)
    examples = prompt.render_examples(templates, _encode_examples(contract, form.examples))
    request = ModelRequest(
        model=target.model,
        system=join_parts(system, *spec.prompt_parts, examples),
        messages=build_messages(templates, turns, shown, "begin"),
        output=spec.output,
        max_output_tokens=1,
        options=settings.options,
    )
    if not settings.policy.nl_to_format:
        return request, None
    spoken = build_messages(templates, turns, shown, "begin_in_words")
    return request, DescribeThenConvert(templates, system, spoken, compiled)


def _make_contract(form: OutputForm, profile: ProviderProfile, settings: Settings) -> DocumentContract:
    config = settings.host.config
    undeclared = None if settings.undeclared is None else UndeclaredProperties(settings.undeclared)
    compiled = compile_schema(
        form.schema, profile, degrade=settings.degrade, undeclared=undeclared, registry=settings.registry
    )
    kind = None if settings.kind is None else config.registry.get(settings.kind)
    return DocumentContract(compiled, form.read_value, form.normalize, kind, config.secrets)


def _count_input_tokens(profile: ProviderProfile, request: ModelRequest) -> int:
    return tokens.count_request_tokens(request, profile.token_encoding(request.model))


def _write_correction(templates: PromptTemplates, violations: Sequence[Violation]) -> str:
    return prompt.render_correction(templates, violations or (_NO_DOCUMENT_TEXT,))


def _prompt_too_long(error: ContextWindowExceededError, record: EventRecorder) -> PromptTooLong:
    """Record that nothing is sent, and return the error for a prompt without room for an answer."""
    sentence, code = str(error), TerminalCode.TRUNCATION.value
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


class _OutputSpec(NamedTuple):
    """The output format of a request, and the parts of the prompt that describe it."""

    output: OutputFormat
    prompt_parts: tuple[str, ...]


@lru_cache(maxsize=256)
def _output_spec(name: str, compiled: Compiled, prompts: PromptTemplates, target: ModelTarget) -> _OutputSpec:
    """Return the output format. A schema that the vendor cannot enforce is not sent as one."""
    mode = (
        target.profile.preferred_output_mode(target.wire, target.model)
        if compiled.enforced
        else _unenforced_mode(compiled, target)
    )
    output = OutputFormat(
        name, as_mapping(compiled.schema), mode, strict=target.profile.sends_strict(target.wire, target.model)
    )
    return _OutputSpec(
        output,
        render_form(
            prompts, compiled, output, enforces_schema=target.profile.enforces_schema(target.wire, target.model)
        ),
    )


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


def _encode_examples(contract: DocumentContract, examples: tuple[Json, ...]) -> list[Json]:
    """Return the examples in the vendor's form; raise ``InputError`` for an invalid one."""
    return [_encode_example(contract, index, example) for index, example in enumerate(examples)]


def _encode_example(contract: DocumentContract, index: int, example: Json) -> Json:
    result = contract.check(example)
    if result.failure is not None:
        raised = f"{result.failure.callback} raised {type(result.failure.error).__name__} on examples[{index}]."
        raise InputError(raised, hint=_EXAMPLE_HINT) from result.failure.error
    if result.violations:
        raise InputError(f"examples[{index}] does not hold: {'; '.join(map(str, result.violations))}.")
    try:
        return contract.compiled.encode(example)
    except Unencodable as error:
        raise InputError(f"examples[{index}] cannot be shown: {error}.") from error


MAX_LISTED_RULES = 40
"""The most rules that are listed apart from the schema."""
_MAX_LISTED_VALUE = 200
_LISTED_REASONS = frozenset({LossReason.UNSUPPORTED, LossReason.DEGRADED})
"""Rules that are lost for another reason are stated where they apply."""


def load_prompts(folder: str | os.PathLike[str] | None) -> PromptTemplates:
    """Load the prompt templates, with those of the caller's folder in place of the library's."""
    if folder is None:
        return prompt.load()
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


@lru_cache(maxsize=256)
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
    prompts: PromptTemplates, turns: tuple[Message, ...], materials: tuple[str, ...], instruction: str
) -> tuple[Message, ...]:
    """Return the turns with the materials. The last one is a user turn, as every vendor requires."""
    text = "\n\n".join([*materials, _final_instruction(prompts, instruction)])
    *before, last = turns
    if last.role is Role.ASSISTANT:
        return (*turns, Message(Role.USER, text))
    return (*before, Message(last.role, join_parts(last.text, text)))


@lru_cache(maxsize=16)
def _final_instruction(prompts: PromptTemplates, name: str) -> str:
    return prompts.fill(name)


_WORDS_SOURCE = "the answer in plain words"


@dataclass(frozen=True, slots=True)
class DescribeThenConvert:
    """Builds the two requests of the fallback: an answer in plain words, then the words converted to the schema."""

    templates: PromptTemplates
    system: str
    turns: tuple[Message, ...]
    compiled: Compiled

    def describe(self, request: ModelRequest) -> ModelRequest:
        """Return the request that asks for the answer in plain words."""
        schema = json.dumps(self.compiled.original, ensure_ascii=False)
        return replace(
            request,
            system=join_parts(self.system, self.templates.fill("in_words", schema=schema)),
            messages=self.turns,
            output=replace(request.output, mode=OutputMode.TEXT),
            correction=None,
        )

    def convert(self, request: ModelRequest, words: str) -> ModelRequest:
        """Return the request that asks to convert the words, which are shown as untrusted text."""
        encodable = words.encode(errors="replace").decode()  # no wire can carry a lone surrogate
        answer = prompt.render_material(self.templates, Material(encodable, _WORDS_SOURCE, Trust.UNTRUSTED))
        text = join_parts(
            self.templates.fill("into_form", answer=answer), render_unknown_rule(self.templates, self.compiled)
        )
        return replace(request, messages=(Message(Role.USER, text),), correction=None)


class _ModelBudget(NamedTuple):
    """The budget facts shared by all requests of one schema to one model.

    ``thinking_tokens`` applies if the caller sets no options. ``window`` is None if prompts are not checked against it.
    """

    cost: SchemaCost
    max_output: int
    minimum: int
    thinking_tokens: int
    window: ContextWindow | None


def output_budget(
    request: ModelRequest, compiled: Compiled, target: tuple[ProviderProfile, WireFormat], policy: Policy
) -> TokenBudget:
    """Return the first output budget of ``request`` and the ceiling for raising it.

    Raises:
        ContextWindowExceededError: The prompt leaves no room for an answer.
    """
    profile, wire = target
    model_budget = _model_budget(compiled, target, request.model)
    options = request.options
    thinking = profile.thinking_tokens(wire, request.model, options) if options else model_budget.thinking_tokens
    ceiling = min(model_budget.max_output, policy.max_output_tokens or model_budget.max_output)
    budget = initial_budget(
        model_budget.cost.answer, thinking, BudgetBounds(model_budget.minimum, ceiling), requested=policy.output_tokens
    )
    requested = TokenBudget(budget, ceiling, is_explicit=policy.output_tokens is not None)
    if model_budget.window is None:
        return requested
    return fit_to_window(requested, tokens.request_texts(request, model_budget.cost.schema_text), model_budget.window)


@lru_cache(maxsize=256)
def _model_budget(compiled: Compiled, target: tuple[ProviderProfile, WireFormat], model: str) -> _ModelBudget:
    profile, wire = target
    cost, limits, minimum = measure_schema(compiled), profile.model_limits(model), profile.wires[wire].tokens.minimum
    window = ContextWindow(
        model=f"{profile.name}/{model}",
        size=limits.context,
        typical_answer=max(cost.answer.typical, minimum),
        load_tokenizer=partial(_exact_counter, profile.token_encoding(model)),
        max_input=limits.max_input,
    )
    default_thinking = profile.thinking_tokens(wire, model, {})
    return _ModelBudget(cost, limits.max_output, minimum, default_thinking, None if limits.elastic else window)


def _exact_counter(encoding: str | None) -> Callable[[str], int] | None:
    return tokens.make_token_counter(encoding) if tokens.has_exact_counter(encoding) else None


def warn_unknown_model(prepared: PreparedEmission) -> None:
    """Warn the caller about the limits that are assumed for an unknown model."""
    facts, request = prepared.profile, prepared.emission_request.request
    if facts.is_known_model(request.model):
        return
    limits, mode = facts.model_limits(request.model), request.output.mode.value
    thinking = "that it thinks" if facts.thinking_tokens(prepared.wire, request.model, {}) else "that it does not think"
    warnings.warn(
        f"{facts.name}/{request.model} is an unknown model. Assuming a context window of {limits.context:,} tokens, "
        f"at most {limits.max_output:,} output tokens, the output mode {mode} and {thinking}; "
        f"the first call may write {request.max_output_tokens:,} tokens. Set output_tokens and max_output_tokens of "
        "Policy if that is wrong.",
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
