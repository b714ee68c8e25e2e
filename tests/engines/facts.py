"""Try every probe on an engine."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Any

from tests.engines.probes import PROBES, ROOT_PROBE, ROOT_REFERENCE, whole

if TYPE_CHECKING:
    from tests.engines.client import Engines


class Fact(str, Enum):
    """What an engine does with a rule."""

    ENFORCED = "enforced"
    """It lets exactly the valid documents of the probe through."""
    IGNORED = "ignored"
    """It lets invalid documents through as well."""
    WRONG = "wrong"
    """It excludes valid documents."""
    REFUSED = "refused"
    """It compiles no schema with the rule."""


def written(value: Any) -> str:
    """Return a document with the value of a probe, as a model writes it."""
    return json.dumps({"v": value}, ensure_ascii=False)


def try_rule(engines: Engines, engine: str, schema: Any, valid: list[str], invalid: list[str]) -> Fact:
    """Return what an engine does with a schema."""
    answer = engines.ask(engine, schema, [*valid, *invalid])
    if answer.refused is not None:
        return Fact.REFUSED
    if not all(answer.accepts[: len(valid)]):
        return Fact.WRONG
    return Fact.IGNORED if any(answer.accepts[len(valid) :]) else Fact.ENFORCED


def facts(engines: Engines, engine: str) -> dict[str, Fact]:
    """Return what an engine does with each rule."""
    found = {
        name: try_rule(engines, engine, whole(probe), [*map(written, probe.valid)], [*map(written, probe.invalid)])
        for name, probe in PROBES.items()
    }
    return {**found, ROOT_PROBE: try_rule(engines, engine, ROOT_REFERENCE, ['{"v": [{"v": []}]}'], ['{"v": [1]}'])}
