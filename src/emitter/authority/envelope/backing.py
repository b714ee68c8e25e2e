"""Whether a claim is what the oracles said: record for record, value for value."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from emitter.authority.envelope.reading import agreed
from emitter.kinds.authorization import Action, Classification, Measurement
from emitter.schema.value import same

if TYPE_CHECKING:
    from emitter.authority.envelope.reading import OracleReading
    from emitter.authority.envelope.verifying import Claim


def is_backed(claim: Claim, readings: tuple[OracleReading, ...]) -> bool:
    """Tell whether ``readings`` vouch for a claim.

    Each of its records must be that of a reading, on an axis on which no other reading disagrees; and one of these
    readings, of a tier above ``unverified``, must say what is claimed.
    """
    records = claim.provenance.oracle_records
    cited = [each for each in agreed(readings) if each.record in records]
    known = [each.record for each in cited]
    return all(each in known for each in records) and any(each.verified and _says(each, claim) for each in cited)


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
