"""Print how well each rule judges the labelled texts: ``python -m tests.authority.narrative.report [PART ...]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.authority.narrative import NarrativeRule
from tests.authority.narrative.labelled import PARTS, Line, score
from tests.labelled.shares import Score, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 24
_FIRST = 16


def main() -> None:
    """Print one table a part, then what was missed and what was found wrongly, text by text."""
    for part in tuple(each for each in PARTS if each in sys.argv[1:]) or PARTS:
        sys.stdout.writelines(f"{line}\n" for line in _part(part))


def _part(name: str) -> Iterator[str]:
    yield name
    yield "rule".ljust(_FIRST) + "".join(cell.ljust(_WIDTH) for cell in ("precision", "recall", "false positives"))
    scores = {rule: score(rule, name) for rule in NarrativeRule}
    for rule, found in scores.items():
        yield _row(rule.value, found)
    for rule, found in scores.items():
        yield from (_line(f"{rule.value} missed", line) for line in found.missed)
        yield from (_line(f"{rule.value} found wrongly", line) for line in found.wrong)
    yield ""


def _line(title: str, line: Line) -> str:
    return f"  {title}: {line.id} ({line.mode}) {line.text!a}"


def _row(name: str, found: Score[Line]) -> str:
    shares = (found.precision, found.recall, found.false_positives)
    return (name.ljust(_FIRST) + "".join(shown(*each).ljust(_WIDTH) for each in shares)).rstrip()


if __name__ == "__main__":
    main()
