"""No credential of a request stands in an error, whatever carries it, when the vendor repeats it."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter import EmissionError, Policy, aemit, astream, emit, stream
from emitter.adapters.clients import (
    credential_fragments,
    find_client_credentials,
    find_error_credentials,
    find_request_credentials,
    remove_credentials,
)
from emitter.adapters.transport import async_half
from emitter.bulk.batches import get_batch_vendor
from emitter.bulk.batches.exchanges import BatchRequestFailed
from emitter.bulk.batches.vendor_api import BatchConnection, SubmittedBatch
from emitter.client.request import prepare_emission
from emitter.client.settings import Settings
from emitter.client.transport import redact_answer, redact_credentials
from emitter.deadline import Deadline
from emitter.forms.document import document_form
from emitter.host import Acceptor, HostConfig
from emitter.messages import Fault, FaultKind, ProviderErrorDetails
from emitter.profiles import load_profile
from emitter.redaction import NO_SECRETS, Secrets
from emitter.stores import MemoryStore
from tests.adapters.reachable import texts_in
from tests.work import covering

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.events import RunEvent

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")

TOKEN = "tok-5f2c9e71b0a84d63"
BASIC = base64.b64encode(f"user:{TOKEN}".encode()).decode()
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
OPENAI, ANTHROPIC, GOOGLE, AZURE = (
    "openai/gpt-6-sol",
    "anthropic/claude-opus-5",
    "google/gemini-3.5-flash",
    "azure-openai/gpt-6-sol",
)


async def _acoming() -> str:
    return TOKEN


def _genai(world: str, **options: Any) -> Any:
    def made(http: Any) -> Any:
        name = "httpx_client" if world == "sync" else "httpx_async_client"
        key = options.get("key", TOKEN)
        headers = {"headers": options["headers"]} if "headers" in options else {}
        return genai.Client(api_key=key, vertexai=False, http_options={name: http, **headers})

    return made


def _made(kind: Any, **arguments: Any) -> Callable[[Any], Any]:
    return lambda http: kind(http_client=http, **arguments)


AZURE_AT = {"azure_endpoint": "http://az.test", "api_version": "2024-10-21"}
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
CLIENTS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "genai": (GOOGLE, "sync", _genai("sync")),
    "genai-async": (GOOGLE, "async", _genai("async")),
    "genai-headers": (GOOGLE, "sync", _genai("sync", key="another-key", headers={"x-gateway-key": TOKEN})),
    "openai": (OPENAI, "sync", _made(openai.OpenAI, api_key=TOKEN)),
    "openai-async": (OPENAI, "async", _made(openai.AsyncOpenAI, api_key=TOKEN)),
    "openai-callable": (OPENAI, "sync", _made(openai.OpenAI, api_key=lambda: TOKEN)),
    "openai-async-callable": (OPENAI, "async", _made(openai.AsyncOpenAI, api_key=_acoming)),
    "openai-authorization": (OPENAI, "sync", _made(openai.OpenAI, api_key="another-key", default_headers=HEADERS)),
    "openai-gateway": (
        OPENAI,
        "sync",
        _made(openai.OpenAI, api_key="another-key", default_headers={"cf-aig-authorization": f"Bearer {TOKEN}"}),
    ),
    "openai-basic": (
        OPENAI,
        "sync",
        _made(openai.OpenAI, api_key="another-key", default_headers={"Proxy-Authorization": f"Basic {BASIC}"}),
    ),
    "openai-query": (
        OPENAI,
        "sync",
        _made(openai.OpenAI, api_key="another-key", default_query={"subscription-key": TOKEN}),
    ),
    "openai-user-info": (
        OPENAI,
        "sync",
        _made(openai.OpenAI, api_key="another-key", base_url=f"http://user:{TOKEN}@vendor.test/v1"),
    ),
    "anthropic": (ANTHROPIC, "sync", _made(anthropic.Anthropic, api_key=TOKEN)),
    "anthropic-auth-token": (ANTHROPIC, "sync", _made(anthropic.Anthropic, auth_token=TOKEN)),
    "anthropic-async-auth-token": (ANTHROPIC, "async", _made(anthropic.AsyncAnthropic, auth_token=TOKEN)),
    "anthropic-headers": (
        ANTHROPIC,
        "sync",
        _made(anthropic.Anthropic, api_key="another-key", default_headers={"X-Gateway": TOKEN}),
    ),
    "anthropic-query": (
        ANTHROPIC,
        "sync",
        _made(anthropic.Anthropic, api_key="another-key", default_query={"sig": TOKEN}),
    ),
    "azure-key": (AZURE, "sync", _made(openai.AzureOpenAI, api_key=TOKEN, **AZURE_AT)),
    "azure-ad-token": (AZURE, "sync", _made(openai.AzureOpenAI, azure_ad_token=TOKEN, **AZURE_AT)),
    "azure-ad-provider": (
        AZURE,
        "async",
        _made(openai.AsyncAzureOpenAI, azure_ad_token_provider=_acoming, **AZURE_AT),
    ),
}


def echoing(sent: httpx2.Request) -> httpx2.Response:  # noqa: ARG001  it repeats the token, wherever it came
    """Reject a request, and repeat its credential in every field that errors show."""
    said = {"message": f"The token {TOKEN} may not.", "code": TOKEN, "type": TOKEN, "param": TOKEN, "status": TOKEN}
    return httpx2.Response(400, json={"error": said}, headers={"x-request-id": TOKEN, "request-id": TOKEN})


def ended(model: str, world: str, client: Any, *, streams: bool, on_event: Any) -> EmissionError:
    """Return what a call ends in."""
    arguments = {"model": model, "client": client, "policy": Policy(max_faults=0), "on_event": on_event}

    async def run() -> None:
        if streams:
            async with astream(SCHEMA, "one", **arguments) as reported:
                async for _ in reported:
                    pass
        else:
            await aemit(SCHEMA, "one", **arguments)

    def block() -> None:
        if streams:
            with stream(SCHEMA, "one", **arguments) as reported:
                list(reported)
        else:
            emit(SCHEMA, "one", **arguments)

    with pytest.raises(EmissionError) as raised:
        asyncio.run(run()) if world == "async" else block()
    return raised.value


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", CLIENTS)
def test_an_error_shows_no_credential_that_the_vendor_repeats(name: str, streams: bool) -> None:
    """Neither its text nor its fields, trace, events and causes; the rest of the vendor's message stays."""
    model, world, made = CLIENTS[name]
    kind: Any = httpx2.Client if world == "sync" else httpx2.AsyncClient
    events: list[RunEvent] = []
    client = made(kind(transport=httpx2.MockTransport(echoing)))
    error = ended(model, world, client, streams=streams, on_event=events.append)

    reported = [str(error), repr(error), str(vars(error)), repr(error.trace), NO_SECRETS.redact_error(error)]
    assert TOKEN not in "\n".join([*reported, *(json.dumps(each.to_json()) for each in events)])
    assert error.__cause__ is None
    assert error.vendor_message == "The token [REDACTED:credential] may not."


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", ["genai", "openai-callable", "openai-gateway", "anthropic-auth-token"])
def test_an_error_under_a_good_status_shows_no_credential(name: str, streams: bool) -> None:
    """As a document, or as the event that ends a stream: no exception of the SDK tells of it."""
    said = json.dumps({"type": "error", "error": {"message": f"The token {TOKEN} may not.", "code": 400}})
    body, kind = (f"data: {said}\n\n", "text/event-stream") if streams else (said, "application/json")
    answer = httpx2.Response(200, text=body, headers={"content-type": kind, "x-request-id": TOKEN})
    model, world, made = CLIENTS[name]
    client = made(httpx2.Client(transport=httpx2.MockTransport(lambda _: answer)))
    error = ended(model, world, client, streams=streams, on_event=None)

    assert TOKEN not in "\n".join([str(error), str(vars(error)), repr(error.trace), NO_SECRETS.redact_error(error)])
    assert error.vendor_message == "The token [REDACTED:credential] may not."


