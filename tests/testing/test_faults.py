"""Every way to go wrong, on every wire and in both forms: what our adapters read, and what is billed."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import pytest

from emitter.messages import Fault, FaultKind, ModelResponse, StopReason, Usage
from emitter.profiles.model import WireFormat
from emitter.testing import (
    ErrorEvent,
    ErrorKind,
    Failed,
    Filtered,
    Forbidden,
    NotFound,
    NotJson,
    Overflowed,
    Overloaded,
    PlannedError,
    Quota,
    Text,
    Unauthorized,
    Unended,
)
from emitter.testing.plans import count_tokens
from tests.testing.asking import DOCUMENT, TEXT, answer, both_forms, every_wire, post

if TYPE_CHECKING:
    from emitter.testing import Behaviour, Simulator

WHOLE = Text(DOCUMENT)

FAULTS: dict[str, tuple[Behaviour, FaultKind]] = {
    "429": (Overloaded(), FaultKind.RATE_LIMIT),
    "503": (Overloaded(503), FaultKind.OVERLOADED),
    "529": (Overloaded(529), FaultKind.OVERLOADED),
    "500": (Failed(), FaultKind.SERVER),
    "502": (Failed(502), FaultKind.SERVER),
    "quota": (Quota(), FaultKind.QUOTA),
    "unauthorized": (Unauthorized(), FaultKind.AUTHENTICATION),
    "forbidden": (Forbidden(), FaultKind.PERMISSION),
    "no such model": (NotFound(), FaultKind.NOT_FOUND),
    "page of a proxy": (NotJson(), FaultKind.PROTOCOL),
    "torn document": (NotJson('{"id": "x", "choi'), FaultKind.PROTOCOL),
    "nothing": (NotJson(""), FaultKind.PROTOCOL),
    "text": (NotJson("upstream connect error"), FaultKind.PROTOCOL),
}


@both_forms
@every_wire
@pytest.mark.parametrize(("behaviour", "kind"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_read(
    vendor: Simulator, wire: WireFormat, behaviour: Behaviour, kind: FaultKind, *, streamed: bool
) -> None:
    """Each error is the fault that it stands for, and costs nothing."""
    vendor.script(behaviour)

    fault = answer(vendor, wire, streamed=streamed)

    assert isinstance(fault, Fault), fault
    assert fault.kind is kind
    assert vendor.billed == Usage()
    assert vendor.calls[0].status == fault.status


@both_forms
@every_wire
def test_a_prompt_too_long(vendor: Simulator, wire: WireFormat, *, streamed: bool) -> None:
    """An overflow is read as one."""
    vendor.script(Overflowed())

    found = answer(vendor, wire, streamed=streamed)

    assert isinstance(found, ModelResponse)
    assert found.stop is StopReason.OVERFLOWED


@both_forms
@every_wire
def test_a_blocked_prompt(vendor: Simulator, wire: WireFormat, *, streamed: bool) -> None:
    """A blocked prompt is a refusal on every wire; Google's is an answer, and bills the prompt."""
    vendor.script(Filtered(block_prompt=True))

    found = answer(vendor, wire, streamed=streamed)

    assert isinstance(found, ModelResponse)
    assert found.stop is StopReason.REFUSED
    assert (vendor.billed.input > 0) is (wire is WireFormat.GOOGLE)


@every_wire
@pytest.mark.parametrize(("asked", "seconds"), [(None, None), (3, 3.0), (0.25, 0.25)])
def test_how_long_to_wait(vendor: Simulator, wire: WireFormat, asked: float | None, seconds: float | None) -> None:
    """The wait that is asked for is reported in the header, and is the one that is read."""
    vendor.script(Overloaded(503, retry_after=asked))

    fault = answer(vendor, wire)

    assert isinstance(fault, Fault)
    assert fault.retry_after == seconds


@every_wire
def test_a_wait_as_a_date(vendor: Simulator, wire: WireFormat) -> None:
    """Both dates are such as HTTP knows, and so far apart that the wait is read from them alone."""
    vendor.script(*[Overloaded(503, retry_after="date")] * 2)

    sent = post(vendor, wire).headers
    fault = answer(vendor, wire)

    assert {parsedate_to_datetime(sent[name]).tzinfo for name in ("date", "retry-after")} == {UTC}
    assert isinstance(fault, Fault)
    assert fault.retry_after == 2


@every_wire
def test_a_stream_that_just_ends(vendor: Simulator, wire: WireFormat) -> None:
    """Without its last events a stream is no answer; all of its text is billed."""
    vendor.script(Unended(answer=WHOLE))

    fault = answer(vendor, wire, streamed=True)

    assert isinstance(fault, Fault)
    assert vendor.billed.output == count_tokens(TEXT)


@every_wire
def test_an_answer_without_a_reason_for_its_end(vendor: Simulator, wire: WireFormat) -> None:
    """In the unary form the reason is missing, and nobody knows it."""
    vendor.script(Unended(answer=WHOLE))

    reply = answer(vendor, wire)

    assert isinstance(reply, ModelResponse)
    assert (reply.stop, reply.raw_stop, reply.text) == (StopReason.UNKNOWN, "", TEXT)


ERRORS = {
    "overloaded": (ErrorKind.OVERLOADED, {FaultKind.OVERLOADED, FaultKind.SERVER}),
    "server": (ErrorKind.SERVER, {FaultKind.SERVER}),
}


@both_forms
@every_wire
@pytest.mark.parametrize(("trouble", "kinds"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_under_a_good_status(
    vendor: Simulator, wire: WireFormat, trouble: ErrorKind, kinds: set[FaultKind], *, streamed: bool
) -> None:
    """An error in the middle of a stream, or instead of a body, is a fault; what was streamed is billed."""
    vendor.script(ErrorEvent(PlannedError(trouble), answer=WHOLE))

    response = post(vendor, wire, streamed=streamed)
    vendor.script(ErrorEvent(PlannedError(trouble), answer=WHOLE))
    fault = answer(vendor, wire, streamed=streamed)

    assert response.status_code == 200
    assert isinstance(fault, Fault)
    assert fault.kind in kinds
    half = count_tokens(TEXT[: len(TEXT) // 2])
    assert vendor.calls[0].usage.output == (half if streamed else 0)


@both_forms
@every_wire
def test_a_block_under_a_good_status(vendor: Simulator, wire: WireFormat, *, streamed: bool) -> None:
    """Google's block says what it costs, and that is what is billed; elsewhere it is an error and says nothing."""
    vendor.script(ErrorEvent(PlannedError(ErrorKind.PROMPT_BLOCKED), answer=WHOLE))

    found = answer(vendor, wire, streamed=streamed)

    assert isinstance(found, ModelResponse)
    assert found.stop is StopReason.REFUSED
    assert vendor.billed.output == (count_tokens(TEXT[: len(TEXT) // 2]) if streamed else 0)
    assert (vendor.billed.input > 0) is (streamed or wire is WireFormat.GOOGLE)
    if wire is WireFormat.GOOGLE:
        assert found.usage == vendor.billed
