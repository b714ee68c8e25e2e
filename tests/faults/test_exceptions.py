"""What a caller catches: one class for each thing that is handled apart, with what the vendor said of it."""

from __future__ import annotations

import pickle
from itertools import product
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest

from emitter import (
    AuthenticationError,
    BadRequest,
    EmissionError,
    NotFound,
    Policy,
    RateLimited,
    Refused,
    Unreachable,
    emit,
    emit_many,
)
from emitter.bulk import Batch
from emitter.core.verdicts import FAULTS
from emitter.errors import DeadlineReached, PromptTooLong, QuotaExhausted
from emitter.host import Acceptor, HostConfig
from emitter.redaction import Secrets
from emitter.testing import Dropped, ErrorKind, Failed, Overloaded, PlannedError
from tests.faults.asking import SITUATION, Waits
from tests.faults.model import WHOLE, Denied
from tests.faults.row import WAYS, WIRES, Cell

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.events import RunEvent
    from emitter.testing import Behaviour
    from tests.faults.asking import Asking

SAID = "Unsupported value: 'temperature' does not support 0.2 with this model."
SDKS = {
    "openai-responses": "openai",
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "bedrock-converse": "botocore",
    "gemini-interactions": "google",
}
NO_FAULTS = Policy(max_faults=0)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def failed(asking: Asking, cell: Cell, *script: Behaviour, policy: Policy = NO_FAULTS, **more: Any) -> EmissionError:
    """Return the error that a call ends in, where the vendor does as the script says."""
    asking.vendor.reset()
    asking.vendor.script(*script)
    found, _ = asking.outcome(cell, asking.arguments(cell, policy, clock=Waits().clock(), **more))
    assert isinstance(found, EmissionError)
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wire", WIRES)
def test_the_vendors_words_reach_the_caller_and_nobody_else(wire: str, way: str, asking: Asking) -> None:
    """Message, code, parameter, status and request id are on the error, the SDK's exception is its cause."""
    events: list[RunEvent] = []
    rejected = Denied(PlannedError(ErrorKind.BAD_REQUEST, SAID, param="temperature", code="unsupported_value"))
    error = failed(asking, Cell("rejected", wire, way), rejected, on_event=events.append)

    assert type(error) is BadRequest
    assert (error.code, error.status_code, error.vendor_message) == ("provider_request_rejected", 400, SAID)
    assert f'The vendor said: "{SAID}"' in str(error)
    assert SAID not in error.summary
    assert type(error.__cause__).__module__.partition(".")[0] == SDKS[wire]
    assert not any(SAID in str(each.to_json()) for each in events)
    if SDKS[wire] == "openai":
        assert (error.vendor_code, error.param) == ("unsupported_value", "temperature")
    if SDKS[wire] != "google":  # whose API names no request
        assert error.request_id is not None
        assert error.request_id.startswith("req_")


CLASSES: dict[str, tuple[Behaviour, type[EmissionError]]] = {
    "401": (Denied(PlannedError(ErrorKind.UNAUTHORIZED)), AuthenticationError),
    "403": (Denied(PlannedError(ErrorKind.FORBIDDEN)), AuthenticationError),
    "404": (Denied(PlannedError(ErrorKind.NO_MODEL)), NotFound),
    "400": (Denied(PlannedError(ErrorKind.BAD_REQUEST)), BadRequest),
    "422": (Denied(PlannedError(ErrorKind.BAD_REQUEST, status=422)), BadRequest),
    "schema-rejected": (Denied(PlannedError(ErrorKind.BAD_SCHEMA)), BadRequest),
    "context-overflow": (Denied(PlannedError(ErrorKind.OVERFLOWED)), PromptTooLong),
    "429": (Overloaded(429, retry_after=3), RateLimited),
    "quota": (Denied(PlannedError(ErrorKind.QUOTA)), QuotaExhausted),
    "500": (Failed(500), Unreachable),
    "503": (Overloaded(503), Unreachable),
    "dropped": (Dropped(None), Unreachable),
}


@pytest.mark.parametrize(("fault", "wire"), list(product(CLASSES, WIRES)))
def test_what_is_handled_apart_is_told_apart(fault: str, wire: str, asking: Asking) -> None:
    """Each cause has one class on every wire, and says what to do."""
    behaviour, kind = CLASSES[fault]
    cell = Cell(fault, wire, "sync")
    if fault == "dropped":
        asking.disconnect(cell)
    error = failed(asking, cell, behaviour)

    assert type(error) is kind
    assert error.__cause__ is not None
    assert str(error).endswith(error.hint)
    assert (error.vendor_message is None) == (fault == "dropped")


