"""Measure the search for secrets: ``python -m benchmarks.redaction [--rounds N]``.

Two questions: which way to look for many values in a text is the fastest (a text in which nothing is found, as most
are: µs of one search, and how many times that of the way the library takes), with the time to build it (ms); and what
redacting the library's own document of 2 KB costs beside walking through it and beside its validation. Times are
processor time, the median of rounds in which all take turns.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, MatchKind

from benchmarks.page import NONE, markdown, number, peer, progress, released, say
from benchmarks.timing import Contestant, calls, loops
from benchmarks.turns import DOCUMENT, Turn
from emitter.redaction import Secrets
from emitter.redaction.secret_registry import join_strings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SECRETS = (1, 10, 1_000, 10_000)
SIZES = {"1 KB": 1_000, "100 KB": 100_000, "1 MB": 1_000_000}
TOO_LONG = 30_000_000
"""Characters times values beyond which a way that looks for one after the other is left out."""
MICRO, MILLI = 1e6, 1e3
LETTERS = string.ascii_letters + string.digits + "+/_-"
OURS = "ahocorasick_rs, leftmost in bytes"


def secrets(count: int) -> list[str]:
    """Return values like keys; every second one begins as many do."""
    chance = random.Random(count)  # noqa: S311  it is the same text each time that counts
    return [("sk-live-" if at % 2 else "") + "".join(chance.choices(LETTERS, k=32)) for at in range(count)]


def text(size: int) -> str:
    """Return prose, of which every twentieth word is a number or a key that is none of the secrets."""
    chance = random.Random(f"text of {size}")  # noqa: S311  likewise
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _ in range(450)]
    words += [f'"{chance.random():.3f}",' for _ in range(25)]
    words += ["".join(chance.choices(LETTERS, k=40)) for _ in range(25)]
    return " ".join(chance.choices(words, k=size // 3 + 1))[:size]


def ways(values: list[str]) -> dict[str, Callable[[], Callable[[str], object]]]:
    """Return how each way is built; what is built looks through a text."""
    encoded = [each.encode() for each in values]
    built = {
        OURS: lambda: _in_bytes(BytesAhoCorasick(encoded, matchkind=MatchKind.LeftmostFirst)),
        "ahocorasick_rs, all in bytes": lambda: _in_bytes(BytesAhoCorasick(encoded)),
        "ahocorasick_rs, str": lambda: AhoCorasick(values).find_matches_as_indexes,
        "one alternation of re": lambda: re.compile("|".join(map(re.escape, values))).search,
        "str.replace, each": lambda: partial(_replaced, values),
    }
    automata = peer("ahocorasick", "pyahocorasick")
    return built | ({"pyahocorasick": lambda: _of_pyahocorasick(automata, values)} if automata else {})


def _in_bytes(automaton: Any) -> Callable[[str], object]:
    return lambda text: automaton.find_matches_as_indexes(text.encode("utf-8", "surrogatepass"))


def _replaced(values: list[str], text: str) -> str:
    for each in values:
        text = text.replace(each, "[REDACTED]")
    return text


def _of_pyahocorasick(automata: Any, values: list[str]) -> Callable[[str], object]:
    automaton = automata.Automaton()
    for each in values:
        automaton.add_word(each, each)
    automaton.make_automaton()
    return lambda text: list(automaton.iter(text))


def searching(rounds: int) -> None:
    """Measure every way on every number of values and every text."""
    rows = []
    for count in progress(SECRETS, len(SECRETS), "numbers of secrets"):
        building = ways(secrets(count))
        builds = calls(
            {name: Contestant(lambda make: make(), lambda make=make: make) for name, make in building.items()}, 1
        )
        found = {name: make() for name, make in building.items()}
        spent = {size: _searched(found, text(length), count, rounds) for size, length in SIZES.items()}
        rows += [(f"{name} / {count:,}", *_cells(name, spent), number(builds[name] * MILLI, 2)) for name in building]
    head = ("way / secrets", *(cell for size in SIZES for cell in (f"µs in {size}", "times ours")), "ms to build")
    say(f"Nothing to find; {released('ahocorasick_rs')}, {released('pyahocorasick')}:\n")
    for line in markdown(head, rows):
        say(line)


def _searched(found: dict[str, Callable[[str], object]], text: str, count: int, rounds: int) -> dict[str, float]:
    slow = len(text) * count > TOO_LONG
    return loops(
        {name: partial(each, text) for name, each in found.items() if not (slow and name.startswith(("one", "str")))},
        rounds,
    )


def _cells(name: str, spent: dict[str, dict[str, float]]) -> list[str]:
    return [
        cell
        for each in spent.values()
        for cell in ((number(each[name] * MICRO), number(each[name] / each[OURS], 1)) if name in each else (NONE, NONE))
    ]


def redacting(rounds: int) -> None:
    """Measure what redacting a document costs, where nothing is found and where something is."""
    registries = {
        count: Secrets.of({f"id-{at}": each for at, each in enumerate(secrets(count))}) for count in (3, 1_000)
    }
    escaped = {**DOCUMENT, "more": "50% off \\o/ at https://example.test/a%20b?c&d"}
    leaking = {**DOCUMENT, "more": f"the key is {secrets(3)[1]}"}
    functions: dict[str, Callable[[], object]] = {
        "walking through it": lambda: join_strings(DOCUMENT),
        "pydantic (its own model)": lambda: Turn.model_validate(DOCUMENT),
    }
    for count, registry in registries.items():
        functions[f"Secrets.json, {count:,} secrets"] = partial(registry.redact_json, DOCUMENT)
        functions[f"Secrets.json, {count:,} secrets, with escapes"] = partial(registry.redact_json, escaped)
    functions["Secrets.json, 3 secrets, one found"] = partial(registries[3].redact_json, leaking)
    times = loops(functions, rounds)
    walked = times["walking through it"]
    rows = [(name, number(spent * MICRO), number(spent / walked, 2)) for name, spent in times.items()]
    say("\nThe library's own document:\n")
    for line in markdown(("what", "µs", "x the walk"), rows):
        say(line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.redaction", description=__doc__)
    parser.add_argument("--rounds", metavar="N", type=int, default=5, help="rounds of which the median counts")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds must be more than 0")
    searching(options.rounds)
    redacting(options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
