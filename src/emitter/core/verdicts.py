"""Classify a model's answer and choose the remedy.

``classify`` reads the stop reason first: the text is parsed only after a clean stop, so a truncated, refused or
unknown answer never counts as success. Validation uses the document after recovery and decoding, against the caller's
original schema. ``REMEDIES`` maps each verdict to one remedy, as in OpenWOP RFC 0033, and ``next_request`` applies it.
What decides whether a request is sent again is in this module, except the wait after a fault (``core.emission``) and
the choice of another model (``core.fallback``).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pydantic_core import PydanticSerializationError, to_json

from emitter import recover
from emitter.events import Reason
from emitter.findings import Finding, Severity
from emitter.messages import Fault, FaultKind, ModelRequest, ModelResponse, StopReason, with_output_budget
from emitter.recover.answer import Ambiguous, Recovered, RecoveryPath, Retracted, parse_answer
from emitter.redaction.secret_registry import NO_SECRETS, Secrets
from emitter.schema.results import CallbackFailure, ParseResult
from emitter.schema.validator import LONE_SURROGATE, Violation
from emitter.strict_json import json_equal

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.core.effects import RequestWriter
    from emitter.messages import CallResult, Json
    from emitter.policy import Policy
    from emitter.schema import Compiled


class Verdict(str, Enum):
    """The classification of an answer."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    OVERFLOWED = "overflowed"
    REFUSED = "refused"
    VIOLATED = "violated"
    FLAGGED = "flagged"
    """Valid, but a check asks for one correction. The answer stands if the correction fails."""
    MALFORMED = "malformed"
    PAUSED = "paused"
    UNKNOWN = "unknown"
    FAULTED = "faulted"
    UNCHECKED = "unchecked"
    """A check or validator of the caller raised an exception."""


DocumentReader: TypeAlias = "Callable[[Json], ParseResult[Any]]"
"""Reads a document that is valid against the schema, and returns its value or the violations of content rules."""


