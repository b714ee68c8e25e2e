"""Kind: whether the host knows it, in this version. Payload: whether it holds to the kind's schema.

Source: ai-envelope.md, "Schema version advertisement" and "Validation outcomes"; RFC 0102 for ``catalogVersion``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from emitter.accept.context import Strictness
from emitter.accept.outcome import Code, Gated, Invalid
from emitter.schema import Violation

if TYPE_CHECKING:
    from emitter.accept.case import Case
    from emitter.accept.outcome import Outcome

_UNLISTED = "the payload does not hold to a schema whose version the host does not advertise"


def kind(case: Case) -> Case | Outcome:
    """Return the case where its kind and version are known; an older version is drift."""
    known = case.rules.catalogue.get(case.envelope.type)
    if known is None:
        reason = f"{Code.KIND.value}: the host takes {', '.join(case.rules.catalogue.ids)}"
        return Gated(Code.KIND, reason, case.envelope.type, case.rules.catalogue.ids)
    emitted, advertised = case.envelope.schema_version, known.version
    if advertised is None or emitted == advertised:
        return case
    if emitted > advertised or case.rules.strictness is Strictness.STRICT:
        pinned = Violation("/schemaVersion", "version", f"version {advertised}, which is the one advertised")
        return _unknown_version(pinned)
    return replace(case, drift=advertised)


def payload(case: Case) -> Case | Outcome:
    """Return the case where its payload holds; where no version is advertised, a host that is not strict only warns."""
    known, given = case.rules.catalogue[case.envelope.type], case.envelope.payload
    pinned = known.unknown_version(given)
    if pinned is not None:
        return _unknown_version(_placed(pinned))
    violations = known.violations(given)
    if not violations:
        advice = known.warnings(given)
        return replace(case, warnings=(*case.warnings, *(str(_placed(each)) for each in advice))) if advice else case
    if known.version is None and case.rules.strictness is Strictness.WARN:
        return replace(case, warnings=(*case.warnings, _UNLISTED))
    placed = tuple(map(_placed, violations))
    return Invalid(Code.PAYLOAD, f"{Code.PAYLOAD.value}: {placed[0]}", placed)


def _placed(violation: Violation) -> Violation:
    """Return a payload's violation with its place in the envelope."""
    return Violation(f"/payload{violation.pointer}", violation.rule, violation.expected)


def _unknown_version(found: Violation) -> Invalid:
    return Invalid(Code.SCHEMA_VERSION, f"{Code.SCHEMA_VERSION.value}: {found}", (found,))
