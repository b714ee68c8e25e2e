"""A folder in which `emitter receipts` is tried: a store, chains and keys, and files that are none of them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from emitter.authority.signing import make_signer
from emitter.stores import SqliteStore
from tests.authority.lived import KEY, PUBLIC, chain, forged, lived, text
from tests.stores.making import edited

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Ran

KEYS = ["--key", "public.jwk"]


def furnish(folder: Path) -> None:
    """Put all of it there."""
    with SqliteStore(folder / "store.db") as store:
        for each in ("w", "v"):
            lived(store, each, make_signer(KEY))
    with SqliteStore(folder / "bare.db"):
        pass
    files = {
        "chain.jsonl": text(chain()),
        "signed.jsonl": text(chain(signed=True)),
        "edited.jsonl": text(chain()).replace(b'"target":"mom"', b'"target":"ceo"', 1),
        "cut.jsonl": text(chain()[:-1]),
        "forged.jsonl": text(forged(chain()[1:])),
        "public.jwk": json.dumps(PUBLIC).encode(),
        "empty": b"",
        "text": b"hello\n",
        "binary": b"\xff\xfe\x00",
        "folder/keep": b"",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    for name, statement in (("other.db", "CREATE TABLE t (x)"), ("blank.db", "PRAGMA journal_mode = WAL")):
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.execute(statement)


def change(statement: str, *values: Any) -> None:
    """Write into the store, past the library."""
    with edited("store.db") as connection:
        assert connection.execute(statement, values).rowcount


def found(ran: Ran) -> Any:
    """Return the JSON that was printed."""
    assert ran.err == ""
    return json.loads(ran.out)