class ContentRules(Protocol):
    """The content rules of a host's kind."""

    def find_violations(self, payload: Json, /) -> tuple[Violation, ...]:
        """Return what the rules find in a payload."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentContract:
    """The rules for a document: the compiled schema, then ``read_value``, then the rules of the host's kind.

    ``normalize`` fills in members that a host must not insist on, before validation. ``secrets`` are removed from the
    messages of validators and checks.
    """

    compiled: Compiled
    read_value: DocumentReader = ParseResult
    normalize: Callable[[Json], Json] | None = None
    kind: ContentRules | None = None
    secrets: Secrets = NO_SECRETS

    def check(self, document: Json) -> ParseResult[Any]:
        """Return the value of a document, or its violations. Only a valid document is read."""
        violations = self.compiled.validate(document) or _check_surrogates(document)
        if violations:
            return ParseResult(violations=violations)
        result: ParseResult[Any] = self.read_value(document)
        if self.kind is not None and not result.violations and result.failure is None:
            violations = self.kind.find_violations(document)
            result = ParseResult(violations=violations) if violations else result
        return self._redact_result(result) if self.secrets.ids else result

    def _redact_result(self, result: ParseResult[Any]) -> ParseResult[Any]:
        violations, corrections = (
            tuple(self._redact_violation(violation) for violation in violations)
            for violations in (result.violations, result.corrections)
        )
        findings = tuple(
            replace(finding, pointer=self._redact(finding.pointer), message=self._redact(finding.message))
            for finding in result.findings
        )
        return replace(result, violations=violations, corrections=corrections, findings=findings)

    def _redact_violation(self, violation: Violation) -> Violation:
        return Violation(*map(self._redact, (violation.pointer, violation.rule, violation.expected)))

    def _redact(self, text: str) -> str:
        return self.secrets.redact_text(text).value


@dataclass(frozen=True, slots=True)
class ClassifiedAnswer:
    """A verdict with its grounds.

    ``value`` and ``document`` are set if the verdict is COMPLETE or FLAGGED, and ``raised`` if it is UNCHECKED.
    ``violations`` are set if it is VIOLATED or FLAGGED, and for some MALFORMED answers. ``findings`` are about an
    accepted value. ``answer`` is the answer itself, if it is to be kept.
    """

    verdict: Verdict
    value: Any = None
    document: Json = None
    recovered: Recovered | None = None
    violations: tuple[Violation, ...] = ()
    raised: CallbackFailure | None = None
    findings: tuple[Finding, ...] = ()
    answer: ModelResponse | None = None


VERDICT_BY_STOP: dict[StopReason, Verdict] = {stop: Verdict(stop.value) for stop in StopReason}
"""The verdict for each stop reason, which has the same name. The verdict on a complete answer is only the first."""
RETRACTED = Violation(
    "", "retracted", "the document alone, with no words that take it back; to refuse, words alone, with no document"
)
"""The text around the document refuses it or takes it back."""
DOUBTFUL = Violation("", "doubted", "the document alone, with no words before or after it")
"""The text around the document may take it back. This is worth one more call but no rejection."""


def classify(
    answer: CallResult, contract: DocumentContract, *, already_corrected: bool = False, can_flag: bool = False
) -> ClassifiedAnswer:
    """Return the verdict on ``answer``.

    If ``already_corrected`` is true, the model was asked for the document alone before. A document that is doubtful
    again is then accepted with a finding. A retracted one never is. If ``can_flag`` is true, findings may ask for one
    correction.
    """
    if isinstance(answer, Fault):
        return ClassifiedAnswer(Verdict.FAULTED)
    verdict = VERDICT_BY_STOP[answer.stop]
    if verdict is not Verdict.COMPLETE:
        return ClassifiedAnswer(verdict)
    recovered = extract_document(answer)
    if not isinstance(recovered, Recovered):
        violations = (RETRACTED,) if isinstance(recovered, Retracted) else ()
        return ClassifiedAnswer(Verdict.MALFORMED, violations=violations)
    if recovered.doubtful and not already_corrected:
        return ClassifiedAnswer(Verdict.MALFORMED, violations=(DOUBTFUL,))
    classification = _validate_document(recovered, contract, can_flag=can_flag)
    if not recovered.doubtful:
        return classification
    doubt = Finding(DOUBTFUL.pointer, DOUBTFUL.rule, Severity.WARNING, DOUBTFUL.expected)
    return replace(classification, findings=(*classification.findings, doubt))


def extract_document(reply: ModelResponse) -> Recovered | Retracted | None:
    """Return the single document of an answer: the arguments of a tool call, or the text."""
    if not reply.arguments:
        parsed = parse_answer(reply.text)
        return None if isinstance(parsed, Ambiguous) else parsed
    calls = [_parse_arguments(call) for call in reply.arguments]
    first = calls[0]
    if first is None or not all(call is not None and json_equal(call.value, first.value) for call in calls):
        return None
    if not reply.text:
        return replace(first, doubtful=False)
    stance = recover.classify_prose(recover.strip_thinking(reply.text))
    return (
        Retracted()
        if stance is recover.Stance.RETRACTED
        else replace(first, doubtful=stance is recover.Stance.DOUBTFUL)
    )


def _parse_arguments(arguments: Json) -> Recovered | None:
    """Parse the arguments of a tool call, which are JSON text or an object that the vendor parsed."""
    if not isinstance(arguments, str):
        return Recovered(arguments, RecoveryPath.DIRECT, 0) if _is_json(arguments) else None
    parsed = parse_answer(arguments)
    return parsed if isinstance(parsed, Recovered) else None


def _is_json(value: Json) -> bool:
    """Return whether a value is valid JSON. A number that could not be represented is NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _validate_document(recovered: Recovered, contract: DocumentContract, *, can_flag: bool) -> ClassifiedAnswer:
    document = contract.compiled.decode(recovered.value)
    if contract.normalize is not None:
        document = contract.normalize(document)
    reading = contract.check(document)
    if reading.failure is not None:
        return ClassifiedAnswer(Verdict.UNCHECKED, recovered=recovered, raised=reading.failure)
    if reading.violations:
        return ClassifiedAnswer(Verdict.VIOLATED, recovered=recovered, violations=reading.violations)
    corrections = reading.corrections if can_flag else ()
    verdict = Verdict.FLAGGED if corrections else Verdict.COMPLETE
    return ClassifiedAnswer(verdict, reading.value, document, recovered, corrections, findings=reading.findings)


def _check_surrogates(document: Json) -> tuple[Violation, ...]:
    """Reject lone surrogates: JSON can spell them, but they cannot be encoded as UTF-8."""
    try:
        to_json(document)
    except PydanticSerializationError:  # what is too deep for this writer is told from half a character by that one
        return _check_text_surrogates(json.dumps(document, ensure_ascii=False))
    return ()


def _check_text_surrogates(text: str) -> tuple[Violation, ...]:
    try:
        text.encode()
    except UnicodeEncodeError:
        return (LONE_SURROGATE,)
    return ()


class Remedy(Enum):
    """The possible remedies."""

    NONE = "nothing: the emission ends"
    BUDGET = "the request with a larger budget and no corrective fragment"
    CORRECT = "the same budget with one corrective fragment"
    AGAIN = "the same request once more"
    BACKOFF = "the same request after a wait"


class TerminalCode(str, Enum):
    """The terminal codes of an emission: OpenWOP's, and ours for an exception in the caller's code."""

    TRUNCATION = "envelope_truncation_unrecoverable"
    REFUSAL = "envelope_refusal"
    INVALID = "envelope_invalid"
    UNCHECKED = "check_failed"


@dataclass(frozen=True, slots=True)
class RemedyRule:
    """The remedy for a verdict, the reason to report, and the terminal code if the remedy fails."""

    remedy: Remedy
    reason: Reason | None = None
    code: TerminalCode | None = None


