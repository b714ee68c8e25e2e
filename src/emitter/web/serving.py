"""One decision, one page, one answer: or none, which is no consent."""

from __future__ import annotations

import asyncio
import threading
import time
import webbrowser
from typing import TYPE_CHECKING

from emitter.decide import Unanswered, Unresolved
from emitter.errors import AlreadyResolved
from emitter.ledger import Resolved
from emitter.web.application import CHANNEL
from emitter.web.hosting import LOOPBACK, hosted

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.ledger import Ledger, Pending
    from emitter.web.hosting import Address


async def aserve(
    pending: Pending, ledger: Ledger, *, tell: Callable[[str], object], at: Address = LOOPBACK, browse: bool = False
) -> Resolved | Unresolved:
    """Serve an open decision until it is answered or expires, and return which.

    ``tell`` is called with the page's address, which only the principal may learn: whoever has it can answer.
    ``browse`` opens it in this machine's browser too. A task that is cancelled leaves the decision unresolved. Raises
    ``InputError`` where nothing can be served at the address.
    """
    async with hosted(ledger, at) as site:
        link = site.link(pending.decision_id)
        tell(site.url(link.path))
        if browse:
            _browse(site.ticket(link))
        try:
            async with asyncio.timeout(_left(pending)):
                return await site.answered(pending.decision_id)
        except TimeoutError:
            return _ended(pending, ledger, Unanswered.TIMEOUT)
        except asyncio.CancelledError:
            _ended(pending, ledger, Unanswered.CANCELLED)
            raise


def serve(
    pending: Pending, ledger: Ledger, *, tell: Callable[[str], object], at: Address = LOOPBACK, browse: bool = False
) -> Resolved | Unresolved:
    """Serve as ``aserve`` does, and wait; an interrupt (Ctrl-C) ends it without an answer, as a cancelled decision."""
    try:
        return asyncio.run(aserve(pending, ledger, tell=tell, at=at, browse=browse))
    except KeyboardInterrupt:
        return _ended(pending, ledger, Unanswered.CANCELLED)


def _left(pending: Pending) -> float | None:
    return None if pending.expires_at is None else max(0.0, pending.expires_at - time.time())


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