PLACES: dict[str, dict[str, Any]] = {
    "a detail": {"json": {"error": {"message": "no", "details": [{"seen": [TOKEN]}]}}},
    "a name": {"json": {"error": {"message": "no", TOKEN: 1}}},
    "another member": {"json": {"error": {"message": "no"}, "debug": f"Bearer {TOKEN}"}},
    "a body that is no JSON": {"text": f"<html><title>no</title>{TOKEN}</html>"},
    "a header": {"json": {"error": {"message": "no"}}, "headers": {"x-debug": TOKEN}},
    "a request id": {"json": {"error": {"message": "no"}}, "headers": {"x-request-id": TOKEN, "request-id": TOKEN}},
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["genai", "genai-async", "openai", "openai-async", "anthropic"])
def test_no_attribute_of_a_cause_shows_a_credential(name: str, place: str) -> None:
    """Wherever in its answer the vendor repeats it."""
    model, world, made = CLIENTS[name]
    kind: Any = httpx2.Client if world == "sync" else httpx2.AsyncClient
    client = made(kind(transport=httpx2.MockTransport(lambda _: httpx2.Response(400, **PLACES[place]))))
    error = ended(model, world, client, streams=False, on_event=None)

    assert not Secrets.of({"k": TOKEN}).is_shown_by(error)
    assert error.__cause__ is None


