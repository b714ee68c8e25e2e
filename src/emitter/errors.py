"""Exceptions raised by emitter.

    EmitterError
      x InputError                an argument, file or answer cannot be used; nothing was sent
        + Uncompilable            the type or schema cannot be used
        + ResolutionError         an answer to a decision cannot be accepted
      x EmissionError             an emission failed; carries its trace
        + Refused, Truncated, PromptTooLong, Invalid, CheckFailed, ClientFailed, CapabilityNotProvided
        + AuthenticationError, BadRequest, NotFound, RateLimited, Unreachable, LimitReached
      x AuthorityError            an action or a grant was blocked; nothing happened
      x StoreFailed, JournalFailed, UnknownOutcome, Tampered, Unencodable, UnexpectedRequest, PartiallyDone

Every exception carries a ``hint``, one sentence that says what to do next.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal
    from typing import Any

    from emitter.attempts import Attempt
    from emitter.events import RunEvent
    from emitter.messages import Usage


class EmitterError(Exception):
    """The base of all exceptions of this library. ``hint`` says what to do next."""

    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint

    @property
    def summary(self) -> str:
        """The message and hint without any text of the vendor, safe to show to a model."""
        return f"{Exception.__str__(self)} {self.hint}".strip()

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.hint}".strip()


class LocatedError(EmitterError):
    """An error at a JSON ``pointer``, which is empty for the whole value, with a ``reason``."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer}: {reason}" if pointer else reason)
        self.pointer = pointer
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (self.pointer, self.reason) == (other.pointer, other.reason)

    def __hash__(self) -> int:
        return hash((type(self), self.pointer, self.reason))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.pointer, self.reason)


class InputError(EmitterError, ValueError):
    """An argument cannot be used. Nothing was sent."""


class UnsignedLine(InputError):
    """The workflow's chain is signed, and this record would be an unsigned line. Nothing was written."""


class UnknownArgument(InputError, TypeError):
    """There is no argument of this name. The hint says what to pass instead, if something is like it."""


class UnknownModel(InputError):
    """The model string names no known vendor."""


class UnknownModelWarning(UserWarning):
    """The model is unknown, so its limits are assumed. The message lists them."""


class MissingKey(InputError):
    """The vendor's environment variables hold no credentials."""


class MissingExtra(InputError):
    """An optional dependency is not installed. The hint names the ``extra`` that has it."""

    def __init__(self, message: str, *, extra: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint or f"Run: pip install 'llm-emitter[{extra}]'")


class BadProfile(InputError):
    """A vendor profile is invalid. The message names the file, the key and the allowed values."""


class BadPrompt(InputError):
    """A prompt template is missing or has wrong placeholders."""


class BadCassette(InputError):
    """A cassette file is missing or invalid."""


class BadTraffic(InputError):
    """A recorded exchange is invalid."""


class BadJournal(InputError):
    """A journal belongs to another run, is in use, or is invalid. It was not changed."""


class TooLong(InputError):
    """The envelope is too long for the surface. Nothing was drawn, since part of a decision is no decision."""

    hint = "Show it on a surface without limits, such as a page, and post where it is to be found."


class NotCanonical(LocatedError, InputError):
    """The text or value has no canonical form, so it has no digest.

    ``pointer`` is the JSON pointer of the place, with ``*`` for unknown names. ``reason`` contains no text of the
    value.
    """


class ResolutionError(InputError):
    """An answer to a decision cannot be accepted. The decision is unchanged. ``code`` is the reason."""

    code = "resolution_error"


class BadResolution(ResolutionError):
    """The value is not one of the three kinds of resolution."""

    code = "bad_resolution"


class NoSuchOption(ResolutionError):
    """The resolution selects an option that does not exist."""

    code = "no_such_option"


class HatchClosed(ResolutionError):
    """The resolution uses a veto that the envelope does not offer."""

    code = "hatch_closed"


class WrongDigest(ResolutionError):
    """The resolution answers a different envelope."""

    code = "wrong_digest"


class UnknownDecision(ResolutionError):
    """No such decision was asked."""

    code = "unknown_decision"


