"""The rules, each as a function from an envelope to the JSON pointers of the slots that break it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from emitter.decide.lint.embedding import embeds
from emitter.decide.lint.finding import Rule
from emitter.decide.lint.leading import leads, polar
from emitter.decide.lint.loss import one_sided, slanted
from emitter.decide.lint.modal import wavers
from emitter.decide.lint.note import ritual
from emitter.decide.lint.options import hatch, twins
from emitter.decide.lint.overlap import content, repeats, restates
from emitter.decide.lint.recommendations import considers
from emitter.decide.lint.sentences import sentences, shown
from emitter.decide.lint.synopsis import defers, drifts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emitter.kinds import BindingMoment

SYNOPSIS = "/synopsis"
FINDINGS = "/findings"
RECOMMENDATIONS = "/recommendations"
OFFER = "/offer"
STEM = "/question/stem"
OPTIONS = "/question/options"
NOTE = "/meta/calibration_note"

FEWEST_FINDINGS, MOST_FINDINGS = 3, 6
FEWEST_RECOMMENDATIONS, MOST_RECOMMENDATIONS = 2, 4

Check: TypeAlias = "Callable[[BindingMoment], Iterable[str]]"


def _where(slot: str, broken: bool) -> tuple[str, ...]:  # noqa: FBT001 - the verdict on one slot
    return (slot,) if broken else ()


def _among(slot: str, places: Iterable[int], member: str = "") -> Iterator[str]:
    return (f"{slot}/{place}{member}" for place in places)


def _which(texts: Iterable[str], broken: Callable[[str], bool]) -> Iterator[int]:
    return (place for place, text in enumerate(texts) if broken(text))


def _labels(moment: BindingMoment) -> tuple[str, ...]:
    return tuple(each.label for each in moment.question.options)


def _reasonings(moment: BindingMoment) -> tuple[str, ...]:
    return tuple(each.reasoning for each in moment.question.options)


def _blank(text: str) -> bool:
    return not shown(text)


def _blanks(moment: BindingMoment) -> Iterator[str]:
    yield from _where(SYNOPSIS, _blank(moment.synopsis))
    yield from _among(FINDINGS, _which(moment.findings, _blank))
    yield from _among(RECOMMENDATIONS, _which(moment.recommendations, _blank))
    yield from _where(OFFER, _blank(moment.offer))
    yield from _where(STEM, _blank(moment.question.stem))
    yield from _among(OPTIONS, _which(_labels(moment), _blank), "/label")
    yield from _among(OPTIONS, _which(_reasonings(moment), _blank), "/reasoning")


def _several(text: str) -> bool:
    return sentences(text) > 1


def _many_lines(text: str) -> bool:
    return len(text.strip().splitlines()) > 1


def _lines(moment: BindingMoment) -> Iterator[str]:
    yield from _among(FINDINGS, _which(moment.findings, _many_lines))
    yield from _among(OPTIONS, _which(_reasonings(moment), _many_lines), "/reasoning")


def _restating(moment: BindingMoment) -> Iterator[str]:
    said = content(moment.synopsis)
    return _among(FINDINGS, _which(moment.findings, lambda each: restates(content(each), said)))


def _losses(moment: BindingMoment) -> Iterator[str]:
    yield from _where(OPTIONS, one_sided(moment.question))
    yield from _where(STEM, slanted(moment.question))


def _ritual(moment: BindingMoment) -> Iterable[str]:
    said = moment.meta.calibration_note if moment.meta else None
    return _where(NOTE, said is not None and ritual(said))


CHECKS: Mapping[Rule, Check] = MappingProxyType(
    {
        Rule.SLOT_BLANK: _blanks,
        Rule.SYNOPSIS_DEFERS: lambda moment: _where(SYNOPSIS, defers(moment.synopsis)),
        Rule.SYNOPSIS_SENTENCE: lambda moment: _where(SYNOPSIS, _several(moment.synopsis)),
        Rule.SYNOPSIS_OPEN: lambda moment: _where(SYNOPSIS, drifts(moment.synopsis)),
        Rule.SYNOPSIS_MODAL: lambda moment: _where(SYNOPSIS, wavers(moment.synopsis)),
        Rule.FINDINGS_COUNT: lambda moment: _where(
            FINDINGS, not FEWEST_FINDINGS <= len(moment.findings) <= MOST_FINDINGS
        ),
        Rule.FINDING_RESTATES: _restating,
        Rule.FINDING_REPEATS: lambda moment: _among(FINDINGS, repeats(moment.findings)),
        Rule.RECOMMENDATIONS_COUNT: lambda moment: _where(
            RECOMMENDATIONS, not FEWEST_RECOMMENDATIONS <= len(moment.recommendations) <= MOST_RECOMMENDATIONS
        ),
        Rule.RECOMMENDATION_CONSIDERATION: lambda moment: _among(
            RECOMMENDATIONS, _which(moment.recommendations, considers)
        ),
        Rule.STEM_SENTENCE: lambda moment: _where(STEM, _several(moment.question.stem)),
        Rule.STEM_LEADS: lambda moment: _where(STEM, leads(moment.question.stem)),
        Rule.STEM_EMBEDS: lambda moment: _where(STEM, embeds(moment.question)),
        Rule.STEM_YES_NO: lambda moment: _where(STEM, polar(moment.question.stem)),
        Rule.OPTION_HATCH: lambda moment: _among(OPTIONS, _which(_labels(moment), hatch), "/label"),
        Rule.OPTION_TWIN: lambda moment: _among(OPTIONS, twins(_labels(moment)), "/label"),
        Rule.ONE_LINE: _lines,
        Rule.LOSS_ONE_SIDED: _losses,
        Rule.NOTE_RITUAL: _ritual,
    }
)
