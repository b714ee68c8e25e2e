"""Violations of a schema or rule, findings of content checks, and their severities.

A rule that can be wrong never rejects an answer: the model is asked to correct it once, and any finding that remains is
a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

T_contra = TypeVar("T_contra", contravariant=True)


SCHEMA_KEYWORDS = frozenset(
    {"type", "enum", "const", "format", "pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minItems", "maxItems", "uniqueItems", "contains", "additionalItems", "unevaluatedItems"}
    | {"required", "additionalProperties", "unevaluatedProperties", "minProperties", "maxProperties", "propertyNames"}
    | {"anyOf", "oneOf", "not", "falseSchema", "json", "keys"}
)
"""Rules whose violations are whole sentences without the name of the rule."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule.

    Attributes:
        pointer: The JSON pointer of the value. Names that the schema does not know are written as ``*``.
        rule: The schema keyword, or the identifier of a content rule.
        expected: What belongs there, in words that are written from the schema alone.
    """

    pointer: str
    rule: str
    expected: str

    def __str__(self) -> str:
        named = f"{self.rule}: " if self.rule not in SCHEMA_KEYWORDS else ""
        return f"{self.pointer or '/'}: {named}{self.expected}"


class Severity(str, Enum):
    """The effect of a finding.

    Attributes:
        ERROR: The answer is rejected and corrected. If no attempt is left, the emission ends in ``Invalid``.
        RETRY: The model is asked once to correct the answer. If the finding stands, it is reported as a warning.
        WARNING: The finding is reported on ``Emission.findings``.
        OFF: The rule is not checked.
    """

    ERROR = "error"
    RETRY = "retry"
    WARNING = "warning"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a content check about an answer.

    Attributes:
        pointer: The JSON pointer of the slot in the envelope or document.
        rule: The id of the rule.
        severity: The effect of the finding.
        message: The expectation of the rule, as a sentence. A model that is asked to correct its answer reads it, so it
            must not quote the answer.
    """

    pointer: str
    rule: str
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.rule}: {self.message}"


class Checker(Protocol[T_contra]):
    """Checks an envelope or document. Any sync function from a value to findings is a checker."""

    def __call__(self, value: T_contra, /) -> Iterable[Finding]:
        """Return the findings about a value."""
        ...


def as_warnings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings about an accepted answer, each as a warning."""
    return tuple(replace(finding, severity=Severity.WARNING) for finding in findings)
