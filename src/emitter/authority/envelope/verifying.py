"""Asking again whether the oracles' records hold: at once, or later.

Ours: the Authority Latency Policy that INLINE and ASYNC refer to could not be read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import NoReturn, TypeAlias, cast

from emitter.authority.envelope.refusing import refusal
from emitter.errors import InputError
from emitter.kinds.authorization import (
    Action,
    Classification,
    Measurement,
    OracleVerificationRecord,
    Refusal,
    RefusalCode,
)

Verify: TypeAlias = Callable[[OracleVerificationRecord], bool]
"""Whether an oracle's record holds. Anything but ``True`` is a no, and so is whatever it raises."""

Claim: TypeAlias = Measurement | Classification | Action
"""The kinds that have authority."""


@dataclass(frozen=True, slots=True, repr=False)
class Unverified:
    """A claim that an ASYNC workflow handed out before its oracles were asked. It is no envelope.

    Nothing handles, writes or shows it; ``settle`` makes an envelope of it.
    """

    _claim: Claim

    def settle(self, verify: Verify) -> Claim | Refusal:
        """Return the claim if every oracle's record holds, and a refusal otherwise."""
        return verified(self._claim, verify)

    def __repr__(self) -> str:
        return f"Unverified({self._claim!r})"

    def __str__(self) -> NoReturn:
        raise TypeError(_UNSETTLED)

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError(_UNSETTLED)

    def for_the_record(self) -> Claim:
        """Return what is claimed, to be written down; nobody verified it, so nothing may show it."""
        return self._claim


_UNSETTLED = "Nobody has verified this claim: settle(verify) makes an envelope of it."


def verified(claim: Claim, verify: Verify) -> Claim | Refusal:
    """Return the claim if every oracle's record holds, and a refusal otherwise."""
    if all(_holds(each, checked(verify)) for each in claim.provenance.oracle_records):
        return claim
    return refusal(RefusalCode.UNRESOLVABLE, claim.provenance.envelope_id)


def checked(verify: object) -> Verify:
    """Return the function; raises ``InputError`` for what cannot be called and answer at once."""
    if not callable(verify):
        raise InputError(f"verify is of type {type(verify).__name__}, not a function of an oracle's record.")
    if iscoroutinefunction(verify):
        raise InputError("verify is async.", hint="Ask the oracles first, and let verify look at what they said.")
    return cast("Verify", verify)


def _holds(record: OracleVerificationRecord, verify: Verify) -> bool:
    try:
        return verify(record) is True
    except Exception:  # noqa: BLE001  code of the caller's own: what cannot be verified has no authority
        return False
