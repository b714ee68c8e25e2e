"""Serve decisions on loopback: one until it is answered, or many for as long as a block runs."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import webbrowser
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final

from emitter.decisions import Unresolved, UnresolvedReason
from emitter.decisions.ledger_entries import ResolvedDecision
from emitter.errors import AlreadyResolved, InputError, MissingExtra, StoreFailed
from emitter.threads import run_blocking
from emitter.web.answering import CHANNEL
from emitter.web.links import Links, create_app

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from starlette.types import ASGIApp

    from emitter.decisions.ledger import Ledger
    from emitter.decisions.ledger_entries import PendingDecision
    from emitter.web.answering import DetailSetting
    from emitter.web.links import Link

_MAX_PORT: Final = 65535
_DEFAULT_HTTP_PORT: Final = 80
"""The port that browsers leave out of addresses, and so out of ``Host`` and ``Origin``."""
_LINGER_SECONDS: Final = 0.3
"""Seconds for which a server outlives its block, so that a form submitted twice still gets a page."""


@dataclass(frozen=True, slots=True)
class Address:
    """The loopback address to listen on. Port 0 means any free port.

    ``host`` is normalized to the form that browsers use.

    Raises:
        InputError: The host is not a loopback address, or the port is invalid.
    """

    host: str = "127.0.0.1"
    port: int = 0

    def __post_init__(self) -> None:
        if type(self.port) is not int or not 0 <= self.port <= _MAX_PORT:
            raise InputError(
                f"port is {self.port!r}.", hint=f"Pass a number from 0 to {_MAX_PORT}; 0 means any free port."
            )
        with suppress(ValueError):
            ip = ip_address(self.host)
            if ip.is_loopback and "%" not in ip.compressed:
                object.__setattr__(self, "host", ip.compressed)
                return
        raise InputError(f"host is {self.host!r}, which is not a loopback address.", hint="Use 127.0.0.1 or ::1.")

    def authority(self, port: int) -> str:
        """Return the host and ``port`` as browsers write them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if port == _DEFAULT_HTTP_PORT else f"{host}:{port}"


LOOPBACK: Final = Address()
"""Any free port of 127.0.0.1."""


@dataclass(frozen=True, slots=True)
class Site:
    """A running server at ``authority``, its host and port."""

    authority: str
    links: Links = field(default_factory=Links)
    _answers: dict[str, asyncio.Future[ResolvedDecision]] = field(
        default_factory=dict[str, "asyncio.Future[ResolvedDecision]"], init=False
    )

    def link(self, decision_id: str) -> Link:
        """Return a new link to a decision of the ledger. Show ``url(link.path)`` to the principal."""
        return self.links.add(decision_id)

    def url(self, path: str) -> str:
        """Return the URL of a path of this server."""
        return f"http://{self.authority}{path}"

    def ticket(self, link: Link) -> str:
        """Return a URL that redirects to a link once. It is for a browser's command line, which others can read."""
        return self.url(self.links.ticket(link))

    async def wait_for_answer(self, decision_id: str) -> ResolvedDecision:
        """Wait until a decision is answered on its page. Any number of tasks may wait."""
        return await asyncio.shield(self._answer_future(decision_id))

    def set_answer(self, resolved: ResolvedDecision) -> None:
        """Record an answer and wake the tasks that wait for it."""
        future = self._answer_future(resolved.pending.decision_id)
        if not future.done():
            future.set_result(resolved)

    def _answer_future(self, decision_id: str) -> asyncio.Future[ResolvedDecision]:
        return self._answers.setdefault(decision_id, asyncio.get_running_loop().create_future())


@asynccontextmanager
async def open_site(
    ledger: Ledger, address: Address = LOOPBACK, *, detail: DetailSetting = True
) -> AsyncGenerator[Site]:
    """Serve the decisions of a ledger until the block ends.

    Args:
        ledger: The ledger of the decisions.
        address: The address to listen on.
        detail: A function of the topic answers requests for detail at once. With True, anyone can answer them with
            ``ledger.answer_detail``. With False, detail cannot be requested.

    Raises:
        InputError: The address is not available.
    """
    with closing(listen(address)) as listener:
        site = Site(address.authority(listener.getsockname()[1]))
        server = create_uvicorn_server(create_app(ledger, site.links, site.authority, site.set_answer, detail=detail))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield site
            await asyncio.sleep(_LINGER_SECONDS)
        finally:
            server.should_exit = True
            await task


