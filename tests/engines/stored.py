"""The facts about engines, as they are stored in ``providers/engines``."""

from __future__ import annotations

import datetime as dt
import json
import tomllib
from functools import cache
from typing import TYPE_CHECKING

from emitter.assets import find_data_folder
from tests.engines.client import ROOT
from tests.engines.facts import Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = ROOT / "providers/engines"


@cache
def stored_facts(engine: str) -> Mapping[str, Fact]:
    """Return what an engine does with each rule."""
    file = find_data_folder("providers").joinpath("engines").joinpath(f"{engine}.toml")
    return {name: Fact(fact) for name, fact in tomllib.loads(file.read_text())["rules"].items()}


def write(engine: str, version: str, rules: Mapping[str, Fact]) -> None:
    """Store what an engine does with each rule."""
    lines = [
        "# What this engine does with a rule: enforced, ignored, wrong (it excludes valid values) or refused.",
        "# Written by make engines. tests/engines/probes.py has the schema and the documents of each rule.",
        f'source = "python -m tests.engines.report, with version {version}"',
        f"verified = {dt.datetime.now(dt.UTC).date()}",
        "",
        "[rules]",
        *(f'{json.dumps(name, ensure_ascii=False)} = "{fact.value}"' for name, fact in rules.items()),
    ]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{engine}.toml").write_text("\n".join(lines) + "\n")
