"""Reading a cell: requests as the server saw them, events as words, and both as one story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.events import (
    SCHEMA_IGNORED,
    CapBreached,
    EnvelopeRefusal,
    EnvelopeTruncated,
    Level,
    LogAppended,
    NlToFormatEngaged,
    NodeCompleted,
    NodeFailed,
    ProviderUsage,
    RecoveryApplied,
    RetryAttempted,
    RetryExhausted,
)
from emitter.streaming import Restart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.events import Event, RunEvent
    from tests.faults.asking import Found

CORRECTION = "Your last answer did not satisfy the required form"
_TURNS = {
    "openai-responses": "input",
    "openai-chat": "messages",
    "anthropic": "messages",
    "google": "contents",
    "bedrock-converse": "messages",
    "gemini-interactions": "input",
}
_BUDGETS = {
    "openai-responses": ("max_output_tokens",),
    "openai-chat": ("max_completion_tokens",),
    "anthropic": ("max_tokens",),
    "google": ("generationConfig", "maxOutputTokens"),
    "gemini-interactions": ("generation_config", "max_output_tokens"),
    "bedrock-converse": ("inferenceConfig", "maxTokens"),
}


@dataclass(frozen=True)
class Seen:
    """A request as the server saw it: its budget, its corrective fragment if any, and everything else."""

    budget: int
    correction: str | None
    rest: Any


def seen(wire: str, body: Any) -> Seen:
    """Take a request's body apart."""
    rest, (*path, name) = dict(body), _BUDGETS[wire]
    for key in path:
        rest[key] = dict(rest[key])
    table = rest[path[0]] if path else rest
    budget = table.pop(name)
    *turns, last = rest.pop(_TURNS[wire])
    said = last["parts"] if wire == "google" else last["content"]
    said = said if isinstance(said, str) else said[0]["text"]
    corrected = said.startswith(CORRECTION)
    return Seen(budget, said if corrected else None, (rest, turns if corrected else [*turns, last]))


def story(found: Found, requests: list[Seen]) -> str:
    """Return what happened in the words of the tables."""
    calls = iter(_calls(requests))
    attempts = iter(found.result.trace.attempts)
    words: list[str] = []
    for reported in found.result.trace.events:
        if _is_call(reported.event):
            words += [next(calls, "(unsent)"), next(attempts).verdict.name]
        elif not is_about_schema(reported.event):
            words.append(_word(reported.event))
    return " ".join([*words, *(f"(untold){each}" for each in calls)])


def _calls(requests: list[Seen]) -> Iterator[str]:
    for each in requests:
        share = each.budget / requests[0].budget
        yield "call" + ("+fix" if each.correction else "") + (f"*{share:g}" if share != 1 else "")


def _is_call(event: Event) -> bool:
    return isinstance(event, LogAppended) and event.level is Level.DEBUG


def is_about_schema(event: Event) -> bool:
    """Return whether an event says that the server ignored the schema, which has tests of its own."""
    return isinstance(event, LogAppended) and event.message == SCHEMA_IGNORED


def budgets(events: Any) -> list[int]:
    """Return the budgets that were reported."""
    return [each.event.fields["budget"] for each in events if _is_call(each.event)]


def _word(event: Event) -> str:  # noqa: C901, PLR0911, PLR0912  total, one line for each event
    match event:
        case ProviderUsage():
            return "usage"
        case EnvelopeTruncated():
            return f"truncated({event.stop_reason})"
        case EnvelopeRefusal():
            return "refusal"
        case RecoveryApplied():
            return f"recovered({event.path})"
        case RetryAttempted():
            return f"retry-{event.attempt}({event.reason.value})"
        case RetryExhausted():
            return f"exhausted-{event.total_attempts}({event.final_reason.value})"
        case CapBreached():
            return f"breached({event.kind})"
        case NodeCompleted():
            return "done"
        case NodeFailed():
            return f"failed({event.code})"
        case NlToFormatEngaged():
            return f"two-steps({event.fallback_calls})"
        case LogAppended():
            return f"resent({event.fields['fault']})"
        case _:
            raise AssertionError(event)


def worded(events: Iterable[RunEvent]) -> str:
    """Return events alone in the words of the tables."""
    reported = [each.event for each in events if not is_about_schema(each.event)]
    return " ".join("call" if _is_call(event) else _word(event) for event in reported)


def restarts(found: Found) -> list[tuple[int, str]]:
    """Return the restarts that a stream reported: the number of each further call, and the verdict before."""
    return [(each.attempt, each.reason.name) for each in found.reported if isinstance(each, Restart)]
