"""Print how well the error tier tells the labelled texts apart: ``python -m tests.checks.lint.report [PART ...]``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.checks import LintSeverity
from tests.checks.lint.labelled import PARTS, SETS, Line, Set, score
from tests.labelled.shares import Score, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDTH = 24


def main() -> None:
    """Print one table a part, then what was missed and what was found wrongly, text by text."""
    for part in tuple(each for each in PARTS if each in sys.argv[1:]) or PARTS:
        sys.stdout.writelines(f"{line}\n" for line in _part(part))


def _part(name: str) -> Iterator[str]:
    yield name
    yield "".join(cell.ljust(_WIDTH) for cell in ("set", "precision", "recall", "false positives")) + "F1"
    scores = {each: score(each, name) for each in SETS}
    for asked, found in scores.items():
        yield _row(asked.name, found)
    for asked, found in scores.items():
        yield from (_line(_missed(asked, line), line) for line in found.missed)
        yield from (_line("found wrongly", line) for line in found.wrong)
    yield ""


def _missed(asked: Set, line: Line) -> str:
    return "missed, but warned of" if asked.caught(line, (LintSeverity.WARN,)) else "missed"


def _line(title: str, line: Line) -> str:
    return f"  {title}: {line['id']} ({line['family']}) {line['text']}"


def _row(name: str, found: Score[Line]) -> str:
    shares = (shown(*found.precision), shown(*found.recall), shown(*found.false_positives))
    return "".join(cell.ljust(_WIDTH) for cell in (name, *shares)) + f"{found.f1:.3f}"


if __name__ == "__main__":
    main()
