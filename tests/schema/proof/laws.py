"""The laws of the compiler, tried on one schema and one profile.

The compiler is called and its result is used as any caller would; nothing here knows how it works.
"""

from __future__ import annotations

import json
import re
import time
import traceback
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from emitter.errors import Uncompilable, Unencodable
from emitter.profiles import load_profile
from emitter.schema import Tier1Mode, VariantEdition, compile_schema, lint_tier1, lint_variants
from emitter.schema.codecs import Undecoded
from emitter.testing.constrained_decoding import Sampler, find_compile_error, parse_document
from tests.schema.proof.exceptions import DIFFERENT_VALIDATORS, own_refusal
from tests.schema.proof.excuses import Losses
from tests.schema.proof.judge import Judge, Unjudged
from tests.schema.proof.request import missing
from tests.schema.proof.sizes import excess
from tests.schema.proof.texts import texts
from tests.schema.proof.verdict import Report, differing
from tests.testing.schema_rules.test_compiled import checkers as vendor_checkers

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.schema import Compiled
    from tests.schema.proof.corpora import Case

SAMPLES = 5

MAX_GROWTH, SPARE = 2, 4_000
"""What a schema may grow to when it is cut down: so many times its size, and so many bytes for the forms' own words."""


def _tier1(schema: Any) -> list[Any]:
    return [
        *lint_tier1(schema, Tier1Mode.STRICT),
        *(each for each in lint_variants(schema, VariantEdition.V2) if not _named(each)),
    ]


def _named(found: Any) -> bool:
    """Tell whether a forbidden keyword is the name of a property: the check looks at every JSON position."""
    return found.rule == "oneOf-forbidden" and found.pointer.endswith("/properties")


def checkers(profile: str) -> tuple[Callable[[Any], list[Any]], ...]:
    """Return the rule checkers that a profile's wire schemas must pass."""
    return (_tier1,) if profile == "tier1" else vendor_checkers(profile)


@dataclass
class Subject:
    """A case with its judge, and what the judge says of its instances: worked out once for all profiles."""

    case: Case
    unjudged: str = field(default="", init=False)

    @cached_property
    def judge(self) -> Judge | None:
        """The judge, where there can be one."""
        try:
            return Judge(self.case.schema, self.case.draft)
        except Unjudged as error:
            self.unjudged = str(error)
            return None

    @cached_property
    def instances(self) -> list[tuple[Any, bool]]:
        """The case's instances, each with the judge's own verdict."""
        return [
            (each, said) for each in (*self.case.valid, *self.case.invalid) if (said := self.valid(each)) is not None
        ]

    def valid(self, instance: Any) -> bool | None:
        """Tell what the judge says of an instance, if it says anything."""
        try:
            return None if self.judge is None else self.judge.valid(instance)
        except Unjudged as error:
            self.unjudged = str(error)
            return None


def prove(subject: Subject, profile: str, samples: int = SAMPLES) -> Report:
    """Compile the subject's schema for a profile, and try every law."""
    report = Report(subject.case.name, profile)
    started = time.perf_counter()
    try:
        compiled = compile_schema(subject.case.schema, profile)
    except Uncompilable as error:
        report.refused, report.pointer = error.reason, error.pointer
    except BaseException as error:  # noqa: BLE001  a panic of compiled code is no Exception, and a crash all the same
        _crashed(report, "compile", error)
    report.seconds = time.perf_counter() - started
    if report.refused is None and not report.failures:
        hold(report, subject, compiled, samples)
    return report


def hold(report: Report, subject: Subject, compiled: Compiled, samples: int = SAMPLES) -> None:
    """Try every law on a compiled schema."""
    report.enforced = compiled.enforced
    report.size, given = _size(compiled.schema), _size(subject.case.schema)
    report.growth, report.degraded = report.size / given, bool(compiled.degraded)
    trial = _Trial(report, subject, compiled)
    for law in (trial.accepted, trial.decodable) if compiled.enforced else ():
        law()
    trial.reported()
    trial.grown(given)
    if compiled.enforced and not report.red("decodable"):
        trial.sound(samples)
    for instance, valid in subject.instances:
        trial.checked(instance, valid=valid)
        if valid:
            trial.faithful(instance)
    report.counts["unjudged"] += bool(subject.unjudged)


def _size(schema: Any) -> int:
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())


