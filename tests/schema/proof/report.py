"""Prove the compiler on corpora: ``python -m tests.schema.proof.report [PATH ...] [--profile NAME] [--json] …``.

Exit status: 0 all grave laws hold, 1 a schema is unsound, not accepted, crashes or hangs, 2 nothing to prove.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter import profiles as profile
from tests.schema.proof import table
from tests.schema.proof.corpora import SCHEMASTORE, SUITE, Case, chosen, read
from tests.schema.proof.laws import SAMPLES, checkers
from tests.schema.proof.verdict import GRAVE
from tests.schema.proof.workers import Task, proofs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.schema.proof.verdict import Report

PATIENCE = 30.0

_ABOUT = (
    "Prove the schema compiler on corpora. Exit status: 0 every grave law holds; 1 a schema is unsound, breaks a "
    "vendor's rule, crashes or takes too long; 2 there was nothing to prove."
)


def distinct() -> dict[str, tuple[str, ...]]:
    """Return one name for each set of rules, with the other profiles that have the same."""
    alike: dict[Any, list[str]] = {}
    for name in profile.profile_names():
        alike.setdefault((profile.load_profile(name).subset, checkers(name)), []).append(name)
    return {first: tuple(others) for first, *others in alike.values()}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.schema.proof.report", description=_ABOUT)
    say = parser.add_argument
    say("paths", metavar="PATH", nargs="*", type=Path, help="a corpus: a file or a folder (default: ../shared/corpora)")
    say("--profile", metavar="NAME", action="append", help="a profile; may be repeated (default: one for each subset)")
    say(
        "--samples",
        metavar="K",
        type=int,
        default=SAMPLES,
        help="documents drawn from each schema (default: %(default)s)",
    )
    say("--limit", metavar="N", type=int, help="prove only N schemas of each corpus, always the same ones")
    say("--timeout", metavar="S", type=float, default=PATIENCE, help="seconds for one proof (default: %(default)s)")
    say("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    say("--json", action="store_true", help="write JSON instead of a page")
    options = parser.parse_args(arguments)
    options.paths = options.paths or [each for each in (SUITE, SCHEMASTORE) if each.exists()]
    unknown = sorted({*(options.profile or ())} - {*profile.profile_names()})
    if unknown:
        parser.error(f"there is no profile {unknown[0]!r}; there are {', '.join(profile.profile_names())}")
    if not options.paths:
        parser.error("the corpora are not beside the checkout: name a PATH")
    counts = (options.jobs, 1 if options.limit is None else options.limit, options.timeout)
    if options.samples < 0 or min(counts) <= 0:
        parser.error("--samples may not be negative; --limit, --timeout and --jobs must be more than 0")
    return options


def _complain(sentence: str) -> None:
    sys.stderr.write(f"passed over: {sentence}\n")


def _cases(options: argparse.Namespace) -> list[Case]:
    found: list[Case] = []
    for path in options.paths:
        cases = list(read(path, _complain))
        found.extend(cases if options.limit is None else chosen(cases, options.limit, lambda each: each.name))
    if not found:
        raise ValueError(f"there is no schema in {', '.join(str(each) for each in options.paths)}")
    return found


def _counted(reports: Iterable[Report], total: int) -> Iterator[Report]:
    """Show on a terminal how far it is."""
    shown = sys.stderr.isatty()
    for count, each in enumerate(reports, 1):
        if shown:
            sys.stderr.write(f"\r{count} of {total} proofs")
            sys.stderr.flush()
        yield each
    if shown:
        sys.stderr.write("\r\033[K")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove, write the page, and return the exit status."""
    options = _options(arguments)
    try:
        cases = _cases(options)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    alike = distinct()
    profiles = tuple(options.profile or alike)
    tasks = [Task(each, profiles, options.samples) for each in cases]
    reports = list(_counted(proofs(tasks, options.jobs, options.timeout), len(tasks) * len(profiles)))
    reports.sort(key=lambda each: (each.profile, each.case))
    if options.json:
        page = {"profiles": table.rows(reports), "findings": [each.to_json() for each in table.groups(reports)]}
        sys.stdout.write(json.dumps(page, indent=1, ensure_ascii=False) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in table.page(reports))
        for name in (each for each in profiles if alike.get(each)):
            sys.stdout.write(f"{name} stands for {', '.join(alike[name])} too: the rules are the same.\n")
    return int(any(each.red(law) for each in reports for law in GRAVE))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
