"""A run in a process of its own, which is killed: prints the index of each item that it was handed."""

from __future__ import annotations

import sys

from emitter.bulk import emit_many
from tests.bulk.asking import MODEL, Numbered, task

if __name__ == "__main__":
    journal, count = sys.argv[1], int(sys.argv[2])
    for item in emit_many(Numbered, map(task, range(count)), model=MODEL, journal=journal, in_flight=4):
        sys.stdout.write(f"{item.value.n}\n")
        sys.stdout.flush()
