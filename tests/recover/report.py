"""Print how well recovery reads the corpora: ``python -m tests.recover.report [--differ]``."""

from __future__ import annotations

import sys
from collections import Counter

from tests.recover.answers import agreement, answers, corrections
from tests.recover.test_corpus import outcome, table
from tests.shared import lines

COLUMNS = ("agree", "none", "several", "differ")


def main() -> None:
    """Print the agreement with the malformed texts by category, and what is read of real answers.

    ``--differ`` adds one line for each malformed text that is read otherwise than meant.
    """
    corpus = lines("malformed.jsonl")
    rows = [(name, *(str(counts[column]) for column in COLUMNS)) for name, counts in table(corpus).items()]
    for row in [("category", *COLUMNS), *rows]:
        sys.stdout.write(f"{row[0]:<34}" + "".join(f"{cell:>9}" for cell in row[1:]) + "\n")
    for line in corpus if "--differ" in sys.argv else ():
        if outcome(line) == "differ":
            sys.stdout.write(f"{line['id']} {line['kind']:<20} {line['input'][:90]!r}\n")
    report_answers()


def report_answers() -> None:
    """Print what is read of the real answers that are no JSON, and the corrections that all of them buy."""
    corpus = lines("sob.jsonl.xz")
    total = sum(len(line["answers"]) for line in corpus)
    texts = [(each, each.outcome, each.kind) for each in answers(corpus)]
    sys.stdout.write(f"\n{total} real answers, {len(texts)} of them no JSON\n")
    sys.stdout.write(f"{'no JSON':<34}{'answers':>9}{'read':>9}{'doubtful':>9}{'valid':>9}{'invented':>9}\n")
    for kind in ("empty", "cut", "almost"):
        of_kind = [(each, found) for each, found, its in texts if its == kind]
        counts = Counter[str]()
        for each, found in of_kind:
            counts["read"] += hasattr(found, "value")
            counts["doubtful"] += getattr(found, "doubtful", False)
            counts["valid"] += each.is_valid()
            counts["invented"] += bool(each.invented())
        cells = (len(of_kind), *(counts[name] for name in ("read", "doubtful", "valid", "invented")))
        sys.stdout.write(f"{kind:<34}" + "".join(f"{cell:>9}" for cell in cells) + "\n")
    read = [each.agreement() for each, found, _ in texts if hasattr(found, "value")]
    whole = [
        agreement(value, line["truth"])
        for line in corpus
        for value in line["answers"].values()
        if isinstance(value, dict)
    ]
    for name, scores in (("read of those", read), ("parsed strictly", whole)):
        right, of = (sum(column) for column in zip(*scores, strict=True))
        sys.stdout.write(f"values as in the truth, {name}: {right} of {of} ({100 * right / of:.1f} %)\n")
    for name, counts in zip(("words around a document", "control characters"), corrections(corpus), strict=True):
        models = ", ".join(f"{model} {count}" for model, count in counts.most_common())
        sys.stdout.write(f"corrections for {name}: {counts.total()} ({models})\n")


if __name__ == "__main__":
    main()
