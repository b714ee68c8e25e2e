"""The answer of a judge: its form, what makes it acceptable, and the findings that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from emitter.checks.lexicon import iter_slots, load_lexicon
from emitter.checks.wording import is_blank, normalize_wording
from emitter.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.models import BindingMoment


class RuleVerdict(BaseModel):
    """The model's verdict on one rule."""

    model_config = ConfigDict(extra="forbid")

    verdict: Literal["yes", "no", "unsure"] = Field(description="Whether the text breaks the rule.")
    words: str = Field(description="The words of the text that break it, copied exactly. Empty unless it is broken.")


class Review(BaseModel):
    """The model's verdicts, one for each rule."""

    model_config = ConfigDict(extra="forbid")

    synopsis_defers: RuleVerdict = Field(description="The synopsis takes no position: it defers, asks or only weighs.")
    recommendation_consideration: RuleVerdict = Field(
        description="A recommendation names something to think about instead of an action that changes something."
    )
    stem_leads: RuleVerdict = Field(description="The question takes a side, presses for an answer, or presupposes one.")
    option_hatch_like: RuleVerdict = Field(
        description="An option gives no answer: it asks for another answer, more information or more discussion."
    )


_RULES: Final = tuple(name.replace("_", "-") for name in Review.model_fields)
QUOTE_EXPECTED: Final = "words of the judged text, copied exactly, if the verdict is yes"


def describe_slots(moment: BindingMoment) -> str:
    """Return the texts to judge, each with its slot."""
    question = moment.question
    lines = [f"synopsis: {_single_line(moment.synopsis)}"]
    lines += [f"recommendation: {_single_line(text)}" for text in moment.recommendations]
    lines.append(f"question: {_single_line(question.stem)}")
    lines += [f"option: {_single_line(option.label)}" for option in question.options]
    return "\n".join(lines)


def _single_line(text: str) -> str:
    return " ".join(text.split())


def check_quotes(review: Review, moment: BindingMoment) -> Iterator[Finding]:
    """Yield an error for each verdict "yes" whose words are not in the judged text."""
    for rule, verdict in _iter_verdicts(review):
        if verdict.verdict == "yes" and _find_quoted(rule, verdict.words, moment) is None:
            yield Finding(f"/{rule.replace('-', '_')}/words", "quote", Severity.ERROR, QUOTE_EXPECTED)


def read_review(review: Review, moment: BindingMoment) -> tuple[Finding, ...]:
    """Return the findings of a review: broken rules with the lexicon's severity, doubtful ones as warnings."""
    return tuple(_iter_findings(review, moment))


def _iter_findings(review: Review, moment: BindingMoment) -> Iterator[Finding]:
    rules = load_lexicon("english").rules
    for name, verdict in _iter_verdicts(review):
        rule = rules[name]
        pointer = _find_quoted(name, verdict.words, moment) or _slots(name, moment)[0][0]
        severity = {"yes": rule.severity, "unsure": Severity.WARNING, "no": Severity.OFF}[verdict.verdict]
        if severity is not Severity.OFF:
            yield Finding(pointer, name, severity, f"{rule.message} (section {rule.section})")


def _iter_verdicts(review: Review) -> Iterator[tuple[str, RuleVerdict]]:
    return ((rule, getattr(review, rule.replace("-", "_"))) for rule in _RULES)


def _slots(rule: str, moment: BindingMoment) -> list[tuple[str, str]]:
    """Return the pointers and texts that a rule is about."""
    slot = load_lexicon("english").rules[rule].slot
    return [(pointer, text) for name, pointer, text in iter_slots(moment) if name == slot]


def _find_quoted(rule: str, words: str, moment: BindingMoment) -> str | None:
    """Return the pointer of the text that contains the words."""
    quoted = normalize_wording(words)
    if is_blank(words):
        return None
    return next((pointer for pointer, text in _slots(rule, moment) if quoted in normalize_wording(text)), None)
