"""What a host adds to the reading of an answer: the rules of its kind, and silence about its secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.schema import Violation
from emitter.schema.findings import Reading

if TYPE_CHECKING:
    from emitter.accept import Kind
    from emitter.door.settings import Settings
    from emitter.judge import Read
    from emitter.redact import Secrets
    from emitter.wire import Json


def hosted(read: Read, settings: Settings) -> Read:
    """Return ``read`` as the host would have it: what its kind refuses, the model may mend before it is refused.

    A check of the caller's own may quote the answer; a secret in what it says goes no further.
    """
    rules = settings.host.rules
    kind = None if settings.kind is None else rules.catalogue.get(settings.kind)
    if kind is None and not rules.secrets:
        return read

    def reading(document: Json) -> Reading[Any]:
        found = read(document)
        if kind is not None and not found.violations and found.raised is None:
            found = _held(kind, document, found)
        violations, remarks = (_all_struck(each, rules.secrets) for each in (found.violations, found.remarks))
        return replace(found, violations=violations, remarks=remarks)

    return reading


def _held(kind: Kind, document: Json, found: Reading[Any]) -> Reading[Any]:
    violations = kind.violations(document)
    return Reading(violations=violations) if violations else found


def _all_struck(violations: tuple[Violation, ...], secrets: Secrets) -> tuple[Violation, ...]:
    return tuple(_struck(each, secrets) for each in violations)


def _struck(violation: Violation, secrets: Secrets) -> Violation:
    if not secrets:
        return violation
    said = (violation.pointer, violation.rule, violation.expected)
    return Violation(*(secrets.text(each).value for each in said))
