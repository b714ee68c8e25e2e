"""Classify a model's answer and choose the remedy.

``classify`` reads the stop reason first: the text is parsed only after a clean stop, so a truncated, refused or
unknown answer never counts as success. Validation uses the document after recovery and decoding, against the caller's
original schema. ``REMEDIES`` maps each verdict to its remedy (OpenWOP RFC 0033), which ``next_request`` applies, and to
the failure if the remedy does not help. ``FAULTS`` maps each kind of fault to its failure. The wait after a fault and
the choice of another model are in ``core.emission``.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pydantic_core import PydanticSerializationError, to_json

from emitter import recover
from emitter.attempts import Verdict
from emitter.errors import (
    AuthenticationError,
    BadRequest,
    CheckFailed,
    ClientFailed,
    DeadlineReached,
    Invalid,
    LimitReached,
    NotFound,
    PromptTooLong,
    QuotaExhausted,
    RateLimited,
    Refused,
    Truncated,
    Unreachable,
)
from emitter.events import Reason
from emitter.findings import Finding, Severity, Violation
from emitter.messages import Fault, FaultKind, ModelRequest, ModelResponse, StopReason, with_output_budget
from emitter.prompts import bullet_list
from emitter.recover.answer import Ambiguous, Recovered, RecoveryPath, Retracted, parse_strict
from emitter.redaction.secret_registry import NO_SECRETS, Secrets
from emitter.schema.results import CallbackFailure, ParseResult
from emitter.schema.validator import LONE_SURROGATE
from emitter.strict_json import json_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from emitter.errors import EmissionError
    from emitter.messages import CallResult, Json, Usage
    from emitter.policy import Policy
    from emitter.profiles.tables import RequestParameter
    from emitter.schema import Compiled


_CONTROL_ESCAPE = re.compile(rb"\\(?:[bf]|u00[01]|[nrt][A-Za-z])")
"""An escape in JSON that may be left of a backslash that was not escaped."""
DocumentReader: TypeAlias = "Callable[[Json], ParseResult[Any]]"
"""Converts a document that is valid against the schema to its value, or returns violations of content rules."""


class ContentRules(Protocol):
    """The content rules that a host has for a kind."""

    def find_violations(self, payload: Json, /) -> tuple[Violation, ...]:
        """Return the rules that a payload breaks."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentContract:
    """The rules for a document: the compiled schema, then ``read_value``, then the rules of the host's kind.

    ``normalize`` fills in members that a host must not insist on, before validation. ``secrets`` are removed from the
    messages of validators and checks. ``value_pointer`` maps a pointer in the document to one in the value.
    """

    compiled: Compiled
    read_value: DocumentReader = ParseResult
    normalize: Callable[[Json], Json] | None = None
    kind: ContentRules | None = None
    secrets: Secrets = NO_SECRETS
    value_pointer: Callable[[str], str] = str

    def check(self, document: Json, request: ModelRequest | None = None) -> ParseResult[Any]:
        """Return the value of a document, or its violations. Only a valid document is read.

        If the ``request`` that it answers is passed, texts that have lost backslashes are findings.
        """
        violations = self.compiled.validate(document)
        encoded = None if violations else _encode(document)
        if encoded is None:
            return ParseResult(violations=violations or (LONE_SURROGATE,))
        result: ParseResult[Any] = self.read_value(document)
        if self.kind is not None and not result.violations and result.failure is None:
            violations = self.kind.find_violations(document)
            result = ParseResult(violations=violations) if violations else result
        is_valid = not result.violations and result.failure is None
        if request is not None and is_valid and _CONTROL_ESCAPE.search(encoded):
            result = self._find_control_characters(result, document, request)
        return self._redact_result(result) if self.secrets.ids else result

    def _find_control_characters(
        self, result: ParseResult[Any], document: Json, request: ModelRequest
    ) -> ParseResult[Any]:
        from emitter.core.control_characters import SourceTexts, find_control_characters  # noqa: PLC0415  rarely needed

        sources = SourceTexts([message.text for message in request.messages])
        found = find_control_characters(document, sources, self.compiled)
        corrections = tuple(
            Violation(finding.pointer, finding.rule, finding.message)
            for finding in found
            if finding.severity is Severity.RETRY
        )
        findings = (replace(finding, pointer=self.value_pointer(finding.pointer)) for finding in found)
        return replace(result, findings=(*result.findings, *findings), corrections=(*result.corrections, *corrections))

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
    accepted value. ``answer`` is the answer itself, if it is to be kept. ``is_grounded`` is true if outside material
    fed it.
    """

    verdict: Verdict
    value: Any = None
    document: Json = None
    recovered: Recovered | None = None
    violations: tuple[Violation, ...] = ()
    raised: CallbackFailure | None = None
    findings: tuple[Finding, ...] = ()
    answer: ModelResponse | None = None
    is_grounded: bool = False


_STOPS = {stop.value: stop for stop in StopReason}
VERDICT_BY_STOP: dict[StopReason, Verdict] = {_STOPS[each.value]: each for each in Verdict if each.value in _STOPS}
"""The verdict for each stop reason, which has the same name. A complete answer is then parsed and validated."""
RETRACTED = Violation(
    "", "retracted", "the document alone, with no words that take it back; to refuse, words alone, with no document"
)
"""The text around the document refuses it or takes it back."""
DOUBTFUL = Violation("", "doubted", "the document alone, with no words before or after it")
"""The text around the document is more than a lead-in. This is worth one more call but no rejection."""

OTHER_TOOL = Violation("", "other-tool", "the document itself; a call of any other tool is not an answer")
"""The answer holds no document, but a call of a tool that was not offered."""
LOOPED = Violation(
    "",
    "loop",
    "a document that ends; the last answer repeated itself until it was cut. Write each item as often as it occurs, "
    "and then close the document",
)
"""The cut answer repeats itself at its end."""
NO_DOCUMENT = "one JSON document; "
_UNFINISHED = Violation("", "unfinished", f"{NO_DOCUMENT}the last answer ended before its document did")
_EMPTY = Violation("", "empty", f"{NO_DOCUMENT}the last answer was empty")
ONLY_THINKING = Violation(
    "", "only-thinking", f"{NO_DOCUMENT}the last answer was thinking alone, with no text after it"
)
_CUT_THINKING = Violation(
    "", ONLY_THINKING.rule, f"{NO_DOCUMENT}the last answer was cut while the model was thinking, before any text"
)
_SEVERAL = Violation("", "several-documents", f"{NO_DOCUMENT}the last answer held several different ones")
_NOT_SHOWN = Violation(
    "", "not-shown", f"{NO_DOCUMENT}the server found none in the last answer, and does not show what it found"
)
_WORDS_ALONE = Violation("", "no-document", f"{NO_DOCUMENT}the last answer held none")


def classify(
    answer: CallResult,
    contract: DocumentContract,
    request: ModelRequest | None = None,
    *,
    can_doubt: bool = True,
    can_flag: bool = False,
) -> ClassifiedAnswer:
    """Return the verdict on ``answer``.

    Args:
        answer: The answer or fault.
        contract: The rules for the document.
        request: The request, whose texts the document may quote.
        can_doubt: The model may be asked for the document alone, which is done once. A retracted document is never
            accepted.
        can_flag: Findings may ask for one correction. Words around the document are such a finding.
    """
    if isinstance(answer, Fault):
        return ClassifiedAnswer(Verdict.FAULTED)
    verdict = VERDICT_BY_STOP[answer.stop]
    if verdict is not Verdict.COMPLETE:
        return _classify_cut(answer) if verdict is Verdict.TRUNCATED else ClassifiedAnswer(verdict)
    recovered = extract_document(answer)
    if not isinstance(recovered, Recovered):
        is_retracted = isinstance(recovered, Retracted)
        if not is_retracted and request is not None and _is_budget_used_up(answer, request):
            return _classify_cut(answer)
        violation = RETRACTED if is_retracted else _find_cause(answer)
        return ClassifiedAnswer(Verdict.MALFORMED, violations=(violation,))
    classification = _validate_document(recovered, contract, request, can_flag=can_flag)
    return _add_doubt(classification, can_ask=can_flag and can_doubt) if recovered.doubtful else classification


def _classify_cut(answer: ModelResponse) -> ClassifiedAnswer:
    """Return the verdict on a cut answer. One that repeats itself would do so under a larger budget, too."""
    from emitter.core.loops import ends_in_loop  # noqa: PLC0415  few answers are cut

    if ends_in_loop(answer.document_text):
        return ClassifiedAnswer(Verdict.LOOPED, violations=(LOOPED,))
    return ClassifiedAnswer(Verdict.TRUNCATED, violations=(_CUT_THINKING,) if _is_only_thinking(answer) else ())


def _is_budget_used_up(answer: ModelResponse, request: ModelRequest) -> bool:
    """Return whether an answer has as many tokens as it may. Some servers call such a cut a clean stop."""
    usage = answer.usage
    return usage is not None and not usage.estimated and usage.output >= request.max_output_tokens


def _find_cause(answer: ModelResponse) -> Violation:
    """Return why an answer holds no single document."""
    text = recover.strip_thinking(answer.document_text).strip()
    if answer.report is not None:
        return _NOT_SHOWN
    if answer.other_tool_called:
        return OTHER_TOOL
    if not text:
        return ONLY_THINKING if _is_only_thinking(answer) else _EMPTY
    if len(answer.arguments) > 1 or isinstance(_parse_text(text), Ambiguous):
        return _SEVERAL
    return _UNFINISHED if _DOCUMENT_START.match(text) else _WORDS_ALONE


def _is_only_thinking(answer: ModelResponse) -> bool:
    """Return whether an answer has no text, but thinking, in whichever way the server shows it."""
    text = answer.document_text
    if answer.other_tool_called or recover.strip_thinking(text).strip():
        return False
    is_counted = answer.usage is not None and answer.usage.thinking > 0
    return answer.has_thinking or is_counted or bool(text.strip())


_DOCUMENT_START = re.compile(r"(?:```\w*\s*)?[{\[]")


def _add_doubt(classification: ClassifiedAnswer, *, can_ask: bool) -> ClassifiedAnswer:
    """Report the words around a document, and ask once for the document alone."""
    doubt = Finding(DOUBTFUL.pointer, DOUBTFUL.rule, Severity.WARNING, DOUBTFUL.expected)
    findings = (*classification.findings, doubt)
    if not can_ask or classification.verdict is Verdict.UNCHECKED:
        return replace(classification, findings=findings)
    verdict = Verdict.FLAGGED if classification.verdict is Verdict.COMPLETE else classification.verdict
    violations = (DOUBTFUL, *classification.violations)
    return replace(classification, verdict=verdict, violations=violations, findings=findings)


def is_doubtful(classification: ClassifiedAnswer) -> bool:
    """Return whether the model was asked for the document of this answer alone."""
    return DOUBTFUL in classification.violations


def extract_document(reply: ModelResponse) -> Recovered | Retracted | None:
    """Return the single document of an answer: the arguments of a tool call, or the text."""
    if not reply.arguments:
        parsed = _parse_text(reply.text)
        return None if isinstance(parsed, Ambiguous) else parsed
    calls = [_parse_arguments(call) for call in reply.arguments]
    first = calls[0]
    if first is None or not all(call is not None and json_equal(call.value, first.value) for call in calls):
        return None
    if not reply.text:
        return replace(first, doubtful=False)
    beside = _parse_text(reply.text)
    if isinstance(beside, Recovered) and json_equal(beside.value, first.value):
        return replace(first, doubtful=beside.doubtful)
    stance = recover.classify_prose(recover.strip_thinking(reply.text))
    return (
        Retracted()
        if stance is recover.Stance.RETRACTED
        else replace(first, doubtful=stance is recover.Stance.DOUBTFUL)
    )


def _parse_text(text: str) -> Recovered | Ambiguous | Retracted | None:
    # Nearly every answer is strict JSON, and ``recover`` loads the strategies for the others when it is first used.
    return parse_strict(text) or recover.parse_answer(text)


def _parse_arguments(arguments: Json) -> Recovered | None:
    """Parse the arguments of a tool call, which are JSON text or an object that the vendor parsed."""
    if not isinstance(arguments, str):
        return Recovered(arguments, RecoveryPath.DIRECT, 0) if _is_json(arguments) else None
    parsed = _parse_text(arguments)
    return parsed if isinstance(parsed, Recovered) else None


def _is_json(value: Json) -> bool:
    """Return whether a value is valid JSON. A parser leaves NaN for a number it cannot represent."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _validate_document(
    recovered: Recovered, contract: DocumentContract, request: ModelRequest | None, *, can_flag: bool
) -> ClassifiedAnswer:
    document = contract.compiled.decode(recovered.value)
    if contract.normalize is not None:
        document = contract.normalize(document)
    result = contract.check(document, request)
    if result.failure is not None:
        return ClassifiedAnswer(Verdict.UNCHECKED, recovered=recovered, raised=result.failure)
    if result.violations:
        return ClassifiedAnswer(Verdict.VIOLATED, recovered=recovered, violations=result.violations)
    corrections = result.corrections if can_flag else ()
    verdict = Verdict.FLAGGED if corrections else Verdict.COMPLETE
    return ClassifiedAnswer(verdict, result.value, document, recovered, corrections, findings=result.findings)


