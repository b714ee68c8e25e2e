"""Print how well the measure finds repeated questions: ``python -m tests.checks.handshake.report [--misses]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.checks.similarity import SAME_QUESTION_THRESHOLD, compare_questions
from tests.checks.handshake.pairs import Part, counts, of

if TYPE_CHECKING:
    from collections.abc import Iterator


def lines(*, misses: bool) -> Iterator[str]:
    """Yield a line a part of the pairs, and one a pair that the measure takes for what it is not."""
    header = f"{'':<13}{'pairs':>6}{'same':>6}  {'precision':<26}recall   "
    yield f"{header}(same from {SAME_QUESTION_THRESHOLD:.2f} on, 95 % intervals)"
    for part in Part:
        done = counts(of(part))
        same = done.hits + done.misses
        yield f"{part.value:<13}{len(of(part)):>6}{same:>6}  {_share(done.precision):<26}{_share(done.recall)}"
    for part in Part if misses else ():
        for each in of(part):
            if each.found is not each.same:
                stems = f"{each.one.question.stem!r} / {each.other.question.stem!r}"
                found = f"{compare_questions(each.one, each.other):.2f} for {'the same' if each.same else 'another'}"
                yield f"{part.value} {each.id} {found}, {each.family}: {stems}"


def _share(found: tuple[float, float, float]) -> str:
    share, low, high = found
    return f"{share:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Print the lines."""
    for line in lines(misses="--misses" in sys.argv):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
