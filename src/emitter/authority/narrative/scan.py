"""All rules over one narrative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.authority.narrative.attribution import attributed, claims
from emitter.authority.narrative.classification import verdicts
from emitter.authority.narrative.hedging import hedged
from emitter.authority.narrative.imperative import duties, orders
from emitter.authority.narrative.marker import Marker, Policy, Rule, marker
from emitter.authority.narrative.measurement import measurements
from emitter.authority.narrative.particular import particulars
from emitter.authority.narrative.reading import Sentence, sentences
from emitter.authority.narrative.seen import closed_up, see
from emitter.authority.narrative.specificity import specifics
from emitter.authority.narrative.spelling import found
from emitter.decide.blank import is_blank
from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ATTRIBUTIVE: Final = "attributive"
_HEDGED: Final = "hedged"
_EDUCATIONAL: Final = "educational"
_MODES: Final = (_ATTRIBUTIVE, _HEDGED, _EDUCATIONAL)
_GENERAL: Final = "general"
_LEVELS: Final = (_GENERAL, "contextualized")

_Span = tuple[int, int]


def scan(text: str, policy: Policy) -> tuple[Marker, ...]:
    """Return what a policy forbids in a narrative, in the order in which it stands; nothing where it may be shown.

    Measurements are told whatever ``scrub_measurements`` says: a caller who scrubs passes over those. The rules are
    English: of a text in another language only its numbers, the caller's own markers, and that no sentence of it has a
    source, or a hedge, are found. The work grows as the text does. Raises ``InputError`` where the text is none (an
    envelope is no narrative, and is never read as one), and where the policy has no such mode or level, or a marker
    that nobody can see.
    """
    seen = see(_text(text))
    closed = closed_up(seen)
    mode, level = _known(policy.grammar_mode, _MODES), _known(policy.max_specificity, _LEVELS)
    reading = _Reading(mode, level, measurements(closed), closed.text)
    told = {(closed.span(*span), rule) for rule, span in reading.told()}
    told |= {(seen.span(*span), Rule.FORBIDDEN) for span in found(_markers(policy), seen.text)}
    return tuple(marker(rule, span) for span, rule in sorted(told))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A narrative as it is seen, the mode and the level that it is held to, and where its measurements are."""

    mode: str
    level: str
    measured: list[_Span]
    text: str

    def told(self) -> Iterator[tuple[Rule, _Span]]:
        yield from ((Rule.MEASUREMENT, span) for span in self.measured)
        named = False
        for each in sentences(self.text):
            sourced = self.mode == _ATTRIBUTIVE and attributed(each, named=named)
            named = named or sourced
            yield from _authority(each, sourced=sourced)
            yield from self._grammar(each, sourced=sourced)
            if self.level == _GENERAL:
                yield from ((Rule.SPECIFIC, span) for span in specifics(each, self.measured))

    def _grammar(self, sentence: Sentence, *, sourced: bool) -> Iterator[tuple[Rule, _Span]]:
        if self.mode == _EDUCATIONAL:
            yield from ((Rule.PARTICULAR, span) for span in particulars(sentence))
        elif self.mode == _ATTRIBUTIVE and not sourced and claims(sentence):
            yield Rule.UNATTRIBUTED, sentence.span
        elif self.mode == _HEDGED and claims(sentence) and not hedged(sentence):
            yield Rule.UNHEDGED, sentence.span


def _authority(sentence: Sentence, *, sourced: bool) -> Iterator[tuple[Rule, _Span]]:
    """Yield the verdicts, duties and orders of a sentence that are the text's own: not those of its source."""
    if not sourced:
        yield from ((Rule.CLASSIFICATION, each.span) for each in verdicts(sentence))
        yield from ((Rule.IMPERATIVE, each.span) for each in duties(sentence))
    yield from ((Rule.IMPERATIVE, each.span) for each in orders(sentence) if not (sourced and each.quoted))


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise InputError("Only a text is scanned as a narrative; an envelope never is.")
    return text


def _markers(policy: Policy) -> tuple[str, ...]:
    if any(map(is_blank, policy.forbidden_markers)):
        raise InputError("A forbidden marker is blank.", hint="Leave it out, or say which words are forbidden.")
    return tuple(policy.forbidden_markers)


def _known(word: str, words: tuple[str, ...]) -> str:
    """Return which of some words another is, whatever enumeration it is a member of."""
    for each in words:
        if word == each:
            return each
    raise InputError(f"A narrative policy has {', '.join(words)} there, and nothing else.")
