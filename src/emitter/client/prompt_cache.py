"""Decide what to ask of a vendor's prompt cache.

All requests of a form begin with the same prefix: its schema and the first part of the system prompt. Which models
cache it, and how they are told, are facts of the profile.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from emitter import tokens
from emitter.messages import PromptCache

if TYPE_CHECKING:
    from emitter.client.request import FormPlan
    from emitter.messages import ModelRequest

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
        prefix: The part of its system prompt that all emissions of the form begin with.
        plan: What is known about the form and the model.
    """
    facts = plan.caching
    if facts is None:
        return None
    if setting is False:
        return PromptCache(is_exclusive=True) if facts.exclusive else None
    is_marked = facts.marks > 0 and _may_be_cached(request, prefix, plan, facts.minimum)
    key = _make_key(prefix, plan) if setting and facts.keyed else None
    lifetime = facts.longest_lifetime() if setting == "long" and (is_marked or not facts.marks) else None
    cache = PromptCache(len(prefix), is_marked, facts.exclusive and is_marked, lifetime, key)
    return cache if is_marked or lifetime or key else None


def _may_be_cached(request: ModelRequest, prefix: str, plan: FormPlan, minimum: int) -> bool:
    """Return whether the prefix may have enough tokens, by an estimate that is never too low."""
    count = tokens.make_token_counter(plan.target.profile.token_encoding(request.model), load=False)
    return count(prefix) + count(plan.cost.schema_text) >= minimum


def _make_key(prefix: str, plan: FormPlan) -> str:
    """Return a digest of the prefix and the schema, which says nothing about either."""
    content = f"{plan.output.name}\n{plan.output.mode.value}\n{plan.cost.schema_text}\n{prefix}"
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:_KEY_DIGITS]
