"""Stores: each run's event log, and the accepted envelopes, each handled once.

``MemoryStore`` lasts as long as its process, ``SqliteStore`` keeps a file for the processes of one machine, and
``SqlStore`` uses a PostgreSQL database for processes on several machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lazy import lazy_exports

if TYPE_CHECKING:
    from emitter.stores.memory import MemoryStore as MemoryStore
    from emitter.stores.protocol import Entry as Entry
    from emitter.stores.protocol import NewEntry as NewEntry
    from emitter.stores.protocol import Store as Store
    from emitter.stores.protocol import StoredEntry as StoredEntry
    from emitter.stores.sql import SqlStore as SqlStore
    from emitter.stores.sqlite import SqliteStore as SqliteStore
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "memory": "MemoryStore",
            "protocol": "Entry NewEntry Store StoredEntry",
            "sql": "SqlStore",
            "sqlite": "SqliteStore",
        },
    )
