"""One layer reaches the network: no other module opens a connection, calls a vendor's SDK or reads a response itself.

The layer refuses redirects, limits sizes and times, and reads bytes strictly. Whoever goes around it loses all of that,
without a test of its own to say so. So this one reads the source: what it finds outside of ``ALLOWED`` is an error, and
so is an entry of ``ALLOWED`` that nothing needs.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "emitter"

NETWORK_MODULES = (
    *("socket", "ssl", "http.client", "urllib.request", "ftplib", "smtplib", "socketserver", "xmlrpc", "telnetlib"),
    *("httpx", "httpx2", "httpcore", "httpcore2", "h11", "h2", "requests", "aiohttp", "urllib3", "websockets"),
    *("openai", "anthropic", "google", "boto3", "botocore", "uvicorn"),
)
"""Modules that open connections. ``google.genai`` is one of ``google``."""
RESOURCES = re.compile(
    r"files|batches|responses|completions|messages|models|interactions|embeddings|caches|chat|beta|aio|uploads"
)
"""The resources of the vendors' SDKs, by whose methods they send: ``client.files.create``."""
RESOURCE_METHODS = frozenset(
    {"create", "retrieve", "list", "get", "delete", "cancel", "content", "download", "upload", "parse", "stream"}
    | {"results", "generate_content", "generate_content_stream", "converse", "invoke_model", "wait_for_processing"}
)
CLIENT = re.compile(r"(.*_)?(client|http|session|sdk|api|connection|pool|transport)", re.IGNORECASE)
"""The names of what may be a client: ``self._client``, ``connection.client``."""
CLIENT_METHODS = frozenset(
    {"get", "post", "put", "patch", "delete", "head", "options", "request", "send", "stream", "get_api_list"}
    | {"handle_request", "handle_async_request", "build_request", "urlopen", "generate_content", "converse"}
    | {"converse_stream", "async_request", "request_streamed", "async_request_streamed"}
)
ALWAYS_SENDING = frozenset(
    {"post", "urlopen", "open_connection", "create_connection", "start_server", "open_unix_connection", "urlretrieve"}
    | {"handle_request", "handle_async_request", "generate_content", "getaddrinfo", "sock_connect", "start_tls"}
)
"""Methods that send or connect, whatever they are called on."""
SDK_ARGUMENTS = frozenset({"cast_to", "stream_cls", "http_options", "extra_query", "follow_redirects"})
"""Arguments that only an SDK's own methods or an HTTP client's take."""
LENIENT_READERS = frozenset(
    {"iter_lines", "aiter_lines", "iter_text", "aiter_text", "iter_raw", "aiter_raw", "raw_stream"}
)
RESPONSE = re.compile(r"(.*_)?(response|reply|raw)", re.IGNORECASE)
BODIES = frozenset({"content", "text", "body", "data"})


class Finder(ast.NodeVisitor):
    """Finds what uses the network in one module."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int]] = []

    def visit_If(self, node: ast.If) -> None:
        """Leave out what only type checkers import."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        """Read ``import a, b``."""
        for each in node.names:
            self._add_module(each.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Read ``from a import b``, where ``b`` may be a module."""
        for each in node.names if node.module and not node.level else ():
            self._add_module(f"{node.module}.{each.name}", node)

    def visit_Call(self, node: ast.Call) -> None:
        """Read a call."""
        self.generic_visit(node)
        name, owner = _names(node.func)
        if name in {"import_module", "__import__"} and node.args:
            self._add_module(_text(node.args[0]), node)
        self.found += [(f"{each.arg}=", node.lineno) for each in node.keywords if each.arg in SDK_ARGUMENTS]
        if (
            self._sends(node, name, owner)
            or name in LENIENT_READERS
            or (name == "json" and RESPONSE.fullmatch(owner) and not node.args)
        ):
            self.found.append((f"{name}()", node.lineno))
        elif name in {"loads", "load"} and node.args and _reads_response(node.args[0]):
            self.found.append(("loads()", node.lineno))

    def _sends(self, node: ast.Call, name: str, owner: str) -> bool:
        if name in ALWAYS_SENDING and owner:
            return True
        first = node.args[0] if node.args else None
        if name == "get" and isinstance(first, ast.Constant) and "/" not in str(first.value) and not node.keywords:
            return False  # a mapping
        if RESOURCES.fullmatch(owner) and name in RESOURCE_METHODS:
            return isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name)
        return name in CLIENT_METHODS and CLIENT.fullmatch(owner) is not None

    def _add_module(self, module: str, node: ast.AST) -> None:
        found = next((each for each in (*NETWORK_MODULES, "?") if f"{module}.".startswith(f"{each}.")), None)
        if found is not None:
            self.found.append((f"import {found}", getattr(node, "lineno", 0)))