class _Trial:
    def __init__(self, report: Report, subject: Subject, compiled: Compiled) -> None:
        self._report = report
        self._subject = subject
        self._compiled = compiled
        self._losses = Losses(compiled.losses)
        self._wire = json.loads(json.dumps(compiled.schema))

    @cached_property
    def _wire_validator(self) -> Any:
        try:
            return jsonschema_rs.validator_for(self._wire, validate_formats=True)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            self._report.fail("accepted", "the wire schema is no schema", error)
            return None

    def accepted(self) -> None:
        """Hold the wire schema to the vendor's published rules, and to the limits of its profile."""
        for found in excess(self._wire, load_profile(self._report.profile).subset.limits):
            self._report.fail("accepted", f"over the limit: {found.split()[0]}", found)
        for found in (each for broken in checkers(self._report.profile) for each in broken(self._wire)):
            self._report.fail("accepted", found.rule, found)

    def reported(self) -> None:
        """Hold the request to every name and value that the schema speaks of; what is cut down is a loss besides."""
        absent = missing(self._subject.case.schema, self._compiled)
        self._report.counts["missing"] += len(absent)
        for each in absent[:1]:
            self._report.fail("reported", "a name is not in the request", each)
        if not self._report.degraded and self._without_degrading():
            self._report.fail("reported", "what was cut down is no loss")

    def _without_degrading(self) -> bool:
        """Tell whether the schema is too large for the vendor."""
        try:
            compile_schema(self._subject.case.schema, self._report.profile, degrade=False)
        except Uncompilable as error:
            return "too large" in error.reason
        return False

    def grown(self, given: int) -> None:
        """Hold a schema that was cut down to a size that the caller can foresee."""
        most = MAX_GROWTH * given + SPARE
        if self._report.degraded and self._report.size > most:
            self._report.fail("grown", "a schema that was cut down grew", f"{given} to {self._report.size} bytes")

    def decodable(self) -> None:
        """Hold it to what a real constrained decoder takes, or refuses for a reason that is known by name."""
        complaint = find_compile_error(self._wire)
        if complaint is not None and own_refusal(complaint):
            self._report.counts["undecodable by name"] += 1
        elif complaint is not None:
            self._report.fail("decodable", complaint[:100])

    def sound(self, samples: int) -> None:
        """Hold what a model can write to the original schema, once it is decoded, but for the losses."""
        if self._report.counts["undecodable by name"] or self._subject.judge is None:
            return
        sampler = Sampler(self._wire, texts(self._subject.case))
        for seed in range(samples):
            document = sampler.draw(Random(f"{self._report.case} {seed}"))  # noqa: S311  chance that can be repeated
            self._report.counts["drawn"] += 1
            try:
                wire = None if document is None else parse_document(document)
            except ValueError:
                document = None
            if document is None:
                self._report.counts["unsaid"] += 1
            elif (decoded := self._called("decode", self._compiled.decode, wire)) is not _CRASHED:
                self._decoded(document, decoded)

    def _decoded(self, document: bytes, decoded: Any) -> None:
        assert self._subject.judge is not None
        try:
            faults = self._subject.judge.faults(decoded)
        except Unjudged as error:
            self._subject.unjudged = str(error)
            return
        # What could not be read is no instance, and the second validator cannot know what stands in its place.
        for fault in () if _unread(decoded) else faults:
            excuse = self._losses.excuse(fault)
            if excuse is None:
                self._report.fail("sound", fault.steps[0].keyword, f"{fault} | {document!r} | {decoded!r}")
            else:
                self._report.counts[f"excused by {excuse.value}"] += 1
        valid = not faults and not _unread(decoded)
        self.checked(decoded, valid=valid)
        if valid:
            self.faithful(decoded)

    def faithful(self, instance: Any) -> None:
        """Hold a valid instance to having a document of the wire schema, and to coming back from it."""
        self._report.counts["instances"] += 1
        given = deepcopy(instance)
        try:
            wire = self._compiled.encode(given)
        except Unencodable as error:
            self._report.fail("faithful", f"unencodable: {error.reason}", f"{error} | {instance!r}")
            return
        except BaseException as error:  # noqa: BLE001  see prove
            _crashed(self._report, "encode", error)
            return
        decoded = self._called("decode", self._compiled.decode, wire)
        reason = self._unlike(instance, given, wire, decoded)
        if reason:
            place = differing(instance, decoded) or ""
            self._report.fail("faithful", reason, f"{place} {instance!r} -> {wire!r} -> {decoded!r}")
        else:
            self._report.counts["faithful"] += 1

    def _unlike(self, instance: Any, given: Any, wire: Any, decoded: Any) -> str:
        outside = (
            self._compiled.enforced and self._wire_validator and next(self._wire_validator.iter_errors(wire), None)
        )
        if outside:
            return f"encoded outside the wire schema: {outside.kind.name}"
        if differing(instance, decoded) or _unread(decoded):
            return "another value came back"
        return "" if json.dumps(given) == json.dumps(instance) else "encode changed its argument"

    def checked(self, instance: Any, *, valid: bool) -> None:
        """Hold the local check to what the judge says."""
        found = self._called("validate", self._compiled.validate, instance)
        if found is _CRASHED or (not found) == valid:
            return
        rules = {each.rule for each in found} or {each.steps[0].keyword for each in self._faults(instance)}
        openapi = rules <= {"type"} and '"nullable": true' in json.dumps(self._subject.case.schema)
        if openapi or rules <= DIFFERENT_VALIDATORS.keys():
            self._report.counts["validators differ by name"] += 1
        else:
            verdict = "finds a fault in a valid instance" if valid else "finds no fault in an invalid instance"
            self._report.fail("checked", f"{verdict}: {', '.join(sorted(rules))}", repr(instance))

    def _faults(self, instance: Any) -> list[Any]:
        return [] if self._subject.judge is None else self._subject.judge.faults(instance)

    def _called(self, name: str, function: Callable[[Any], Any], argument: Any) -> Any:
        try:
            return function(argument)
        except BaseException as error:  # noqa: BLE001  see prove
            _crashed(self._report, name, error)
            return _CRASHED


def _unread(value: Any) -> bool:
    """Tell whether a value holds what could not be read, which is an instance of no schema."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, Undecoded) or any(map(_unread, inside))


_CRASHED = object()


def _crashed(report: Report, part: str, error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt | SystemExit):
        raise error
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    first = re.sub(r"'[^']*'", "…", str(error).split("\n", 1)[0])[:100]  # without what is this schema's own
    report.fail("total", f"{part}: {type(error).__name__} at {place}: {first}", error)