def listen(address: Address) -> socket.socket:
    """Return a socket that listens on a loopback address, or raise ``InputError`` if it is not available."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        name = address.authority(address.port)
        raise InputError(f"http://{name} cannot be served: {error.strerror}.") from error


_POLL_SECONDS: Final = 1.0
"""Seconds between two checks whether the decision was answered elsewhere."""


async def aserve(  # noqa: PLR0913  most have a default
    pending: PendingDecision,
    ledger: Ledger,
    *,
    on_address: Callable[[str], object],
    address: Address = LOOPBACK,
    open_browser: bool = False,
    detail: DetailSetting = True,
) -> ResolvedDecision | Unresolved:
    """Serve an open decision until it is answered or expires, and return the outcome.

    An answer on another surface ends it too. If the task is cancelled, the decision is recorded as unresolved.

    Args:
        pending: The decision.
        ledger: Its ledger.
        on_address: Called with the page's URL. Show it only to the principal: anyone who has it can answer.
        address: The address to listen on.
        open_browser: Also open the page in this machine's browser.
        detail: How requests for detail are answered. See ``open_site``.

    Raises:
        InputError: The address is not available.
    """
    async with open_site(ledger, address, detail=detail) as site:
        link = site.link(pending.decision_id)
        on_address(site.url(link.path))
        if open_browser:
            open_in_browser(site.ticket(link))
        try:
            async with asyncio.timeout(pending.remaining_seconds(time.time())):
                return await _wait_for_answer(site, pending, ledger)
        except TimeoutError:
            return await run_blocking(_record_unanswered, pending, ledger, UnresolvedReason.TIMEOUT)
        except asyncio.CancelledError:
            await run_blocking(_record_unanswered, pending, ledger, UnresolvedReason.CANCELLED)
            raise


async def _wait_for_answer(site: Site, pending: PendingDecision, ledger: Ledger) -> ResolvedDecision:
    """Wait for an answer on the page, or on another surface of any process."""
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS):
                return await site.wait_for_answer(pending.decision_id)
        with suppress(StoreFailed):
            decision = await run_blocking(ledger.find, pending.decision_id)
            if isinstance(decision, ResolvedDecision):
                return decision


def serve(  # noqa: PLR0913  most have a default
    pending: PendingDecision,
    ledger: Ledger,
    *,
    on_address: Callable[[str], object],
    address: Address = LOOPBACK,
    open_browser: bool = False,
    detail: DetailSetting = True,
) -> ResolvedDecision | Unresolved:
    """Serve as ``aserve`` does, and block. Ctrl-C ends it and cancels the decision."""
    try:
        return asyncio.run(
            aserve(pending, ledger, on_address=on_address, address=address, open_browser=open_browser, detail=detail)
        )
    except KeyboardInterrupt:
        return _record_unanswered(pending, ledger, UnresolvedReason.CANCELLED)


def _record_unanswered(
    pending: PendingDecision, ledger: Ledger, reason: UnresolvedReason
) -> ResolvedDecision | Unresolved:
    """Record that nobody decided, or return an answer that came at the last moment."""
    try:
        return ledger.record_unresolved(pending.decision_id, reason, channel=CHANNEL)
    except AlreadyResolved:
        decision = ledger.find(pending.decision_id)
        return decision if isinstance(decision, ResolvedDecision) else Unresolved(pending.digest, reason)


def open_in_browser(address: str) -> None:
    """Open a browser in a thread, because a browser in the terminal returns only when it is closed."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


try:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as error:
    raise MissingExtra("The local page needs uvicorn.", extra="web") from error
_GRACE_SECONDS = 0.5
"""Seconds for a request to finish when the server stops, before its connection is cut."""
_MAX_SHUTDOWN_SECONDS = 5
"""Seconds after which uvicorn itself cancels a request and logs a traceback."""


def create_uvicorn_server(application: ASGIApp) -> uvicorn.Server:
    """Return a server that stops when its ``should_exit`` is set."""
    config = _QuietConfig(
        application,
        http=_UnloggedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_MAX_SHUTDOWN_SECONDS,
    )
    return _EmbeddedServer(config)


class _QuietConfig(uvicorn.Config):
    def configure_logging(self) -> None:
        """Leave the process's logging unchanged."""


class _UnloggedProtocol(H11Protocol):
    """Logs no requests, because links are secrets."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.access_log = False


class _EmbeddedServer(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to the program: Ctrl-C ends its event loop, and this server with it."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down, and cut connections that do not finish in time."""
        timer = asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._abort_connections)
        await super().shutdown(sockets)
        timer.cancel()

    def _abort_connections(self) -> None:
        for connection in list(self.server_state.connections):
            transport: Any = connection.transport
            transport.abort()
