"""What the content discipline, the handshake and the actions say of an answer: what forbids it, what is only told.

Source: draft-morrison-binding-moment-envelope-00, sections 5, 6 and 11.3; what actions ask for is ours. Nothing here
is a word of the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.handshake import violations_after
from emitter.decide.lint import Severity, lint
from emitter.moment.acting import unkept
from emitter.moment.after import vetoes
from emitter.schema import Violation
from emitter.schema.findings import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.decide.handshake import Broken
    from emitter.decide.lint import Finding
    from emitter.kinds import BindingMoment
    from emitter.kinds.turn import Outcome
    from emitter.moment.terms import Terms

HATCH_SUPPRESSED = "hatch-suppressed"
"""What is told whenever an envelope has a closed hatch; no discipline switches it off."""

_TURN = "/turn"
_META = "/meta"
_OPEN = "open, unless the revision is genuinely inapplicable (section 5.8)"


def held(moment: BindingMoment, terms: Terms) -> Reading[Outcome]:
    """Return the envelope with what is to be told of it, or what forbids it."""
    found = lint(moment, terms.discipline)
    broken = violations_after(vetoes(terms.after), moment)
    errors = [each for each in found if each.severity is Severity.ERROR]
    violations = (*unkept(terms.actions, moment), *map(_violation, broken), *map(_violation, errors))
    if violations:
        return Reading(violations=violations)
    return Reading(moment, remarks=(*map(_remark, found), *_suppressed(moment)))


def _violation(found: Finding | Broken) -> Violation:
    """Return it at the place where the model wrote it, whose form has no ``meta``."""
    return _at(f"{_TURN}{found.slot.removeprefix(_META)}", found)


def _remark(found: Finding) -> Violation:
    return _at(found.slot, found)


def _at(pointer: str, found: Finding | Broken) -> Violation:
    return Violation(pointer, found.rule.value, f"{found.expected} (section {found.section})")


def _suppressed(moment: BindingMoment) -> Iterator[Violation]:
    for name, is_open in moment.question.hatches.model_dump().items():
        if not is_open:
            yield Violation(f"/question/hatches/{name}", HATCH_SUPPRESSED, _OPEN)
