"""Let a model judge the wording of a binding moment, in any language, instead of the lexicon.

``ModelJudge`` is the configuration. ``Review`` is the answer that the emission asks the model for
(``emitter.core.judging``); the functions below check it and return its findings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from emitter.checks.lexicon import EnglishLexicon, iter_slots, load_lexicon
from emitter.checks.text import is_unreadable, normalize_text
from emitter.errors import InputError
from emitter.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.findings import Checker
    from emitter.models import BindingMoment
    from emitter.policy import PriceTable

_LEXICON: Final = EnglishLexicon()


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Asks a model whether an envelope defers, leads or gives no answer.

    The call is part of the emission: its tokens, calls and events are on the trace, and limits and deadlines include
    it. A finding asks for one correction. If it remains, it is reported as a warning. If the model cannot be asked or
    gives no usable answer, ``fallback`` decides, and an event reports it.

    Args:
        model: The provider and model name. A small, cheap model is enough.
        client: An SDK client for it. By default one is created from the vendor's environment variables.
        fallback: The checker that decides if the model does not.
        prices: The prices for ``Policy.max_cost``. Defaults to the listed ones.
    """

    model: str
    client: object = None
    fallback: Checker[BindingMoment] = _LEXICON
    prices: PriceTable | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers may not check types
            raise InputError(f"ModelJudge needs a model's name, not a {type(self.model).__name__}.")

    def __call__(self, value: BindingMoment, /) -> Iterable[Finding]:
        """Return the fallback's findings. Only an emission asks the model."""
        return self.fallback(value)


class RuleVerdict(BaseModel):
    """The model's verdict on one rule."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    verdict: Literal["yes", "no", "unsure"] = Field(description="Whether the text breaks the rule.")
    words: str = Field(description="The words of the text that break it, copied exactly. Empty unless it is broken.")


class Review(BaseModel):
    """The model's verdicts, one for each rule."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

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
    slots = [("synopsis", moment.synopsis), *(("recommendation", text) for text in moment.recommendations)]
    slots += [("question", question.stem), *(("option", option.label) for option in question.options)]
    # One line for each slot, so that a text with line breaks cannot pass for further slots.
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in slots)


def check_quotes(review: Review, moment: BindingMoment) -> Iterator[Finding]:
    """Yield an error for each verdict "yes" whose words are not in the judged text."""
    for rule, verdict in _iter_verdicts(review):
        if verdict.verdict == "yes" and _find_quoted(rule, verdict.words, moment) is None:
            yield Finding(f"/{rule.replace('-', '_')}/words", "quote", Severity.ERROR, QUOTE_EXPECTED)


def read_review(review: Review, moment: BindingMoment) -> tuple[Finding, ...]:
    """Return the findings of a review: broken rules with the lexicon's severity, doubtful ones as warnings."""
    findings: list[Finding] = []
    for name, verdict in _iter_verdicts(review):
        rule = load_lexicon("english").rules[name]
        pointer = _find_quoted(name, verdict.words, moment) or _slots(name, moment)[0][0]
        severity = {"yes": rule.severity, "unsure": Severity.WARNING, "no": Severity.OFF}[verdict.verdict]
        if severity is not Severity.OFF:
            findings.append(Finding(pointer, name, severity, f"{rule.message} (section {rule.section})"))
    return tuple(findings)


def _iter_verdicts(review: Review) -> Iterator[tuple[str, RuleVerdict]]:
    return ((rule, getattr(review, rule.replace("-", "_"))) for rule in _RULES)


def _slots(rule: str, moment: BindingMoment) -> list[tuple[str, str]]:
    """Return the pointers and texts that a rule is about."""
    slot = load_lexicon("english").rules[rule].slot
    return [(pointer, text) for name, pointer, text in iter_slots(moment) if name == slot]


def _find_quoted(rule: str, words: str, moment: BindingMoment) -> str | None:
    """Return the pointer of the text that contains the words."""
    if is_unreadable(words):
        return None
    quoted = normalize_text(words)
    return next((pointer for pointer, text in _slots(rule, moment) if quoted in normalize_text(text)), None)
