"""Errors under a good status, in every form they come in, and what all wires count alike."""

from __future__ import annotations

from typing import Any

import pytest

from emitter.messages import Fault, FaultKind, ModelResponse
from emitter.profiles import WireFormat
from tests.adapters.bodies import answer, text

ERRORS_UNDER_200: dict[str, Any] = {
    "object": {"error": {"message": "broke"}},
    "string": {"error": "broke"},
    "list": {"error": [{"message": "broke"}]},
    "nested": {"error": {"error": {"message": "broke"}}},
    "array": [{"error": {"message": "broke"}}],
    "typed": {"type": "error", "message": "broke"},
    "typed-without-anything": {"type": "error"},
    "bare-message": {"message": "broke"},
    "detail": {"detail": "broke"},
    "errors": {"errors": [{"message": "broke"}]},
    "html": "<html><body>502 Bad Gateway</body></html>",
    "empty": "",
    "blank": "  \n",
    "null": "null",
    "number": "7",
    "stream-error": 'event: error\ndata: {"error": {"message": "broke"}}\n\n',
    "stream-error-by-name": 'event: error\ndata: {"message": "broke", "code": 500}\n\n',
    "stream-error-by-type": 'data: {"type": "error", "message": "broke"}\n\n',
    "stream-of-words": "data: broke\n\n",
    "stream-of-nothing": "data: [DONE]\n\n",
    "ping-only": ": ping\n\n",
}


@pytest.mark.parametrize("body", ERRORS_UNDER_200.values(), ids=ERRORS_UNDER_200)
@pytest.mark.parametrize("wire", WireFormat)
def test_an_error_under_a_good_status_is_a_fault(wire: WireFormat, body: Any) -> None:
    """However an error is written down, HTTP's 200 does not make it an answer."""
    assert isinstance(answer(wire, body), Fault)


@pytest.mark.parametrize("wire", WireFormat)
def test_an_error_beside_a_complete_answer_is_a_fault(wire: WireFormat) -> None:
    """A server that says both has broken off; what the answer cost is kept."""
    found = answer(wire, {**text(wire, "{}"), "error": {"message": "broke", "code": "server_error"}})
    assert isinstance(found, Fault)
    assert found.kind is FaultKind.SERVER
    assert found.usage is not None


CODES = {
    "number": ({"error": {"code": 429, "message": "slow"}}, FaultKind.RATE_LIMIT),
    "text": ({"error": {"code": "503", "message": "busy"}}, FaultKind.OVERLOADED),
    "no-status": ({"error": {"code": 7}}, FaultKind.SERVER),
}


@pytest.mark.parametrize(("body", "kind"), CODES.values(), ids=CODES)
@pytest.mark.parametrize("wire", WireFormat)
def test_a_status_reported_as_a_code_counts(wire: WireFormat, body: Any, kind: FaultKind) -> None:
    """Proxies put the real status into the error's code."""
    found = answer(wire, body)
    assert isinstance(found, Fault)
    assert found.kind is kind
    assert found.status == 200


def test_bad_request_in_a_stream_is_not_sent_again() -> None:
    """An error of type invalid_request_error under 200 is the request's fault."""
    found = answer(WireFormat.OPENAI_CHAT, {"error": {"type": "invalid_request_error", "message": "no"}})
    assert isinstance(found, Fault)
    assert found.kind is FaultKind.BAD_REQUEST


@pytest.mark.parametrize("wire", WireFormat)
def test_usage_counts_all_that_went_in_and_came_out(wire: WireFormat) -> None:
    """Cached input and thinking are parts of the whole on every wire; what is absent is not zero."""
    whole = text(wire, "{}")
    found = answer(wire, whole)
    assert isinstance(found, ModelResponse)
    assert found.usage is not None
    assert (found.usage.input, found.usage.output) == (7, 5)
    untold = {key: value for key, value in whole.items() if not key.startswith("usage")}
    bare = answer(wire, untold)
    assert isinstance(bare, ModelResponse)
    assert bare.usage is None
