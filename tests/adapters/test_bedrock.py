"""What is Bedrock's own: boto3's client, its credentials and retries, and its binary event stream."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from emitter import AuthenticationError, EmissionError, Policy, RateLimited, Unreachable, aemit, emit, stream
from emitter.adapters import bedrock_converse
from emitter.adapters.bedrock_client import AsyncBedrockClient, as_server_sent_events, run_in_thread
from emitter.adapters.clients import create_client, find_client_credentials, find_request_credentials
from emitter.adapters.sse import SseDecoder
from emitter.adapters.transport import SignedRequest, async_half
from emitter.errors import InputError, MissingKey
from emitter.messages import FaultKind
from emitter.profiles import load_profile
from emitter.testing import Dropped, ErrorKind, Overloaded, PlannedError, Stalled, Text, simulator
from emitter.testing.plans import RawResponse
from emitter.testing.wires.bedrock_converse import encode_event, encode_event_stream, encode_exception
from tests.adapters.reachable import texts_in
from tests.faults.model import Denied
from tests.hostile.vendor import http
from tests.hostile.wires import unary
from tests.testing.asking import until

boto3 = pytest.importorskip("boto3")
botocore_config = pytest.importorskip("botocore.config")
loaders = pytest.importorskip("botocore.loaders")
eventstream = pytest.importorskip("botocore.eventstream")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import ReceivedRequest, Simulator

MODEL = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
WHOLE = Text({"a": "some words"})
ONCE = Policy(max_faults=0)
KEY, SECRET, TOKEN = "AKIAQUXILLIOUS000001", "quxillious/secret+access/key0000000000001", "quxillious-session-token"
MESSAGES = [{"role": "user", "content": [{"text": "Now?"}]}]


@pytest.fixture
def vendor() -> Iterator[Simulator]:
    """Yield a simulated Bedrock."""
    with simulator(answers=WHOLE) as running:
        yield running


def client(url: str, **config: Any) -> Any:
    """Return a client as boto3 makes it, with its own retries."""
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="eu-west-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        aws_session_token=TOKEN,
        config=botocore_config.Config(**config),
    )


@dataclass(frozen=True)
class Frames:
    """The vendor streams these bytes."""

    data: bytes

    def plan(self, asked: ReceivedRequest) -> RawResponse:  # noqa: ARG002  the same for everybody
        """Return the bytes as a stream."""
        return RawResponse(self.data, "application/vnd.amazon.eventstream")


SERVICE = loaders.create_loader().load_service_model("bedrock-runtime", "service-2")
ERRORS = {each["shape"] for name in ("Converse", "ConverseStream") for each in SERVICE["operations"][name]["errors"]}
MEMBERS = SERVICE["shapes"]["ConverseStreamOutput"]["members"]
EVENTS = {name: value["shape"] for name, value in MEMBERS.items()}
EXCEPTIONS = {shape for shape in EVENTS.values() if SERVICE["shapes"][shape].get("exception")}
GATEWAY = {
    "ExpiredTokenException",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "ServiceQuotaExceededException",
    "UnrecognizedClientException",
}
"""What the gateway in front of every AWS service answers, and no model of a service lists."""


def test_every_error_of_the_service_has_a_rule() -> None:
    """Those of both operations and those of the stream, and no rule is about anything else."""
    types = {rule.type for rule in load_profile("bedrock").faults.rules if rule.type and rule.message is None}
    assert types == ERRORS | EXCEPTIONS | GATEWAY


def test_every_event_of_a_stream_is_known() -> None:
    """The adapter's list is the service's."""
    assert set(bedrock_converse._EVENTS) == {name for name, shape in EVENTS.items() if shape not in EXCEPTIONS}


def read(data: bytes, size: int = 1 << 16) -> list[Any]:
    """Return the events of a binary stream that comes in pieces of a size."""
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    decoder = SseDecoder()
    return [*decoder.feed(b"".join(as_server_sent_events(pieces)).decode()), *decoder.end()]


def test_a_stream_reads_as_boto3_reads_it(vendor: Simulator) -> None:
    """Event for event, as boto3's own ``converse_stream`` yields them."""
    asked = {"modelId": MODEL.partition("/")[2], "messages": MESSAGES}
    responses: list[Any] = []
    boto = client(vendor.url)
    boto.meta.events.register("before-parse.bedrock-runtime.ConverseStream", lambda **more: responses.append(more))
    yielded = list(boto.converse_stream(**asked)["stream"])

    frames = b"".join(encode_event(*_item(event)) for event in yielded)
    assert {next(iter(event)) for event in yielded} >= {"messageStart", "contentBlockDelta", "messageStop", "metadata"}
    for size in (1, 7, 1 << 16):
        assert read(frames, size) == yielded
    assert encode_event_stream(b"".join(as_server_sent_events([frames])).decode()) == frames


