"""Cassettes: recorded at the SDKs' own seam, strict on replay, and never a secret in the file."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import httpx2
import openai
import pytest

from emitter import emit_binding_moment
from emitter.errors import BadCassette, UnexpectedRequest
from emitter.testing.cassettes import (
    REDACTED,
    Provenance,
    RecordingTransport,
    ReplayTransport,
    load_cassette,
    save_cassette,
)
from emitter.testing.scenarios import SITUATION, get_scenario, make_replay_transport

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-live-0123456789abcdef"
URL = "https://vendor.invalid/v1"
STREAM = (
    'data: {"type":"response.created"}\n\ndata: {"type":"response.completed","response":{"status":"completed"}}\n\n'
)


def echo(request: httpx2.Request) -> httpx2.Response:
    """Answer with everything a careless server might leak back."""
    leaked = {"authorization": request.headers.get("authorization", ""), "key": SECRET, "ok": True}
    headers = {"set-cookie": f"session={SECRET}", "x-request-id": "req_1", "x-internal": SECRET}
    return httpx2.Response(200, json=leaked, headers=headers)


def send(transport: httpx2.BaseTransport, body: Any, **headers: str) -> httpx2.Response:
    """Post a body."""
    with httpx2.Client(transport=transport) as client:
        return client.post(f"{URL}/responses?api-version=1&key={SECRET}", json=body, headers=headers)


def test_no_credential_reaches_the_file(tmp_path: Path) -> None:
    """Not from a header, the query, the request's body or what the server sends back."""
    tape = RecordingTransport(inner=httpx2.MockTransport(echo))
    send(tape, {"note": f"the key is {SECRET}"}, authorization=f"Bearer {SECRET}")
    save_cassette(tape.to_cassette(), tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()

    assert SECRET not in text
    assert REDACTED in text
    assert '"path": "/v1/responses?api-version=1"' in text


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "api-key", "x-goog-api-key"])
def test_every_vendors_key_header_is_known(header: str) -> None:
    """Whatever header carries the key, the key is struck from the bodies."""
    tape = RecordingTransport(inner=httpx2.MockTransport(echo))
    with httpx2.Client(transport=tape) as client:
        client.post(URL, json={"note": SECRET}, headers={header: SECRET})

    assert SECRET not in tape.to_cassette().model_dump_json()


HEADERS = {
    "a-bearer": ("authorization", "Bearer {}"),
    "a-lower-case-scheme": ("authorization", "token {}"),
    "basic": ("authorization", "Basic {basic}"),
    "a-proxy": ("proxy-authorization", "Basic {basic}"),
    "a-cookie": ("cookie", "theme=dark; session={}; other=1"),
    "azure-gateway": ("ocp-apim-subscription-key", "{}"),
    "cloudflare": ("cf-aig-authorization", "Bearer {}"),
    "portkey": ("x-portkey-api-key", "{}"),
    "aws": ("x-amz-security-token", "{}"),
    "helicone": ("helicone-auth", "Bearer {}"),
    "gitlab": ("private-token", "{}"),
    "unheard-of": ("x-tomorrows-vendor", "{}"),
    "parameters": ("x-signed", "Credential={}, Signed=host"),
}
ODD = 'sk-live/0123+4567 89"ab&cd=é\\'
"""A credential in which every encoding changes something."""
ENCODINGS = {
    "plain": lambda key: key,
    "json": json.dumps,
    "json-not-ascii": lambda key: json.dumps(key, ensure_ascii=False),
    "json-in-json": lambda key: json.dumps(json.dumps({"key": key})),
    "json-slash": lambda key: key.replace("/", "\\/"),
    "json-all-escaped": lambda key: "".join(f"\\u{ord(each):04x}" for each in key),
    "percent": lambda key: quote(key, safe=""),
    "percent-lower": lambda key: re.sub("%..", lambda found: found[0].lower(), quote(key, safe="")),
    "percent-every-byte": lambda key: "".join(f"%{each:02X}" for each in key.encode()),
    "percent-twice": lambda key: quote(quote(key, safe=""), safe=""),
    "form": quote_plus,
    "html": html.escape,
    "hex": lambda key: key.encode().hex(),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64-url": lambda key: base64.urlsafe_b64encode(key.encode()).decode().rstrip("="),
    "base64-after-1": lambda key: base64.b64encode(b"u:" + key.encode() + b"!").decode(),
    "base64-after-2": lambda key: base64.b64encode(b"Bearer " + key.encode() + b"!!").decode(),
}