def _raising(kind: type[Exception]) -> Callable[[httpx2.Request], httpx2.Response]:
    def vendor(sent: httpx2.Request) -> httpx2.Response:
        raise kind("no", request=sent) if issubclass(kind, httpx2.RequestError) else kind("no")

    return vendor


FAILURES: dict[str, Callable[[httpx2.Request], httpx2.Response]] = {
    **{str(status): lambda _, status=status: httpx2.Response(status, json={}) for status in (400, 401, 429, 503)},
    **{
        kind.__name__: _raising(kind)
        for kind in (httpx2.ConnectError, httpx2.ReadTimeout, httpx2.DecodingError, LookupError)
    },
}


_IN_THE_URL = ("openai-query", "anthropic-query", "openai-user-info")


@pytest.mark.parametrize(("name", "failure"), covering(CLIENTS, FAILURES))
def test_the_request_of_a_cause_has_no_credential(name: str, failure: str) -> None:
    """The exception stays, whatever raised it, unless its own words show the credential: httpx2 quotes the URL."""
    model, world, made = CLIENTS[name]
    kind: Any = httpx2.Client if world == "sync" else httpx2.AsyncClient
    client = made(kind(transport=httpx2.MockTransport(FAILURES[failure])))
    error = ended(model, world, client, streams=False, on_event=None)

    found = texts_in(error.__cause__)
    assert error.__cause__ is not None or (failure.isdecimal() and name in _IN_THE_URL)
    assert TOKEN not in found
    assert BASIC not in found


def test_a_clean_copy_leaves_the_request_of_the_caller_as_it_was() -> None:
    """A hook or a transport of the caller's may keep it."""
    kept: list[httpx2.Request] = []
    http = httpx2.Client(transport=httpx2.MockTransport(FAILURES["400"]), event_hooks={"request": [kept.append]})
    client = openai.OpenAI(api_key=TOKEN, http_client=http)
    cause: Any = ended(OPENAI, "sync", client, streams=False, on_event=None).__cause__

    assert kept[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert cause.request.headers["authorization"] == "[REDACTED:credential]"
    assert cause.request.url == kept[0].url
    assert cause.request.content == kept[0].content


def test_a_credential_may_be_any_bytes_and_an_exception_have_any_attributes() -> None:
    """Neither stops the search for requests in the causes, the members of a group and the responses."""
    sent = httpx2.Request("GET", "http://vendor.test/v1", headers={b"x-key": TOKEN.encode() + b"\xff"})
    inner = httpx2.HTTPStatusError("no", request=sent, response=httpx2.Response(400, request=sent))
    vars(inner.response)["history"] = 5
    error: Any = ExceptionGroup("no", [ValueError("no"), inner])
    vars(error).update(request="one", response=[], history=3, extensions=7)
    remove_credentials(error)

    assert TOKEN in texts_in(sent)
    assert TOKEN not in texts_in(inner, error)
    assert error.request == "one"


def test_no_attribute_of_a_cause_shows_a_registered_secret() -> None:
    """A secret of the host, which no request sends."""
    said = {"error": {"message": "no", "details": ["sk-live-51H8xyz"]}}
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(400, json=said)))
    secrets = Secrets.of({"k": "sk-live-51H8xyz"})
    with pytest.raises(EmissionError) as raised:
        emit(
            SCHEMA, "x", model=OPENAI, client=openai.OpenAI(api_key=TOKEN, http_client=http),
            host=Acceptor(HostConfig(secrets=secrets), store=MemoryStore()),
        )  # fmt: skip
    assert not secrets.is_shown_by(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("name", ["openai-organization", "openai-project", "x-client-request-id", "traceparent"])
def test_what_a_vendor_repeats_and_is_no_credential_keeps_the_cause(name: str) -> None:
    """Such as the account's name, which OpenAI sends with each answer."""
    answer = httpx2.Response(400, json={"error": {"message": "no"}}, headers={name: "proj_5f2c9e71b0a84d63"})
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: answer))
    client = openai.OpenAI(api_key=TOKEN, http_client=http, default_headers={name: "proj_5f2c9e71b0a84d63"})
    error = ended(OPENAI, "sync", client, streams=False, on_event=None)
    assert isinstance(error.__cause__, openai.BadRequestError)


