"""What the discipline finds, and how severe each of its rules is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Severity(str, Enum):
    """What a rule's finding does: nothing, it is told, or the envelope is refused."""

    OFF = "off"
    WARN = "warn"
    ERROR = "error"


class Rule(str, Enum):
    """The rules, by id."""

    SLOT_BLANK = "slot-blank"
    SYNOPSIS_DEFERS = "synopsis-defers"
    SYNOPSIS_SENTENCE = "synopsis-sentence"
    SYNOPSIS_OPEN = "synopsis-open"
    SYNOPSIS_MODAL = "synopsis-modal"
    FINDINGS_COUNT = "findings-count"
    FINDING_RESTATES = "finding-restates"
    FINDING_REPEATS = "finding-repeats"
    RECOMMENDATIONS_COUNT = "recommendations-count"
    RECOMMENDATION_CONSIDERATION = "recommendation-consideration"
    STEM_SENTENCE = "stem-sentence"
    STEM_LEADS = "stem-leads"
    STEM_EMBEDS = "stem-embeds"
    STEM_YES_NO = "stem-yes-no"
    OPTION_HATCH = "option-hatch"
    OPTION_TWIN = "option-twin"
    ONE_LINE = "one-line"
    LOSS_ONE_SIDED = "loss-one-sided"
    NOTE_RITUAL = "note-ritual"


_WARNS = frozenset(
    {
        Rule.SYNOPSIS_OPEN,
        Rule.SYNOPSIS_MODAL,
        Rule.FINDINGS_COUNT,
        Rule.FINDING_RESTATES,
        Rule.FINDING_REPEATS,
        Rule.RECOMMENDATIONS_COUNT,
        Rule.STEM_YES_NO,
        Rule.ONE_LINE,
        Rule.LOSS_ONE_SIDED,
        Rule.NOTE_RITUAL,
    }
)

DEFAULTS: Mapping[Rule, Severity] = MappingProxyType(
    {rule: Severity.WARN if rule in _WARNS else Severity.ERROR for rule in Rule}
)
"""What the draft calls malformed is an error; what it recommends, and what is only a sign, is a warning."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule: where, which, how severe, and what the draft expects there.

    ``slot`` is a JSON pointer into the envelope, ``section`` the draft's, ``expected`` a sentence of ours without a
    word of the envelope.
    """

    slot: str
    rule: Rule
    severity: Severity
    section: str
    expected: str


@dataclass(frozen=True, slots=True)
class Discipline:
    """How severe each rule is; a rule that is not named is as ``DEFAULTS`` has it."""

    changed: Mapping[Rule, Severity] = field(default_factory=dict[Rule, Severity])

    @classmethod
    def of(cls, changed: Mapping[str, str]) -> Discipline:
        """Return the defaults with some rules changed: ``{"synopsis-defers": "warn"}``; raises ``InputError``."""
        try:
            return cls(MappingProxyType({Rule(rule): Severity(severity) for rule, severity in changed.items()}))
        except ValueError as error:
            known = ", ".join(each.value for each in Rule)
            raise InputError(f"{error}.", hint=f"The rules are {known}; each is off, warn or error.") from error

    def severity(self, rule: Rule) -> Severity:
        """Return how severe a rule is."""
        return self.changed.get(rule, DEFAULTS[rule])


DEFAULT_DISCIPLINE = Discipline()