def retry_reason(classification: ClassifiedAnswer) -> Reason | None:
    """Return the OpenWOP reason closest to these violations."""
    rules = {violation.rule for violation in classification.violations}
    if rules == {"type"}:
        return Reason.TYPE_MISMATCH
    if any(
        violation.rule in {"enum", "const"} and violation.pointer.endswith("/kind")
        for violation in classification.violations
    ):
        return Reason.TYPE_DRIFT
    return REMEDIES[classification.verdict].reason


REMEDIES: dict[Verdict, RemedyRule] = {
    Verdict.COMPLETE: RemedyRule(Remedy.NONE),
    Verdict.TRUNCATED: RemedyRule(Remedy.BUDGET, Reason.TRUNCATION, TerminalCode.TRUNCATION),
    Verdict.OVERFLOWED: RemedyRule(Remedy.NONE, Reason.TRUNCATION, TerminalCode.TRUNCATION),
    Verdict.REFUSED: RemedyRule(Remedy.NONE, Reason.REFUSAL, TerminalCode.REFUSAL),
    Verdict.VIOLATED: RemedyRule(Remedy.CORRECT, Reason.SCHEMA_VIOLATION, TerminalCode.INVALID),
    Verdict.FLAGGED: RemedyRule(Remedy.CORRECT, Reason.SCHEMA_VIOLATION),
    Verdict.MALFORMED: RemedyRule(Remedy.CORRECT, Reason.PARSE_ERROR, TerminalCode.INVALID),
    Verdict.PAUSED: RemedyRule(Remedy.AGAIN, Reason.UNKNOWN, TerminalCode.INVALID),
    Verdict.UNKNOWN: RemedyRule(Remedy.AGAIN, Reason.UNKNOWN, TerminalCode.INVALID),
    Verdict.FAULTED: RemedyRule(Remedy.BACKOFF),
    Verdict.UNCHECKED: RemedyRule(Remedy.NONE, None, TerminalCode.UNCHECKED),
}
"""Covers every ``Verdict``. The error class of each is in ``emitter.client.result``."""
FAULT_CODES: dict[FaultKind, str] = {
    FaultKind.RATE_LIMIT: "rate_limited",
    FaultKind.QUOTA: "provider_quota_exhausted",
    FaultKind.OVERLOADED: "provider_unavailable",
    FaultKind.SERVER: "provider_unavailable",
    FaultKind.TIMEOUT: "provider_unavailable",
    FaultKind.CONNECTION: "provider_unavailable",
    FaultKind.PROTOCOL: "provider_unavailable",
    FaultKind.DEADLINE: "deadline_exceeded",
    FaultKind.CANCELLED: "cancelled",
    FaultKind.AUTHENTICATION: "provider_authentication_failed",
    FaultKind.PERMISSION: "provider_permission_denied",
    FaultKind.NOT_FOUND: "provider_model_not_found",
    FaultKind.BAD_REQUEST: "provider_request_rejected",
    FaultKind.SCHEMA_REJECTED: "provider_schema_rejected",
    FaultKind.TOO_LARGE: "provider_request_too_large",
    FaultKind.RESPONSE_TOO_LARGE: "response_limit_reached",
}
"""The terminal code of each fault; it covers every ``FaultKind``. The first three are OpenWOP's."""


@dataclass(frozen=True, slots=True)
class RetryState:
    """The state in which a remedy is chosen.

    ``previous_verdicts`` are those of earlier answered calls of the model. ``document_requested`` is true if it was
    asked for the document alone before. ``other_calls`` are answered calls of earlier models, and those that are kept
    for later ones.
    """

    request: ModelRequest
    previous_verdicts: tuple[Verdict, ...]
    max_budget: int
    document_requested: bool = False
    other_calls: int = 0


def next_request(
    classification: ClassifiedAnswer, state: RetryState, policy: Policy, writer: RequestWriter
) -> ModelRequest | None:
    """Return the request to send next, or None if no remedy is left."""
    if len(state.previous_verdicts) + 1 + state.other_calls >= policy.max_attempts:
        return None
    match REMEDIES[classification.verdict].remedy:
        case Remedy.BUDGET:
            budget = min(math.ceil(state.request.max_output_tokens * policy.truncation_multiplier), state.max_budget)
            # OpenWOP: a retry after a cut has no fragment that describes a schema problem, an earlier one included.
            return (
                with_output_budget(replace(state.request, correction=None), budget)
                if budget > state.request.max_output_tokens
                else None
            )
        case Remedy.CORRECT if state.document_requested and RETRACTED in classification.violations:
            return None  # it refused once more
        case Remedy.CORRECT:
            return writer.correct(state.request, classification.violations)
        case Remedy.AGAIN:
            return None if classification.verdict in state.previous_verdicts else state.request
        case Remedy.NONE | Remedy.BACKOFF:
            return None
