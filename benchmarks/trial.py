"""One schema, one helper, one vendor: the laws of ``tests.schema.proof``, tried on what the helper makes of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from tests.schema.proof.laws import Subject, hold
from tests.schema.proof.texts import texts
from tests.schema.proof.verdict import Report

from benchmarks.helpers import OURS, helper
from benchmarks.nulls import Nulls
from benchmarks.reported import reported
from emitter.errors import Uncompilable
from emitter.schema import Compiled, compile_schema
from emitter.testing import vendor_rules
from emitter.testing.constrained_decoding import Sampler, find_compile_error, parse_document

if TYPE_CHECKING:
    from tests.schema.proof.corpora import Case

RULES = {
    "openai": vendor_rules.OPENAI.find_violations,
    "anthropic": vendor_rules.ANTHROPIC.find_violations,
    "google": vendor_rules.GOOGLE.find_violations,
}
"""What each vendor refuses in an output schema.

The proof holds ours to more (Anthropic's rules for tools, keywords that Google takes without effect), which no peer
promises and no vendor asks of this use: here it counts for nobody.
"""
DRAWN = 5
"""Documents drawn from the original schema, beside the instances that the corpus has."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came out: ``end`` is "compiled", "declined", "crashed" or "timeout"; a law that was not tried is None."""

    case: str
    vendor: str
    helper: str
    end: str
    reason: str = ""
    accepted: bool | None = None
    sound: bool | None = None
    unexcused: bool | None = None
    faithful: bool | None = None


def subject(case: Case) -> Subject | None:
    """Return the case for every helper, with instances drawn from its own schema; nothing where it cannot be judged."""
    found = Subject(case)
    if found.judge is None:
        return None
    drawn = [each for each in _drawn(case) if found.valid(each)]
    return Subject(replace(case, valid=[*case.valid, *drawn]))


def _drawn(case: Case) -> list[Any]:
    """Draw from the schema as its author means it: what it says nothing of is left out."""
    schema = _closed(json.loads(json.dumps(case.schema)))
    try:
        if find_compile_error(schema) is not None:
            return []
    except ValueError:
        return []  # nested deeper than the decoder reads at all
    sampler = Sampler(schema, texts(case))
    # chance that can be repeated
    documents = [sampler.draw(Random(f"{case.name} original {seed}")) for seed in range(DRAWN)]  # noqa: S311
    found = []
    for each in documents:
        try:
            found.extend([] if each is None else [parse_document(each)])
        except ValueError:
            continue
    return found


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: _closed(each) for name, each in schema.items()}
    speaks = {"additionalProperties", "unevaluatedProperties", "patternProperties"} & inner.keys()
    silent = isinstance(inner.get("properties"), dict) and not speaks
    return {**inner, "additionalProperties": False} if silent else inner


def tried(given: Subject, vendor: str, name: str, samples: int) -> Result:
    """Return how a helper does with a subject."""
    case = given.case
    try:
        compiled = compile_schema(case.schema, vendor) if name == OURS else _by_peer(case.schema, vendor, name)
    except Declined as error:
        return Result(case.name, vendor, name, "declined", str(error))
    except Uncompilable as error:
        return Result(case.name, vendor, name, "declined", error.reason)
    except Exception as error:  # noqa: BLE001  whatever a helper raises beside what it declares
        return Result(case.name, vendor, name, "crashed", f"{type(error).__name__}: {error}"[:160])
    if not compiled.enforced:
        return Result(case.name, vendor, name, "declined", "not enforced by the vendor")
    return _held(given, compiled, (vendor, name), samples)


class Declined(Exception):
    """A peer said that it has no form for the schema."""


def _by_peer(schema: Any, vendor: str, name: str) -> Compiled:
    made = helper(vendor, name)
    assert made is not None  # noqa: S101  only what is installed is asked
    try:
        wire = made(schema)
    except made.declines as error:
        raise Declined(f"{type(error).__name__}: {error}"[:160]) from error
    json.dumps(wire)
    try:
        nulls = Nulls(schema, wire)
    except Exception:  # noqa: BLE001  the peer's schema is none: the vendor's rules tell, and nothing can be drawn
        return Compiled(wire, (), _NO_SCHEMA, _NO_SCHEMA, lambda _: (), schema)
    return Compiled(wire, reported(schema, wire), nulls.encode, nulls.decode, lambda _: (), schema)


def _NO_SCHEMA(_: Any) -> Any:  # noqa: N802  a mark, compared by identity
    raise AssertionError


def _held(given: Subject, compiled: Compiled, who: tuple[str, str], samples: int) -> Result:
    known = (given.case.name, *who)
    refused = RULES[who[0]](json.loads(json.dumps(compiled.schema)))
    said = f"refused: {refused[0].rule} {refused[0].detail}".strip() if refused else ""
    if compiled.encode is _NO_SCHEMA:
        return Result(*known, "compiled", said or "the result is no schema", accepted=not refused)
    report = Report(given.case.name, who[0])
    try:
        hold(report, given, compiled, samples)
    except Exception as error:  # noqa: BLE001  the proof's tools have limits of their own, which are no helper's crash
        return Result(*known, "compiled", f"not tried: {type(error).__name__}: {error}"[:160], accepted=not refused)
    if report.red("total"):
        return Result(*known, "crashed", _first(report))
    spoken = report.counts["drawn"] - report.counts["unsaid"] > 0
    excused = report.counts["excused by place"] + report.counts["excused by keyword"]
    sound = not report.red("sound") if spoken else None
    return Result(
        *(*known, "compiled", said or _first(report)),
        accepted=not refused,
        sound=sound,
        unexcused=sound and not excused,
        faithful=not report.red("faithful") if any(valid for _, valid in given.instances) else None,
    )


def _first(report: Report) -> str:
    laws = ("total", "sound", "faithful")
    told_of = [f"{each.law}: {each.reason}" for law in laws for each in report.failures if each.law == law]
    return told_of[0][:160] if told_of else ""