def _encode(document: Json) -> bytes | None:
    """Return a document as JSON, or None if it has a lone surrogate: JSON can spell one, but not UTF-8."""
    try:
        return to_json(document)
    except PydanticSerializationError:  # also raised for a document that is nested too deeply, which json can write
        text = json.dumps(document, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


class FallbackReason(str, Enum):
    """A kind of failure after which another model may be asked.

    After a fault the next model is asked at once, and only the last model is retried. After a truncated or invalid
    answer the same model is asked again first, as long as the limits leave one call for each later model.
    """

    UNREACHABLE = "unreachable"
    """The network or the vendor's service failed, or the vendor is overloaded."""
    RATE_LIMITED = "rate-limited"
    """The rate limit or the credit of the account is used up."""
    TRUNCATED = "truncated"
    """The answer was cut at the largest output budget, or the prompt does not fit the model."""
    INVALID = "invalid"
    """No answer was valid."""
    REFUSED = "refused"
    """The model or a safety system refused."""


DEFAULT_FALLBACK_REASONS = frozenset(FallbackReason) - {FallbackReason.REFUSED}
"""A refusal is not sent to another model unless the caller asks for it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The terminal code and exception of a failed emission.

    ``fallback`` is the reason for which another model may be asked instead, or None. ``hint`` says what to do, if the
    exception's own hint does not.
    """

    code: str
    error: type[EmissionError]
    fallback: FallbackReason | None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class RemedyRule:
    """The consequences of a verdict.

    Attributes:
        remedy: Returns the next request to the same model, or None if another call cannot help. None if no remedy
            exists.
        reason: The reason that a retry reports.
        failure: The end of the emission if the remedy fails.
        message: The message of the failure. It may contain ``{stop}`` ("with" the vendor's word), ``{budget}``,
            ``{thinking}`` (if the answer had nothing else), ``{limit}`` (of the budget), ``{violations}`` and
            ``{raised}``.
        grounds: The text that a retry reports for an answer without violations. It never quotes the answer.
    """

    remedy: Remedy | None
    reason: Reason | None
    failure: Failure
    message: str
    grounds: str | None = None


def retry_reason(classification: ClassifiedAnswer) -> Reason | None:
    """Return the OpenWOP reason closest to these violations."""
    rules = {violation.rule for violation in classification.violations}
    if rules == {"type"}:
        return Reason.TYPE_MISMATCH
    if rules == {DOUBTFUL.rule}:
        return Reason.PARSE_ERROR
    if any(
        violation.rule in {"enum", "const"} and violation.pointer.endswith("/kind")
        for violation in classification.violations
    ):
        return Reason.TYPE_DRIFT
    return REMEDIES[classification.verdict].reason


@dataclass(frozen=True, slots=True)
class RetryState:
    """The state in which a remedy is chosen.

    Attributes:
        request: The last request.
        previous_verdicts: The verdicts on the model's earlier answered calls.
        max_budget: The largest output budget in tokens.
        document_requested: The model was asked for the document alone before.
        other_calls: The answered calls of earlier models, plus the calls reserved for later models.
    """

    request: ModelRequest
    previous_verdicts: tuple[Verdict, ...]
    max_budget: int
    document_requested: bool = False
    other_calls: int = 0


class RequestWriter(Protocol):
    """Writes the later requests of an emission: corrections, and the two requests of the two-step fallback."""

    def count_tokens(self, request: ModelRequest) -> int:
        """Return the input tokens of a request. Called only if the policy limits tokens or cost."""
        ...

    def expect_input(self, request: ModelRequest, tokens: int) -> Usage:
        """Return the most expensive usage for this many input tokens, including writes to a prompt cache."""
        ...

    def instruct(self, request: ModelRequest, template: str, **values: str) -> ModelRequest:
        """Return the request with a prompt template as its corrective fragment, which replaces an earlier fragment."""
        ...

    def supported_settings(self, request: ModelRequest) -> Mapping[str, RequestParameter]:
        """Return the settings that the model supports on its wire, such as ``reasoning_effort`` with its values."""
        ...

    def lower_effort(self, request: ModelRequest) -> ModelRequest | None:
        """Return the request with the next lower reasoning effort that the model takes, or None if there is none."""
        ...

    def adapt(self, request: ModelRequest, fault: FaultKind) -> tuple[ModelRequest, RequestWriter] | None:
        """Return the request in another form than the server refused, with its writer, or None if there is none."""
        ...

    def describe_schema(self, request: ModelRequest) -> tuple[ModelRequest, RequestWriter] | None:
        """Return the request with the schema described in the prompt, and its writer."""
        ...

    def describe(self, request: ModelRequest) -> ModelRequest:
        """Return the request that asks for the answer in prose."""
        ...

    def convert(self, request: ModelRequest, words: str) -> ModelRequest:
        """Return the request that asks to convert prose to the schema."""
        ...


def next_request(
    classification: ClassifiedAnswer, state: RetryState, policy: Policy, writer: RequestWriter
) -> ModelRequest | None:
    """Return the request to send next, or None if no remedy is left."""
    if len(state.previous_verdicts) + 1 + state.other_calls >= policy.max_attempts:
        return None
    remedy = REMEDIES[classification.verdict].remedy
    return None if remedy is None else remedy(classification, state, policy, writer)


Remedy: TypeAlias = "Callable[[ClassifiedAnswer, RetryState, Policy, RequestWriter], ModelRequest | None]"


def _raise_budget(
    _classification: ClassifiedAnswer, state: RetryState, policy: Policy, _writer: RequestWriter
) -> ModelRequest | None:
    """Return the request with a larger budget and no corrective fragment.

    OpenWOP: a retry after a cut has no fragment that describes a schema problem, an earlier one included.
    """
    budget = min(math.ceil(state.request.max_output_tokens * policy.truncation_multiplier), state.max_budget)
    if budget <= state.request.max_output_tokens:
        return None
    return with_output_budget(replace(state.request, correction=None), budget)


def _correct(
    classification: ClassifiedAnswer, state: RetryState, _policy: Policy, writer: RequestWriter
) -> ModelRequest | None:
    """Return the request with a corrective fragment, or None if the model retracted its answer again."""
    if state.document_requested and RETRACTED in classification.violations:
        return None
    violations = classification.violations or (REMEDIES[classification.verdict].grounds,)
    return writer.instruct(state.request, "corrective", violations=bullet_list(violations))


def _correct_once(
    classification: ClassifiedAnswer, state: RetryState, policy: Policy, writer: RequestWriter
) -> ModelRequest | None:
    """Return the request with a corrective fragment and the same budget, once."""
    if classification.verdict in state.previous_verdicts:
        return None
    return _correct(classification, state, policy, writer)


def _send_again(
    classification: ClassifiedAnswer, state: RetryState, _policy: Policy, _writer: RequestWriter
) -> ModelRequest | None:
    """Return the same request, once."""
    return None if classification.verdict in state.previous_verdicts else state.request


TRUNCATION_CODE = "envelope_truncation_unrecoverable"
_INVALID = Failure("envelope_invalid", Invalid, FallbackReason.INVALID)
_INVALID_MESSAGE = "No answer was valid: {violations}"
_STOP_MESSAGE = "The vendor stopped {stop}, which is not a complete answer, twice or on the last allowed call"
_LOOP_HINT = (
    "More tokens do not help a model that repeats itself: give lists and texts of the form an upper bound "
    "(max_length), change the prompt, or choose another model. If the document has so many equal items, pass a larger "
    "Policy(output_tokens=...)."
)

REMEDIES: dict[Verdict, RemedyRule] = {
    Verdict.TRUNCATED: RemedyRule(
        _raise_budget,
        Reason.TRUNCATION,
        Failure(TRUNCATION_CODE, Truncated, FallbackReason.TRUNCATED),
        "The answer was cut at {budget} tokens{thinking}, {limit}",
    ),
    Verdict.LOOPED: RemedyRule(
        _correct_once,
        Reason.UNKNOWN,
        Failure(TRUNCATION_CODE, Truncated, FallbackReason.TRUNCATED, _LOOP_HINT),
        "The answer repeated itself until it was cut at {budget} tokens",
    ),
    Verdict.OVERFLOWED: RemedyRule(
        None,
        Reason.TRUNCATION,
        Failure(TRUNCATION_CODE, PromptTooLong, FallbackReason.TRUNCATED),
        "The prompt and its answer do not fit the model's context window",
    ),
    Verdict.REFUSED: RemedyRule(
        None,
        Reason.REFUSAL,
        Failure("envelope_refusal", Refused, FallbackReason.REFUSED),
        "The model or a safety system refused",
    ),
    Verdict.VIOLATED: RemedyRule(_correct, Reason.SCHEMA_VIOLATION, _INVALID, _INVALID_MESSAGE),
    Verdict.FLAGGED: RemedyRule(_correct, Reason.SCHEMA_VIOLATION, replace(_INVALID, fallback=None), _INVALID_MESSAGE),
    Verdict.MALFORMED: RemedyRule(
        _correct, Reason.PARSE_ERROR, _INVALID, _INVALID_MESSAGE, "the answer holds no single JSON document"
    ),
    Verdict.PAUSED: RemedyRule(_send_again, Reason.UNKNOWN, _INVALID, _STOP_MESSAGE),
    Verdict.UNKNOWN: RemedyRule(
        _send_again,
        Reason.UNKNOWN,
        _INVALID,
        "The vendor stopped {stop}, twice or on the last allowed call",
    ),
    Verdict.FAULTED: RemedyRule(None, None, Failure("provider_unavailable", Unreachable, None), ""),
    Verdict.UNCHECKED: RemedyRule(None, None, Failure("check_failed", CheckFailed, None), "{raised}"),
}
"""Covers every ``Verdict`` except COMPLETE. ``FAULTS`` has the failures of faults."""
_UNAVAILABLE = Failure("provider_unavailable", Unreachable, FallbackReason.UNREACHABLE)
FAULTS: dict[FaultKind, Failure] = {
    FaultKind.RATE_LIMIT: Failure("rate_limited", RateLimited, FallbackReason.RATE_LIMITED),
    FaultKind.QUOTA: Failure("provider_quota_exhausted", QuotaExhausted, FallbackReason.RATE_LIMITED),
    FaultKind.OVERLOADED: _UNAVAILABLE,
    FaultKind.SERVER: _UNAVAILABLE,
    FaultKind.TIMEOUT: _UNAVAILABLE,
    FaultKind.CONNECTION: _UNAVAILABLE,
    FaultKind.PROTOCOL: _UNAVAILABLE,
    FaultKind.TOO_LARGE: Failure("provider_request_too_large", PromptTooLong, FallbackReason.TRUNCATED),
    # Another model cannot help: the caller has to fix these, or the emission is over.
    FaultKind.DEADLINE: Failure("deadline_exceeded", DeadlineReached, None),
    FaultKind.CANCELLED: Failure("cancelled", Unreachable, None),
    FaultKind.CLIENT: Failure("client_failed", ClientFailed, None),
    FaultKind.AUTHENTICATION: Failure("provider_authentication_failed", AuthenticationError, None),
    FaultKind.PERMISSION: Failure("provider_permission_denied", AuthenticationError, None),
    FaultKind.NOT_FOUND: Failure("provider_model_not_found", NotFound, None),
    FaultKind.BAD_REQUEST: Failure("provider_request_rejected", BadRequest, None),
    FaultKind.SCHEMA_REJECTED: Failure("provider_schema_rejected", BadRequest, None),
    FaultKind.MODE_REFUSED: Failure(
        "provider_output_mode_refused",
        BadRequest,
        FallbackReason.INVALID,
        "The server refuses every output mode that emitter can ask in. Check the model's name, or choose another.",
    ),
    FaultKind.STREAM_REQUIRED: Failure(
        "provider_stream_required",
        BadRequest,
        FallbackReason.INVALID,
        "Allow more calls with Policy.max_attempts: the server answers only in a stream, which is tried next.",
    ),
    FaultKind.BUDGET_REFUSED: Failure("provider_budget_refused", BadRequest, FallbackReason.TRUNCATED),
    FaultKind.RESPONSE_TOO_LARGE: Failure("response_limit_reached", LimitReached, None),
}
"""Covers every ``FaultKind``. The codes of RATE_LIMIT, QUOTA and the unavailable ones are OpenWOP's."""
FAULT_CODES: dict[FaultKind, str] = {kind: failure.code for kind, failure in FAULTS.items()}


def find_fallback_reason(answer: CallResult, verdict: Verdict) -> FallbackReason | None:
    """Return the kind of a failure, or None if no other model may be asked after it."""
    return (FAULTS[answer.kind] if isinstance(answer, Fault) else REMEDIES[verdict].failure).fallback
