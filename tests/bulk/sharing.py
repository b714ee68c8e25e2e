"""A run over a store in a process of its own, which is killed: prints the number of each result.

A fourth argument limits the calls in a minute.
"""

from __future__ import annotations

import sys

from emitter.bulk import emit_many
from emitter.client.rate_limits import RateLimit
from tests.bulk.asking import MODEL, Numbered, task
from tests.stores.jobs import opened

if __name__ == "__main__":
    kind, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    limit = RateLimit(requests_per_minute=int(sys.argv[4])) if len(sys.argv) > 4 else None
    with opened(kind, address) as store:
        for item in emit_many(
            Numbered, map(task, range(count)), model=MODEL, store=store, in_flight=4, lease=1, rate_limit=limit
        ):
            sys.stdout.write(f"{item.value.n}\n")
            sys.stdout.flush()