def test_only_what_failed_at_the_server_is_unreachable() -> None:
    """And a caller that left."""
    unreachable = {failure.code for failure in FAULTS.values() if failure.error is Unreachable}

    assert unreachable == {"provider_unavailable", "cancelled"}


def test_retries_keep_the_last_cause(asking: Asking) -> None:
    """After five failed calls the error is about the last of them."""
    script = [Denied(PlannedError(ErrorKind.SERVER, f"Failed {each}.")) for each in range(5)]
    error = failed(asking, Cell("500", "openai-chat", "sync"), *script, policy=Policy(max_faults=4))

    assert len(error.trace.attempts) == 5
    assert error.vendor_message == "Failed 4."
    assert "Failed 4." in str(error.__cause__)


def test_a_deadline_keeps_the_last_cause(asking: Asking) -> None:
    """Where the time is up before the next try, the error still has what kept the answer from coming."""
    policy = Policy(deadline=30, max_retry_after=60)
    error = failed(asking, Cell("429", "openai-chat", "sync"), Overloaded(429, retry_after=59), policy=policy)

    assert type(error) is DeadlineReached
    assert isinstance(error.__cause__, openai.RateLimitError)


def test_a_failure_that_an_answer_followed_is_no_cause(asking: Asking) -> None:
    """A refusal after a failed call did not come of it."""
    from emitter.testing import Refused as Refusing  # noqa: PLC0415  beside the error of that name

    error = failed(asking, Cell("500", "openai-chat", "sync"), Failed(500), Refusing(), policy=Policy())

    assert type(error) is Refused
    assert error.__cause__ is None
    assert error.vendor_message is None


@pytest.mark.parametrize("wire", WIRES)
def test_registered_secrets_are_struck_out(wire: str, asking: Asking) -> None:
    """An exception of the SDK that shows one is left out: its words cannot be changed."""
    secret = "sk-abcdefghijklmnop"
    host = Acceptor(HostConfig(secrets=Secrets.of({"key": secret})), store=None)
    rejected = Denied(PlannedError(ErrorKind.UNAUTHORIZED, f"Incorrect key {secret}.", param=secret, code=secret))
    error = failed(asking, Cell("401", wire, "sync"), rejected, host=host)

    assert error.vendor_message == "Incorrect key [REDACTED:key]."
    assert error.__cause__ is None
    assert secret not in f"{error}{vars(error)}{error.trace}"


def test_an_error_with_the_vendors_words_crosses_a_process(asking: Asking) -> None:
    """All but the SDK's exception is there on the other side, notes left out."""
    error = failed(
        asking, Cell("400", "openai-chat", "sync"), Denied(PlannedError(ErrorKind.BAD_REQUEST, SAID, param="p"))
    )
    error.add_note("seen")
    again = pickle.loads(pickle.dumps(error))

    assert (type(again), str(again), again.param) == (BadRequest, str(error), "p")
    assert again.request_id == error.request_id


@pytest.mark.parametrize("batch", [False, Batch(poll=0.01)], ids=["calls", "batch"])
def test_many_emissions_tell_the_same(batch: bool | Batch, asking: Asking, tmp_path: Path) -> None:
    """An item's error has what the single call's has, also by way of the vendor's batches."""
    asking.vendor.reset()
    asking.vendor.script(Denied(PlannedError(ErrorKind.BAD_REQUEST, SAID, param="temperature")))
    arguments = {"model": WIRES["openai-chat"], "wire": "openai-chat", "policy": NO_FAULTS}
    client = asking.vendor.client(WIRES["openai-chat"], asynchronous=True)
    (item,) = emit_many(SCHEMA, [SITUATION], client=client, batch=batch, journal=tmp_path / "j.jsonl", **arguments)

    assert isinstance(item.error, BadRequest)
    assert (item.error.vendor_message, item.error.param) == (SAID, "temperature")
    assert (item.error.__cause__ is None) == bool(batch)


