"""The command ``mcp``. Needs the extras ``mcp`` and ``web``."""

from __future__ import annotations

import asyncio
import importlib
import signal
import sys
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from emitter.cli import stores
from emitter.cli.arguments import add_connection_arguments, build_policy, parse_number, read_profile, to_integer
from emitter.client.binding_moments import aemit_binding_moment
from emitter.decisions.ledger import Ledger
from emitter.errors import InputError
from emitter.profiles import find_profile
from emitter.stores import SqliteStore

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.decisions.ledger_words import KeepWords
    from emitter.mcp.asker import DecisionAsker
    from emitter.mcp.server import EmitFunction

_LOG_LEVEL = "CRITICAL"
"""The SDK logs a traceback when a client disconnects. Errors of calls are in their results and need no log."""


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument(
        "--stdio", action="store_true", help="serve one client over standard input and output (default)"
    )
    transport.add_argument("--http", action="store_true", help="serve clients on this machine, at 127.0.0.1")
    parser.add_argument("--port", type=to_integer, metavar="PORT", help="the port for --http (default: a free port)")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--model", metavar="MODEL", help="vendor/model, such as openai/gpt-6-sol")
    source.add_argument(
        "--demo",
        nargs="?",
        const="bound",
        metavar="SCENARIO",
        help="answer every request with a recorded scenario, without a key or a network: see `emitter demo --help`",
    )
    add_connection_arguments(parser)
    parser.add_argument(
        "--store",
        metavar="FILE",
        help="keep decisions in this SQLite file, which several servers can share (default: in memory)",
    )
    stores.add_words_arguments(parser)
    parser.add_argument(
        "--expires-in",
        type=_parse_seconds,
        metavar="SECONDS",
        help="the time in which a decision can be answered (default: no limit)",
    )
    parser.add_argument("--agent", default="mcp", metavar="NAME", help="the agent's name in the ledger (default: mcp)")
    parser.add_argument(
        "--surface",
        choices=("client", "own"),
        default="client",
        help="where the person answers: in the client, or on a local page of their own (default: client)",
    )


def run_mcp(args: argparse.Namespace) -> int:
    """Serve decisions over the Model Context Protocol.

    One tool asks a model for a decision, a second takes the answer, and a third answers requests for detail. The server
    serves one client over standard input and output, or, with --http, clients on this machine. The client asks the
    person if it can. With --surface own, the person answers on a page of their own, and nobody can answer for them.
    """
    if args.port is not None and not args.http:
        raise InputError("--port needs --http.", hint="Add --http, or remove --port.")
    if args.store == "":
        raise InputError("--store is empty.", hint="Pass a file, or remove --store.")
    words, emit = stores.read_words_options(args), _make_emit(args)
    with _interruptible() if not args.http else suppress(KeyboardInterrupt):
        asyncio.run(_serve(args, emit, words))
    return 0


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C end the process at once. The SDK would wait for the client's next message."""
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


async def _serve(args: argparse.Namespace, emit_decision: EmitFunction, keep_words: KeepWords | None) -> None:
    from emitter.mcp.asker import DecisionAsker, Surface  # noqa: PLC0415  --help works without the extra
    from emitter.mcp.server import create_server, serve_http, serve_stdio  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        store = None if args.store is None else stack.enter_context(SqliteStore(args.store))
        ledger = Ledger() if store is None else Ledger(store, words=keep_words)
        asker = DecisionAsker(ledger, agent=args.agent, expires_in=args.expires_in)
        if args.surface == Surface.OWN.value:
            asker = await _with_page(stack, asker)
        server = create_server(emit_decision, asker, log_level=_LOG_LEVEL)
        if args.http:
            await serve_http(server, args.port or 0, _report_address)
        else:
            await serve_stdio(server)


async def _with_page(stack: AsyncExitStack, asker: DecisionAsker) -> DecisionAsker:
    """Serve the principal's page in this process until the stack is unwound."""
    from emitter.mcp.asker import Surface  # noqa: PLC0415  --help works without the extra
    from emitter.web import open_site  # noqa: PLC0415

    site = await stack.enter_async_context(open_site(asker.ledger))
    urls: dict[str, str] = {}

    def url_for(pending: PendingDecision) -> str:
        return urls.setdefault(pending.decision_id, site.url(site.link(pending.decision_id).path))

    def notify(pending: PendingDecision) -> None:
        if pending.decision_id not in urls:
            sys.stderr.write(f"emitter: a decision waits for its answer at {url_for(pending)}\n")

    return replace(asker, surface=Surface.OWN, url_for=url_for, notify=notify)


def _report_address(address: str) -> None:
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stderr.write(f"emitter: serving the Model Context Protocol at {address}; Ctrl-C ends it\n")


def _make_emit(args: argparse.Namespace) -> EmitFunction:
    if args.demo is not None:
        demo = importlib.import_module("emitter.cli.demo")  # needs a vendor's SDK
        replay: EmitFunction = demo.replay_scenario(args.demo, args.wire)
        return replay
    profile = read_profile(args.profile)
    find_profile(args.model, profile)
    policy = build_policy(args)
    return partial(
        aemit_binding_moment,
        model=args.model,
        wire=args.wire,
        base_url=args.base_url,
        profile=profile,
        policy=policy,
    )


def _parse_seconds(text: str) -> float:
    return parse_number(text, lambda seconds: seconds > 0, "a number of seconds above 0")
