"""Stores: each run's log of events, and a memory of the envelopes that were accepted, each of them handled once.

``MemoryStore`` lasts as long as its process, ``SqliteStore`` keeps a file for the processes of one machine, and
``SqlStore`` a PostgreSQL database for those of several.
"""

from __future__ import annotations

from emitter.store.log import Entry as Entry
from emitter.store.log import Fresh as Fresh
from emitter.store.log import Kept as Kept
from emitter.store.log import Store as Store
from emitter.store.memory import MemoryStore as MemoryStore
from emitter.store.sql import SqlStore as SqlStore
from emitter.store.sqlite import SqliteStore as SqliteStore
