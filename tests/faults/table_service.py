"""What a service may say instead of an answer, and what comes of it: errors, and what is no answer under 200.

A fault is no attempt at the form: it is sent again unchanged after a wait, at most ``Policy.max_faults`` times, and
only where waiting may help.
"""

from __future__ import annotations

from emitter import Policy
from emitter.testing import (
    ErrorEvent,
    ErrorKind,
    Failed,
    Forbidden,
    NotFound,
    NotJson,
    Overflowed,
    Overloaded,
    PlannedError,
    Quota,
    Unauthorized,
    Unended,
)
from tests.faults.model import WHOLE, Denied
from tests.faults.row import Row

UNAVAILABLE = "Unreachable(provider_unavailable)"
_UNAVAILABLE = "call FAULTED failed(provider_unavailable)"
_LIMITED = "call FAULTED resent(rate_limit)"
_COUNTED_AGAIN = "call FAULTED usage resent({}) call COMPLETE usage done"
_ONLY_STREAMS: dict[str, str] = dict.fromkeys(
    ("sync", "async"), "an answer that comes whole does not break off with an error"
)


def _once(fault: str) -> str:
    return f"call FAULTED resent({fault}) call COMPLETE usage done"


def _at_once(code: str) -> tuple[str, str]:
    return f"call FAULTED failed({code})", f"{_ERRORS[code]}({code})"


_ERRORS = {
    "rate_limited": "RateLimited",
    "provider_quota_exhausted": "QuotaExhausted",
    "provider_authentication_failed": "AuthenticationError",
    "provider_permission_denied": "AuthenticationError",
    "provider_model_not_found": "NotFound",
    "provider_schema_rejected": "BadRequest",
}


SERVICE: dict[str, Row] = {
    # --- too many requests: the wait is the vendor's own where it names one (Google's body always does)
    "429-after-7-seconds": Row((Overloaded(429, retry_after=7), WHOLE), _once("rate_limit"), waits="7"),
    # (the date lies two seconds ahead, counted from the response's own date, which may be a tick old)
    "429-after-a-date": Row((Overloaded(429, retry_after="date"), WHOLE), _once("rate_limit"), waits="2..4"),
    "429-without-a-wait": Row(
        (Overloaded(429), WHOLE), _once("rate_limit"), waits="1", but={"google": {"waits": "20"}}
    ),
    "429-to-the-end": Row(
        (Overloaded(429, retry_after=3),) * 5,
        f"{_LIMITED} {_LIMITED} {_LIMITED} {_LIMITED} call FAULTED failed(rate_limited)",
        "RateLimited(rate_limited)",
        waits="3 3 3 4",
    ),
    "429-beyond-patience": Row((Overloaded(429, retry_after=61),), *_at_once("rate_limited")),
    "429-and-no-faults-allowed": Row((Overloaded(429),), *_at_once("rate_limited"), policy=Policy(max_faults=0)),
    # --- out of order for a while
    "529-then-whole": Row((Overloaded(529), WHOLE), _once("overloaded"), waits="1"),
    "503-then-whole": Row((Overloaded(503), WHOLE), _once("overloaded"), waits="1"),
    "503-after-7-seconds": Row((Overloaded(503, retry_after=7), WHOLE), _once("overloaded"), waits="7"),
    "500-then-whole": Row((Failed(), WHOLE), _once("server"), waits="1"),
    "500-to-the-end": Row(
        (Failed(),) * 5,
        f"{'call FAULTED resent(server) ' * 4} {_UNAVAILABLE}",
        UNAVAILABLE,
        waits="1 2 3 4",
    ),
    # --- what no waiting cures: one call
    "quota": Row((Quota(),), *_at_once("provider_quota_exhausted")),
    "401": Row((Unauthorized(),), *_at_once("provider_authentication_failed")),
    "403": Row((Forbidden(),), *_at_once("provider_permission_denied")),
    "404": Row((NotFound(),), *_at_once("provider_model_not_found")),
    "schema-rejected": Row((Denied(PlannedError(ErrorKind.BAD_SCHEMA)),), *_at_once("provider_schema_rejected")),
    "context-overflow": Row(
        (Overflowed(),),
        """call OVERFLOWED truncated(unknown) exhausted-1(truncation) breached(schema)
           failed(envelope_truncation_unrecoverable)""",
        "PromptTooLong(envelope_truncation_unrecoverable)",
    ),
    # --- 200, and no answer
    "not-json": Row((NotJson(), WHOLE), _COUNTED_AGAIN.format("protocol"), waits="1", bill="presumed"),
    "empty-body": Row((NotJson(""), WHOLE), _COUNTED_AGAIN.format("protocol"), waits="1", bill="presumed"),
    "torn-json": Row(
        (NotJson('{"id": "x", "out'), WHOLE), _COUNTED_AGAIN.format("protocol"), waits="1", bill="presumed"
    ),
    "error-under-200": Row(
        (ErrorEvent(answer=WHOLE), WHOLE),
        _once("overloaded"),
        waits="1",
        but={
            "streamed": {"story": _COUNTED_AGAIN.format("overloaded"), "bill": "counted"},
        },
    ),
    "error-under-200-after-7-seconds": Row(
        (ErrorEvent(PlannedError(ErrorKind.RATE_LIMITED, retry_after=7), WHOLE), WHOLE),
        _once("rate_limit"),
        waits="7",
        but={
            "streamed": {"story": _COUNTED_AGAIN.format("rate_limit"), "bill": "counted", "waits": "1"},
            "google streamed": {"waits": "7"},  # it says so in the event itself
        },
    ),
    "quota-under-200": Row(
        (ErrorEvent(PlannedError(ErrorKind.QUOTA), WHOLE),),
        *_at_once("provider_quota_exhausted"),
        but={"streamed": {"story": "call FAULTED usage failed(provider_quota_exhausted)", "bill": "counted"}},
    ),
    "filtered-amid-a-stream": Row(
        (ErrorEvent(PlannedError(ErrorKind.PROMPT_BLOCKED), WHOLE),),
        "call REFUSED usage refusal failed(envelope_refusal)",
        "Refused(envelope_refusal)",
        bill="counted",
        without=_ONLY_STREAMS,
        but={"google": {"bill": "exact"}},  # its block is an answer, and says what the stream has cost
    ),
    "overflow-amid-a-stream": Row(
        (ErrorEvent(PlannedError(ErrorKind.OVERFLOWED), WHOLE),),
        """call OVERFLOWED usage truncated(unknown) exhausted-1(truncation) breached(schema)
           failed(envelope_truncation_unrecoverable)""",
        "PromptTooLong(envelope_truncation_unrecoverable)",
        bill="counted",
        without=_ONLY_STREAMS,
    ),
    "no-end": Row(
        (Unended(WHOLE), WHOLE),
        "call UNKNOWN usage retry-2(unknown) call COMPLETE usage done",
        but={
            "streamed": {
                "story": _COUNTED_AGAIN.format("protocol"),
                "bill": "counted",
                "waits": "1",
            }
        },
    ),
}
