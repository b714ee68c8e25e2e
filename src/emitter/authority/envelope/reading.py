"""What oracles said, as the host got it: the only thing that a claim can rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from emitter.decide.blank import is_blank
from emitter.decide.canonical import Profile, conform
from emitter.decide.digest import digest_of
from emitter.errors import InputError
from emitter.kinds.authorization import OracleVerificationRecord, Tier
from emitter.schema.value import same
from emitter.wire import sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class OracleReading:
    """What an oracle said on one ``axis``, and the record that it was asked.

    ``value`` is JSON: a number can be stated as a measurement, a text, or each text of a list, as a classification.
    ``name`` is what people call the oracle. Raises ``InputError`` for what is none, and where the record's
    ``value_hash`` is not the digest of the value.
    """

    record: OracleVerificationRecord
    axis: str
    value: Json
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.record), OracleVerificationRecord):
            raise InputError(f"A reading's record is of type {type(self.record).__name__}.", hint=_RECORD)
        for name in ("axis", "name"):
            given: object = getattr(self, name)
            if not (isinstance(given, str) and not is_blank(given)) and not (name == "name" and given is None):
                raise InputError(f"A reading's {name} must be a text in which something can be seen.")
        object.__setattr__(self, "value", conform(self.value, Profile.WIRE))
        hashed = self.record.value_hash
        if hashed is not None and hashed != digest_of(self.value, Profile.WIRE):
            raise InputError("A record's value_hash is not the digest of its reading's value.", hint=_HASH)

    @property
    def key(self) -> str:
        """What is equal for values that are equal as JSON."""
        return same(self.value)

    @property
    def verified(self) -> bool:
        """Whether it can carry a claim by itself; an oracle of tier ``unverified`` cannot."""
        return self.record.tier is not Tier.UNVERIFIED

    @property
    def number(self) -> float | None:
        """The value, where it is a number."""
        value: Any = self.value
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def labels(self) -> tuple[str, ...]:
        """The texts that the value is, or that are in it where it is a list."""
        entries = [self.value] if isinstance(self.value, str) else sequence(self.value)
        return tuple(each for each in entries if isinstance(each, str) and each)


_RECORD = "Pass an OracleVerificationRecord."
_HASH = "Leave it out, or write emitter.decide.digest_of(value, Profile.WIRE)."


def disputed(readings: Iterable[OracleReading]) -> frozenset[str]:
    """Return the axes on which two readings disagree."""
    said: dict[str, str] = {}
    return frozenset(each.axis for each in readings if said.setdefault(each.axis, each.key) != each.key)


def agreed(readings: tuple[OracleReading, ...]) -> tuple[OracleReading, ...]:
    """Return the readings on the axes on which none disagrees with another."""
    between = disputed(readings)
    return tuple(each for each in readings if each.axis not in between)
