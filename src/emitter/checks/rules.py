"""Run the lint rules over a binding moment.

``lint`` returns one ``Finding`` for each broken rule, errors first. ``LintConfig`` sets the severity of each rule.

Source: draft-morrison-binding-moment-envelope-00, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, cast

from pydantic import BaseModel

from emitter.checks.english import (
    MAX_READ,
    Phrases,
    content_stems,
    count_sentences,
    find_repeats,
    has_visible_text,
    restates,
    split_words,
    word_set,
)
from emitter.checks.question_rules import (
    find_duplicate_labels,
    is_hatch_label,
    is_leading,
    is_loss_framed,
    is_loss_one_sided,
    is_yes_no_question,
    names_recommended,
)
from emitter.checks.recommendations import is_consideration
from emitter.checks.synopsis import defers_decision, is_hedged, is_noncommittal
from emitter.errors import InputError
from emitter.visible_text import visible_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emitter.models import BindingMoment


class LintSeverity(str, Enum):
    """The effect of a finding: ignored, reported, or the envelope is refused."""

    OFF = "off"
    WARN = "warn"
    ERROR = "error"


class LintRule(str, Enum):
    """The lint rules, by id."""

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


_WARNING_RULES = frozenset(
    {
        LintRule.SYNOPSIS_OPEN,
        LintRule.SYNOPSIS_MODAL,
        LintRule.FINDINGS_COUNT,
        LintRule.FINDING_RESTATES,
        LintRule.FINDING_REPEATS,
        LintRule.RECOMMENDATIONS_COUNT,
        LintRule.STEM_YES_NO,
        LintRule.ONE_LINE,
        LintRule.LOSS_ONE_SIDED,
        LintRule.NOTE_RITUAL,
    }
)
DEFAULT_SEVERITIES: Mapping[LintRule, LintSeverity] = MappingProxyType(
    {rule: LintSeverity.WARN if rule in _WARNING_RULES else LintSeverity.ERROR for rule in LintRule}
)
"""What the draft calls malformed is an error; what it recommends, and what is only a sign, is a warning."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A broken rule: its slot, severity and the draft's expectation.

    ``slot`` is a JSON pointer into the envelope and ``section`` a section of the draft. ``expected`` is our own
    sentence, without a word of the envelope.
    """

    slot: str
    rule: LintRule
    severity: LintSeverity
    section: str
    expected: str


@dataclass(frozen=True, slots=True)
class LintConfig:
    """The severity of each rule. Rules that are not named have their default."""

    overrides: Mapping[LintRule, LintSeverity] = field(default_factory=dict[LintRule, LintSeverity])

    @classmethod
    def from_mapping(cls, overrides: Mapping[str, str]) -> LintConfig:
        """Return the defaults with changes, such as ``{"synopsis-defers": "warn"}``. Raises ``InputError``."""
        try:
            return cls(
                MappingProxyType({LintRule(rule): LintSeverity(severity) for rule, severity in overrides.items()})
            )
        except ValueError as error:
            known = ", ".join(each.value for each in LintRule)
            raise InputError(f"{error}.", hint=f"The rules are {known}; each is off, warn or error.") from error

    def severity(self, rule: LintRule) -> LintSeverity:
        """Return the severity of a rule."""
        return self.overrides.get(rule, DEFAULT_SEVERITIES[rule])


DEFAULT_LINT_CONFIG = LintConfig()
_SECTIONS = {
    "synopsis": "5.1",
    "findings": "5.2",
    "recommendations": "5.3",
    "offer": "5.4",
    "question/stem": "5.5",
    "question/options": "5.6",
    "meta": "5.9",
}
EXPECTED_BY_RULE: Mapping[LintRule, str] = MappingProxyType(
    {
        LintRule.SLOT_BLANK: "Every required text says something that can be read.",
        LintRule.SYNOPSIS_DEFERS: "The synopsis states a settled position. Without one, ask for no decision.",
        LintRule.SYNOPSIS_SENTENCE: "The synopsis is exactly one sentence.",
        LintRule.SYNOPSIS_OPEN: "The synopsis says what would be done, not what there is to decide.",
        LintRule.SYNOPSIS_MODAL: "The main clause of the synopsis states the position without doubting it.",
        LintRule.FINDINGS_COUNT: "There are three to six findings.",
        LintRule.FINDING_RESTATES: "Each finding adds an observation that the synopsis does not carry.",
        LintRule.FINDING_REPEATS: "Each finding is told once.",
        LintRule.RECOMMENDATIONS_COUNT: "There are two to four recommendations.",
        LintRule.RECOMMENDATION_CONSIDERATION: "A recommendation is an action that would change something if taken.",
        LintRule.STEM_SENTENCE: "The stem is exactly one sentence.",
        LintRule.STEM_LEADS: "The stem is neutral: it takes no side, presses for no answer and presupposes none.",
        LintRule.STEM_EMBEDS: "The stem names no option more than the others. Only the mark recommends one.",
        LintRule.STEM_YES_NO: "The stem is open to every option, which one that yes or no would answer is not.",
        LintRule.OPTION_HATCH: "Every option answers the question. Another answer, or more talk, belongs to a hatch.",
        LintRule.OPTION_TWIN: "No two options read the same.",
        LintRule.ONE_LINE: "A finding, and the reasoning of an option, is a single line.",
        LintRule.LOSS_ONE_SIDED: "Losses are told of every option alike, the recommended one included.",
        LintRule.NOTE_RITUAL: "The note is left out, unless something said earlier now reads as understated.",
    }
)


def draft_section(slot: str) -> str:
    """Return the draft's section on a slot, given its JSON pointer."""
    return next(number for name, number in _SECTIONS.items() if slot.startswith(f"/{name}"))


