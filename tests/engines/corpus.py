"""Compile a corpus for a profile, and ask the engines behind it about documents of the wire."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from emitter.errors import Uncompilable, Unencodable
from emitter.schema import LossReason, compile_schema
from emitter.schema.json_data import resolve_reference
from emitter.schema.wire_types import MAX_SAFE_INTEGER
from emitter.testing.constrained_decoding import Sampler, parse_document
from tests.engines.facts import Fact
from tests.engines.probes import PROBES, whole
from tests.schema.proof.judge import Judge, Unjudged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.schema import Compiled
    from tests.engines.client import Engines

Case = tuple[str, Any, list[Any], list[Any]]
"""A name, a schema, and documents of it that are valid, and that are not."""


@dataclass
class Tally:
    """What an engine says of a corpus that is compiled for a profile."""

    schemas: int = 0
    refused: list[str] = field(default_factory=list[str])
    valid: int = 0
    valid_refused: list[str] = field(default_factory=list[str])
    invalid_accepted: int = 0
    invalid_uncaught: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])


def probe_cases() -> Iterator[Case]:
    """Yield the probes as a corpus."""
    for name, probe in PROBES.items():
        yield name, whole(probe), [{"v": each} for each in probe.valid], [{"v": each} for each in probe.invalid]


def drawn_case(name: str, schema: Any, compiled: Compiled, draws: int) -> Case | None:
    """Return a schema with documents that a model could write, and what a second validator says of them."""
    try:
        judge, sampler = Judge(schema), Sampler(json.loads(json.dumps(compiled.schema)))
    except (Unjudged, ValueError):
        return None
    sides: dict[bool, list[Any]] = {True: [], False: []}
    for seed in range(draws):
        document = sampler.draw(Random(f"{name} {seed}"))  # noqa: S311  chance that can be repeated
        with suppress(ValueError, Unjudged):
            value = compiled.decode(None if document is None else parse_document(document))
            plain = json.loads(json.dumps(value))  # what could not be read is the text that it is
            json.dumps(plain, ensure_ascii=False).encode()  # no engine takes half a character
            sides[judge.valid(plain)].append(plain)
    return name, schema, sides[True], sides[False]


def compiled_for(schema: Any, profile: str) -> Compiled | None:
    """Return the compiled schema, or None where the engine has nothing to enforce."""
    with suppress(Uncompilable):
        compiled = compile_schema(schema, profile)
        return compiled if compiled.enforced else None
    return None


def try_case(engines: Engines, engine: str, case: Case, compiled: Compiled, tally: Tally) -> None:
    """Ask an engine about a compiled schema and its documents."""
    name, _, valid, invalid = case
    tally.schemas += 1
    wires = [_encoded(compiled, each) for each in valid]
    # A model may also write what the codec would not.
    wrong = [wire for each in invalid for wire in (_encoded(compiled, each), json.dumps(each)) if wire is not None]
    documents = [wire for wire in wires if wire is not None]
    answer = engines.ask(engine, compiled.schema, [*documents, *wrong])
    if answer.refused is not None:
        tally.refused.append(f"{name}: {answer.refused}")
        return
    tally.valid += len(documents)
    accepted = dict(zip([*documents, *wrong], answer.accepts, strict=True))
    tally.valid_refused += [f"{name}: {each}" for each in documents if not accepted[each]]
    let_through = [each for each in wrong if accepted[each] and each not in documents]
    tally.invalid_accepted += len(let_through)
    uncaught = [each for each in let_through if not compiled.validate(compiled.decode(json.loads(each)))]
    tally.invalid_uncaught += [f"{name}: {each}" for each in uncaught]


def _encoded(compiled: Compiled, value: Any) -> str | None:
    try:
        return json.dumps(compiled.encode(value), ensure_ascii=False)
    except Unencodable:
        return None


_NUMBER_RULES = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_OF_STRUCTURE = frozenset({"additionalProperties", "patternProperties", "propertyNames", "allOf", "anyOf", "oneOf"})
"""Keywords whose loss means another thing than their probe: of a union, that its branches may overlap."""
_LENGTHS = frozenset({"minLength", "maxLength"})


def rule_of(keyword: str, value: str, schema: Any) -> str:
    """Return the probe that a lost keyword of a schema is like, or an empty text."""
    if keyword in _NUMBER_RULES:
        is_exact = abs(json.loads(value)) <= MAX_SAFE_INTEGER
        return f"{keyword} of {'integers' if _types(schema) == {'integer'} else 'numbers'}" if is_exact else ""
    if keyword == "pattern":
        return next((name for name, probe in PROBES.items() if probe.schema.get("pattern") == json.loads(value)), "")
    if keyword in _LENGTHS and schema.keys() & {"pattern", "format"}:
        return f"{'pattern' if 'pattern' in schema else 'format'} with a length"
    if keyword == "format":
        return f"format {json.loads(value)}"
    return "" if keyword in _OF_STRUCTURE else keyword


def lost_though_enforced(
    name: str, schema: Any, compiled: Compiled, facts: list[dict[str, Fact]], most: int | None
) -> Iterator[str]:
    """Yield the keywords that the engines enforce, and that are not sent."""
    for loss in compiled.losses:
        if loss.why is not LossReason.UNSUPPORTED or loss.value.endswith("…"):
            continue
        rule = rule_of(loss.keyword, loss.value, _schema_at(schema, loss.pointer))
        if rule not in PROBES or not all(each.get(rule) == Fact.ENFORCED for each in facts):
            continue
        is_count = loss.keyword in {"minItems", "maxItems", "minLength", "maxLength"}
        if is_count and most is not None and json.loads(loss.value) > most:
            continue
        yield f"{name}: {loss}"


def _schema_at(schema: Any, pointer: str) -> dict[str, Any]:
    found = resolve_reference(schema, f"#{quote(pointer)}")
    return found if isinstance(found, dict) else {}


def _types(schema: dict[str, Any]) -> set[str]:
    kind = schema.get("type")
    return {*(kind if isinstance(kind, list) else [kind])} - {"null"}
