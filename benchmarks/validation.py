"""Measure validators: ``python -m benchmarks.validation [CORPUS ...]``.

Three questions: how long one validation of the library's own document of 2 KB takes (µs, after the first) and the
building of the validator (ms); the same on real schemas; and how many tests of the official suite each gets right,
formats asserted. Beside them stands ``Compiled.validate``, the library's own, as a multiple of reading the text with
``json.loads``. CORPUS is a file of lines ``{"schema", "tests": [{"data", "valid"}]}``; the suite is a folder with
``tests`` and ``remotes``. Times are processor time, the median of rounds in which all take
turns.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import suite
from benchmarks.page import NONE, markdown, note, number, progress, released, say
from benchmarks.standing import alone
from benchmarks.timing import Contestant, calls, loops
from benchmarks.turns import DOCUMENT, Turn
from benchmarks.validators import LATEST, validators
from emitter.models import binding_moment
from emitter.schema import compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.validators import Check, Validator

CORPORA = Path(__file__).parents[1] / "../shared/corpora"
TARGET = 20.0
"""µs that one validation of the document may take."""
MICRO, MILLI = 1e6, 1e3


def own_document(rounds: int) -> None:
    """Measure the library's own document against its own schema."""
    text, schema = json.dumps(DOCUMENT), json.loads(json.dumps(binding_moment.TURN_SCHEMA))
    built = {each.package: partial(each.build, schema, "draft7", {}) for each in validators()}
    from_pydantic: dict[str, Callable[[], object]] = {
        "pydantic (its own model)": lambda: Turn.model_validate(DOCUMENT),
        "pydantic, from text": lambda: Turn.model_validate_json(text),
    }
    compiled = compile_schema(schema, "openai")
    ready: dict[str, Callable[[], object]] = {
        "json.loads, for scale": lambda: json.loads(text),
        "emitter: Compiled.validate": lambda: compiled.validate(DOCUMENT),
        **{name: partial(make(), DOCUMENT) for name, make in built.items()},
        **from_pydantic,
    }
    times = loops(ready, rounds)
    builds = {
        **calls(
            {name: Contestant(lambda make: make(), lambda make=make: make) for name, make in built.items()}, rounds
        ),
        "pydantic (its own model)": calls({"": Contestant(lambda _: Turn.model_rebuild(force=True), bool)}, rounds)[""],
    }
    loaded = times["json.loads, for scale"]
    say(f"The library's own document, {len(text.encode()):,} bytes:\n")
    rows = [
        (
            _named(name),
            number(spent * MICRO),
            number(spent / loaded, 2),
            number(builds[name] * MILLI, 2) if name in builds else NONE,
        )
        for name, spent in times.items()
    ]
    _lines(markdown(("validator", "µs a validation", "x json.loads", "ms to build"), rows))
    own = times["emitter: Compiled.validate"] * MICRO
    say(f"\nCompiled.validate: {own:.1f} µs, {'within' if own <= TARGET else 'beyond'} the target of {TARGET:g} µs.")


def real_schemas(path: Path, limit: int, rounds: int) -> None:
    """Measure schemas of a file that stand alone; those that every validator can build are timed."""
    found = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    ready = [each for each in found if alone(each["schema"]) and any(test["valid"] for test in each.get("tests", ()))]
    chosen = sorted(ready, key=lambda each: sha256(each["name"].encode()).digest())[:limit]
    taking_part = list(validators())
    tables = [_Row(each.package) for each in taking_part]
    for line in progress(chosen, len(chosen), "schemas"):
        checks = [_built(each, line["schema"]) for each in taking_part]
        for row, check in zip(tables, checks, strict=True):
            row.judge(check, line["tests"])
        if all(checks):
            _measure(tables, taking_part, checks, line, rounds)
    say(f"\n{path.name}: {len(chosen)} schemas, timed on the {len(tables[0].times)} that all can build:\n")
    head = ("validator", "built", "verdicts right", "median µs", "mean µs", "median ms to build", "mean ms to build")
    _lines(markdown(head, [row.cells(len(chosen)) for row in tables]))


class _Row:
    """What is known of one validator on a file of schemas."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.built = self.right = self.asked = 0
        self.times: list[float] = []
        self.builds: list[float] = []

    def judge(self, check: Check | None, tests: Sequence[dict[str, Any]]) -> None:
        self.built += check is not None
        for each in tests:
            self.asked += 1
            with suppress(Exception):
                self.right += check is not None and check(each["data"]) is each["valid"]

    def cells(self, schemas: int) -> tuple[str, ...]:
        times = (self.times, MICRO), (self.builds, MILLI)
        reported = [
            number(value * scale) for taken, scale in times for value in (median(taken), sum(taken) / len(taken))
        ]
        return (_named(self.package), f"{self.built}/{schemas}", f"{self.right:,}/{self.asked:,}", *reported)


def _measure(
    tables: list[_Row], taking_part: list[Validator], checks: Sequence[Check | None], line: dict[str, Any], rounds: int
) -> None:
    schema, data = line["schema"], next(each["data"] for each in line["tests"] if each["valid"])
    runs = {each.package: (lambda check=check: check(data)) for each, check in zip(taking_part, checks, strict=True)}
    makes = {
        each.package: Contestant(lambda each: _built(each, schema), lambda each=each: each) for each in taking_part
    }
    times, builds = loops(runs, min(rounds, 3)), calls(makes, 1)
    for row in tables:
        row.times.append(times[row.package])
        row.builds.append(builds[row.package])


def _built(validator: Validator, schema: Any) -> Check | None:
    try:
        return validator.build(schema, LATEST, {})
    except Exception:  # noqa: BLE001  a validator that cannot build is reported as such
        return None


def official_suite(folder: Path) -> None:
    """Count the tests of the official suite that each validator gets right."""
    say("\nThe official suite, formats asserted (right/asked: required, formats):\n")
    rows = []
    for each in validators():
        cells = [suite.scores(folder, each, draft) if draft in each.drafts else None for draft in suite.DRAFTS]
        rows.append((_named(each.package), *(f"{c[False]}, {c[True]}" if c else NONE for c in cells)))
    _lines(markdown(("validator", *suite.DRAFTS), rows))


def _named(name: str) -> str:
    package, _, rest = name.partition(" ")
    return name if name.startswith(("emitter", "json.")) else f"{released(package.strip(','))} {rest}".strip()


def _lines(lines: Iterator[str]) -> None:
    for line in lines:
        say(line)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validation", description=__doc__)
    add = parser.add_argument
    add("corpora", metavar="CORPUS", nargs="*", type=Path, help="default: ../shared/corpora/schemastore.jsonl")
    add("--suite", metavar="FOLDER", type=Path, default=CORPORA / "json-schema-test-suite", help="the official suite")
    add("--limit", metavar="N", type=int, default=60, help="schemas of each corpus (default: %(default)s)")
    add("--rounds", metavar="N", type=int, default=7, help="rounds of which the median counts (default: %(default)s)")
    options = parser.parse_args(arguments)
    if min(options.limit, options.rounds) < 1:
        parser.error("--limit and --rounds must be more than 0")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the tables."""
    options = _options(arguments)
    own_document(options.rounds)
    for path in options.corpora or [CORPORA / "schemastore.jsonl"]:
        if path.is_file():
            real_schemas(path, options.limit, options.rounds)
        else:
            note(f"left out: there is no file {path.name}; name a CORPUS")
    if (options.suite / "tests").is_dir():
        official_suite(options.suite)
    else:
        note("left out: the official suite is not beside the checkout; name it with --suite")
    return 0


if __name__ == "__main__":
    sys.exit(main())
