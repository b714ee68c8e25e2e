"""The debug bundle: all that a host can say of a run, to look at or to hand on.

Source: OpenWOP debug-bundle.md. It is made of what was told already, and struck through once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.accept.acceptor import Acceptor
    from emitter.wire import Json


def debug_bundle(acceptor: Acceptor, run_id: str) -> dict[str, Json]:
    """Return the run's log and what the host takes, without a secret.

    Raises ``InputError`` for a host that keeps no log, and ``StoreFailed`` where it cannot be read.
    """
    if acceptor.store is None:
        raise InputError("The host keeps no log.", hint="Give the Acceptor a store.")
    rules = acceptor.rules
    bundle: Json = {
        "runId": run_id,
        "events": [dict(each) for each in acceptor.store.events(run_id)],
        "supportedEnvelopes": list(rules.catalogue.ids),
        "schemaVersions": dict(rules.catalogue.versions),
    }
    clean: dict[str, Json] = rules.secrets.json(bundle).value
    return clean
