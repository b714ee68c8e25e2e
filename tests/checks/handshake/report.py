"""Print how well repeated questions are found: ``python -m tests.checks.handshake.report [--misses]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.checks.handshake.pairs import Part, counts, of

if TYPE_CHECKING:
    from collections.abc import Iterator


def lines(*, misses: bool) -> Iterator[str]:
    """Yield two lines a part of the pairs, and one a pair that is judged wrongly."""
    yield f"{'':<29}{'pairs':>6}{'same':>6}  {'precision':<26}recall (95 % intervals)"
    for part in Part:
        for name, warnings in ((part.value, False), ("  with warnings", True)):
            done = counts(of(part), warnings=warnings)
            same = done.hits + done.misses
            yield f"{name:<29}{len(of(part)):>6}{same:>6}  {_share(done.precision):<26}{_share(done.recall)}"
    for part in Part if misses else ():
        for each in of(part):
            if each.found is not each.same:
                label = "the same" if each.same else "another"
                yield f"{part.value} {each.id} {label}: {each.one.question.stem!r} / {each.other.question.stem!r}"


def _share(found: tuple[float, float, float]) -> str:
    share, low, high = found
    return f"{share:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    """Print the lines."""
    for line in lines(misses="--misses" in sys.argv):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
