"""Check a binding moment for rules that are certain: counts, blank slots, single sentences and duplicates.

Source: draft-morrison-binding-moment-envelope-00, section 5. A rule is an error where the draft says "SHALL" and a
warning where it says "SHOULD" or "RECOMMENDED".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from emitter.checks.text import MAX_READ, count_sentences, is_unreadable, normalize_text
from emitter.errors import InputError
from emitter.findings import Finding, Severity
from emitter.visible_text import visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.models import BindingMoment, Question

SYNOPSIS: Final = "/synopsis"
FINDINGS: Final = "/findings"
RECOMMENDATIONS: Final = "/recommendations"
OFFER: Final = "/offer"
STEM: Final = "/question/stem"
OPTIONS: Final = "/question/options"
NOTE: Final = "/meta/calibration_note"


class Rule(NamedTuple):
    """The severity of a rule, its section of the draft and its expectation."""

    severity: Severity
    section: str
    message: str

    @property
    def expectation(self) -> str:
        """The message with the section."""
        return f"{self.message} (section {self.section})"


STRUCTURAL_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "slot-blank": Rule(Severity.ERROR, "5", "Every slot contains readable text."),
        "synopsis-sentence": Rule(Severity.ERROR, "5.1", "The synopsis is exactly one sentence."),
        "findings-count": Rule(Severity.WARNING, "5.2", "There are three to six findings."),
        "finding-repeats": Rule(Severity.WARNING, "5.2", "Each finding is stated once, and not in the synopsis."),
        "recommendations-count": Rule(Severity.WARNING, "5.3", "There are two to four recommendations."),
        "stem-sentence": Rule(Severity.ERROR, "5.5", "The question stem is exactly one sentence."),
        "stem-embeds": Rule(
            Severity.WARNING,
            "5.5",
            "The question stem does not contain the recommended option. Only recommended_idx recommends one.",
        ),
        "option-hatch": Rule(
            Severity.ERROR,
            "5.6",
            "Every option answers the question. Another answer, or more discussion, belongs to a hatch.",
        ),
        "option-twin": Rule(Severity.ERROR, "5.6", "No two options have the same label."),
        "one-line": Rule(Severity.WARNING, "5.6", "A finding, and the reasoning of an option, is a single line."),
    }
)
_HATCH_LABELS: Final = frozenset(
    {
        *("other", "others", "something else", "another option", "another answer", "free text", "free_text"),
        *("none of these", "none of them", "none of the above", "neither of these", "other (please specify)"),
        *("dialogue", "let us talk", "let's talk", "let us discuss", "let's discuss", "ask me later", "decide later"),
    }
)
"""Labels that name one of the two hatches or give no answer. A lexicon judges longer ones."""
_FINDINGS_RANGE: Final = range(3, 7)
_RECOMMENDATIONS_RANGE: Final = range(2, 5)
_MIN_EMBEDDED_WORDS: Final = 2
_WORD: Final = re.compile(r"\w+")


def find_repeats(wordings: Iterable[str]) -> Iterator[int]:
    """Yield the positions of normalized texts that repeat an earlier one."""
    earlier = set[str]()
    for index, wording in enumerate(wordings):
        if wording in earlier:
            yield index
        earlier.add(wording)


def is_hatch_label(label: str) -> bool:
    """Return whether a label is one of the hatches in its exact form."""
    return normalize_text(label) in _HATCH_LABELS


@dataclass(frozen=True, slots=True)
class StructuralChecks:
    """Checks a binding moment for the rules that are certain.

    Args:
        severities: Severities that differ from the defaults in ``STRUCTURAL_RULES``, for example
            ``{"findings-count": "error"}``. Each is "off", "warning", "retry" or "error".
    """

    severities: Mapping[str, Severity | str] = field(default_factory=dict[str, "Severity | str"])

    def __post_init__(self) -> None:
        severities = parse_severities(self.severities, STRUCTURAL_RULES, tuple(Severity))
        object.__setattr__(self, "severities", MappingProxyType(severities))

    def __call__(self, value: BindingMoment, /) -> tuple[Finding, ...]:
        """Return the broken rules."""
        return tuple(
            Finding(pointer, rule, severity, STRUCTURAL_RULES[rule].expectation)
            for rule, pointer in _find_broken(value)
            if (severity := self.severity(rule)) is not Severity.OFF
        )

    def severity(self, rule: str) -> Severity:
        """Return the severity of a rule."""
        return Severity(self.severities.get(rule, STRUCTURAL_RULES[rule].severity))


def parse_severities(
    severities: Mapping[str, Severity | str], rules: Iterable[str], allowed: tuple[Severity, ...]
) -> dict[str, Severity]:
    """Return the severities by rule; raise ``InputError`` for an unknown rule or a severity that is not allowed."""
    known = tuple(rules)
    for rule, severity in severities.items():
        if rule not in known:
            raise InputError(f"There is no rule {rule!r}.", hint=f"The rules are {', '.join(known)}.")
        if severity not in [each.value for each in allowed]:
            choices = ", ".join(each.value for each in allowed)
            raise InputError(f"The severity of {rule} cannot be {severity!r}.", hint=f"It is one of {choices}.")
    return {rule: Severity(severity) for rule, severity in severities.items()}


def _find_broken(moment: BindingMoment) -> Iterator[tuple[str, str]]:
    """Yield each broken rule with the pointer of its slot."""
    yield from (("slot-blank", pointer) for pointer, text in iter_texts(moment) if is_unreadable(text))
    yield from _find_in_briefing(moment)
    yield from _find_in_question(moment.question)


def _find_in_briefing(moment: BindingMoment) -> Iterator[tuple[str, str]]:
    if count_sentences(moment.synopsis) > 1:
        yield "synopsis-sentence", SYNOPSIS
    if len(moment.findings) not in _FINDINGS_RANGE:
        yield "findings-count", FINDINGS
    for index in find_repeats(map(normalize_text, (moment.synopsis, *moment.findings))):
        yield "finding-repeats", f"{FINDINGS}/{index - 1}"
    yield from (
        ("one-line", f"{FINDINGS}/{index}") for index, text in enumerate(moment.findings) if _is_multiline(text)
    )
    if len(moment.recommendations) not in _RECOMMENDATIONS_RANGE:
        yield "recommendations-count", RECOMMENDATIONS


def _find_in_question(question: Question) -> Iterator[tuple[str, str]]:
    labels = [option.label for option in question.options]
    wordings = [normalize_text(label) for label in labels]
    if count_sentences(question.stem) > 1:
        yield "stem-sentence", STEM
    if _contains_recommended(question.stem, labels, question.recommended_idx):
        yield "stem-embeds", STEM
    yield from (("option-twin", f"{OPTIONS}/{index}/label") for index in find_repeats(wordings))
    for index, option in enumerate(question.options):
        if wordings[index] in _HATCH_LABELS:
            yield "option-hatch", f"{OPTIONS}/{index}/label"
        if _is_multiline(option.reasoning):
            yield "one-line", f"{OPTIONS}/{index}/reasoning"


def iter_texts(moment: BindingMoment) -> Iterator[tuple[str, str]]:
    """Yield the required texts of an envelope with their pointers."""
    yield SYNOPSIS, moment.synopsis
    yield from ((f"{FINDINGS}/{index}", text) for index, text in enumerate(moment.findings))
    yield from ((f"{RECOMMENDATIONS}/{index}", text) for index, text in enumerate(moment.recommendations))
    yield OFFER, moment.offer
    yield STEM, moment.question.stem
    for index, option in enumerate(moment.question.options):
        yield f"{OPTIONS}/{index}/label", option.label
        yield f"{OPTIONS}/{index}/reasoning", option.reasoning


def _is_multiline(text: str) -> bool:
    return len(text[:MAX_READ].strip().splitlines()) > 1


def _contains_recommended(stem: str, labels: list[str], recommended: int) -> bool:
    """Return whether the stem contains the recommended label word for word, and no other label."""
    question, label = _join_words(stem), _join_words(labels[recommended])
    if label.count(" ") <= _MIN_EMBEDDED_WORDS or label not in question:
        return False
    # A stem that names every option recommends none.
    return sum(_join_words(other) in question for other in labels) == 1


def _join_words(text: str) -> str:
    """Return the words of a text with a space around each."""
    return f" {' '.join(_WORD.findall(visible_text(text[:MAX_READ]).casefold()))} "