class AlreadyResolved(ResolutionError):
    """The decision was resolved differently before: an envelope has a single resolution.

    If the principal refused this question before, ``decision_id`` names that decision. Otherwise it is empty.
    """

    code = "already_resolved"

    def __init__(self, message: str, *, decision_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.decision_id = decision_id


class DecisionExpired(ResolutionError):
    """The time to answer the decision is over."""

    code = "decision_expired"


class BadToken(ResolutionError):
    """The token is forged, used, or belongs to another decision."""

    code = "bad_token"


class TraceLike(Protocol):
    """The trace of a failed emission; see ``emitter.client.result.Trace``.

    Annotate a helper with it that takes both ``Emission.trace`` and ``EmissionError.trace``.
    """

    @property
    def no_cost_reason(self) -> str | None:
        """The reason why the cost is unknown, if it is."""
        ...

    @property
    def cost(self) -> Decimal | None:
        """The cost of all calls in US dollars, or None."""
        ...

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The calls that were made, in order."""
        ...

    @property
    def usage(self) -> Usage:
        """The token usage of all calls."""
        ...

    @property
    def events(self) -> tuple[RunEvent, ...]:
        """The recorded events, in order."""
        ...


class EmissionError(EmitterError):
    """The emission failed.

    ``code`` is a stable name of the reason, OpenWOP's if it has one. ``trace`` holds attempts, usage and events.

    The vendor's response to the last call is in ``vendor_message``, ``vendor_code``, ``param`` (the rejected part of
    the request), ``status_code``, ``request_id`` and ``retry_after`` in seconds. Each is None if the vendor did not
    send it. Registered secrets are removed. The SDK's exception is the ``__cause__``, unless it shows a registered
    secret.

    ``str(error)`` contains the models that were asked and the vendor's message. ``summary`` does not, so use it where a
    model can read the text. Neither contains text of the model.
    """

    def __init__(  # noqa: PLR0913  all but the first two have a default
        self,
        message: str,
        *,
        code: str,
        trace: TraceLike,
        hint: str | None = None,
        status_code: int | None = None,
        vendor_message: str | None = None,
        vendor_code: str | None = None,
        param: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.trace = trace
        self.status_code = status_code
        self.vendor_message = vendor_message
        self.vendor_code = vendor_code
        self.param = param
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def cost(self) -> Decimal | None:
        """The cost of all calls in US dollars, or None if the model has no price; see ``trace.no_cost_reason``."""
        return self.trace.cost

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The calls that were made, in order."""
        return self.trace.attempts

    @property
    def usage(self) -> Usage:
        """The token usage of all calls."""
        return self.trace.usage

    def __str__(self) -> str:
        return " ".join(filter(None, (Exception.__str__(self), self._models_text(), self._vendor_text(), self.hint)))

    def _models_text(self) -> str:
        """Return the models that were asked, in order, and how each of the earlier ones failed."""
        # A limit ends an emission after any call, so it does not tell how the last one failed.
        models = describe_models(self.trace.attempts, with_last=isinstance(self, LimitReached))
        return f"Asked {models}." if models else ""

    def _vendor_text(self) -> str:
        named = f" (param: {self.param})" if self.param and self.param not in (self.vendor_message or "") else ""
        if self.vendor_message:
            return f'The vendor said: "{self.vendor_message}"{named}'
        return f"The vendor named the parameter {self.param}." if named else ""

    def __reduce__(self) -> tuple[object, ...]:
        members = {name: value for name, value in vars(self).items() if not name.startswith("__")}
        return _rebuild_error, (type(self), Exception.__str__(self), members)


def describe_models(attempts: Iterable[Attempt], *, with_last: bool = False) -> str:
    """Return the models that were asked, in order, with the number of their calls and how the earlier ones failed.

    ``with_last`` tells how the last one failed, too.
    """
    groups = [(model, list(calls)) for model, calls in groupby(attempts, lambda call: call.model)]
    named = len(groups) if with_last else len(groups) - 1
    return ", then ".join(_describe_calls(groups, named)) if groups and groups[0][0] else ""


def _describe_calls(groups: list[tuple[str, list[Attempt]]], named: int) -> Iterator[str]:
    for number, (model, calls) in enumerate(groups, 1):
        last, count = calls[-1], f"{len(calls)} call{'s' if len(calls) > 1 else ''}"
        reason = last.fault.kind.value.replace("_", " ") if last.fault else last.verdict.value
        yield f"{model} ({count}: {reason})" if number <= named else f"{model} ({count})"


def _rebuild_error(kind: type[EmissionError], message: str, members: dict[str, Any]) -> EmissionError:
    """Rebuild an unpickled error."""
    return kind(message, **members)


class Refused(EmissionError):
    """The model declined to answer, or a safety system blocked the exchange."""

    hint = "A refusal is never re-sent: change the prompt or ask a person."


class Truncated(EmissionError):
    """The answer was cut off in every attempt, or at the model's largest output budget. The output was paid for."""

    hint = "Raise Policy.max_attempts or Policy.max_output_tokens, shorten the material, or choose a larger model."


class PromptTooLong(EmissionError):
    """The prompt leaves no room for an answer in the context window, or is larger than the vendor accepts.

    It is raised before the request if the window is known and the count is certain, and otherwise when the vendor says
    so.
    """

    hint = "Shorten the prompt, the material or the schema, or choose a model with a larger window."


class Invalid(EmissionError):
    """No answer satisfied the schema within the allowed attempts."""

    hint = "Each attempt's stop and violations are in the error's trace; another model or more attempts may do."


