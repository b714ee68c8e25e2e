"""A run over a store in a process of its own, which is killed: prints the number of each result."""

from __future__ import annotations

import sys

from emitter.bulk import emit_many
from tests.bulk.asking import MODEL, Numbered, task
from tests.stores.jobs import opened

if __name__ == "__main__":
    kind, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with opened(kind, address) as store:
        for item in emit_many(Numbered, map(task, range(count)), model=MODEL, store=store, in_flight=4, lease=1):
            sys.stdout.write(f"{item.value.n}\n")
            sys.stdout.flush()