def _item(event: dict[str, Any]) -> tuple[str, bytes]:
    [(name, payload)] = event.items()
    return name, json.dumps(payload, ensure_ascii=False).encode()


@pytest.mark.parametrize("shape", sorted(EXCEPTIONS))
def test_an_exception_in_a_stream_is_an_error(shape: str) -> None:
    """Under the name of the error response, with its message."""
    name = next(event for event, each in EVENTS.items() if each == shape)
    assert read(encode_exception(name, b'{"message": "No."}')) == [{"error": {"message": "No.", "type": shape}}]


@pytest.mark.parametrize("place", [0, 5, 20, -20, -1])
def test_a_broken_frame_is_a_fault(vendor: Simulator, place: int) -> None:
    """A bit that flips on the way is seen by a checksum, whatever it stands in."""
    data = bytearray(encode_event("messageStart", b'{"role": "assistant"}'))
    data[place] ^= 1
    vendor.script(Frames(bytes(data)))
    with (
        pytest.raises(EmissionError),
        stream(FORM, "Now?", model=MODEL, client=client(vendor.url), policy=ONCE) as reported,
    ):
        list(reported)
    assert reported.trace.attempts[0].fault is not None
    assert reported.trace.attempts[0].fault.kind is FaultKind.PROTOCOL


_START = encode_event("messageStart", b'{"role": "assistant"}')
_BEHIND = {
    "half a frame": _START[:-9],
    "words": b"upstream connect error",
    "a number": encode_event("messageStop", b"3"),
    "a list": encode_event("messageStop", b"[]"),
    "two objects": encode_event("messageStop", b'{}} {"messageStop": {"stopReason": "end_turn"}'),
    "another member": encode_event("messageStop", b'{}, "metadata": {}'),
}


@pytest.mark.parametrize("behind", _BEHIND)
def test_what_is_no_event_is_a_fault_and_what_came_before_it_counts(behind: str) -> None:
    """A frame holds one object, which cannot become two events, and a stream ends between frames."""
    read_so_far: list[bytes] = []
    with pytest.raises(eventstream.ParserError):
        read_so_far.extend(as_server_sent_events([_START + _BEHIND[behind]]))

    assert read_so_far == [b'data: {"messageStart": {"role": "assistant"}}\n\n']


@pytest.mark.parametrize("mode", ["legacy", "standard", "adaptive"])
def test_boto3_does_not_send_again_by_itself(vendor: Simulator, mode: str) -> None:
    """Whatever the client is configured for: the policy owns the retries."""
    vendor.script(Overloaded(429), Dropped())
    boto = client(vendor.url, retries={"mode": mode, "total_max_attempts": 5})
    for error in (RateLimited, Unreachable):
        with pytest.raises(error):
            emit(FORM, "Now?", model=MODEL, client=boto, policy=ONCE)
    assert len(vendor.calls) == 2


def _answer_late(listening: socket.socket, body: bytes) -> None:
    """Answer 103 at first, and the first request only when the next one comes on its connection."""
    right = http(body)
    for first in (True, False):
        connection, _ = listening.accept()
        with connection:
            _read_request(connection)
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" if first else right)
            if first and connection.recv(1):
                connection.sendall(right.replace(b"some words", b"late words"))