def test_an_error_without_a_credential_keeps_its_cause() -> None:
    """What merely stands beside a credential in the request is not struck out."""
    said = {"error": {"message": "openai: application/json api-version not supported by host vendor.test"}}
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(400, json=said)))
    error = ended(OPENAI, "sync", openai.OpenAI(api_key=TOKEN, http_client=http), streams=False, on_event=None)

    assert error.vendor_message == said["error"]["message"]
    assert isinstance(error.__cause__, openai.BadRequestError)


@pytest.mark.parametrize("odd", ["credential", "[REDACTED:credential]", "REDACTED", "\N{ZERO WIDTH SPACE}" * 6])
def test_a_value_that_cannot_be_looked_for_hides_no_other(odd: str) -> None:
    """The other credentials of the request are struck out all the same."""
    found = redact_credentials(Fault(FaultKind.BAD_REQUEST, "", report=ProviderErrorDetails(TOKEN)), (odd, TOKEN))
    assert found.report is not None
    assert TOKEN not in found.report.message


@pytest.mark.parametrize("name", [each for each in CLIENTS if "async" in each])
def test_a_rejected_batch_shows_no_credential(name: str) -> None:
    """The requests about batches go through the same functions as calls."""
    model, _, made = CLIENTS[name]
    profile = load_profile(model.partition("/")[0])
    vendor, policy = get_batch_vendor(profile), Policy()

    async def rejected() -> Fault:
        client: Any = made(httpx2.AsyncClient(transport=httpx2.MockTransport(echoing)))
        deadline = Deadline(None, time.monotonic)
        connection = BatchConnection(async_half(client), profile, profile.default_wire, policy, deadline)
        with pytest.raises(BatchRequestFailed) as raised:
            await vendor.get_status(connection, SubmittedBatch("batches/1", 1))
        return raised.value.fault

    found = asyncio.run(rejected())
    assert TOKEN not in repr(found)
    assert (found.kind, found.status) == (FaultKind.BAD_REQUEST, 400)
    assert found.report is not None
    assert found.report.message


@pytest.mark.parametrize("name", ["genai", "openai", "openai-gateway", "openai-query", "anthropic-auth-token"])
def test_what_the_client_holds_is_struck_out_of_later_answers(name: str) -> None:
    """The answers of a batch come with another request than the one that they answer."""
    model, _, made = CLIENTS[name]
    client = made(httpx2.Client(transport=httpx2.MockTransport(echoing)))
    prepared = prepare_emission(document_form(int), "How many?", Settings(model, client=client))
    found = redact_answer(Fault(FaultKind.BAD_REQUEST, "", report=ProviderErrorDetails(f"no {TOKEN}")), prepared)

    assert found.report == ProviderErrorDetails("no [REDACTED:credential]")


def test_the_rule_reads_requests_errors_and_clients() -> None:
    """What is harmless is left out, and what has no request or headers holds nothing."""
    request = httpx2.Request("POST", "http://a.test?alt=sse", headers={"user-agent": "some/1.0", "x-key": TOKEN})
    error = RuntimeError()
    error.__cause__ = httpx2.ConnectError("x", request=request)

    assert find_request_credentials(request) == find_error_credentials(error) == (TOKEN,)
    assert (
        find_error_credentials(httpx2.ConnectError("x")) == find_client_credentials(SimpleNamespace(api_key=None)) == ()
    )
    assert {f"Basic {BASIC}", BASIC, f"user:{TOKEN}", TOKEN} <= set(credential_fragments((f"Basic {BASIC}",)))
