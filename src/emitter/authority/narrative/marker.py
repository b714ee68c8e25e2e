"""What a scan finds, by which rule, and the policy that it holds a text to.

Source: RFC-0010, NarrativePolicy. The RFC names "forbidden markers (soft authority)" and defines them elsewhere, in
Normative Definitions that could not be found; RFC-0011 gives three kinds: measurements, classifications, imperatives.
The rules by which each kind is recognised, and what each grammar mode and each specificity ask for, are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Rule(str, Enum):
    """The rules, by id."""

    MEASUREMENT = "measurement"
    CLASSIFICATION = "classification"
    IMPERATIVE = "imperative"
    FORBIDDEN = "forbidden"
    UNATTRIBUTED = "unattributed"
    UNHEDGED = "unhedged"
    PARTICULAR = "particular"
    SPECIFIC = "specific"
    LEAK = "leak"


class Policy(Protocol):
    """How a narrative may speak: RFC-0010's NarrativePolicy, or whatever has these four."""

    @property
    def grammar_mode(self) -> str:
        """``attributive``, ``hedged`` or ``educational``."""
        ...

    @property
    def forbidden_markers(self) -> tuple[str, ...]:
        """Words and phrases of the caller's own that no narrative has."""
        ...

    @property
    def max_specificity(self) -> str:
        """``general`` or ``contextualized``."""
        ...

    @property
    def scrub_measurements(self) -> bool:
        """Whether the caller takes measurements out, instead of refusing the narrative for them."""
        ...


@dataclass(frozen=True, slots=True)
class Marker:
    """One broken rule: which, from where to where, and what is expected there.

    ``start`` and ``end`` count the characters of the text as it was handed over; ``expected`` is a sentence of ours
    without a word of the text.
    """

    rule: str
    start: int
    end: int
    expected: str


EXPECTED: Mapping[Rule, str] = MappingProxyType(
    {
        Rule.MEASUREMENT: "A narrative states no quantity; a measurement is an envelope of its own, with a provenance.",
        Rule.CLASSIFICATION: "A narrative pronounces no verdict; a classification is an envelope of its own.",
        Rule.IMPERATIVE: "A narrative tells nobody what to do; an action is an envelope of its own.",
        Rule.FORBIDDEN: "A narrative has none of the markers that its policy forbids.",
        Rule.UNATTRIBUTED: "Each sentence names the source that says so.",
        Rule.UNHEDGED: "Each sentence leaves open whether it is so.",
        Rule.PARTICULAR: "A narrative that teaches speaks of what is so in general, to nobody and of no case.",
        Rule.SPECIFIC: "A general narrative has no numbers, dates, names or identifiers, and addresses nobody.",
        Rule.LEAK: "What a user reads of a refusal tells nothing of how it came about.",
    }
)
"""One sentence a rule, the same for every text."""


def marker(rule: Rule, span: tuple[int, int]) -> Marker:
    """Return the marker of a rule at a place."""
    return Marker(rule, *span, EXPECTED[rule])
