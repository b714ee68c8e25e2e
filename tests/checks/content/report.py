"""Print how well the default checks tell labelled texts apart: ``python -m tests.checks.content.report [PART ...]``."""

from __future__ import annotations

import sys
import timeit
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from emitter.checks import DEFAULT_CHECKS, Severity
from emitter.cli.moments import default_severities
from tests.checks.content.fresh import FreshDecision, fresh_decisions
from tests.checks.content.labelled import PARTS, REPORTED, SETS, Line, Set, check, moment, score
from tests.checks.content.test_linear import HOSTILE, MEGABYTE, repeat
from tests.labelled.shares import Score, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WIDTH = 24


def main() -> None:
    """Print one table a part, then what was missed and what was found wrongly, text by text."""
    for part in tuple(each for each in PARTS if each in sys.argv[1:]) or PARTS:
        sys.stdout.writelines(f"{line}\n" for line in _part(part))
    if sys.argv[1:]:
        return
    sys.stdout.writelines(f"{line}\n" for line in (*_rules(), *_fresh(), *_times()))


def _rules() -> Iterator[str]:
    """Yield precision and recall of each rule over all labelled texts of its slot."""
    yield f"{'rule, over all parts':<29}{'severity':<10}{'precision':<26}recall of what is in its slot"
    slots = {each.slot: each for each in SETS}
    found: dict[tuple[str, str], list[bool]] = {}
    for each in SETS:
        for line in (line for part in PARTS for line in each.lines(part)):
            for finding in check(each.place(line)):
                if finding.pointer == each.slot:
                    found.setdefault((finding.rule, finding.pointer), []).append(line["label"] == each.found)
    for (rule, slot), hits in sorted(found.items()):
        lines = [line for part in PARTS for line in slots[slot].lines(part) if line["label"] == slots[slot].found]
        severity = default_severities()[rule].value
        yield f"{rule:<29}{severity:<10}{shown(sum(hits), len(hits)):<26}{shown(sum(hits), len(lines))}"
    yield ""


def _fresh() -> Iterator[str]:
    """Yield how whole decisions are judged that were written before the rules."""
    yield f"{'whole decisions':<29}{'with an error':<16}{'asked once':<16}{'warned only':<16}clean"
    for name, broken in (("good", False), ("bad", True)):
        counts = Counter(_worst(each) for each in fresh_decisions() if (each.broken is not None) is broken)
        cells = "".join(f"{counts[severity]:<16}" for severity in (*Severity.__members__.values(),))
        yield f"{name:<29}{cells}"
    yield ""


def _worst(decision: FreshDecision) -> Severity:
    severities = [finding.severity for finding in decision.findings]
    return next((severity for severity in Severity if severity in severities), Severity.OFF)


def _times() -> Iterator[str]:
    """Yield the warm cost of the default checks on a usual decision, and on a hostile one of a megabyte."""
    usual = [each.moment for each in fresh_decisions() if each.broken is None]
    for checker in DEFAULT_CHECKS:
        seconds = sum(_least(partial(checker, each), 200) for each in usual) / len(usual)
        yield f"{type(checker).__name__:<29}{seconds * 1e6:.0f} µs a decision, warm"
    slowest, name = max(
        (_least(partial(check, moment(synopsis=repeat(piece, MEGABYTE))), 5), name) for name, piece in HOSTILE.items()
    )
    yield f"{'a hostile megabyte':<29}{slowest * 1e3:.1f} ms for all checks, at the slowest ({name})"


def _least(call: Callable[[], object], runs: int) -> float:
    """Return the least seconds of some runs."""
    return min(timeit.repeat(call, number=1, repeat=runs))


def _part(name: str) -> Iterator[str]:
    yield name
    yield "".join(cell.ljust(_WIDTH) for cell in ("set", "precision", "recall", "false positives")) + "F1"
    scores = {each: score(each, name) for each in SETS}
    for asked, found in scores.items():
        yield _row(asked.name, found)
        yield _row("  with warnings", score(asked, name, REPORTED))
    for asked, found in scores.items():
        yield from (_line(_missed(asked, line), line) for line in found.missed)
        yield from (_line("found wrongly", line) for line in found.wrong)
    yield ""


def _missed(asked: Set, line: Line) -> str:
    return "missed, but warned of" if asked.caught(line, REPORTED) else "missed"


def _line(title: str, line: Line) -> str:
    return f"  {title}: {line['id']} ({line['family']}) {line['text']}"


def _row(name: str, found: Score[Line]) -> str:
    shares = (shown(*found.precision), shown(*found.recall), shown(*found.false_positives))
    return "".join(cell.ljust(_WIDTH) for cell in (name, *shares)) + f"{found.f1:.3f}"


if __name__ == "__main__":
    main()
