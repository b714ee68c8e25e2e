"""Plan a form for a model, and compute the output budget and the prompt cache of a request.

A plan has everything that all requests of a form to a model share: the compiled schema, the output format, the prompt's
description of the schema, and the token limits.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from emitter import tokens
from emitter.budget import (
    BudgetBounds,
    ContextWindow,
    SchemaCost,
    TokenBudget,
    initial_budget,
    measure_schema,
)
from emitter.client.prompt_writer import render_form, render_unknown_rule
from emitter.client.refusals import NO_REFUSALS, Refusals
from emitter.client.thinking import recall_thinking
from emitter.messages import OutputFormat, OutputMode, PromptCache, as_mapping
from emitter.policy import CeilingOwner
from emitter.schema import compile_schema
from emitter.schema.compiler import UndeclaredProperties

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.client.routing import ModelTarget
    from emitter.client.settings import Settings
    from emitter.forms.form import OutputForm
    from emitter.messages import Json, ModelRequest
    from emitter.profiles.tables import PromptCaching
    from emitter.prompts import PromptTemplates
    from emitter.schema import Compiled
    from emitter.schema.references import SchemaRegistry


@dataclass(frozen=True, slots=True, eq=False)
class FormPlan:
    """The parts of a request that all emissions of a form to a model share.

    Attributes:
        rule: The instruction for unknown values, a part of the system prompt.
        schema_parts: The parts of the system prompt that describe the schema.
        key: The arguments of the plan.
        thinking_tokens: The tokens reserved for thinking if the caller sets no options.
        window: The context window, or None if prompts are not checked against it.
        caching: The facts about the vendor's prompt cache, or None if none are known.
        is_cache_free: Writing to the prompt cache costs nothing, so the prefix is marked without being asked.
    """

    target: ModelTarget
    templates: PromptTemplates
    compiled: Compiled
    output: OutputFormat
    rule: str
    schema_parts: tuple[str, ...]
    key: PlanKey
    cost: SchemaCost
    max_output: int
    is_ceiling_assumed: bool
    min_output_tokens: int
    thinking_tokens: int
    window: ContextWindow | None
    is_known_model: bool
    caching: PromptCaching | None
    is_cache_free: bool


class PlanKey(NamedTuple):
    """The arguments of a plan, as the key of its cache."""

    schema: object
    name: str
    has_heading: bool
    target: ModelTarget
    templates: PromptTemplates
    degrade: bool
    undeclared: UndeclaredProperties | None
    registry: SchemaRegistry | None
    refusals: Refusals = NO_REFUSALS


def plan_form(
    form: OutputForm,
    target: ModelTarget,
    templates: PromptTemplates,
    settings: Settings,
    refusals: Refusals = NO_REFUSALS,
) -> FormPlan:
    """Return the plan of a form, without what the server has refused or ignored."""
    undeclared = None if settings.undeclared is None else UndeclaredProperties(settings.undeclared)
    key = PlanKey(
        schema=form.schema,
        name=form.name,
        has_heading=form.has_heading,
        target=target,
        templates=templates,
        degrade=settings.degrade,
        undeclared=undeclared,
        registry=settings.registry,
        refusals=refusals.of_form,
    )
    return _find_plan(key)


def plan_other_mode(plan: FormPlan) -> FormPlan | None:
    """Return the plan in the output mode to use if the server refuses that of ``plan``, or None if there is none."""
    mode = plan.output.mode
    if mode is OutputMode.TEXT:
        return None
    refusals = plan.key.refusals
    return _find_plan(plan.key._replace(refusals=refusals._replace(modes=refusals.modes | {mode})))


def plan_described(plan: FormPlan) -> FormPlan:
    """Return the plan to use if the server ignored the schema of ``plan``: the prompt describes it."""
    return _find_plan(plan.key._replace(refusals=plan.key.refusals._replace(ignores_schema=True)))


def _find_plan(key: PlanKey) -> FormPlan:
    """Return a plan. It is cached unless the schema is a dict, which the caller may change."""
    try:
        return _cached_plan(key)
    except TypeError:  # the schema cannot be hashed
        return _make_plan(key)


def _make_plan(key: PlanKey) -> FormPlan:
    profile, wire, model = key.target
    compiled = compile_schema(
        key.schema, profile, degrade=key.degrade, undeclared=key.undeclared, registry=key.registry
    )
    output, parts = output_spec(key.name, compiled, key.templates, key.target, key.refusals)
    cost, limits, minimum = measure_schema(compiled), profile.model_limits(model), profile.wires[wire].tokens.minimum
    window = ContextWindow(
        model=f"{profile.name}/{model}",
        size=limits.context,
        longest_prompt=limits.longest_prompt,
        typical_answer=max(cost.answer.typical, minimum),
        load_tokenizer=partial(_exact_counter, profile.token_encoding(model)),
    )
    caching = profile.prompt_caching(model)
    return FormPlan(
        target=key.target,
        templates=key.templates,
        compiled=compiled,
        output=output,
        rule="" if key.has_heading else render_unknown_rule(key.templates, compiled),
        schema_parts=parts,
        key=key,
        cost=cost,
        max_output=limits.max_output,
        is_ceiling_assumed=limits.is_ceiling_assumed,
        min_output_tokens=minimum,
        thinking_tokens=profile.thinking_tokens(wire, model, {}),
        window=None if limits.is_window_open else window,
        is_known_model=profile.is_known_model(model),
        caching=caching,
        is_cache_free=caching is not None and caching.is_free,
    )


_cached_plan = lru_cache(maxsize=256)(_make_plan)


def _exact_counter(encoding: str | None) -> Callable[[str], int] | None:
    return tokens.make_token_counter(encoding) if tokens.has_exact_counter(encoding) else None


def output_spec(
    name: str,
    compiled: Compiled,
    prompts: PromptTemplates,
    target: ModelTarget,
    refusals: Refusals = NO_REFUSALS,
) -> tuple[OutputFormat, tuple[str, ...]]:
    """Return the output format and the parts of the prompt that describe it.

    A schema that the vendor cannot enforce is described in the prompt only.
    """
    mode = _choose_mode(compiled, target, refusals.modes)
    is_shown = mode in target.profile.wires[target.wire].output.shown and not refusals.ignores_schema
    output = OutputFormat(
        name,
        as_mapping(compiled.schema),
        mode,
        strict=target.profile.sends_strict(target.wire, target.model),
        is_enforced=compiled.enforced and target.profile.enforces_schema(target.wire, target.model),
        is_described=not (is_shown and compiled.enforced),
        is_ignored=refusals.ignores_schema,
    )
    return output, render_form(prompts, compiled, output, is_schema_shown=is_shown)


def _choose_mode(compiled: Compiled, target: ModelTarget, refused: frozenset[OutputMode]) -> OutputMode:
    """Return the output mode: the preferred one, or a weaker one if the server refused it or the schema has no use."""
    modes = target.profile.output_modes(target.wire, target.model)
    preferred = target.profile.preferred_output_mode(target.wire, target.model)
    if compiled.enforced and preferred not in refused:
        return preferred
    schema = compiled.schema if compiled.enforced else compiled.original
    if OutputMode.JSON_OBJECT in modes and OutputMode.JSON_OBJECT not in refused and _is_object_schema(schema):
        return OutputMode.JSON_OBJECT
    # A server that never heard of a JSON object may know a forced tool, such as one with the Messages API.
    other = compiled.enforced and OutputMode.TOOL in modes and OutputMode.JSON_OBJECT not in modes
    return OutputMode.TOOL if other and OutputMode.TOOL not in refused else OutputMode.TEXT


def _is_object_schema(schema: Json) -> bool:
    """Return whether the root of the schema allows only objects."""
    node = as_mapping(schema)
    if "$ref" in node:
        node = as_mapping(as_mapping(node.get("$defs")).get(str(node["$ref"]).removeprefix("#/$defs/")))
    return node.get("type") == "object"


def first_budget(plan: FormPlan, settings: Settings, options: Mapping[str, Json]) -> TokenBudget:
    """Return the output budget of the first call and its ceiling, before the prompt is counted.

    It has room for the thinking that the profile expects, or for more if the model was seen to think more.
    """
    thinking, policy = plan.thinking_tokens, settings.policy
    if options:
        profile, wire, model = plan.target
        thinking = profile.thinking_tokens(wire, model, options)
    thinking = max(thinking, recall_thinking(settings, plan.target, options))
    return _budget(plan, thinking, policy.output_tokens, policy.max_output_tokens)


@lru_cache(maxsize=256)
def _budget(plan: FormPlan, thinking: int, requested: int | None, limit: int | None) -> TokenBudget:
    ceiling, owner = _ceiling(plan, requested, limit)
    bounds = BudgetBounds(plan.min_output_tokens, ceiling)
    initial = initial_budget(plan.cost.answer, thinking, bounds, requested=requested)
    return TokenBudget(initial, ceiling, is_explicit=requested is not None, owner=owner)


def _ceiling(plan: FormPlan, requested: int | None, limit: int | None) -> tuple[int, CeilingOwner]:
    """Return the largest budget and whose limit it is. What the profile assumes yields to the policy."""
    if limit is not None and (plan.is_ceiling_assumed or limit < plan.max_output):
        return limit, CeilingOwner.POLICY
    if not plan.is_ceiling_assumed:
        return plan.max_output, CeilingOwner.MODEL
    return max(plan.max_output, requested or 0), CeilingOwner.ASSUMPTION


_KEY_DIGITS = 32


def plan_prompt_cache(
    setting: bool | Literal["long"] | None,  # noqa: FBT001  the option of the same name
    request: ModelRequest,
    prefix: str,
    plan: FormPlan,
) -> PromptCache | None:
    """Return what to ask of the cache, or None for the vendor's default.

    Args:
        setting: The option ``cache_prompt``. None allows marks only.
        request: The first request of the emission.
        prefix: The start of its system prompt, which all emissions of the form share.
        plan: The plan of the form for the model.
    """
    facts = plan.caching
    if facts is None:
        return None
    if setting is False:
        return PromptCache(is_exclusive=True) if facts.exclusive else None
    is_marked = facts.marks > 0 and _may_be_cached(request, prefix, plan, facts.minimum)
    key = _cache_key(prefix, plan) if setting and facts.keyed else None
    lifetime = facts.longest_lifetime() if setting == "long" and (is_marked or not facts.marks) else None
    cache = PromptCache(len(prefix), is_marked, facts.exclusive and is_marked, lifetime, key)
    return cache if is_marked or lifetime or key else None


def _may_be_cached(request: ModelRequest, prefix: str, plan: FormPlan, minimum: int) -> bool:
    """Return whether the prefix may have enough tokens to be cached. The estimate is never too low."""
    count = tokens.make_token_counter(plan.target.profile.token_encoding(request.model), load=False)
    return count(prefix) + count(plan.cost.schema_text) >= minimum


def _cache_key(prefix: str, plan: FormPlan) -> str:
    """Return a digest of the prefix and the schema, so that the key reveals neither."""
    content = f"{plan.output.name}\n{plan.output.mode.value}\n{plan.cost.schema_text}\n{prefix}"
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:_KEY_DIGITS]
