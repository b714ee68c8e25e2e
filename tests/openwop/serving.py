"""The host over HTTP: its seams, its capability document, and the schemas of its kinds."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from emitter.host import HostConfig, HttpError
from emitter.host.asgi import create_discovery_app
from emitter.host.capabilities import CapabilitySettings, build_capabilities
from emitter.host.registry import Posture
from emitter.policy import Policy
from emitter.profiles.tables import Capability
from emitter.testing.uvicorn_server import SimulatorServer
from tests.openwop.accepting import EVERYTHING
from tests.openwop.host import PATHS, Host
from tests.openwop.running import fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

BASE_URL = "https://host.example"
POLICY = Policy(nl_to_format=True)


def advertised(canary: str | None = None) -> dict[str, Any]:
    """Return what the host says of itself; with a canary, that it resolves secrets, and where to look for it."""
    configured = CapabilitySettings(
        secret_scopes=("run",) if canary is not None else (),
        config=HostConfig(registry=EVERYTHING),
        has_contracts=True,
        posture=Posture.WARN,
        policy=POLICY,
        providers=("openai",),
        model_capabilities=(Capability.STRUCTURED_OUTPUT.value,),
    )
    seen = {} if canary is None else {"observability": {"testSeams": {"otelScrape": True, "debugBundleExport": True}}}
    return {**build_capabilities(configured), **seen, "fixtures": sorted(fixtures())}


def application(host: Host) -> Starlette:
    """Return the host as an ASGI application."""

    async def answer(request: Request) -> JSONResponse:
        raw = await request.body()
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            return JSONResponse(HttpError("invalid_argument", "The body is no JSON.").to_json(), 400)
        path, query = request.scope["raw_path"].decode(), dict(request.query_params)
        status, reported = await to_thread.run_sync(host.call, request.method, path, query, body)
        return JSONResponse(reported, status)

    routes: list[Any] = [Route(_template(each), answer, methods=["GET", "POST"]) for each in PATHS]
    discovery = create_discovery_app(EVERYTHING, advertised(host.canary), base_url=BASE_URL)
    return Starlette(routes=[*routes, Mount("/", discovery)])


def _template(path: str) -> str:
    return path.replace("<", "{").replace(">", "}")


@dataclass(frozen=True)
class Served:
    """A running host; ``url`` is where."""

    url: str
    host: Host


@contextmanager
def served(host: Host | None = None, port: int = 0) -> Iterator[Served]:
    """Serve a host on loopback until the block ends."""
    found = host or Host()
    server = SimulatorServer(application(found), "127.0.0.1", port)  # type: ignore[arg-type]
    try:
        yield Served(f"http://127.0.0.1:{server.port}", found)
    finally:
        server.stop()
