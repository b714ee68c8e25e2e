"""Send one request through an SDK client and read the answer, whole or streamed.

Credentials and registered secrets are removed from every answer, error and progress event.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic import BaseModel

from emitter import tokens
from emitter.adapters import ADAPTERS
from emitter.adapters.clients import (
    credential_fragments,
    find_credentials,
    find_error_credentials,
    find_request_credentials,
    limit_client,
)
from emitter.adapters.http_response import StreamAccumulator, parse_sdk_response
from emitter.adapters.response_decoding import ERROR_STOP_PREFIX
from emitter.adapters.transport import HttpTransfer
from emitter.adapters.watchdog import aiter_in_time, asend_in_time, iter_in_time, send_in_time
from emitter.errors import InputError
from emitter.interpreter import CallStep, ProgressStep, is_dropped
from emitter.messages import ExpectedAnswer, Fault, FaultKind, ModelResponse, ProviderErrorDetails, StopReason, Usage
from emitter.redaction.secret_registry import NO_SECRETS, Secrets
from emitter.streaming import FieldComplete, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emitter.client.prepared import PreparedEmission
    from emitter.deadline import Deadline
    from emitter.interpreter import Steps
    from emitter.messages import CallResult, Json, ModelRequest
    from emitter.profiles.model import Profile, WireFormat
    from emitter.streaming import StreamEvent
    from emitter.streaming.field_stream import FieldStream
    from emitter.streaming.partials import PartialStream

_MIN_ERROR_STATUS = 400
_LOST_KINDS = frozenset(
    {FaultKind.CONNECTION, FaultKind.TIMEOUT, FaultKind.RESPONSE_TOO_LARGE, FaultKind.PROTOCOL, FaultKind.CLIENT}
)
"""The faults of an answer that was lost on the way or cannot be read. The vendor bills it nevertheless."""
_BYTES_A_TOKEN = 4
"""The estimate for an answer whose text cannot be read, so that its tokens cannot be counted."""


CallFactory: TypeAlias = "Callable[[PreparedEmission, object, ModelRequest, Deadline], VendorCall]"
"""Makes the call that sends a request to a model through a client, within the deadline of its emission."""
PassOn: TypeAlias = "Callable[[VendorCall], Steps[CallResult]]"
"""Sends a call and returns the answer. A function around ``SEND_CALL`` may wait before, or look at the answer."""


SEND_CALL: PassOn = methodcaller("send")
"""Sends a call at once."""


class CallInterrupted(BaseException):
    """A call was interrupted by its ``__cause__``. ``usage`` is what its answer has cost so far.

    The cause is any exception that is not an ``Exception``, such as a cancellation, Ctrl-C, or that of a signal handler
    that exits. After ``GeneratorExit`` alone, no further step can be executed.
    """

    def __init__(self, usage: Usage | None) -> None:
        super().__init__()
        self.usage = usage


class VendorCall:
    """One request through an SDK client, whose answer comes in one piece. A failure of the vendor becomes a fault."""

    def __init__(self, prepared: PreparedEmission, client: object, request: ModelRequest, deadline: Deadline) -> None:
        self.prepared, self.request, self.deadline = prepared, request, deadline
        self._client, self._expected = client, ExpectedAnswer.of(request)
        self._transfer = HttpTransfer(prepared.settings.policy.max_response_bytes, may_repeat=True)

    def send(self) -> Steps[CallResult]:
        """Send the request, and return the answer."""
        deadline = self.deadline.narrow(self.prepared.settings.policy.timeout)
        try:
            response = yield call_in_time(self._send, deadline)
            return self._parse(response)
        except Exception as error:  # noqa: BLE001  whatever a call raises is a fault
            return self._with_usage(self._answer_from_error(error))
        except GeneratorExit:
            raise
        except BaseException as error:
            raise CallInterrupted(self._estimate_sent()) from error

    def _send(self, seconds: float, *, stream: bool = False) -> Any:
        """Send the request with a timeout. Return the SDK's response, or an awaitable of it from an async client."""
        profile, wire, _ = self.prepared.target
        adapter, facts = ADAPTERS[wire], profile.wires[wire]
        body, client = adapter.encode(self.request, facts), limit_client(self._client, self._transfer)
        if stream:
            return adapter.open_stream(client, adapter.with_stream(body, facts), seconds, self.request.headers)
        return adapter.send(client, body, seconds, self.request.headers)

    @property
    def response_headers(self) -> Mapping[str, str]:
        """The headers of the response. Empty before it arrives."""
        return self._transfer.headers

    def _answer_from_error(self, error: Exception) -> CallResult:
        """Convert an exception to a fault. Errors of a store and of this library are raised."""
        return read_failure(self.prepared.target.profile, self.prepared.target.wire, error, self._transfer)

    def _redact_credentials(self, answer: CallResult) -> CallResult:
        """Remove the credentials of the sent request from the answer."""
        sent = self._transfer.request
        return answer if sent is None else redact_credentials(answer, find_request_credentials(sent))

    def _estimate_usage(self, reported: Usage | None, text: str) -> Usage:
        """Return the usage of the call, estimating the part that the vendor did not report."""
        return _estimate_usage(self.request, self.prepared.target.profile, reported, text)

    def _estimate_lost(self, fault: Fault) -> Usage | None:
        return self._estimate_sent() if fault.kind in _LOST_KINDS else None

    def _estimate_sent(self) -> Usage | None:
        """Return an estimate for what was sent and received so far. None if nothing was, or if it was rejected."""
        transfer = self._transfer
        if transfer.is_error or not transfer.is_sent:
            return None
        return replace(self._estimate_usage(None, ""), output=transfer.received // _BYTES_A_TOKEN)

    def _parse(self, response: object) -> CallResult:
        target = self.prepared.target
        answer = parse_sdk_response(target.profile, target.wire, response, self._expected)
        answer = complete_usage(answer, self.request, target.profile)
        return self._redact_credentials(self._with_usage(answer) if isinstance(answer, Fault) else answer)

    def _with_usage(self, answer: CallResult) -> CallResult:
        """Add an estimated usage to an answer that was lost, unless the vendor reported one."""
        if not isinstance(answer, Fault) or _is_billed(answer.usage):
            return answer
        return replace(answer, usage=self._estimate_lost(answer) or answer.usage)


def call_in_time(send: Callable[[float], Any], deadline: Deadline) -> CallStep:
    """Return the step that sends a request with a timeout. Its result is the response."""
    return CallStep(partial(send_in_time, send, deadline), partial(asend_in_time, send, deadline))


def complete_usage(answer: CallResult, request: ModelRequest, profile: Profile) -> CallResult:
    """Return the answer to a request with an estimate of the usage that the vendor did not report."""
    if not isinstance(answer, ModelResponse) or _is_billed(answer.usage):
        return answer
    text = answer.text + "".join(map(_as_text, answer.arguments))
    return replace(answer, usage=_estimate_usage(request, profile, answer.usage, text))


def _estimate_usage(request: ModelRequest, profile: Profile, reported: Usage | None, text: str) -> Usage:
    reported, encoding = reported or Usage(), profile.token_encoding(request.model)
    input_tokens = reported.input or tokens.count_request_tokens(request, encoding)
    output_tokens = reported.output or tokens.count_tokens(text, encoding)
    if reported.input == input_tokens and reported.output == output_tokens:
        return reported
    return replace(reported, input=input_tokens, output=output_tokens, estimated=True)


def _is_billed(usage: Usage | None) -> bool:
    """Return whether the vendor reported the usage. Every call has input tokens, so a zero was not reported."""
    return usage is not None and usage.input > 0 and usage.output > 0


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class _ResponseStream(NamedTuple):
    """A response whose body is read in pieces. ``read`` returns the next one, or None at the end."""

    headers: Mapping[str, str]
    read: Callable[[], Any]
    close: Callable[[], Any]


def _open_stream(send: Callable[[float], Any], deadline: Deadline) -> _ResponseStream:
    response = send_in_time(send, deadline)
    pieces = iter_in_time(response.iter_bytes(), deadline)
    return _ResponseStream(response.headers, partial(next, pieces, None), response.close)


async def _aopen_stream(send: Callable[[float], Any], deadline: Deadline) -> _ResponseStream:
    response = await asend_in_time(send, deadline)
    pieces = aiter_in_time(response.aiter_bytes(), deadline)

    async def close() -> None:
        await pieces.aclose()
        await response.aclose()

    return _ResponseStream(response.headers, partial(anext, pieces, None), close)


class StreamedCall(VendorCall):
    """A request whose answer is streamed.

    ``fields`` parses complete fields of the document, or partial documents. Without it no progress is reported.
    """

    def __init__(
        self,
        prepared: PreparedEmission,
        client: object,
        request: ModelRequest,
        deadline: Deadline,
        fields: FieldStream | PartialStream | None = None,
    ) -> None:  # fmt: skip
        super().__init__(prepared, client, request, deadline)
        self._incoming: StreamAccumulator | None = None
        self._reader = None if fields is None else fields.new_reader()

    def send(self) -> Steps[CallResult]:
        """Send the request, report progress, and return the answer."""
        try:
            return (yield from self._read_stream())
        except Exception as error:  # noqa: BLE001  whatever a call raises is a fault
            return self._with_usage(self._answer_from_error(error))
        except GeneratorExit:
            raise
        except BaseException as error:
            raise CallInterrupted(self._usage_so_far() or self._estimate_sent()) from error

    def _read_stream(self) -> Steps[CallResult]:
        deadline, send = self.deadline.narrow(self.prepared.settings.policy.timeout), partial(self._send, stream=True)
        stream = yield CallStep(partial(_open_stream, send, deadline), partial(_aopen_stream, send, deadline))
        accumulator = self._start_accumulator()
        try:
            while (piece := (yield CallStep(stream.read, stream.read))) is not None:
                yield from self._report(accumulator.feed(piece), deadline)
        finally:
            if not is_dropped():
                yield CallStep(stream.close, stream.close)
        answer = accumulator.finish(stream.headers)
        yield from self._report(accumulator.unreported, deadline)
        return self._redact_credentials(self._with_usage(answer))

    def _start_accumulator(self) -> StreamAccumulator:
        prepared = self.prepared
        self._incoming = StreamAccumulator(prepared.target.profile, prepared.target.wire, self._expected)
        return self._incoming

    def _report(self, text: str, deadline: Deadline) -> Steps[None]:
        """Report the fields that a text completes. The deadline is paused while the consumer has one."""
        for event in self._reader.feed(text) if text and self._reader is not None else ():
            deadline.pause()
            yield ProgressStep(event)
            deadline.resume()

    def _with_usage(self, answer: CallResult) -> CallResult:
        """Add an estimated usage if the vendor reported none."""
        if isinstance(answer, Fault):
            is_rejected = (answer.status or 0) >= _MIN_ERROR_STATUS and not (
                self._incoming and self._incoming.is_event_stream
            )
            usage = self._usage_so_far() or answer.usage or self._estimate_lost(answer)
            return answer if is_rejected else replace(answer, usage=usage)
        if answer.raw_stop.startswith(ERROR_STOP_PREFIX):
            return replace(answer, usage=self._usage_so_far())
        if _is_billed(answer.usage):
            return answer
        text = "".join(self._incoming.text_pieces) if self._incoming else ""
        return replace(answer, usage=self._estimate_usage(answer.usage, text or answer.document_text))

    def _usage_so_far(self) -> Usage | None:
        """Return the usage so far: the reported usage, and an estimate of the rest."""
        if self._incoming is None or not self._incoming.is_event_stream:
            return None
        reported, is_complete = self._incoming.usage_and_completion()
        if is_complete and _is_billed(reported):
            return reported
        text = "".join(self._incoming.text_pieces)
        estimated = self._estimate_usage(replace(reported, output=0) if reported else None, text)
        if reported and reported.input == estimated.input and reported.output >= estimated.output:
            return reported
        return replace(estimated, output=max(estimated.output, reported.output if reported else 0))


@dataclass(slots=True)
class StreamRedactor:
    """Removes ``secrets`` from the progress events of one emission."""

    secrets: Secrets
    _buffered_text: dict[str, str] = field(init=False, default_factory=dict[str, str])

    def __call__(self, progress: StreamEvent) -> Iterator[StreamEvent]:
        """Yield the events that can be reported now."""
        if not self.secrets:
            yield progress
        elif isinstance(progress, TextDelta):
            self._buffered_text[progress.pointer] = self._buffered_text.get(progress.pointer, "") + progress.text
        elif isinstance(progress, FieldComplete):
            whole = self._buffered_text.pop(progress.pointer, "")
            if whole:
                yield TextDelta(self.secrets.redact_text(progress.pointer).value, self.secrets.redact_text(whole).value)
            pointer = self.secrets.redact_text(progress.pointer).value
            yield replace(progress, pointer=pointer, value=self._redact_value(progress.value))
        else:
            self._buffered_text.clear()
            yield progress

    def _redact_value(self, value: Any) -> Any:
        if not isinstance(value, BaseModel):
            return self.secrets.redact_json(value).value
        clean = self.secrets.redact_json(value.model_dump(mode="json", warnings=False))
        return type(value).model_validate(clean.value) if clean.count else value


def read_failure(profile: Profile, wire: WireFormat, error: Exception, transfer: HttpTransfer) -> CallResult:
    """Return the result of a request that raised an exception, without the credentials of that request.

    Errors of a store and of this library are raised.
    """
    from emitter.adapters.failures import parse_failure  # noqa: PLC0415  few calls fail

    sent = transfer.request
    credentials = find_error_credentials(error) if sent is None else find_request_credentials(sent)
    return redact_credentials(parse_failure(profile, wire, error, transfer), credentials)


def redact_answer(answer: CallResult, prepared: PreparedEmission) -> CallResult:
    """Remove registered secrets from the vendor's texts in an answer.

    A vendor may repeat credentials in an error, so the credentials of the client and the environment are removed from
    failed answers.
    """
    secrets = prepared.settings.host.config.secrets
    answer = _redact_texts(answer, secrets) if secrets.ids else answer
    failed = isinstance(answer, Fault) or answer.report is not None or answer.refused_as is not None
    if not failed:
        return answer
    return redact_credentials(answer, find_credentials(prepared.profile, prepared.settings.client))


def redact_credentials(answer: CallResult, credentials: tuple[str, ...]) -> CallResult:
    """Remove a request's credentials from the vendor's texts in an answer."""
    secrets = _credential_secrets(credentials)
    if not secrets.ids:
        return answer
    if isinstance(answer, ModelResponse) and answer.stop is StopReason.COMPLETE and answer.report is None:
        # The stop reason is in a table and nothing was refused, so only the request id can hold the vendor's text.
        return _redact_texts(answer, secrets) if answer.request_id and secrets.found_in(answer.request_id) else answer
    return _redact_texts(answer, secrets)


_SECRETS_CACHE: OrderedDict[bytes, Secrets] = OrderedDict()
_CACHE_KEY, _CACHE_SIZE = os.urandom(16), 32


def _credential_secrets(credentials: tuple[str, ...]) -> Secrets:
    """Return the secrets of credentials, which are cached under a keyed hash."""
    key = blake2b("\0".join(credentials).encode("utf-8", "surrogatepass"), key=_CACHE_KEY).digest()
    secrets = _SECRETS_CACHE.get(key)
    if secrets is None:
        secrets = _SECRETS_CACHE[key] = _searchable_secrets(credential_fragments(credentials))
        while len(_SECRETS_CACHE) > _CACHE_SIZE:
            _SECRETS_CACHE.popitem(last=False)
    return secrets


def _searchable_secrets(fragments: tuple[str, ...]) -> Secrets:
    try:
        return _make_secrets(fragments)
    except InputError:  # one fragment cannot be searched for, for example because it is too short
        return _make_secrets(tuple(filter(_is_searchable, fragments)))


def _make_secrets(credentials: tuple[str, ...]) -> Secrets:
    return Secrets.of({"credential": credentials}) if credentials else NO_SECRETS


def _is_searchable(text: str) -> bool:
    try:
        return bool(_make_secrets((text,)))
    except InputError:
        return False


def _redact_texts(answer: CallResult, secrets: Secrets) -> CallResult:
    def clean(text: str | None) -> str | None:
        return None if text is None else secrets.redact_text(text).value

    answer = replace(answer, request_id=clean(answer.request_id), report=_redact_report(answer.report, secrets))
    if isinstance(answer, ModelResponse):
        return replace(answer, raw_stop=clean(answer.raw_stop) or "", refused_as=clean(answer.refused_as))
    return replace(answer, message=clean(answer.message) or "", code=clean(answer.code))


def _redact_report(report: ProviderErrorDetails | None, secrets: Secrets) -> ProviderErrorDetails | None:
    """Redact a vendor's error details. An SDK exception that shows a secret anywhere is dropped."""
    if report is None:
        return None
    message, code, param = (
        None if text is None else secrets.redact_text(text).value
        for text in (report.message, report.code, report.param)
    )
    is_shown = report.cause is not None and secrets.is_shown_by(report.cause)
    return replace(report, message=message or "", code=code, param=param, cause=None if is_shown else report.cause)
