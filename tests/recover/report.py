"""Print the agreement with the corpus by category: ``python -m tests.recover.report [--differ]``."""

from __future__ import annotations

import sys

from tests.recover.test_corpus import outcome, table
from tests.shared import lines

COLUMNS = ("agree", "none", "several", "differ")


def main() -> None:
    """Print one line a category, and with ``--differ`` one a line that is read otherwise than meant."""
    corpus = lines("malformed.jsonl")
    rows = [(name, *(str(counts[column]) for column in COLUMNS)) for name, counts in table(corpus).items()]
    for row in [("category", *COLUMNS), *rows]:
        sys.stdout.write(f"{row[0]:<34}" + "".join(f"{cell:>9}" for cell in row[1:]) + "\n")
    for line in corpus if "--differ" in sys.argv else ():
        if outcome(line) == "differ":
            sys.stdout.write(f"{line['id']} {line['kind']:<20} {line['input'][:90]!r}\n")


if __name__ == "__main__":
    main()
