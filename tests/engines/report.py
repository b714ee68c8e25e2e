"""Print what the engines hold of a schema, and of a corpus that is compiled for them; store the facts with ``--write``.

``make engines`` installs the engines and runs this: a minute, and three with ``--corpus``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.profiles import listed_profile_names, load_profile
from tests.engines.client import running
from tests.engines.corpus import Tally, compiled_for, drawn_case, lost_though_enforced, probe_cases, try_case
from tests.engines.exceptions import NARROWER, is_unsent
from tests.engines.facts import facts
from tests.engines.stored import write
from tests.schema.proof.corpora import SCHEMASTORE, SUITE, chosen, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.schema import Compiled
    from tests.engines.client import Engines
    from tests.engines.corpus import Case
    from tests.engines.facts import Fact

SCHEMAS, DRAWS = 120, 4


def show(*words: object) -> None:
    """Write a line."""
    sys.stdout.write(f"{' '.join(map(str, words))}\n")
    sys.stdout.flush()


def engine_profiles() -> list[str]:
    """Return the profiles that name the engines behind them."""
    return [name for name in listed_profile_names() if load_profile(name).subset.engines]


def _cases(profile: str, *, whole: bool) -> Iterator[tuple[Case, Compiled]]:
    for case in probe_cases():
        compiled = compiled_for(case[1], profile)
        if compiled is not None:
            yield case, compiled
    files = [each for path in (SCHEMASTORE, SUITE) if whole and path.exists() for each in read(path, lambda _: None)]
    for each in chosen(files, SCHEMAS, lambda case: case.name):
        compiled = compiled_for(each.schema, profile)
        drawn = None if compiled is None else drawn_case(each.name, each.schema, compiled, DRAWS)
        if compiled is not None and drawn is not None:
            yield drawn, compiled


def try_profile(engines: Engines, profile: str, table: Mapping[str, Mapping[str, Fact]], *, whole: bool) -> None:
    """Print a row for each engine behind a profile."""
    subset = load_profile(profile).subset
    known = [table[name] for name in subset.engines if name in table]
    tallies = {name: Tally() for name in subset.engines if name in engines.versions}
    lost: list[str] = []
    for case, compiled in _cases(profile, whole=whole):
        lost += lost_though_enforced(case[0], case[1], compiled, known, subset.max_count)
        for name, tally in tallies.items():
            try_case(engines, name, case, compiled, tally)
    unsent = [each for each in lost if not is_unsent(profile, each)]
    for name, tally in tallies.items():
        narrower = [probe for engine, probe in NARROWER if engine == name]
        refused = [
            each for each in tally.valid_refused if "*" not in narrower and each.partition(": ")[0] not in narrower
        ]
        show(
            f"{profile:18} {name:19} {tally.schemas:7} {len(tally.refused):7} {tally.valid:7} {len(refused):14} "
            f"{len(tally.valid_refused) - len(refused):8} {tally.invalid_accepted:16} {len(tally.invalid_uncaught):8} "
            f"{len(unsent):5}"
        )
        for each in [*tally.refused[:3], *refused[:3], *tally.invalid_uncaught[:3], *unsent[:3]]:
            show(f"    {each[:200]}")


def main() -> None:
    """Print the tables."""
    with running() as engines:
        show("engines:", ", ".join(f"{name} {version}" for name, version in engines.versions.items()) or "none")
        table = {name: facts(engines, name) for name in engines.versions}
        names = list(table)
        show(f"\n{'rule':40}", *(f"{name:19}" for name in names))
        for rule in next(iter(table.values()), {}):
            show(f"{rule:40}", *(f"{table[name][rule].value:19}" for name in names))
        if "--write" in sys.argv:
            for name, rules in table.items():
                write(name, engines.versions[name], rules)
        columns = "schemas refused   valid of them refused  by name invalid accepted uncaught  lost"
        show(f"\n{'profile':18} {'engine':19} {columns}")
        for profile in engine_profiles():
            try_profile(engines, profile, table, whole="--corpus" in sys.argv)


if __name__ == "__main__":
    main()