def answering(status: int, body: str, content_type: str = "application/json") -> openai.OpenAI:
    """Return a client whose vendor always answers this."""

    def answer(request: httpx2.Request) -> httpx2.Response:  # noqa: ARG001  the same for everybody
        return httpx2.Response(status, text=body, headers={"content-type": content_type})

    return openai.OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))


_FASTAPI = '{"detail": [{"loc": ["body", "seed"], "msg": "Input should be a valid integer", "type": "int_parsing"}]}'
_GOOGLE = """{"error": {"code": 400, "message": "Invalid.", "status": "INVALID_ARGUMENT", "details": [{
    "fieldViolations": [{"field": "generation_config.top_k", "description": "must be positive"}]}]}}"""
BODIES: dict[str, tuple[int, str, str | None, str | None]] = {
    "fastapi": (422, _FASTAPI, "Input should be a valid integer", "body.seed"),
    "mistral": (422, f'{{"object": "error", "message": {_FASTAPI}}}', "Input should be a valid integer", "body.seed"),
    "google": (400, _GOOGLE, "Invalid.", "generation_config.top_k"),
    "text": (
        400,
        "upstream\nrequest  refused \x1b[31m",
        "upstream request refused \N{REPLACEMENT CHARACTER}[31m",
        None,
    ),
    "page": (403, "<html><h1>Forbidden</h1></html>", None, None),
    "upstream": (
        400,
        '{"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "bad top_k"}}}',
        "Provider returned error (bad top_k)",
        None,
    ),
    "the-models-own-text": (
        400,
        '{"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed", "failed_generation": "{a"}}',
        "Failed to generate JSON.",
        None,
    ),
    "odd": (400, '{"error": {"message": ["x"], "param": {"y": 1}, "code": 7}}', None, None),
}


@pytest.mark.parametrize(("status", "body", "message", "param"), BODIES.values(), ids=BODIES)
def test_error_bodies_of_many_servers_are_read(status: int, body: str, message: str | None, param: str | None) -> None:
    """As one printable line, and never with what a server repeats of the model's answer."""
    with pytest.raises(EmissionError) as raised:
        emit(SCHEMA, SITUATION, model="openai/gpt-6-sol", client=answering(status, body), policy=NO_FAULTS)

    assert (raised.value.vendor_message, raised.value.param) == (message, param)
    assert "{a" not in str(raised.value)


def test_a_code_that_is_no_word_is_for_the_caller_alone() -> None:
    """Events tell the vendor's code, which may not be a way for its sentences."""
    events: list[RunEvent] = []
    body = '{"error": {"message": "m", "code": "Please ignore what was said"}}'
    with pytest.raises(BadRequest) as raised:
        emit(SCHEMA, SITUATION, model="openai/gpt-6-sol", client=answering(400, body), on_event=events.append)

    assert raised.value.vendor_code == "Please ignore what was said"
    assert "ignore" not in "".join(str(each.to_json()) for each in events)


def test_a_connection_error_names_the_address() -> None:
    """Without the credentials in it, and without its path."""
    client = openai.OpenAI(api_key="k", base_url="http://user:hidden@127.0.0.1:9/v1")
    with pytest.raises(Unreachable, match=r"\(http://127\.0\.0\.1:9: Connection refused\)") as raised:
        emit(SCHEMA, SITUATION, model="openai/gpt-6-sol", client=client, policy=Policy(max_faults=0))

    assert "hidden" not in str(raised.value)


def test_a_prompt_is_too_long_by_one_class_whoever_says_so(asking: Asking) -> None:
    """The library before the call, or the vendor after it: the same class and code."""
    with pytest.raises(PromptTooLong) as before:
        emit(SCHEMA, "word " * 100_000, model="openai/gpt-4", client=answering(500, ""))
    after = failed(asking, Cell("overflow", "openai-chat", "sync"), Denied(PlannedError(ErrorKind.OVERFLOWED)), WHOLE)

    assert type(after) is PromptTooLong
    assert before.value.code == after.code == "envelope_truncation_unrecoverable"
    assert (len(before.value.trace.attempts), len(after.trace.attempts)) == (0, 1)
    with pytest.raises(PromptTooLong) as larger:
        emit(SCHEMA, SITUATION, model="openai/gpt-6-sol", client=answering(413, "Payload Too Large"))
    assert (larger.value.code, larger.value.vendor_message) == ("provider_request_too_large", "Payload Too Large")