def _core(encoded: str) -> str:
    """Return the middle of an encoded credential: of its first and last characters, others decide a part."""
    return encoded[12:-8] if len(encoded) > 24 else encoded


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("key", [SECRET, ODD], ids=["plain-key", "odd-key"])
def test_no_encoding_of_a_credential_reaches_the_file(key: str, encoding: str, streams: bool) -> None:
    """However the vendor writes the key that it got, it is struck out, in body and header."""
    echoed = ENCODINGS[encoding](key)
    body = f"data: {echoed}\n\n" if streams else json.dumps({"a": [{"b": echoed, echoed: 1}]})
    served = httpx2.MockTransport(
        lambda _: httpx2.Response(200, content=body.encode(), headers={"x-request-id": quote(echoed)})
    )
    tape = RecordingTransport(inner=served)
    with httpx2.Client(transport=tape) as client:
        client.post(URL, json={"echoed": echoed}, headers={"x-key": key.encode()})
    [kept] = tape.to_cassette().interactions
    written = "\n".join([json.dumps(kept.model_dump(), ensure_ascii=False), str(kept.response.body)])

    assert REDACTED in written
    assert _core(echoed) not in written
    assert _core(json.dumps(echoed, ensure_ascii=False)[1:-1]) not in written


@pytest.mark.parametrize("header", HEADERS)
def test_a_credential_is_known_by_rule(header: str) -> None:
    """Whatever header carries it, and whatever stands around it, the bare credential is struck out."""
    name, form = HEADERS[header]
    basic = base64.b64encode(f"user:{SECRET}".encode()).decode()
    value = form.format(SECRET, basic=basic)
    tape = RecordingTransport(
        inner=httpx2.MockTransport(lambda _: httpx2.Response(200, json=[SECRET, value, basic, "Bearer of"]))
    )
    with httpx2.Client(transport=tape) as client:
        client.post(URL, json={"note": SECRET}, headers={name: value})
    [kept] = tape.to_cassette().interactions

    assert SECRET not in tape.to_cassette().model_dump_json()
    assert basic not in tape.to_cassette().model_dump_json()
    assert kept.response.body[-1] == "Bearer of"


@pytest.mark.parametrize("name", ["key", "sig", "X-Amz-Signature", "code", "unheard-of"])
def test_a_query_parameter_is_a_credential_by_rule(name: str) -> None:
    """Only harmless parameters are kept; the others are struck from the bodies, percent-encoded or not."""
    tape = RecordingTransport(
        inner=httpx2.MockTransport(lambda sent: httpx2.Response(200, json={"url": str(sent.url), "key": ODD}))
    )
    with httpx2.Client(transport=tape) as client:
        client.post(URL, params={name: ODD, "alt": "sse"}, json={})
    [kept] = tape.to_cassette().interactions

    assert kept.request.path == "/v1?alt=sse"
    assert kept.response.body["key"] == REDACTED
    assert "0123" not in tape.to_cassette().model_dump_json()


def test_harmless_headers_are_left_alone() -> None:
    """What every client sends is no credential, so that answers are kept as they were."""
    said = ["application/json", "gzip, deflate", "vendor.invalid", "keep-alive"]
    tape = RecordingTransport(
        inner=httpx2.MockTransport(lambda sent: httpx2.Response(200, json=[*said, sent.headers["user-agent"]]))
    )
    send(tape, {"n": 1})

    assert tape.to_cassette().interactions[0].response.body[:-1] == said
    assert REDACTED not in tape.to_cassette().model_dump_json()


def test_a_request_that_holds_its_own_key_is_replayed() -> None:
    """What is struck out when recording is struck out when comparing."""
    tape = RecordingTransport(inner=httpx2.MockTransport(echo))
    send(tape, {"note": SECRET}, authorization=f"Bearer {SECRET}")
    answered = send(ReplayTransport(tape.to_cassette()), {"note": SECRET}, authorization=f"Bearer {SECRET}")

    assert answered.status_code == 200


def test_a_replay_answers_what_was_recorded() -> None:
    """Status, body and the kept headers come back."""
    tape = RecordingTransport(
        inner=httpx2.MockTransport(lambda _: httpx2.Response(429, json={"a": 1}, headers={"retry-after": "3"}))
    )
    send(tape, {"n": 1})
    answered = send(ReplayTransport(tape.to_cassette()), {"n": 1})

    assert (answered.status_code, answered.json(), answered.headers["retry-after"]) == (429, {"a": 1}, "3")


def test_equal_requests_are_answered_in_order() -> None:
    """A request that was sent twice gets its two answers, first first."""
    numbers = iter(range(9))
    tape = RecordingTransport(inner=httpx2.MockTransport(lambda _: httpx2.Response(200, json=next(numbers))))
    send(tape, {})
    send(tape, {})
    played = ReplayTransport(tape.to_cassette())

    assert [send(played, {}).json() for _ in range(2)] == [0, 1]
    assert played.unused() == ()


