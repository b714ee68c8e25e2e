"""The vendors' models on other people's clouds, through the SDKs' own clients for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter.messages import Fault, ModelResponse
from emitter.profiles import WireFormat
from tests.adapters.bodies import text
from tests.adapters.sending import Line, Vendor, request, saying, send

if TYPE_CHECKING:
    from collections.abc import Callable

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")
credentials = pytest.importorskip("google.auth.credentials")


class Token(credentials.Credentials):
    """Credentials that are there already."""

    def __init__(self) -> None:
        super().__init__()
        self.token = "t"

    def refresh(self, request: object) -> None:
        """Stay as they are."""


def _client(sdk: Any, flavour: str, world: str) -> Any:
    return getattr(sdk, flavour if world == "sync" else f"Async{flavour}")


def _azure(world: str, http: Any) -> Any:
    made = _client(openai, "AzureOpenAI", world)
    return made(api_key="k", azure_endpoint="http://az.test", api_version="2024-10-21", http_client=http)


def _vertex_claude(world: str, http: Any) -> Any:
    made = _client(anthropic, "AnthropicVertex", world)
    return made(region="us-east5", project_id="p", access_token="t", http_client=http)


def _bedrock(world: str, http: Any) -> Any:
    return _client(anthropic, "AnthropicBedrock", world)(api_key="k", aws_region="us-east-1", http_client=http)


def _signed_bedrock(world: str, http: Any) -> Any:
    pytest.importorskip("botocore", reason="AnthropicBedrock signs with botocore, which is not installed")
    made = _client(anthropic, "AnthropicBedrock", world)
    return made(aws_access_key="a", aws_secret_key="s", aws_region="us-east-1", http_client=http)


def _foundry(world: str, http: Any) -> Any:
    return _client(anthropic, "AnthropicFoundry", world)(api_key="k", resource="r", http_client=http)


def _vertex(world: str, http: Any) -> Any:
    options = {"httpx_client" if world == "sync" else "httpx_async_client": http}
    return genai.Client(vertexai=True, project="p", location="us-central1", credentials=Token(), http_options=options)


_VERTEX = "/v1/projects/p/locations/us-east5/publishers/anthropic/models/m-1:rawPredict"
_GEMINI = "/v1beta1/projects/p/locations/us-central1/publishers/google/models/m-1:generateContent"

FLAVOURS: dict[str, tuple[Callable[[str, Any], Any], str, WireFormat, str, tuple[str, str]]] = {
    "azure-chat": (
        _azure,
        "azure-openai",
        WireFormat.OPENAI_CHAT,
        "/openai/deployments/m-1/chat/completions",
        ("api-key", "k"),
    ),
    "azure-responses": (
        _azure,
        "azure-openai",
        WireFormat.OPENAI_RESPONSES,
        "/openai/responses",
        ("api-key", "k"),
    ),
    "vertex-claude": (_vertex_claude, "anthropic", WireFormat.ANTHROPIC, _VERTEX, ("authorization", "Bearer t")),
    "bedrock": (_bedrock, "anthropic", WireFormat.ANTHROPIC, "/model/m-1/invoke", ("authorization", "Bearer k")),
    "bedrock-signed": (_signed_bedrock, "anthropic", WireFormat.ANTHROPIC, "/model/m-1/invoke", ("host", "")),
    "foundry": (_foundry, "anthropic", WireFormat.ANTHROPIC, "/anthropic/v1/messages", ("api-key", "k")),
    "vertex-gemini": (_vertex, "google", WireFormat.GOOGLE, _GEMINI, ("authorization", "Bearer t")),
}


def _exchange(name: str, world: str, server: Vendor) -> Any:
    make, vendor, wire, _, _ = FLAVOURS[name]
    return send(Line(vendor, wire, world), server, request(), make(world, server.http_client(world)))


@pytest.mark.parametrize("world", ["sync", "async"])
@pytest.mark.parametrize("name", FLAVOURS)
def test_a_flavour_keeps_its_path_and_its_credentials(name: str, world: str) -> None:
    """The client rewrites path and credentials as it always does; the answer is read all the same."""
    _, _, wire, path, (header, value) = FLAVOURS[name]
    server = saying(json.dumps(text(wire, '{"n": 1}')))
    found = _exchange(name, world, server)
    assert isinstance(found, ModelResponse)
    assert found.text == '{"n": 1}'
    [sent] = server.seen
    assert sent.url.path == path
    assert value in sent.headers[header]


@pytest.mark.parametrize("world", ["sync", "async"])
@pytest.mark.parametrize("name", FLAVOURS)
def test_a_flavour_does_not_send_again_by_itself(name: str, world: str) -> None:
    """A failing server is asked once: the policy owns the retries."""
    server = saying('{"error": {"message": "x"}}', 503)
    assert isinstance(_exchange(name, world, server), Fault)
    assert len(server.seen) == 1
