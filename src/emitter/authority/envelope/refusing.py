"""Refusals that this library makes: constant sentences, in which nothing can be probed for."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative import Rule, leaks, scrub
from emitter.kinds.authorization import Refusal, RefusalCode, RefusalReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MESSAGES: Final[Mapping[RefusalCode, str]] = MappingProxyType(
    {
        RefusalCode.BLOCKED: "This cannot be shown.",
        RefusalCode.UNRESOLVABLE: "This could not be verified, so it is not shown.",
        RefusalCode.POLICY_VIOLATION: "This may not be stated here.",
        RefusalCode.EMERGENCY_ESCALATION: "This needs a person at once.",
    }
)

_MEASURED: Final = (Rule.MEASUREMENT.value, "no number with a unit: a refusal states nothing")


def refusal(code: RefusalCode, audit_id: str) -> Refusal:
    """Return the refusal for a code, to be looked up by ``audit_id``."""
    return Refusal(reason=RefusalReason(code=code, user_message=MESSAGES[code], audit_id=audit_id))


def told(text: str, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return what a refusal tells that no user may be told: each rule with what is expected instead.

    ``names`` are the ids and names of the oracles in play. A number with a unit is a claim, and a refusal makes none.
    """
    found = [(Rule(each.rule).value, each.expected) for each in leaks(text, names)]
    return tuple(dict.fromkeys([*found, *([_MEASURED] if scrub(text) != text else [])]))