def _read_request(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(1 << 16)


@pytest.mark.parametrize("world", ["sync", "async"])
def test_a_late_answer_is_not_the_answer_to_the_next_request(world: str) -> None:
    """http.client takes an informational response for the answer, and would read the answer for the next request."""
    body = json.dumps(unary("bedrock-converse", '{"a": "some words"}')).encode()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        vendor = threading.Thread(target=_answer_late, args=(listening, body), daemon=True)
        vendor.start()
        boto = client(f"http://127.0.0.1:{listening.getsockname()[1]}")
        arguments: dict[str, Any] = {"model": MODEL, "client": boto, "policy": Policy(max_faults=1, timeout=30)}
        result = asyncio.run(aemit(FORM, "Now?", **arguments)) if world == "async" else emit(FORM, "Now?", **arguments)
        vendor.join(60)

    assert result.value == {"a": "some words"}
    assert [each.fault.kind for each in result.trace.attempts if each.fault] == [FaultKind.PROTOCOL]


@pytest.mark.parametrize("world", ["sync", "async"])
def test_the_policys_timeout_bounds_a_call(vendor: Simulator, world: str) -> None:
    """Not the 60 seconds of boto3."""
    vendor.script(Stalled())
    arguments: dict[str, Any] = {"model": MODEL, "client": client(vendor.url)}
    arguments["policy"] = Policy(max_faults=0, timeout=0.3)
    with pytest.raises(Unreachable) as raised:
        asyncio.run(aemit(FORM, "Now?", **arguments)) if world == "async" else emit(FORM, "Now?", **arguments)
    assert raised.value.trace.attempts[0].fault is not None
    assert raised.value.trace.attempts[0].fault.kind is FaultKind.TIMEOUT


def test_async_calls_run_beside_each_other(vendor: Simulator) -> None:
    """A call that stalls holds up no other, though the client blocks."""
    vendor.script(*[Stalled()] * 40)
    boto = client(vendor.url, max_pool_connections=50)

    async def run() -> list[Any]:
        policy = Policy(max_faults=0, timeout=5)
        stalled = [asyncio.create_task(aemit(FORM, "Now?", model=MODEL, client=boto, policy=policy)) for _ in range(40)]
        await asyncio.to_thread(until, lambda: len(vendor.calls) == 40)
        answered = await aemit(FORM, "Now?", model=MODEL, client=boto)
        for task in stalled:
            task.cancel()
        await asyncio.gather(*stalled, return_exceptions=True)
        return [answered.value]

    assert asyncio.run(run()) == [{"a": "some words"}]


def test_an_abandoned_thread_keeps_nobody_waiting() -> None:
    """Its outcome is dropped, and it is a daemon."""
    threads: list[threading.Thread] = []

    def block() -> None:
        threads.append(threading.current_thread())
        time.sleep(0.2)

    async def run() -> None:
        async with asyncio.timeout(0.01):
            await run_in_thread(block)

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert threads[0].daemon
    threads[0].join()


def test_a_signature_is_no_word_to_strike_out() -> None:
    """The key's id, the signature and the session token are credentials; the names of headers are not."""
    signature = (
        f"AWS4-HMAC-SHA256 Credential={KEY}/20261123/eu-west-1/bedrock/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, Signature=0123456789abcdef"
    )
    sent = SignedRequest({"Authorization": signature.encode(), "X-Amz-Security-Token": TOKEN, "X-Amz-Date": "2026"})
    assert set(find_request_credentials(sent)) == {KEY, "0123456789abcdef", TOKEN}
    assert find_request_credentials(SignedRequest({"Authorization": b"Bearer abc"})) == ("Bearer abc",)


def test_a_clients_credentials_are_found() -> None:
    """Without asking for new ones."""
    assert set(find_client_credentials(client("http://vendor.test"))) == {KEY, SECRET, TOKEN}


def test_credentials_do_not_reach_the_error(vendor: Simulator) -> None:
    """A gateway that repeats what it was sent is not believed."""
    reported = f"The security token {TOKEN} of {KEY} with {SECRET} is invalid."
    vendor.script(Denied(PlannedError(ErrorKind.UNAUTHORIZED, reported)))
    with pytest.raises(AuthenticationError) as raised:
        emit(FORM, "Now?", model=MODEL, client=client(vendor.url), policy=ONCE)
    shown = f"{raised.value} {raised.value.vendor_message} {raised.value.__cause__} {raised.value.trace}"
    assert not [each for each in (KEY, SECRET, TOKEN) if each in shown]


@pytest.mark.parametrize("plan", [Denied(PlannedError(ErrorKind.UNAUTHORIZED, "no")), Overloaded(429), Dropped()])
def test_the_request_of_a_cause_has_no_credential(vendor: Simulator, plan: Any) -> None:
    """Neither the exception of an answer nor that of a connection leads to the key or the signature."""
    vendor.script(plan)
    with pytest.raises(EmissionError) as raised:
        emit(FORM, "Now?", model=MODEL, client=client(vendor.url), policy=ONCE)
    assert raised.value.__cause__ is not None
    assert not [each for each in (KEY, SECRET, TOKEN, "Signature=") if each in texts_in(raised.value.__cause__)]


def _without_aws(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    nowhere = {"AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere"}
    for name, value in {**nowhere, "AWS_EC2_METADATA_DISABLED": "true", **variables}.items():
        monkeypatch.setenv(name, value)


def test_a_missing_region_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the variable that sets it."""
    _without_aws(monkeypatch)
    with pytest.raises(MissingKey, match="Set AWS_REGION"):
        create_client(load_profile("bedrock"), asynchronous=False)


def test_missing_credentials_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent; a client of the caller's own says so when it is used."""
    _without_aws(monkeypatch, AWS_REGION="eu-west-1")
    with pytest.raises(MissingKey, match="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        create_client(load_profile("bedrock"), asynchronous=False)
    own = boto3.client("bedrock-runtime", region_name="eu-west-1", endpoint_url="http://vendor.test")
    with pytest.raises(AuthenticationError):
        emit(FORM, "Now?", model=MODEL, client=own, policy=ONCE)


def test_a_bedrock_key_is_sent_as_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over TLS, in the place of a signature."""
    _without_aws(monkeypatch)
    made: Any = create_client(
        load_profile("bedrock"), asynchronous=False, base_url="https://vendor.test", api_key="a-bedrock-key"
    )
    sent: list[Any] = []

    def answer(request: Any, **_: Any) -> Any:
        sent.append(request.headers["Authorization"])
        raise ConnectionError

    made.meta.events.register("before-send", answer)
    with pytest.raises(ConnectionError):
        made.converse(modelId="m", messages=MESSAGES)
    assert sent == [b"Bearer a-bedrock-key"]


@pytest.mark.parametrize("service", ["bedrock", "s3"])
def test_a_client_of_another_service_is_refused(service: str) -> None:
    """It has no ``converse``."""
    other = boto3.client(service, region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")
    with pytest.raises(InputError, match=r'boto3\.client\("bedrock-runtime"\)'):
        emit(FORM, "Now?", model=MODEL, client=other)


def test_a_client_that_sends_nothing_is_refused(vendor: Simulator) -> None:
    """A handler that answers in the place of the service leaves no response to read."""
    boto = client(vendor.url)
    boto.meta.events.register("before-call.bedrock-runtime.Converse", lambda **_: (_Answered(), {}))
    with pytest.raises(InputError, match="answered without sending"):
        emit(FORM, "Now?", model=MODEL, client=boto, policy=ONCE)


class _Answered:
    status_code = 200


def test_the_async_half_is_of_the_same_client() -> None:
    """There is one client, and closing either half closes it."""
    boto = client("http://vendor.test")
    half = async_half(boto)
    assert isinstance(half, AsyncBedrockClient)
    assert half.client is boto
