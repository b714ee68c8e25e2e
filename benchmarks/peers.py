"""Compare schema helpers: ``python -m benchmarks.peers [CORPUS ...]``, a table in Markdown, or ``--json``.

One table for each CORPUS. Over the same schemas, for each vendor, ours stands beside openai's
``_ensure_strict_json_schema`` (what ``to_strict_json_schema`` does with a schema), anthropic's ``transform_schema`` and
pydantic-ai's transformers. Counted are schemas, and each column is of all of them:

- declined: the helper says itself that it has no form (ours: ``Uncompilable``, or a schema for the prompt alone).
- crashed: any other exception, a process that died, or one that took too long.
- accepted: the result breaks none of the published rules for output schemas (``emitter.testing.vendor_rules``).
- sound: every drawn document, read back, is valid against the original schema, except for constraints that the helper
  said it could not enforce. Ours says so in ``losses``, a peer by moving the constraint into a description
  (``benchmarks.reported``). What a constrained decoder cannot draw from counts for nobody.
- unexcused: sound, and no drawn document needed such an exception: what is promised is enforced. Without this column a
  helper that gives everything up, and says so, would look perfect.
- faithful: every valid instance has a document of the result, and comes back from it. The instances are those of the
  corpus and some drawn from the original itself, so no helper chooses its own.
- all three: accepted, sound and faithful, of one and the same schema.

The peers' helpers are written for the schemas that pydantic makes. A corpus of other origin (schemastore: older drafts,
``definitions``, ``$id``) asks more of them than their authors promise, so the corpora are not added up.

Peers have no ``encode`` and no ``decode``: theirs is the identity, and null is absent for them as for us
(``benchmarks.nulls``). Schemas that are the same, that name what is elsewhere, or that the second validator cannot
judge are passed over for all. Chance is seeded by the case's name.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.page import markdown, note, progress, say

try:
    from tests.schema.proof.corpora import chosen, read

    from benchmarks.crowd import Task, results
    from benchmarks.helpers import VENDORS, names, title
    from benchmarks.standing import alone
except ImportError as error:
    sys.exit(f"error: {error}; start from the project's root, with the dependency groups `dev` and `peers` installed")

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.schema.proof.corpora import Case

    from benchmarks.crowd import Pair
    from benchmarks.trial import Result

CORPORA = Path(__file__).parents[1] / "../shared/corpora"
DEFAULT = ("schemastore.jsonl", "schema_accepted.jsonl")
THREE = ("accepted", "sound", "faithful")
LAWS = (*THREE, "unexcused")
COLUMNS = ("declined", "crashed", "accepted", "sound", "unexcused", "faithful", "all three")


def cases(path: Path, limit: int | None) -> list[Case]:
    """Return the schemas of a corpus that stand alone, each once."""
    found: dict[str, Case] = {}
    elsewhere = 0
    every = [each for each in read(path, note) if isinstance(each.schema, dict)]
    some = every if limit is None else chosen(every, limit, lambda case: case.name)
    for each in some:
        if alone(each.schema):
            found.setdefault(json.dumps(each.schema, sort_keys=True), each)
        else:
            elsewhere += 1
    doubles = len(some) - elsewhere - len(found)
    note(
        f"{path.name}: {len(found)} of {len(every)} schemas; {elsewhere} name what is elsewhere, {doubles} are doubles"
    )
    return list(found.values())


def counted(found: Iterable[Result]) -> dict[Pair, Counter[str]]:
    """Return the sums by vendor and helper."""
    sums: dict[Pair, Counter[str]] = {}
    for each in found:
        own = sums.setdefault((each.vendor, each.helper), Counter())
        own["schemas"] += 1
        own["crashed"] += each.end in ("crashed", "timeout")
        own["declined"] += each.end == "declined"
        verdicts = {law: getattr(each, law) for law in LAWS}
        own.update({law: int(verdict is True) for law, verdict in verdicts.items()})
        own.update({f"{law} untried": int(each.end == "compiled" and v is None) for law, v in verdicts.items()})
        own["all three"] += all(verdicts[law] is True for law in THREE)
    return sums


def _page(corpus: str, sums: dict[Pair, Counter[str]]) -> None:
    total = max((each["schemas"] for each in sums.values()), default=0)
    say(f"\n{corpus}, {total:,} schemas:\n")
    rows = [(f"{vendor}: {title(name)}", *(f"{n[each]:,}" for each in COLUMNS)) for (vendor, name), n in sums.items()]
    for line in markdown(("vendor: helper", *COLUMNS), rows):
        say(line)


def _document(sums: dict[Pair, Counter[str]], found: Sequence[Result], *, every: bool) -> dict[str, Any]:
    table = [{"vendor": vendor, "helper": title(name), **counts} for (vendor, name), counts in sums.items()]
    reasons = Counter((each.vendor, each.helper, each.end, each.reason) for each in found if each.reason)
    common = [
        dict(zip(("vendor", "helper", "end", "reason"), key, strict=True)) | {"schemas": n}
        for key, n in reasons.most_common(60)
    ]
    return {"table": table, "reasons": common, **({"results": [asdict(each) for each in found]} if every else {})}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add(
        "corpora",
        metavar="CORPUS",
        nargs="*",
        type=Path,
        help="files or folders (default: the real schemas in ../shared)",
    )
    add("--samples", metavar="K", type=int, default=5, help="documents drawn from each result (default: %(default)s)")
    add("--limit", metavar="N", type=int, help="only N schemas of each corpus, always the same ones")
    add("--timeout", metavar="S", type=float, default=20.0, help="seconds for one trial (default: %(default)s)")
    add("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    add("--json", action="store_true", help="write JSON: the table and the commonest reasons")
    add("--every", action="store_true", help="with --json: every single result, too")
    options = parser.parse_args(arguments)
    options.corpora = options.corpora or [CORPORA / each for each in DEFAULT if (CORPORA / each).is_file()]
    if not options.corpora:
        parser.error("the corpora are not beside the checkout: name a CORPUS")
    if min(options.samples, options.jobs, options.limit or 1) < 1 or options.timeout <= 0:
        parser.error("--samples, --limit, --timeout and --jobs must be more than 0")
    return options


def compared(path: Path, pairs: tuple[Pair, ...], options: argparse.Namespace) -> list[Result]:
    """Return the results of every helper on one corpus."""
    tasks = [Task(each, pairs, options.samples) for each in cases(path, options.limit)]
    trials = (each for part in results(tasks, options.jobs, options.timeout) for each in part)
    found = list(progress(trials, len(tasks) * len(pairs), "trials"))
    return sorted(found, key=lambda each: (each.case, pairs.index((each.vendor, each.helper))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, and write the tables."""
    options = _options(arguments)
    pairs = tuple((vendor, name) for vendor in VENDORS for name in names(vendor))
    reported: dict[str, Any] = {}
    for path in options.corpora:
        try:
            found = compared(path, pairs, options)
        except (OSError, ValueError) as error:
            note(f"error: {error}")
            return 2
        sums = {pair: Counter[str]() for pair in pairs} | counted(found)
        reported[path.name] = _document(sums, found, every=options.every)
        if not options.json:
            _page(path.stem, sums)
    if options.json:
        say(json.dumps(reported, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
