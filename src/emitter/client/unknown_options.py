"""What to pass in place of an option that does not exist."""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING

from emitter.client.options import DocumentRules, SingleDecision
from emitter.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Collection

_RETRIES = "Pass policy=Policy(max_faults=...) for failed calls, or Policy(max_attempts=...) for rejected answers."
_FORM = "Pass the type or JSON Schema as the first argument."
_MEDIA = "Pass materials=[Image(...)], or Document or Audio, of emitter.media."
_BODY = "If the vendor has it, pass extra_body={{{name!r}: ...}}."
_ADVICE = {
    **dict.fromkeys(("max_retries", "num_retries", "retries", "retry"), _RETRIES),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "Pass policy=Policy(output_tokens=...)."),
    **dict.fromkeys(("request_timeout",), "Pass policy=Policy(timeout=...)."),
    **dict.fromkeys(("budget", "usage_limits"), "Pass policy=Policy(max_cost=...) or Policy(max_total_tokens=...)."),
    **dict.fromkeys(("system", "system_prompt", "system_instruction"), "Pass instructions=."),
    **dict.fromkeys(("tools", "tool_choice", "functions"), "No tools are run: emit on the messages of your tool loop."),
    **dict.fromkeys(("api_key", "key"), "Pass client=, or use Emitter(model, api_key=...)."),
    **dict.fromkeys(("endpoint", "url", "api_base", "host_url"), "Pass base_url=."),
    **dict.fromkeys(("headers", "default_headers"), "Pass extra_headers=."),
    **dict.fromkeys(("response_model", "response_format", "response_schema", "schema"), _FORM),
    **dict.fromkeys(("output_type", "output_schema", "result_type", "text_format", "type"), _FORM),
    **dict.fromkeys(("prompt", "input", "contents", "content", "text"), "Pass it as messages=."),
    **dict.fromkeys(("images", "image", "files", "file", "documents", "attachments", "audio", "media"), _MEDIA),
    **dict.fromkeys(("validators", "validate", "guards"), "Pass checks=."),
    **dict.fromkeys(("validation_context", "deps"), "Pass context=."),
    **dict.fromkeys(("few_shot", "fewshot", "shots"), "Pass examples=."),
    **dict.fromkeys(("fallbacks", "fallback_models"), "Pass fallback=."),
    **dict.fromkeys(("thinking", "reasoning", "thinking_budget", "effort"), "Pass reasoning_effort=."),
    **dict.fromkeys(("top_k", "n", "verbosity", "metadata", "user", "frequency_penalty", "presence_penalty"), _BODY),
    **dict.fromkeys(("stop_sequences",), "Pass stop=."),
    **dict.fromkeys(("rpm", "tpm", "rate_limiter"), "Pass rate_limit=RateLimit(...)."),
    **dict.fromkeys(("concurrency", "max_concurrency", "max_workers"), "Pass in_flight= to emit_many."),
    **dict.fromkeys(("callback", "callbacks", "hooks", "on_chunk"), "Pass on_event=."),
    **dict.fromkeys(("stream",), "Call stream() or astream()."),
    **dict.fromkeys(("mode",), "Leave it out: the vendor's profile says how the schema is enforced."),
    **dict.fromkeys(("model",), "The Emitter has a model. Make another Emitter, or call emit(..., model=...)."),
}
"""The words of other libraries. The fields of ``Policy`` and close spellings need no row."""
_CUTOFF = 0.7
"""The similarity below which no option is suggested."""


def advise(name: str, options: Collection[str]) -> str:
    """Return a sentence that says what to pass instead of the option ``name``, or an empty text."""
    if name in {item.name for item in fields(Policy)}:
        return f"Pass policy=Policy({name}=...)."
    if name in _ADVICE:
        return _ADVICE[name].format(name=name)
    for function, rules in (("emit", DocumentRules), ("emit_binding_moment", SingleDecision)):
        if name in rules.__annotations__:
            return f"It is an option of {function}."
    known = {*options, *DocumentRules.__annotations__, *SingleDecision.__annotations__}
    return "".join(f"Did you mean {close!r}?" for close in get_close_matches(name, sorted(known), 1, _CUTOFF))
