"""One decision, one page, one answer: or none, which is no consent."""

from __future__ import annotations

import asyncio
import threading
import time
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from emitter.decide import Unanswered, Unresolved
from emitter.errors import AlreadyResolved, StoreFailed
from emitter.ledger import Resolved
from emitter.web.application import CHANNEL
from emitter.web.hosting import LOOPBACK, hosted

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.ledger import Ledger, Pending
    from emitter.web.application import Detail
    from emitter.web.hosting import Address, Site

_LOOK: Final = 1.0
"""Seconds after which the ledger is asked whether somebody answered elsewhere."""


async def aserve(  # noqa: PLR0913  most have a default
    pending: Pending,
    ledger: Ledger,
    *,
    tell: Callable[[str], object],
    at: Address = LOOPBACK,
    browse: bool = False,
    detail: Detail = True,
) -> Resolved | Unresolved:
    """Serve an open decision until it is answered or expires, and return which.

    An answer that came on another surface is one, too. ``tell`` is called with the page's address, which only the
    principal may learn: whoever has it can answer. ``browse`` opens it in this machine's browser too. ``detail`` is a
    function of a topic that answers requests for detail on the spot; see ``hosted``. A task that is cancelled leaves
    the decision unresolved. Raises ``InputError`` where nothing can be served at the address.
    """
    async with hosted(ledger, at, detail=detail) as site:
        link = site.link(pending.decision_id)
        tell(site.url(link.path))
        if browse:
            _browse(site.ticket(link))
        try:
            async with asyncio.timeout(pending.left(time.time())):
                return await _answered(site, pending, ledger)
        except TimeoutError:
            return _ended(pending, ledger, Unanswered.TIMEOUT)
        except asyncio.CancelledError:
            _ended(pending, ledger, Unanswered.CANCELLED)
            raise


async def _answered(site: Site, pending: Pending, ledger: Ledger) -> Resolved:
    """Wait until it is answered, on the page or on another surface, by whichever process."""
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK):
                return await site.answered(pending.decision_id)
        with suppress(StoreFailed):
            found = await asyncio.to_thread(ledger.find, pending.decision_id)
            if isinstance(found, Resolved):
                return found


def serve(  # noqa: PLR0913  most have a default
    pending: Pending,
    ledger: Ledger,
    *,
    tell: Callable[[str], object],
    at: Address = LOOPBACK,
    browse: bool = False,
    detail: Detail = True,
) -> Resolved | Unresolved:
    """Serve as ``aserve`` does, and wait; an interrupt (Ctrl-C) ends it without an answer, as a cancelled decision."""
    try:
        return asyncio.run(aserve(pending, ledger, tell=tell, at=at, browse=browse, detail=detail))
    except KeyboardInterrupt:
        return _ended(pending, ledger, Unanswered.CANCELLED)


def _ended(pending: Pending, ledger: Ledger, reason: Unanswered) -> Resolved | Unresolved:
    """Record that nobody decided, and return it; or how somebody did, at the last moment or on another surface."""
    try:
        return ledger.unresolved(pending.decision_id, reason, channel=CHANNEL)
    except AlreadyResolved:
        found = ledger.find(pending.decision_id)
        return found if isinstance(found, Resolved) else Unresolved(pending.digest, reason)


def _browse(address: str) -> None:
    """Open the address in a browser; in a thread, since one that runs in the terminal returns when it is closed."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
