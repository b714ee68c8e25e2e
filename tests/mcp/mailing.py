"""A server that sends mail where its principal approved exactly that mail, and what it sent.

Run as ``python -m tests.mcp.mailing STORE SENT [http]`` it is a program of its own: it keeps all in the file STORE, and
adds a line to the file SENT for each mail.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from emitter.authority import Authority
from emitter.mcp import DecisionAsker, add_resolve_tool, guarded_tool, sdk, serve_http, serve_stdio
from emitter.stores import SqliteStore
from tests.launching import launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emitter.messages import Json

ROOT = Path(__file__).parents[2]
SEND = "send_email"
"""The guarded tool."""
MOM: dict[str, Json] = {"to": "mom@example.org", "body": "Dinner on Sunday?"}
CEO: dict[str, Json] = {**MOM, "to": "ceo@example.org"}
APPROVE = {"choice": "option:0"}
"""What a person fills in who wants the call."""


class Sent(BaseModel):
    """What the tool returns."""

    number: int
    to: str


@dataclass
class Mailing:
    """The server's parts; ``sent`` holds the mails, as (to, body)."""

    authority: Authority = field(default_factory=Authority)
    asking: DecisionAsker | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    sent: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    note: Callable[[str], object] = lambda _: None

    def server(self) -> Any:
        """Return a server of the SDK's line."""
        server = sdk.Server("mail", log_level="CRITICAL")
        guarded_tool(server, self.authority, self.asking, **self.settings)(self.send_email)
        add_resolve_tool(server, self.asking or DecisionAsker(self.authority.ledger))
        return server

    async def send_email(self, to: str, body: str, copies: list[str] | None = None) -> Sent:  # noqa: ARG002  approved too
        """Send an email."""
        self.sent.append((to, body))
        self.note(to)
        return Sent(number=len(self.sent), to=to)


def guarding(function: Callable[..., Any], **settings: Any) -> Any:
    """Return a server with one guarded tool, in a memory of its own."""
    server = sdk.Server("guarding", log_level="CRITICAL")
    guarded_tool(server, Authority(), **settings)(function)
    return server


class Files:
    """A store that servers share, and what they sent."""

    def __init__(self, folder: Path) -> None:
        self.store, self._sent = folder / "store", folder / "sent"
        self.command = launch("tests.mcp.mailing", str(self.store), str(self._sent))

    def sent(self) -> list[str]:
        """Return to whom mail was sent, by whichever server."""
        return [str(json.loads(each)) for each in self._sent.read_text(encoding="utf-8").splitlines()]

    @contextmanager
    def http(self) -> Iterator[str]:
        """Serve over HTTP until the block ends; yield the address."""
        with subprocess.Popen([*self.command, "http"], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip()
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(timeout=600)


def main(store: str, sent: str, transport: str = "stdio") -> None:
    """Serve until the client closes, or until interrupted."""
    with Path(sent).open("a", encoding="utf-8", buffering=1) as file:
        mailing = Mailing(Authority(SqliteStore(store)), note=lambda to: file.write(json.dumps(to) + "\n"))
        serving = serve_stdio(mailing.server())
        if transport == "http":
            serving.close()
            serving = serve_http(mailing.server(), 0, lambda address: print(address, flush=True))  # noqa: T201
        asyncio.run(serving)


if __name__ == "__main__":
    main(*sys.argv[1:])