_FORMULAS = Phrases.from_lines(
    "as always|usual|ever",
    "always",
    "please [always] note|remember|keep|be|verify|check",
    "i am [just|only] an|a ai|assistant|language|model",
    "no [calibration|further|prior|earlier|additional|special] "
    "note|notes|calibration|change|changes|framing|adjustment|comment",
    "none|nil|na|null|nothing|empty|unknown|tbd|ok",
    "n a",
    "not applicable|available|needed|required",
    "to the best of my knowledge",
    "in|with all honesty",
)
_EARLIER = Phrases.from_lines(
    "earlier|previous|previously|prior|before|initial|initially|original|originally|first|last|yesterday|ago|until|past",
    "said|told|called|wrote|described|framed|estimated|reported|understated|underestimated|underplayed|downplayed|"
    "assumed|thought|rated|put|gave|judged|presented|was|were|had",
    "so far",
    "now reads|read|looks",
)
_ENGLISH = word_set("the a is of to and this that i my we for with it be in not are")


def is_boilerplate(note: str) -> bool:
    """Return whether a calibration note takes nothing back."""
    said = split_words(note)
    if not has_visible_text(note) or _FORMULAS.startswith(said):
        return True
    return not _ENGLISH.isdisjoint(said) and not _EARLIER.contains(said)


SYNOPSIS = "/synopsis"
FINDINGS = "/findings"
RECOMMENDATIONS = "/recommendations"
OFFER = "/offer"
STEM = "/question/stem"
OPTIONS = "/question/options"
NOTE = "/meta/calibration_note"
FEWEST_FINDINGS, MOST_FINDINGS = 3, 6
FEWEST_RECOMMENDATIONS, MOST_RECOMMENDATIONS = 2, 4
LintCheck: TypeAlias = "Callable[[BindingMoment], Iterable[str]]"


def _slot_if(slot: str, broken: bool) -> tuple[str, ...]:  # noqa: FBT001 - the verdict on one slot
    return (slot,) if broken else ()


def _slots_at(slot: str, places: Iterable[int], member: str = "") -> Iterator[str]:
    return (f"{slot}/{place}{member}" for place in places)


def _indices(texts: Iterable[str], broken: Callable[[str], bool]) -> Iterator[int]:
    return (place for place, text in enumerate(texts) if broken(text))


def _labels(moment: BindingMoment) -> tuple[str, ...]:
    return tuple(each.label for each in moment.question.options)


def _reasonings(moment: BindingMoment) -> tuple[str, ...]:
    return tuple(each.reasoning for each in moment.question.options)


def _is_blank_slot(text: str) -> bool:
    return not has_visible_text(text)


def _blank_slots(moment: BindingMoment) -> Iterator[str]:
    yield from _slot_if(SYNOPSIS, _is_blank_slot(moment.synopsis))
    yield from _slots_at(FINDINGS, _indices(moment.findings, _is_blank_slot))
    yield from _slots_at(RECOMMENDATIONS, _indices(moment.recommendations, _is_blank_slot))
    yield from _slot_if(OFFER, _is_blank_slot(moment.offer))
    yield from _slot_if(STEM, _is_blank_slot(moment.question.stem))
    yield from _slots_at(OPTIONS, _indices(_labels(moment), _is_blank_slot), "/label")
    yield from _slots_at(OPTIONS, _indices(_reasonings(moment), _is_blank_slot), "/reasoning")


def _is_several_sentences(text: str) -> bool:
    return count_sentences(text) > 1


def _is_multiline(text: str) -> bool:
    return len(text.strip().splitlines()) > 1


