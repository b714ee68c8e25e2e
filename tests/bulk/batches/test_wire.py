"""What is sent about a batch is what the vendor's own SDK sends."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from emitter.adapters import ADAPTERS
from emitter.adapters.transport import async_half
from emitter.bulk.batches import get_batch_vendor
from emitter.bulk.batches.exchanges import BatchRequestFailed
from emitter.bulk.batches.vendor_api import BatchConnection, SubmittedBatch, UnconfirmedBatch
from emitter.client.request import prepare_emission
from emitter.client.settings import Settings
from emitter.deadline import Deadline
from emitter.errors import InputError
from emitter.forms.document import document_form
from emitter.media import Image
from emitter.policy import Policy
from emitter.profiles import WireFormat
from tests.bulk.asking import Numbered
from tests.bulk.batches.asking import MODELS
from tests.bulk.batches.tampering import variants

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
_IGNORED = frozenset(
    {"x-stainless-timeout", "x-stainless-read-timeout", "x-stainless-raw-response", "x-server-timeout"}
)
"""Headers that say how long the client waits, and how it reads the response."""


def made(model: str, http: httpx2.AsyncClient) -> Any:
    """Return the vendor's own client."""
    match model.partition("/")[0]:
        case "openai":
            return openai.AsyncOpenAI(api_key="a-key", http_client=http)
        case "anthropic":
            return anthropic.AsyncAnthropic(api_key="a-key", http_client=http)
        case _:
            return genai.Client(api_key="a-key", vertexai=False, http_options={"httpx_async_client": http})


def bodies_of(model: str) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Return the profile, the wire and the bodies of two requests, one of them with an image."""
    name, _, chat = model.partition(" ")
    settings = Settings(name, wire="openai-chat" if chat else None)
    asked: list[Any] = ["How many?", [{"role": "user", "content": ["What is it?", Image(PNG)]}]]
    plans = [prepare_emission(document_form(Numbered), each, settings) for each in asked]
    profile, wire = plans[0].profile, plans[0].wire
    return profile, wire, [ADAPTERS[wire].encode(each.request, profile.wires[wire]) for each in plans]


ANSWER = {
    "id": "b1",
    "name": "batches/b1",
    "status": "completed",
    "processing_status": "ended",
    "output_file_id": "f1",
    "results_url": "https://api.anthropic.com/v1/messages/batches/b1/results",
    "metadata": {"state": "BATCH_STATE_SUCCEEDED"},
    "data": [],
}


class Log(httpx2.AsyncBaseTransport):
    """Keeps each request, and answers it."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, Any, dict[str, str]]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request."""
        body = await request.aread()
        boundary = request.headers.get("content-type", "").partition("boundary=")[2]
        content: Any = json.loads(body) if body.startswith(b"{") else body.replace(boundary.encode() or b"\0", b"-")
        ignored = {*_IGNORED, "content-length"} if isinstance(content, dict) else _IGNORED
        headers = {name: value for name, value in request.headers.items() if name not in ignored}
        headers = {name: value.replace(boundary or "\0", "-") for name, value in headers.items()}
        self.sent.append((request.method, str(request.url), content, headers))
        return httpx2.Response(200, json=ANSWER)


async def sdk_openai(client: Any, wire: Any, bodies: list[dict[str, Any]]) -> None:
    """Do the same with the vendor's methods."""
    url = "/v1/chat/completions" if wire is WireFormat.OPENAI_CHAT else "/v1/responses"
    lines = [{"custom_id": f"t-{n}", "method": "POST", "url": url, "body": body} for n, body in enumerate(bodies)]
    content = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    file = await client.files.create(file=("emitter-t.jsonl", content, "application/jsonl"), purpose="batch")
    await client.batches.create(input_file_id=file.id, endpoint=url, completion_window="24h", metadata={"emitter": "t"})
    await client.batches.retrieve("b1")
    await client.files.content("f1")
    await client.batches.list(limit=100)
    await client.batches.cancel("b1")


async def sdk_anthropic(client: Any, _: Any, bodies: list[dict[str, Any]]) -> None:
    """Do the same with the vendor's methods."""
    batches = client.messages.batches
    await batches.create(requests=[{"custom_id": f"t-{n}", "params": body} for n, body in enumerate(bodies)])
    async for _line in await batches.results("b1"):
        pass
    await batches.list(limit=100)
    await batches.cancel("b1")


async def sdk_google(client: Any, _: Any, bodies: list[dict[str, Any]]) -> None:
    """Do the same with the vendor's methods."""
    batches = client.aio.batches
    inline = [
        {"contents": each["contents"], "config": each["config"], "metadata": {"key": f"t-{n}"}}
        for n, each in enumerate(bodies)
    ]
    await batches.create(model=bodies[0]["model"], src=inline, config={"display_name": "t"})
    await batches.get(name="batches/b1")
    await batches.get(name="batches/b1")
    await batches.list(config={"page_size": 100})
    await batches.cancel(name="batches/b1")


