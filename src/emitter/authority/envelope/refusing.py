"""Refusals: constant sentences of this library's, in which nothing can be probed for, and what one of others may say.

That a refusal pronounces no verdict and has none of the policy's forbidden markers is ours: else it would be the way
around a narrative's rules. What it asks its user to do, it may say.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative import Rule, leaks, scan
from emitter.kinds.authorization import (
    GrammarMode,
    NarrativePolicy,
    Refusal,
    RefusalCode,
    RefusalReason,
    Specificity,
)

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

_STATES_NOTHING: Final[Mapping[str, str]] = MappingProxyType(
    {
        Rule.MEASUREMENT.value: "no number with a unit: a refusal states nothing",
        Rule.CLASSIFICATION.value: "no verdict on what something is: a refusal states nothing",
        Rule.FORBIDDEN.value: "none of the words that must not be used",
    }
)


def refusal(code: RefusalCode, audit_id: str) -> Refusal:
    """Return the refusal for a code, to be looked up by ``audit_id``."""
    return Refusal(reason=RefusalReason(code=code, user_message=MESSAGES[code], audit_id=audit_id))


def told(text: str, names: Iterable[str], markers: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return what a refusal tells that no user may be told: each rule with what is expected instead.

    ``names`` are the ids and names of the oracles in play, ``markers`` the words that the policy forbids.
    """
    leaked = [(Rule(each.rule).value, each.expected) for each in leaks(text, names)]
    broken = {Rule(each.rule).value for each in scan(text, _policy(markers))}
    stated = [(rule, expected) for rule, expected in _STATES_NOTHING.items() if rule in broken]
    return tuple(dict.fromkeys([*leaked, *stated]))


def _policy(markers: tuple[str, ...]) -> NarrativePolicy:
    """Return a policy under which a text says in its own name what it says."""
    return NarrativePolicy(
        grammar_mode=GrammarMode.EDUCATIONAL,
        forbidden_markers=markers,
        max_specificity=Specificity.CONTEXTUALIZED,
        scrub_measurements=False,
    )
