"""Oracle readings, the claims they support, and the refusals that replace unsupported claims.

A claim is supported if its records belong to readings that do not conflict and one verified reading states its value.
Refusals use constant sentences, so that they reveal nothing about oracles or thresholds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, assert_never, cast

from emitter.arguments import is_async
from emitter.authority.narrative.scanner import NarrativeRule, find_leaks, scan_narrative
from emitter.decisions.canonical_json import CanonicalProfile, digest_of, normalize_json
from emitter.errors import InputError
from emitter.messages import as_list
from emitter.models.authorization import (
    Action,
    Classification,
    GrammarMode,
    Measurement,
    NarrativePolicy,
    OracleConflict,
    OracleValue,
    OracleVerificationRecord,
    Refusal,
    RefusalCode,
    RefusalReason,
    Specificity,
    Tier,
)
from emitter.schema.json_data import canonical_key
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.messages import Json
    from emitter.models.authorization import DisputeSummary


@dataclass(frozen=True, slots=True)
class OracleReading:
    """An oracle's value on one ``axis``, with the record of asking it.

    ``value`` is JSON: a number can support a measurement, and a string or the strings of a list a classification.
    ``name`` is the oracle's name among people.

    Raises:
        InputError: A member is invalid, or the record's ``value_hash`` is not the digest of the value.
    """

    record: OracleVerificationRecord
    axis: str
    value: Json
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.record), OracleVerificationRecord):
            raise InputError(
                f"A reading's record must be an OracleVerificationRecord, not {type(self.record).__name__}.",
                hint=_RECORD_HINT,
            )
        for name in ("axis", "name"):
            value: object = getattr(self, name)
            if not (isinstance(value, str) and not is_blank(value)) and not (name == "name" and value is None):
                raise InputError(f"A reading's {name} must be a string that is not blank.")
        object.__setattr__(self, "value", normalize_json(self.value, CanonicalProfile.WIRE))
        value_hash = self.record.value_hash
        if value_hash is not None and value_hash != digest_of(self.value, CanonicalProfile.WIRE):
            raise InputError("A record's value_hash is not the digest of its reading's value.", hint=_VALUE_HASH_HINT)

    @property
    def value_key(self) -> str:
        """A key that is equal for values that are equal as JSON."""
        return canonical_key(self.value)

    @property
    def is_verified(self) -> bool:
        """True if the reading can support a claim. An oracle of tier ``unverified`` cannot."""
        return self.record.tier is not Tier.UNVERIFIED

    @property
    def number(self) -> float | None:
        """The value if it is a number, or None."""
        value: Any = self.value
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def labels(self) -> tuple[str, ...]:
        """The value if it is a string, or the strings in it if it is a list."""
        entries = [self.value] if isinstance(self.value, str) else as_list(self.value)
        return tuple(entry for entry in entries if isinstance(entry, str) and entry)


_RECORD_HINT = "Pass an OracleVerificationRecord."
_VALUE_HASH_HINT = "Leave it out, or use emitter.decisions.digest_of(value)."


def find_disputed_axes(readings: Iterable[OracleReading]) -> frozenset[str]:
    """Return the axes on which two readings disagree."""
    first_values: dict[str, str] = {}
    return frozenset(
        reading.axis
        for reading in readings
        if first_values.setdefault(reading.axis, reading.value_key) != reading.value_key
    )


def select_undisputed(readings: tuple[OracleReading, ...]) -> tuple[OracleReading, ...]:
    """Return the readings on axes without a disagreement."""
    disputed = find_disputed_axes(readings)
    return tuple(reading for reading in readings if reading.axis not in disputed)


def is_supported(claim: AuthoritativeClaim, readings: tuple[OracleReading, ...]) -> bool:
    """Return True if ``readings`` support a claim.

    Each of its records must belong to a reading on an undisputed axis, and one of these readings, above tier
    ``unverified``, must state the claim.
    """
    records = claim.provenance.oracle_records
    cited = [reading for reading in select_undisputed(readings) if reading.record in records]
    records_of_readings = [reading.record for reading in cited]
    return all(record in records_of_readings for record in records) and any(
        reading.is_verified and _states_claim(reading, claim) for reading in cited
    )


def make_conflict(axis: str, readings: tuple[OracleReading, ...]) -> OracleConflict:
    """Return the readings on an axis as a conflict to be escalated; the library never resolves one."""
    values = tuple(
        OracleValue(
            oracle_id=reading.record.oracle_id,
            tier=reading.record.tier,
            value=reading.value,
            verified_at=reading.record.verified_at,
        )
        for reading in readings
        if reading.axis == axis
    )
    return OracleConflict(axis=axis, oracles=values, resolution_attempted=False, escalation_required=True)


def is_genuine_dispute(dispute: DisputeSummary, readings: tuple[OracleReading, ...]) -> bool:
    """Return True if the readings disagree on exactly these axes with exactly these values."""
    disputed = find_disputed_axes(readings)
    return all(
        conflict.axis in disputed and _conflict_key(conflict) == _conflict_key(make_conflict(conflict.axis, readings))
        for conflict in dispute.sources
    )


def _conflict_key(conflict: OracleConflict) -> list[tuple[str, str, str, str]]:
    return sorted(
        (oracle.oracle_id, oracle.tier.value, oracle.verified_at, canonical_key(oracle.value))
        for oracle in conflict.oracles
    )


def _states_claim(reading: OracleReading, claim: AuthoritativeClaim) -> bool:
    match claim:
        case Measurement(value=value):
            return reading.value_key == canonical_key(value)
        case Classification(label=label):
            return label in reading.labels
        case Action():
            return True
        case _:
            assert_never(claim)


VerifyRecord: TypeAlias = Callable[[OracleVerificationRecord], bool]
"""Checks an oracle's record. Any result but ``True``, and any exception, rejects it."""
AuthoritativeClaim: TypeAlias = Measurement | Classification | Action
"""The kinds that have authority."""


