"""Serve decisions over the Model Context Protocol: a tool that asks a model for one, and a tool that takes the answer.

Serves one client over standard input and output, or with --http clients of this machine. The person is asked by the
client where it can do that; with --surface own they answer on a page of their own, and nobody else can for them.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import signal
import sys
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from emitter.cli import waiting
from emitter.errors import InputError
from emitter.ledger import Ledger
from emitter.mcp.asking import Asking, Surface
from emitter.mcp.serve import serve_http, serve_stdio
from emitter.mcp.server import server
from emitter.moment import aemit_binding_moment
from emitter.policy import Policy
from emitter.profile import of_model
from emitter.store import SqliteStore
from emitter.web import hosted

if TYPE_CHECKING:
    from collections.abc import Generator

    from emitter.ledger import KeepWords, Pending
    from emitter.mcp.server import Emit

_LOG_LEVEL = "CRITICAL"
"""The SDK's: it logs tracebacks when a client goes; what goes wrong in a call is in the call's result."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = "The vendor's key is taken from its usual environment variable: see `emitter providers`."
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument(
        "--stdio", action="store_true", help="serve one client over standard input and output (usual)"
    )
    transport.add_argument("--http", action="store_true", help="serve clients of this machine, at 127.0.0.1")
    parser.add_argument("--port", type=int, metavar="N", help="where to listen with --http (default: a free port)")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--model", metavar="M", help="vendor/model, such as openai/gpt-6-sol")
    source.add_argument(
        "--demo",
        nargs="?",
        const="bound",
        metavar="SCENARIO",
        help="replay a scenario whatever is asked, with no key and no network: see `emitter demo --help`",
    )
    parser.add_argument("--wire", metavar="W", help="one of the vendor's wires, where it has several")
    parser.add_argument("--base-url", metavar="URL", help="where the vendor's server is")
    parser.add_argument("--deadline", type=float, metavar="S", help="seconds for everything that one decision takes")
    parser.add_argument("--store", metavar="FILE", help="keep decisions in this SQLite file, which servers may share")
    waiting.add_words(parser)
    parser.add_argument("--expires-in", type=_seconds, metavar="S", help="seconds in which a decision can be answered")
    parser.add_argument("--agent", default="mcp", metavar="NAME", help="who asks, in the ledger (default: mcp)")
    parser.add_argument(
        "--surface",
        choices=[each.value for each in Surface],
        default=Surface.CLIENT.value,
        help="where the person answers: in the client, or on a local page of their own (default: client)",
    )


def run(asked: argparse.Namespace) -> int:
    """Serve until the client leaves, or until interrupted."""
    if asked.port is not None and not asked.http:
        raise InputError("--port is for --http.", hint="Add --http, or leave --port out.")
    if asked.store == "":
        raise InputError("--store is empty.", hint="Name a file, or leave it out.")
    words, emit = waiting.words(asked), _emit(asked)
    with _interruptible() if not asked.http else suppress(KeyboardInterrupt):
        asyncio.run(_serve(asked, emit, words))
    return 0


@contextmanager
def _interruptible() -> Generator[None]:
    """Let an interrupt end the process at once: the SDK would wait for the client to say something more."""
    kept = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)


async def _serve(asked: argparse.Namespace, emit: Emit, words: KeepWords | None) -> None:
    async with AsyncExitStack() as stack:
        store = None if asked.store is None else stack.enter_context(SqliteStore(asked.store))
        ledger = Ledger() if store is None else Ledger(store, words=words)
        asking = Asking(ledger, agent=asked.agent, expires_in=asked.expires_in)
        if asked.surface == Surface.OWN.value:
            asking = await _with_page(stack, asking)
        made = server(emit, asking, log_level=_LOG_LEVEL)
        if asked.http:
            await serve_http(made, asked.port or 0, _say)
        else:
            await serve_stdio(made)


async def _with_page(stack: AsyncExitStack, asking: Asking) -> Asking:
    """Serve the page that decisions are answered on, in the same process, until the stack is unwound."""
    site = await stack.enter_async_context(hosted(asking.ledger))
    urls: dict[str, str] = {}

    def url_for(pending: Pending) -> str:
        return urls.setdefault(pending.decision_id, site.url(site.link(pending.decision_id).path))

    def tell(pending: Pending) -> None:
        if pending.decision_id not in urls:
            sys.stderr.write(f"emitter: a decision waits for its principal at {url_for(pending)}\n")

    return replace(asking, surface=Surface.OWN, url_for=url_for, tell=tell)


def _say(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stderr.write(f"emitter: serving the Model Context Protocol at {address}; Ctrl-C ends it\n")


def _emit(asked: argparse.Namespace) -> Emit:
    if asked.demo is not None:
        demo = importlib.import_module("emitter.mcp.demo")  # which needs a vendor's SDK, as that of the model does
        played: Emit = demo.playing(asked.demo, asked.wire)
        return played
    of_model(asked.model)
    policy = Policy(deadline=asked.deadline)
    return partial(aemit_binding_moment, model=asked.model, wire=asked.wire, base_url=asked.base_url, policy=policy)


def _seconds(given: str) -> float:
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{given!r} is no number of seconds above 0")
    return seconds