def _names(function: ast.expr) -> tuple[str, str]:
    """Return the name of a function, and that of its owner: ``get`` and ``client`` of ``self.client.get``."""
    if isinstance(function, ast.Name):
        return function.id, ""
    if not isinstance(function, ast.Attribute):
        return "", ""
    owner = function.value
    while isinstance(owner, ast.Await | ast.Call):  # cast("Any", client).get
        owner = owner.value if isinstance(owner, ast.Await) else (owner.args or [owner.func])[-1]
    return function.attr, owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "?")


def _text(node: ast.expr) -> str:
    """Return the name of a module, or the beginning of a formatted one; a question mark if it is a variable."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    if isinstance(node, ast.FormattedValue):
        return "" if ast.unparse(node.value) == "__name__" else "?"
    return str(node.value) if isinstance(node, ast.Constant) else "?"


def _reads_response(node: ast.expr) -> bool:
    """Return whether an expression is a part of a response: ``response.content``."""
    parts = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr in BODIES)
    return any(RESPONSE.fullmatch(_names(each)[1]) for each in parts)


def uses(source: str) -> list[tuple[str, int]]:
    """Return what a module uses of the network, with its lines."""
    finder = Finder()
    finder.visit(ast.parse(source))
    return finder.found


ALLOWED: dict[str, tuple[str, frozenset[str]]] = {
    module: (reason, frozenset(each.strip() for each in used.split(",")))
    for module, reason, used in (
        (
            "adapters/transport.py",
            "the layer: every request to a vendor's API is sent here",
            "import httpx2, import google, cast_to=, send(), generate_content()",
        ),
        (
            "adapters/bedrock_client.py",
            "the layer for boto3, which sends through urllib3 or a client of httpx2",
            "import botocore, import urllib3, build_request(), send(), follow_redirects=",
        ),
        ("adapters/watchdog.py", "the layer: it shuts down the socket of a request that is late", "import socket"),
        (
            "adapters/clients.py",
            "creates the SDKs' clients, and sends nothing",
            "import ?, http_options=",
        ),
        (
            "adapters/environment.py",
            "reads what the environment says of proxies and certificates, and connects to nothing",
            "import ssl, import urllib.request",
        ),
        ("adapters/bedrock_converse.py", "calls BedrockView.post, which is of the layer", "post()"),
        (
            "adapters/google_generate_content.py",
            "calls GoogleClientView.post, which is of the layer, with a config of the SDK's type",
            "import google, post()",
        ),
        (
            "bulk/connections.py",
            "a client whose requests come from the layer; it chooses the connection pool",
            "import httpx2, send()",
        ),
        ("bulk/journal.py", "reads the lines of a journal's file", "iter_lines()"),
        (
            "strict_http.py",
            "the layer for media and webhooks, whose addresses are no vendor's",
            "import socket, import httpx2, import httpcore2, getaddrinfo(), handle_request(), start_tls()",
        ),
        ("integrations/webhooks.py", "builds a request, which strict_http.py sends", "import httpx2"),
        ("media/fetching.py", "builds a request, which strict_http.py sends", "import httpx2"),
        ("cli/importing.py", "imports what the caller names", "import ?"),
        ("mcp/sdk.py", "imports a module of the MCP SDK, which serves", "import ?"),
        ("terminal/picker.py", "a session of the keyboard", "send()"),
        ("mcp/server.py", "serves, and requests nothing", "import uvicorn"),
        ("web/server.py", "serves, and requests nothing", "import uvicorn, import socket"),
        ("testing/uvicorn_server.py", "serves the simulated vendor", "import uvicorn, import socket"),
        ("testing/simulation.py", "a transport of httpx2 that leads to the simulated vendor", "import httpx2"),
        ("testing/handler.py", "reads what was sent to the simulated vendor", "loads()"),
        (
            "testing/cassettes.py",
            "a transport of httpx2 that records responses below the layer",
            "import httpx2, send(), handle_request(), handle_async_request()",
        ),
        ("testing/plugin_support.py", "refuses connections in tests", "import socket"),
    )
}
"""What a module may use, and why."""


def found_in_source() -> dict[str, dict[str, int]]:
    """Return the uses of each module, and the first line of each."""
    found = {path.relative_to(SOURCE).as_posix(): uses(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    return {module: dict(reversed(each)) for module, each in found.items() if each}


def test_only_the_layer_reaches_the_network() -> None:
    """Whoever needs a response asks the layer for it: ``send_request`` for vendors, ``strict_http`` for others."""
    found = found_in_source()
    unexpected = {
        f"{module}:{line}: {use}"
        for module, each in found.items()
        for use, line in each.items()
        if use not in ALLOWED.get(module, ("", frozenset()))[1]
    }
    assert unexpected == set()
    unused = {f"{module}: {use}" for module, (_, each) in ALLOWED.items() for use in each - set(found.get(module, ()))}
    assert unused == set()


@pytest.mark.parametrize(
    "line",
    [
        "import socket",
        "import http.client",
        "from http.client import HTTPSConnection",
        "from http import client",
        "from urllib import request",
        "from urllib.request import urlopen",
        "import httpx2 as http",
        "from openai import OpenAI",
        "from google import genai",
        "def f():\n    import requests",
        "importlib.import_module('httpx')",
        "import_module(f'openai.{name}')",
        "importlib.import_module(name)",
        "__import__('anthropic')",
        "await connection.client.files.create(file=file, purpose='batch')",
        "await connection.client.batches.get(name=name)",
        "async for job in await client.batches.list(config=config): pass",
        "client.messages.batches.results(batch_id)",
        "await self._client.get(path, cast_to=kind)",
        "await connection.client.get(path, options=options)",
        "client.get('/batches')",
        "connection.client.post(path, body=body)",
        "cast('Any', client).post(path)",
        "cast('Any', self._client).get(path)",
        "send(path, cast_to=Response)",
        "client.aio.models.generate_content(model=model)",
        "client.chat.completions.create(**body)",
        "client.beta.messages.stream(**body)",
        "client.responses.parse(text_format=Form)",
        "client.responses.retrieve(response_id)",
        "client.interactions.create(**body)",
        "self.http.request('GET', url)",
        "session.get(url, timeout=3)",
        "requests.post(url)",
        "transport.handle_request(request)",
        "await asyncio.open_connection(host, port)",
        "loop.getaddrinfo(host, port)",
        "urllib.request.urlopen(url)",
        "async for line in response.aiter_lines(): pass",
        "response.iter_text()",
        "body = response.json()",
        "json.loads(response.content)",
        "json.loads(response.text)",
        "json.loads(cast('Any', response).content)",
    ],
)
def test_a_way_around_the_layer_is_found(line: str) -> None:
    """Each of these was, or could be, one."""
    assert uses(line)


@pytest.mark.parametrize(
    "line",
    [
        "if TYPE_CHECKING:\n    import httpx2",
        "import json, http.cookies, urllib.parse",
        "from emitter.adapters.transport import send_request",
        "importlib.import_module('emitter.testing')",
        "importlib.import_module(f'.{name}', package)",
        "clients.get(key)",
        "client.get('type')",
        "messages.get(name)",
        "body.get('content')",
        "json.loads(line)",
        "json.loads(row.content)",
        "self._results.put(item)",
        "generator.send(answer)",
        "send_request(client, request, seconds)",
    ],
)
def test_what_sends_nothing_is_not_found(line: str) -> None:
    """Mappings, queues, generators and the functions of the layer."""
    assert uses(line) == []