SDK_CALLS = {"openai": sdk_openai, "anthropic": sdk_anthropic, "google": sdk_google}


async def ours(model: str, client: Any) -> None:
    """Submit a batch, read its state and results, look for it and cancel it."""
    profile, wire, bodies = bodies_of(model)
    vendor = get_batch_vendor(profile)
    connection = BatchConnection(async_half(client), profile, wire, Policy(), Deadline(None, time.monotonic))
    requests = [vendor.pack_request(f"t-{n}", body, wire) for n, body in enumerate(bodies)]
    batch = SubmittedBatch(await vendor.submit(connection, "t", requests), 2)
    status = await vendor.get_status(connection, batch)
    async with aclosing(vendor.iter_results(connection, batch, status)) as results:
        async for _ in results:
            pass
    await vendor.find_candidates(connection, UnconfirmedBatch("t", 2, dt.datetime.now(dt.UTC)))
    await vendor.cancel(connection, batch.batch_id)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_the_requests_are_those_of_the_sdk(model: str) -> None:
    """Paths, parameters, bodies and headers."""

    async def main() -> tuple[Log, Log]:
        logs = Log(), Log()
        async with httpx2.AsyncClient(transport=logs[0]) as http:
            await ours(model, made(model, http))
        async with httpx2.AsyncClient(transport=logs[1]) as http:
            _, wire, bodies = bodies_of(model)
            await SDK_CALLS[model.partition("/")[0]](made(model, http), wire, bodies)
        return logs

    sent, expected = asyncio.run(main())
    assert len(sent.sent) == len(expected.sent)
    for one, other in zip(sent.sent, expected.sent, strict=True):
        assert one == other


def test_a_client_of_vertex_has_no_batches() -> None:
    """The error says which client has."""

    async def main() -> None:
        credentials = pytest.importorskip("google.auth.credentials").AnonymousCredentials()
        async with httpx2.AsyncClient(transport=Log()) as http:
            options = {"httpx_async_client": http}
            await ours(
                MODELS["google"],
                genai.Client(vertexai=True, project="p", location="l", credentials=credentials, http_options=options),
            )

    with pytest.raises(InputError, match="Gemini Developer API"):
        asyncio.run(main())


BATCH = {"id": "b1", "created_at": 1_999_999_999, "request_counts": {"processing": 2}, "metadata": {"emitter": "t"}}
ANSWERS: dict[str, dict[str, Any]] = {
    "openai": {
        "id": "b1",
        "status": "failed",
        "output_file_id": "f1",
        "request_counts": {"completed": 1, "failed": 1},
        "errors": {"data": [{"line": 1, "code": "invalid", "message": "Wrong.", "param": "p"}]},
        "data": [BATCH],
        "has_more": False,
    },
    "anthropic": {
        "id": "b1",
        "processing_status": "ended",
        "request_counts": {"succeeded": 1, "errored": 1},
        "data": [{**BATCH, "processing_status": "ended", "created_at": "2033-05-18T03:33:19Z"}],
        "has_more": False,
    },
    "google": {
        "name": "batches/b1",
        "metadata": {
            "state": "BATCH_STATE_SUCCEEDED",
            "output": {"inlinedResponses": {"inlinedResponses": [{"metadata": {"key": "t-0"}, "response": {}}]}},
        },
        "operations": [{"name": "batches/b1", "metadata": {"displayName": "t", "createTime": "2033-05-18T03:33:19Z"}}],
        "nextPageToken": "",
    },
}


@pytest.mark.parametrize("model", [MODELS["chat"], MODELS["anthropic"], MODELS["google"]])
def test_no_part_of_a_response_raises(model: str) -> None:
    """Whatever stands in its place, the response is read or is a fault."""
    answer, raised = ANSWERS[model.partition("/")[0]], list[str]()

    async def main() -> None:
        current: list[Any] = []
        profile, wire, bodies = bodies_of(model)
        vendor, far = get_batch_vendor(profile), dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
        requests = [vendor.pack_request(f"t-{n}", body, wire) for n, body in enumerate(bodies)]
        transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=current[-1]))
        async with httpx2.AsyncClient(transport=transport) as http:
            client = async_half(made(model, http))
            connection = BatchConnection(client, profile, wire, Policy(), Deadline(None, time.monotonic))
            steps: list[Callable[[], Awaitable[object]]] = [
                lambda: vendor.submit(connection, "t", requests),
                lambda: vendor.get_status(connection, SubmittedBatch("batches/b1", 2)),
                lambda: vendor.find_candidates(connection, UnconfirmedBatch("t", 2, far)),
            ]
            for each in (answer, *variants(answer)):
                current.append(each)
                for step in steps:
                    try:
                        await step()
                    except BatchRequestFailed as failed:
                        raised.append(failed.fault.message)

    asyncio.run(main())
    assert raised
    assert all("cannot be read" in each or "does not end" in each for each in raised), set(raised)
