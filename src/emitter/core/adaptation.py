"""Send a request again in another form, if the server refuses the form of the last one or ignores its schema.

A schema steps down to a JSON object, and a JSON object to the prompt alone. The schema is then a part of the prompt,
and the local check decides as before. Each step is a call that counts, and no form is tried twice.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from emitter import recover
from emitter.attempts import Verdict
from emitter.core.effects import SchemaIgnored
from emitter.events import MODE_REFUSED, SCHEMA_IGNORED, STREAM_REQUIRED, Level, LogAppended
from emitter.messages import FaultKind
from emitter.schema.validator import Validator

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

    from emitter.core.effects import Effect, EffectResult
    from emitter.core.state import EmissionState
    from emitter.core.verdicts import ClassifiedAnswer, RequestWriter
    from emitter.findings import Violation
    from emitter.messages import Fault, ModelRequest, ModelResponse, OutputFormat, OutputMode


def adapt_request(
    state: EmissionState, fault: Fault, request: ModelRequest
) -> Generator[Effect, EffectResult, ModelRequest | None]:
    """Return a request whose form the server refused in another form, or None if there is none."""
    adapted = state.emission_request.writer.adapt(request, fault.kind)
    if adapted is None:
        return None
    _adopt(state, *adapted)
    following = adapted[0]
    if fault.kind is FaultKind.STREAM_REQUIRED:
        yield stream_event(Level.WARN)
    else:
        yield mode_event((request.output.mode,), following.output.mode, Level.WARN)
    return following


def describe_schema(state: EmissionState, request: ModelRequest) -> Generator[Effect, EffectResult, ModelRequest]:
    """Return a request whose schema the server ignored with the schema described in the prompt."""
    yield SchemaIgnored(request.route)
    yield ignored_event(Level.WARN)
    described = state.emission_request.writer.describe_schema(request)
    if described is None:
        return request
    _adopt(state, *described)
    return described[0]


_WITHOUT_DOCUMENT = frozenset({Verdict.MALFORMED, Verdict.TRUNCATED, Verdict.LOOPED})
_DOCUMENT_START = re.compile(r"(?:```\w*\s*)?[{\[]")
_STRUCTURE = frozenset({"type", "required", "additionalProperties", "enum", "const"})
"""The keywords that every server enforces that enforces any."""


def is_schema_ignored(answer: ModelResponse, classification: ClassifiedAnswer, output: OutputFormat) -> bool:
    """Return whether an answer shows that the server ignored the schema: it is prose, or has another structure."""
    if output.is_described:
        return False
    if classification.verdict is Verdict.VIOLATED and classification.recovered is not None:
        # A rule inside JSON text, and a property that is null where it is absent, are enforced by no server.
        is_possible = output.is_enforced and _is_about_structure(classification.violations)
        return is_possible and _is_about_structure(Validator(output.schema)(classification.recovered.value))
    if classification.verdict not in _WITHOUT_DOCUMENT or answer.arguments:
        return False
    text = recover.strip_thinking(answer.text).strip()
    is_prose = bool(text) and not _DOCUMENT_START.match(text)
    return is_prose and recover.classify_prose(text) is not recover.Stance.RETRACTED


def _is_about_structure(violations: tuple[Violation, ...]) -> bool:
    return any(violation.rule in _STRUCTURE for violation in violations)


def _adopt(state: EmissionState, following: ModelRequest, writer: RequestWriter) -> None:
    """Make later requests of the emission follow another first request."""
    first = replace(
        state.emission_request.request,
        system=following.system,
        messages=following.messages,
        output=following.output,
        cache=following.cache,
        is_streamed=following.is_streamed,
    )
    state.emission_request = replace(state.emission_request, request=first, writer=writer)


def ignored_event(level: Level) -> LogAppended:
    """Return the event that reports that the prompt describes the schema because the server ignored it."""
    return LogAppended(level, SCHEMA_IGNORED, {})


def mode_event(refused: Collection[OutputMode], mode: OutputMode, level: Level) -> LogAppended:
    """Return the event that reports the output mode in use instead of refused ones."""
    return LogAppended(level, MODE_REFUSED, {"refused": sorted(each.value for each in refused), "mode": mode.value})


def stream_event(level: Level) -> LogAppended:
    """Return the event that reports that answers are streamed because the server requires it."""
    return LogAppended(level, STREAM_REQUIRED, {})
