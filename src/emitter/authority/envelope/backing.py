"""Whether a claim, or a dispute, is what the oracles said: record for record, value for value."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from emitter.authority.envelope.reading import agreed, disputed
from emitter.kinds.authorization import Action, Classification, Measurement, OracleConflict, OracleValue
from emitter.schema.value import same

if TYPE_CHECKING:
    from emitter.authority.envelope.reading import OracleReading
    from emitter.authority.envelope.verifying import Claim
    from emitter.kinds.authorization import DisputeSummary


def is_backed(claim: Claim, readings: tuple[OracleReading, ...]) -> bool:
    """Tell whether ``readings`` vouch for a claim.

    Each of its records must be that of a reading, on an axis on which no other reading disagrees; and one of these
    readings, of a tier above ``unverified``, must say what is claimed.
    """
    records = claim.provenance.oracle_records
    cited = [each for each in agreed(readings) if each.record in records]
    known = [each.record for each in cited]
    return all(each in known for each in records) and any(each.verified and _says(each, claim) for each in cited)


def conflict(axis: str, readings: tuple[OracleReading, ...]) -> OracleConflict:
    """Return what the oracles say on an axis. Nothing here decides between them, so somebody has to."""
    values = tuple(
        OracleValue(
            oracle_id=each.record.oracle_id,
            tier=each.record.tier,
            value=each.value,
            verified_at=each.record.verified_at,
        )
        for each in readings
        if each.axis == axis
    )
    return OracleConflict(axis=axis, oracles=values, resolution_attempted=False, escalation_required=True)


def is_disputed(dispute: DisputeSummary, readings: tuple[OracleReading, ...]) -> bool:
    """Tell whether the oracles disagree as a dispute says: on these axes, with these values, no more and no less."""
    between = disputed(readings)
    return all(
        each.axis in between and _sides(each) == _sides(conflict(each.axis, readings)) for each in dispute.sources
    )


def _sides(told: OracleConflict) -> list[tuple[str, str, str, str]]:
    return sorted((each.oracle_id, each.tier.value, each.verified_at, same(each.value)) for each in told.oracles)


def _says(reading: OracleReading, claim: Claim) -> bool:
    match claim:
        case Measurement(value=value):
            return reading.key == same(value)
        case Classification(label=label):
            return label in reading.labels
        case Action():
            return True
        case _:
            assert_never(claim)
