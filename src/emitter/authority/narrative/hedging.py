"""The hedged mode: every sentence leaves open whether it is so, and none is sure of itself besides.

Which words hedge is ours; RFC-0010 names only the mode. A modal hedges as a verb, not as a noun ("a can", "the might").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.decide.lint.phrases import Phrases, lexicon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.authority.narrative.reading import Sentence

MODALS = lexicon("may might can could")
_NOUNS = lexicon("a an the his her its their of tin nobody none nothing")
ADVERBS = lexicon("""
    perhaps maybe possibly probably potentially conceivably presumably supposedly apparently arguably seemingly
    reportedly allegedly sometimes often usually generally typically frequently occasionally commonly mostly likely
    unlikely rarely seldom
""")
"""Adverbs, and the two adjectives, that hedge where they stand."""

_CUES = Phrases.of(
    "seems|seem|seemed|appears|appear|appeared|suggests|suggest|suggested|tends|tend|tended",
    "in certain|many|most|rare|such cases",
    "not [yet] necessarily|always|every|everyone|everybody|all|clear|certain|known|settled|sure",
    "unclear|uncertain|unknown|possible|probable|plausible|conceivable|doubtful|debated|disputed",
    "depends|depend|depending",
    "looks|look|sounds|sound|feels|seems as if|though",
    "looks|look|sounds|sound like",
    "is|are|was|were|be [often|widely|generally] thought|believed|assumed|expected|said|rumoured|reported|suspected",
    "thought|believed to",
    "or may|might not",
    "as far as",
    "more or less",
    "a|some|the|any|slight|small|real|strong possibility|chance|prospect|likelihood",
    "evidence|picture|findings|results is|are|remains [still] mixed|inconclusive|limited|weak|thin",
    "inconclusive|ambiguous|contested|controversial|speculative|tentative",
    "opinions|views|accounts|estimates|experts vary|differ|diverge|disagree",
    "remains|remain to be seen",
    "open question",
    "one possible|reading|interpretation",
)
HEDGES = _CUES | Phrases.of("|".join(ADVERBS))
_SURE = Phrases.of(
    "definitely|certainly|undoubtedly|unquestionably|absolutely|surely|indisputably",
    "guarantee|guarantees|guaranteed",
    "no|without [a|any] doubt|question",
    "for sure|certain",
    "beyond [any|all] doubt",
    "no matter what",
)
_SOME = lexicon("time day way point reason")
"""What "some" leaves nothing open of."""
_NOT_SURE = lexicon("not never hardly nobody")


def hedged(sentence: Sentence) -> bool:
    """Say whether a sentence has a hedge, and nothing that takes it back."""
    said = [each.words for each in sentence.clauses]
    return any(map(hedges, said)) and not any(map(_is_sure, said))


def hedges(words: Sequence[str]) -> bool:
    """Say whether some words have a hedge."""
    return HEDGES.within(words) or any(
        _is_modal(words, at) if word in MODALS else word == "some" and not _SOME & set(words[at + 1 : at + 2])
        for at, word in enumerate(words)
    )


def _is_modal(words: Sequence[str], at: int) -> bool:
    following = words[at + 1 : at + 2]
    negated = words[at] in {"can", "could"} and following == ("not",)
    return not negated and not (at and words[at - 1] in _NOUNS) and following != ("of",)


def _is_sure(words: Sequence[str]) -> bool:
    return any(
        word in _SURE.beginnings and _SURE.begin(words, at) and not _NOT_SURE & set(words[max(0, at - 2) : at])
        for at, word in enumerate(words)
    )
