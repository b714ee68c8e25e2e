"""Whether a recommendation is a move or only names a consideration: section 5.3."""

from __future__ import annotations

import re
from itertools import dropwhile, pairwise

from emitter.decide.lint.cues.heads import SETTLED
from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.position import orders, then_orders
from emitter.decide.lint.text import READ, clauses

_SOFTENERS = lexicon(
    "please always also carefully first you i we may might could should must need want wish will would can to just "
    "simply it is are worth important be sure try"
)
_MATTERS = (
    "trade|tradeoff|tradeoffs|cost|costs|risk|risks|benefit|benefits|pros|cons|option|options|alternative|alternatives|"
    "implication|implications|consequence|consequences|impact|impacts|effect|effects|factor|factors|picture|merit|"
    "merits|matter|matters|what|speed|timing|context|situation|downside|downsides|upside|ramifications|concerns|angles|sides|"
    "feasibility|whether|possibilities|possibility|considerations"
)
_CONSIDERS = Phrases.of(
    "consider|considering|contemplate|ponder",
    f"weigh|weighing|balance|balancing .. {_MATTERS}",
    "think|thinking [very|long] [carefully|hard] about|through|carefully|it|over|hard|twice|of",
    "reflect|reflecting on",
    "keep|keeping|bear|bearing .. in mind",
    "aware|mindful|conscious|careful|cautious|wary|realistic|honest of|about|that|with|when|not|in",
    "aware|mindful|careful|cautious",
    "remember|recall|note|recognise|recognize|realise|realize|appreciate|acknowledge|understand that|how|why",
    f"understand|recognise|recognize|appreciate [the|all|possible|your|our|their] [risk] {_MATTERS}|appetite|needs",
    f"mind [the|your|our] {_MATTERS}",
    "do|never [not] forget|overlook|ignore|neglect [about] the|that|about|how",
    "pay|paying [close|careful] attention|heed",
    "take|taking .. into account|consideration",
    "take the|a [more] long|longer|broad|broader|wider view",
    "give|giving .. thought|consideration|attention",
    "stay|remain [fully|always] aware|mindful|conscious|careful|cautious|flexible|vigilant|realistic|patient",
    "prepared|ready for",
    "flexible|vigilant|realistic|patient about|with",
    "watch|look out for",
    "keep an|one eye on",
    "lose sight",
    "do not underestimate|underrate|assume|lose|rush|panic|worry|hesitate",
    "patient|realistic|flexible",
    "trust your|our|the gut|instincts|instinct|process|intuition",
    "factor|factoring in",
    "account|allow for possible|potential|unforeseen|any|contingencies",
)
_MINDS = Phrases.of(
    "think|appreciate|understand|anticipate|expect|heed|imagine|beware",
    "focus on",
    f"assess|evaluate|explore|examine|analyse|analyze|look|review|compare|discuss .. {_MATTERS}",
    "remember what|how|why|that|the|your|our|who|where|when",
    f"account|allow for [the|any] {_MATTERS}|seasonality|growth|inflation",
    "keep an|your open mind|eye",
    "keep .. in perspective|proportion",
    "keep a cool|calm head",
    "keep expectations realistic|modest|low",
    "look|looking at .. side|angle|perspective|view|viewpoint|whole",
)
"""What an attitude begins with, unless what follows is concrete: a number, a name, a way."""
_NAMES = Phrases.of(
    f"the|any|possible|potential|overall [possible|potential|overall|likely] {_MATTERS}",
    f"[potential|possible] {_MATTERS} [off|offs] of|on|from|that|between",
    "the|a need|desire|importance|question|issue|matter of|for",
    "there [may|might|could|will] is|are|be",
)
_THINGS = frozenset(_MATTERS.split("|")) | {"and", "or", "offs", "morale", "quality", "safety", "privacy", "budget"}

_AGAINST = frozenset({"versus", "vs"})
_FINITE = lexicon("is are was were will must should shall has have gets goes")
_CONCRETE = re.compile(
    r"\d|(?<=\s)[A-Z](?=\w)|\b(?:every|each|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b"
)
_ALONE = (("remember",), ("note",))
"""What opens a sentence that goes on after a comma."""


def considers(recommendation: str) -> bool:
    """Say whether a recommendation names a consideration and no action."""
    parts = [each.words for each in clauses(recommendation)]
    concrete = _CONCRETE.search(recommendation[:READ]) is not None
    if not parts or SETTLED.begin(parts[0]) or any(orders(each) and not _thinks(each, concrete) for each in parts[1:]):
        return False
    return _thinks(parts[0], concrete) or parts[0] in _ALONE or _names(parts)


def _names(parts: list[tuple[str, ...]]) -> bool:
    """Say whether no verb is there, only what would have to be considered."""
    said = [word for each in parts for word in each]
    if "there" not in said[:1] and any(orders(each) or not _FINITE.isdisjoint(each) for each in parts):
        return False
    return not _AGAINST.isdisjoint(said) or _NAMES.begin(said) or all(word in _THINGS for word in said)


def _thinks(words: tuple[str, ...], concrete: bool) -> bool:  # noqa: FBT001 - read once for all clauses
    head = tuple(dropwhile(_SOFTENERS.__contains__, words))
    by_doing = any(word == "by" and after.endswith("ing") for word, after in pairwise(head))
    minds = _CONSIDERS.begin(head) or (not concrete and _MINDS.begin(head))
    return minds and not by_doing and not then_orders(head)
