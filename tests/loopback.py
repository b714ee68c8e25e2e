"""A real HTTP server on loopback that answers as the vendors do, from a script."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.scenarios.vendors import VENDORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.scenarios.vendors import Response, Vendor

_WIRES = {
    "/chat/completions": "openai-chat",
    "/responses": "openai-responses",
    "/messages": "anthropic",
    ":generateContent": "google",
    "/converse": "bedrock-converse",
    "/interactions": "gemini-interactions",
}


@dataclass
class ReceivedRequest:
    """One request that the server received."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Loopback:
    """The running server: its address and the requests that it received."""

    url: str
    requests: list[ReceivedRequest] = field(default_factory=list[ReceivedRequest])


class _Quiet(BaseHTTPRequestHandler):
    """A handler that writes no log."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class names it so
        """Say nothing."""


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server on a free port until the block ends; yield its address."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


@contextmanager
def serving(answer: Callable[[Vendor], Response]) -> Iterator[Loopback]:
    """Serve ``answer`` on every wire until the block ends."""

    class Handler(_Quiet):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.requests.append(ReceivedRequest(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            wire = next(wire for mark, wire in _WIRES.items() if mark in self.path)
            response = answer(VENDORS[wire])
            data = json.dumps(response.body).encode()
            self.send_response(response.status)
            for name, value in (("content-type", "application/json"), *response.headers):
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with _running(Handler) as url:
        server = Loopback(url)
        yield server


@contextmanager
def trickling() -> Iterator[str]:
    """Serve an answer that begins and never ends, a blank at a time, until the block ends."""
    ended = threading.Event()

    class Handler(_Quiet):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "99999")
            self.end_headers()
            with suppress(OSError):
                while not ended.wait(0.02):
                    self.wfile.write(b" ")

    with _running(Handler) as url:
        try:
            yield f"{url}/v1"
        finally:
            ended.set()