class AuthenticationError(EmissionError):
    """The vendor rejected the key (401), or the key lacks permission (403)."""

    hint = "Check the API key, and what its account and project may use."


class BadRequest(EmissionError):
    """The vendor rejected the request (400, 422). ``vendor_message`` and ``param`` say why."""

    hint = (
        "Change what the vendor names: a model setting, the output budget (Policy.output_tokens), an entry of "
        "extra_body=, the schema, an image or file, or the model."
    )


class NotFound(EmissionError):
    """The model or the address does not exist (404)."""

    hint = "Check the name of the model and the base URL."


class RateLimited(EmissionError):
    """The vendor had too many requests, even after the last retry (429). ``retry_after`` is the wait it asked for."""

    hint = "Try again later, or raise Policy.max_faults, Policy.deadline or Policy.max_retry_after."


class QuotaExhausted(RateLimited):
    """The account has no credit or quota left. Waiting does not help."""

    hint = "Add credit or raise the limit of the account at the vendor."


class Unreachable(EmissionError):
    """The network failed, or the vendor could not serve the request (timeouts, 5xx, unreadable responses)."""

    hint = "Try again later, or raise Policy.max_faults or Policy.deadline; the error's trace has each fault."


class LimitReached(EmissionError):
    """A limit of the policy or the host prevents another call, or this envelope."""

    hint = "Raise that limit; what was spent until then is in the error's trace."


class TokenLimitReached(LimitReached):
    """Another call would exceed ``Policy.max_total_tokens``."""


class CostLimitReached(LimitReached):
    """Another call would exceed ``Policy.max_cost``."""


class DeadlineReached(LimitReached, Unreachable):
    """``Policy.deadline`` passed before an answer was accepted."""


class CheckFailed(EmissionError):
    """A check or validator of yours raised an exception, which is the ``__cause__``."""

    hint = "It is a bug in that code: a check returns what it finds, and a validator raises ValueError."


class ClientFailed(EmissionError):
    """Code or a setting of yours failed while a request was sent. The exception is the ``__cause__``.

    Such code is what the SDK client calls, such as a hook, an auth flow, a transport, a middleware or a token provider,
    and a ``RateLimiter``. The request is not sent again. If it was sent, ``usage`` has an estimate of its tokens.
    """

    hint = "Neither the vendor nor the network failed: correct that code or setting."


class CapabilityNotProvided(EmissionError):
    """The model and its fallback lack a required capability. Nothing was sent.

    Source: OpenWOP RFC 0031, section B.
    """

    hint = "Choose a model that provides it, or name one in fallback="


class UnexpectedRequest(EmitterError):
    """A replay received a request that its cassette does not contain. The message shows the difference."""


class JournalFailed(EmitterError):
    """The journal of a run could not be written, so no further job was started.

    The results of the jobs in progress are returned. ``hint`` says how many of them could not be recorded.
    """

    hint = "Free some space and run again: finished jobs are read from it."


class UnknownOutcome(EmitterError):
    """A process sent this job, or was about to, and ended before its outcome was kept. It was not sent again.

    Whether the vendor answered, and charged for it, cannot be known here. ``key`` is the job's key, ``claimed_at`` the
    time of its claim in seconds since 1970, and ``request_id`` the id that was sent along with the request, if the
    vendor records one.
    """

    hint = 'Look it up at the vendor. To send it again, run with orphans="resend".'

    def __init__(
        self, message: str, *, key: str = "", claimed_at: float | None = None, request_id: str | None = None,
        hint: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message, hint=hint)
        self.key = key
        self.claimed_at = claimed_at
        self.request_id = request_id


class StoreFailed(EmitterError):
    """A store could not be read or written, or the wait for other writers was too long.

    The operation took effect completely or not at all. Repeat it: what was stored is found.
    """


class Uncompilable(LocatedError, InputError):
    """The type or schema cannot be used. ``pointer`` is the place in the schema, and ``reason`` one sentence."""


class Unencodable(LocatedError):
    """The value does not fit the schema or its compiled form.

    ``pointer`` is the place in the value. ``reason`` does not contain the value.
    """