def _multiline_slots(moment: BindingMoment) -> Iterator[str]:
    yield from _slots_at(FINDINGS, _indices(moment.findings, _is_multiline))
    yield from _slots_at(OPTIONS, _indices(_reasonings(moment), _is_multiline), "/reasoning")


def _restating_findings(moment: BindingMoment) -> Iterator[str]:
    said = content_stems(moment.synopsis)
    return _slots_at(FINDINGS, _indices(moment.findings, lambda each: restates(content_stems(each), said)))


def _loss_slots(moment: BindingMoment) -> Iterator[str]:
    yield from _slot_if(OPTIONS, is_loss_one_sided(moment.question))
    yield from _slot_if(STEM, is_loss_framed(moment.question))


def _boilerplate(moment: BindingMoment) -> Iterable[str]:
    said = moment.meta.calibration_note if moment.meta else None
    return _slot_if(NOTE, said is not None and is_boilerplate(said))


LINT_CHECKS: Mapping[LintRule, LintCheck] = MappingProxyType(
    {
        LintRule.SLOT_BLANK: _blank_slots,
        LintRule.SYNOPSIS_DEFERS: lambda moment: _slot_if(SYNOPSIS, defers_decision(moment.synopsis)),
        LintRule.SYNOPSIS_SENTENCE: lambda moment: _slot_if(SYNOPSIS, _is_several_sentences(moment.synopsis)),
        LintRule.SYNOPSIS_OPEN: lambda moment: _slot_if(SYNOPSIS, is_noncommittal(moment.synopsis)),
        LintRule.SYNOPSIS_MODAL: lambda moment: _slot_if(SYNOPSIS, is_hedged(moment.synopsis)),
        LintRule.FINDINGS_COUNT: lambda moment: _slot_if(
            FINDINGS, not FEWEST_FINDINGS <= len(moment.findings) <= MOST_FINDINGS
        ),
        LintRule.FINDING_RESTATES: _restating_findings,
        LintRule.FINDING_REPEATS: lambda moment: _slots_at(FINDINGS, find_repeats(moment.findings)),
        LintRule.RECOMMENDATIONS_COUNT: lambda moment: _slot_if(
            RECOMMENDATIONS, not FEWEST_RECOMMENDATIONS <= len(moment.recommendations) <= MOST_RECOMMENDATIONS
        ),
        LintRule.RECOMMENDATION_CONSIDERATION: lambda moment: _slots_at(
            RECOMMENDATIONS, _indices(moment.recommendations, is_consideration)
        ),
        LintRule.STEM_SENTENCE: lambda moment: _slot_if(STEM, _is_several_sentences(moment.question.stem)),
        LintRule.STEM_LEADS: lambda moment: _slot_if(STEM, is_leading(moment.question.stem)),
        LintRule.STEM_EMBEDS: lambda moment: _slot_if(STEM, names_recommended(moment.question)),
        LintRule.STEM_YES_NO: lambda moment: _slot_if(STEM, is_yes_no_question(moment.question.stem)),
        LintRule.OPTION_HATCH: lambda moment: _slots_at(OPTIONS, _indices(_labels(moment), is_hatch_label), "/label"),
        LintRule.OPTION_TWIN: lambda moment: _slots_at(OPTIONS, find_duplicate_labels(_labels(moment)), "/label"),
        LintRule.ONE_LINE: _multiline_slots,
        LintRule.LOSS_ONE_SIDED: _loss_slots,
        LintRule.NOTE_RITUAL: _boilerplate,
    }
)


def lint(moment: BindingMoment, config: LintConfig = DEFAULT_LINT_CONFIG) -> tuple[LintFinding, ...]:
    """Check an envelope and return the findings, errors first.

    Only the beginning of each text is checked, as a reader sees it (``emitter.visible_text``). The phrases are English.
    In other languages only punctuation is considered: a blank text, a second sentence, or a question as a position. The
    work is linear in the size of the envelope.
    """
    return tuple(sorted(_find(moment, config), key=lambda each: each.severity is not LintSeverity.ERROR))


def _find(moment: BindingMoment, discipline: LintConfig) -> Iterator[LintFinding]:
    read = cast("BindingMoment", _visible_copy(moment))
    for rule, check in LINT_CHECKS.items():
        severity = discipline.severity(rule)
        if severity is not LintSeverity.OFF:
            for slot in check(read):
                yield LintFinding(slot, rule, severity, draft_section(slot), EXPECTED_BY_RULE[rule])


def _visible_copy(value: object) -> object:
    """Return an envelope, or a part of it, with what is read of its texts."""
    match value:
        case str():
            return visible_text(value[:MAX_READ])
        case tuple():
            return tuple(map(_visible_copy, cast("tuple[object, ...]", value)))
        case BaseModel():
            return value.model_copy(update={name: _visible_copy(each) for name, each in value})
        case _:
            return value