def test_an_unknown_request_shows_the_difference() -> None:
    """The error names the line that differs, as a unified difference."""
    tape = RecordingTransport(inner=httpx2.MockTransport(lambda _: httpx2.Response(200, json={})))
    send(tape, {"model": "a", "budget": 10})

    with pytest.raises(UnexpectedRequest) as raised:
        send(ReplayTransport(tape.to_cassette()), {"model": "a", "budget": 20})

    assert '- "budget": 10,' in str(raised.value)
    assert '+ "budget": 20,' in str(raised.value)
    assert SECRET not in str(raised.value)


def test_a_used_up_cassette_says_so() -> None:
    """One more request than was recorded is an error of its own."""
    with pytest.raises(UnexpectedRequest, match="has no more requests"):
        send(ReplayTransport(RecordingTransport().to_cassette()), {})


@pytest.mark.parametrize("wire", ["openai-responses", "openai-chat", "anthropic", "google"])
def test_an_unknown_request_is_no_fault_of_the_vendor(wire: str) -> None:
    """The SDK's own wrapping does not turn it into a connection error that would be retried."""
    played = get_scenario("bound", wire)

    with pytest.raises(UnexpectedRequest):
        emit_binding_moment(
            "Another situation.", client=played.client(make_replay_transport(played)), **played.arguments()
        )


def test_a_stream_is_recorded_and_replayed_through_the_sdk() -> None:
    """The text of the events is kept, and the SDK reads it again."""
    served = httpx2.MockTransport(
        lambda _: httpx2.Response(200, text=STREAM, headers={"content-type": "text/event-stream"})
    )
    tape = RecordingTransport(inner=served)
    first = _streamed(tape)
    again = _streamed(ReplayTransport(tape.to_cassette()))

    assert first == again == ["response.created", "response.completed"]
    assert tape.to_cassette().interactions[0].response.body == STREAM


def _streamed(transport: httpx2.BaseTransport) -> list[str]:
    with httpx2.Client(transport=transport) as http:
        client = openai.OpenAI(api_key=SECRET, base_url=URL, http_client=http)
        with client.post(
            "/responses", cast_to=object, body={"stream": True}, stream=True, stream_cls=openai.Stream[object]
        ) as stream:
            return [event["type"] for event in stream]  # type: ignore[index]


def test_the_async_half_records_and_replays() -> None:
    """The same tape serves an async client."""

    async def both() -> tuple[Any, Any]:
        tape = RecordingTransport(async_inner=httpx2.MockTransport(echo))
        async with httpx2.AsyncClient(transport=tape) as client:
            first = (await client.post(URL, json={"n": 1}, headers={"authorization": f"Bearer {SECRET}"})).json()
        async with httpx2.AsyncClient(transport=ReplayTransport(tape.to_cassette())) as client:
            return first, (await client.post(URL, json={"n": 1})).json()

    first, again = asyncio.run(both())

    assert first == {"authorization": f"Bearer {SECRET}", "key": SECRET, "ok": True}
    assert again == {"authorization": REDACTED, "key": REDACTED, "ok": True}


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        ("", "cannot be|is not valid"),
        ("{", "is not valid"),
        ("[]", "is not valid"),
        ('{"provenance": "made up"}', "provenance"),
        (
            '{"provenance": "recorded", "interactions": [{"request": {"method": "POST"}}]}',
            "interactions.0.request.path",
        ),
        ('{"provenance": "recorded", "extra": 1}', "extra"),
    ],
    ids=["empty", "cut", "list", "provenance", "no-path", "unknown-key"],
)
def test_a_bad_cassette_says_what_is_wrong(tmp_path: Path, content: str, reported: str) -> None:
    """The error names the file and the place."""
    file = tmp_path / "bad.json"
    file.write_text(content)

    with pytest.raises(BadCassette, match=reported) as raised:
        load_cassette(file)

    assert "bad.json" in str(raised.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"], ids=["absent", "binary"])
def test_an_unreadable_cassette_is_a_typed_error(tmp_path: Path, content: bytes | None) -> None:
    """A file that is not there, or not text, is reported in one sentence."""
    if content is not None:
        (tmp_path / "bad.json").write_bytes(content)

    with pytest.raises(BadCassette, match="cannot be read"):
        load_cassette(tmp_path / "bad.json")


def test_saving_is_whole_or_not_at_all(tmp_path: Path) -> None:
    """What is saved can be loaded, says where it comes from, and leaves nothing behind."""
    cassette = RecordingTransport().to_cassette(Provenance.BY_HAND, "a note")
    save_cassette(cassette, tmp_path / "deep" / "a.json")

    assert load_cassette(tmp_path / "deep" / "a.json") == cassette
    assert [each.name for each in (tmp_path / "deep").iterdir()] == ["a.json"]


def test_a_replay_needs_no_key_and_no_network() -> None:
    """A whole emission runs from a cassette."""
    played = get_scenario("bound", "anthropic")
    tape = make_replay_transport(played)
    emit_binding_moment(SITUATION, client=played.client(tape), **played.arguments())

    assert tape.unused() == ()