@dataclass(frozen=True, slots=True, repr=False)
class UnverifiedClaim:
    """A claim of an ASYNC workflow whose oracles were not asked yet.

    It is not an envelope and cannot be handled, serialized or shown. ``verify`` turns it into one.
    """

    _claim: AuthoritativeClaim

    def verify(self, verify: VerifyRecord) -> AuthoritativeClaim | Refusal:
        """Return the claim if ``verify`` accepts every record, or a refusal otherwise."""
        return verify_claim(self._claim, verify)

    def __repr__(self) -> str:
        return f"Unverified({self._claim!r})"

    def __str__(self) -> NoReturn:
        raise TypeError(_UNVERIFIED_MESSAGE)

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError(_UNVERIFIED_MESSAGE)

    def unverified_envelope(self) -> AuthoritativeClaim:
        """Return the claim for storage. Do not show it: it is not verified."""
        return self._claim


_UNVERIFIED_MESSAGE = "This claim is not verified. Call its verify(...) to get an envelope."


def verify_claim(claim: AuthoritativeClaim, verify: VerifyRecord) -> AuthoritativeClaim | Refusal:
    """Return the claim if ``verify`` accepts every record, or a refusal otherwise."""
    if all(_is_record_valid(record, validate_verify(verify)) for record in claim.provenance.oracle_records):
        return claim
    return make_refusal(RefusalCode.UNRESOLVABLE, claim.provenance.envelope_id)


def validate_verify(verify: object) -> VerifyRecord:
    """Return a synchronous function, or raise ``InputError``."""
    if not callable(verify):
        raise InputError(f"verify must be a function of an oracle's record, not {type(verify).__name__}.")
    if is_async(verify):
        raise InputError("verify must not be async.", hint="Ask the oracles first, and let verify check their results.")
    return cast("VerifyRecord", verify)


def _is_record_valid(record: OracleVerificationRecord, verify: VerifyRecord) -> bool:
    try:
        return verify(record) is True
    except Exception:  # noqa: BLE001  user code: a failed check rejects the record
        return False


REFUSAL_MESSAGES: Final[Mapping[RefusalCode, str]] = MappingProxyType(
    {
        RefusalCode.BLOCKED: "This cannot be shown.",
        RefusalCode.UNRESOLVABLE: "This could not be verified, so it is not shown.",
        RefusalCode.POLICY_VIOLATION: "This may not be stated here.",
        RefusalCode.EMERGENCY_ESCALATION: "This needs a person at once.",
    }
)
_ASSERTION_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        NarrativeRule.MEASUREMENT.value: "no number with a unit: a refusal states nothing",
        NarrativeRule.CLASSIFICATION.value: "no verdict on what something is: a refusal states nothing",
        NarrativeRule.FORBIDDEN.value: "none of the words that must not be used",
    }
)


def make_refusal(code: RefusalCode, audit_id: str) -> Refusal:
    """Return the refusal for a code, identified by ``audit_id``."""
    return Refusal(reason=RefusalReason(code=code, user_message=REFUSAL_MESSAGES[code], audit_id=audit_id))


def find_refusal_violations(text: str, names: Iterable[str], markers: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the rules a refusal's text breaks, with what is expected: it has no oracle's name and no marker."""
    leaks = [(NarrativeRule(finding.rule).value, finding.expected) for finding in find_leaks(text, names)]
    broken_rules = {NarrativeRule(finding.rule).value for finding in scan_narrative(text, _refusal_policy(markers))}
    assertions = [(rule, expected) for rule, expected in _ASSERTION_RULES.items() if rule in broken_rules]
    return tuple(dict.fromkeys([*leaks, *assertions]))


def _refusal_policy(markers: tuple[str, ...]) -> NarrativePolicy:
    """Return the policy under which every assertion in a text counts as its own."""
    return NarrativePolicy(
        grammar_mode=GrammarMode.EDUCATIONAL,
        forbidden_markers=markers,
        max_specificity=Specificity.CONTEXTUALIZED,
        scrub_measurements=False,
    )