class Tampered(EmitterError):
    """A record, proposal or chain was changed after it was written. ``place`` is a line number or a document's name."""

    def __init__(self, message: str, *, place: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.place = place


class StoreAltered(StoreFailed, Tampered):
    """The contents of a store were changed after they were written."""


class NewerRecord(StoreFailed):
    """A record was written by a newer release, so this one cannot tell what it means. It was not changed.

    ``version`` is the record's, and ``known`` the latest one that this release knows.
    """

    hint = "Update emitter in this process. Until then it can stop a workflow, and revoke a confirm that it knows."

    def __init__(self, place: str, *, version: int, known: int, hint: str | None = None) -> None:
        super().__init__(
            f"{place} was written by a newer release, version {version}; this release knows {known}.", hint=hint
        )
        self.version = version
        self.known = known


class AuthorityError(EmitterError):
    """An action or a grant of authority was refused. Nothing happened. ``code`` is the reason."""

    code = "refused"


class NotConsent(AuthorityError):
    """The answer does not select an option that grants this."""

    code = "not_consent"


class UnsignedAnswer(AuthorityError):
    """Signatures are checked, and this answer has none by a known key, so it authorizes nothing.

    It is also raised if one key signed both approvals where two principals must approve.

    Answer with ``emitter resolve --sign KEY`` or through ``Ledger(sign=...)``. An unsigned answer cannot be signed
    later: make a new call.
    """

    code = "unsigned_answer"


class NotApproved(AuthorityError):
    """The principal has not approved the action: they chose something else, or nobody answered.

    ``decision_id`` names the decision. ``Ledger.find`` returns what they chose instead. If the decision is still open,
    it is an ``ApprovalPending``. If the model of ``brief_with_model`` withheld the decision, ``withheld`` is why: a
    ``Deliberation``, a ``ClarificationRequest`` or an ``ErrorReport``.
    """

    code = "not_approved"

    def __init__(
        self, message: str, *, decision_id: str = "", withheld: object = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.decision_id = decision_id
        self.withheld = withheld


class ApprovalPending(NotApproved):
    """The principal has not answered yet, and the decision is still open. Nothing happens until they do.

    ``decision_id`` names the open decision in the ledger. After it is resolved, call again with ``call_id``.
    """

    code = "approval_pending"

    def __init__(self, message: str, *, decision_id: str = "", call_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, decision_id=decision_id, hint=hint)
        self.call_id = call_id


class UnknownConfirm(AuthorityError):
    """The confirmation does not exist."""

    code = "unknown_confirm"


class ConfirmExpired(AuthorityError):
    """The authority has expired."""

    code = "expired"


class ConfirmNotYetValid(AuthorityError):
    """The approval's time is in the future: the clock that recorded it is ahead. Repeat the call later."""

    code = "not_yet_valid"


class ConfirmRevoked(AuthorityError):
    """The authority was revoked."""

    code = "revoked"


class NotRevocable(AuthorityError):
    """The authority was granted as irrevocable. Stop the workflow instead."""

    code = "not_revocable"


class OutOfScope(AuthorityError):
    """The authority does not cover this action: another workflow, step, target or capability."""

    code = "out_of_scope"


class RiskExceeded(AuthorityError):
    """The action is riskier than what was approved."""

    code = "risk_exceeded"


class LimitExceeded(AuthorityError):
    """The action would exceed a limit."""

    code = "limit_exceeded"


class LimitUnknown(AuthorityError):
    """The authority has a limit that cannot be enforced here, so it authorizes nothing."""

    code = "limit_unknown"


class LimitUnstated(AuthorityError):
    """The action does not state its use of a limited resource, or uses one that was not granted."""

    code = "limit_unstated"


class WorkflowStopped(AuthorityError):
    """The workflow or step was stopped. No action of it starts."""

    code = "stopped"


class CallerGone(AuthorityError):
    """The call was cancelled before it began, for example while its principal was asked. Nothing was done."""

    code = "caller_gone"


class OtherCall(AuthorityError):
    """The call differs from the approved one. ``pointer`` is the JSON pointer of the first difference."""

    code = "other_call"

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.pointer = pointer


class AlreadyUsed(AuthorityError):
    """A single-use authority was used. ``receipt_id`` names the action's receipt, if there is one.

    ``is_done`` is True if the action succeeded, and only its result was not retained.
    """

    code = "already_used"

    def __init__(self, message: str, *, receipt_id: str = "", is_done: bool = False, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.receipt_id = receipt_id
        self.is_done = is_done


class Unfinished(AuthorityError):
    """The action was started before, and its result is unknown. It is never repeated automatically.

    ``intent_id`` names the intent without a receipt. Find out what happened, and settle it.
    """

    code = "unfinished"

    def __init__(self, message: str, *, intent_id: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.intent_id = intent_id


class PartiallyDone(EmitterError):
    """Raise this in a guarded tool that failed after part of its effect happened.

    The receipt then has the result ``partial`` with the side effects you report, and the exception reaches the caller.
    You may raise it ``from`` the exception that stopped the tool, and inside an exception group.

    Args:
        message: What happened, for the caller. It is not stored in the receipt.
        side_effects: What was done, as a JSON object: ``{"sent": 2, "of": 3}``.
        evidence_refs: Names of proofs, such as ``"txn:ABC123"``.
    """

    def __init__(
        self,
        message: str,
        *,
        side_effects: Mapping[str, Any] | None = None,
        evidence_refs: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.side_effects = side_effects
        self.evidence_refs = evidence_refs
