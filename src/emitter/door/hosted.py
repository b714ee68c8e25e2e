"""What a host adds to the reading of an answer: the rules of its kind, and silence about its secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from emitter.schema import Violation
from emitter.schema.findings import Reading
from emitter.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.accept import Kind
    from emitter.door.settings import Settings
    from emitter.judge import Read
    from emitter.redact import Secrets
    from emitter.wire import Answer, Json


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
        return replace(found, violations=tuple(_struck(each, rules.secrets) for each in found.violations))

    return reading


def _held(kind: Kind, document: Json, found: Reading[Any]) -> Reading[Any]:
    violations = kind.violations(document)
    return Reading(violations=violations) if violations else found


def _struck(violation: Violation, secrets: Secrets) -> Violation:
    if not secrets:
        return violation
    said = (violation.pointer, violation.rule, violation.expected)
    return Violation(*(secrets.text(each).value for each in said))


def hushing(secrets: Secrets) -> Callable[[Answer], Answer]:
    """Return what strikes secrets out of the vendor's own words for an answer: all of it that is ever told."""
    if not secrets:
        return lambda answer: answer

    def clean(said: str | None) -> str | None:
        return None if said is None else secrets.text(said).value

    def hush(answer: Answer) -> Answer:
        asked = clean(answer.request_id) if isinstance(answer, Reply) else None
        if isinstance(answer, Reply):
            stop = clean(answer.raw_stop) or ""
            return replace(answer, raw_stop=stop, refused_as=clean(answer.refused_as), request_id=asked)
        return replace(answer, message=clean(answer.message) or "", code=clean(answer.code))

    return hush
