"""Rule for recommendations: each one is an action, not a consideration (section 5.3)."""

from __future__ import annotations

import re
from itertools import dropwhile, pairwise
from typing import TYPE_CHECKING

from emitter.checks.deferral_phrases import SETTLED_OPENINGS
from emitter.checks.english import MAX_READ, UNDECIDED_VERBS, VERBS, Phrases, split_clauses, word_set
from emitter.checks.synopsis import has_later_order, is_order

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOFTENERS = word_set(
    "please always also carefully first you i we may might could should must need want wish will would can to just "
    "simply it is are worth important be sure try"
)
_MATTERS = (
    "trade|tradeoff|tradeoffs|cost|costs|risk|risks|benefit|benefits|pros|cons|option|options|alternative|alternatives|"
    "implication|implications|consequence|consequences|impact|impacts|effect|effects|factor|factors|picture|merit|"
    "merits|matter|matters|what|speed|timing|context|situation|downside|downsides|upside|ramifications|concerns|"
    "angles|sides|"
    "feasibility|whether|possibilities|possibility|considerations"
)
_CONSIDERS = Phrases.from_lines(
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
    "look|looking into|at [the|all|any|other|possible|both|each] [other|possible|various] "
    "alternatives|options|possibilities|implications|tradeoffs|costs|risks|consequences|feasibility|pros|merits|"
    "question",
    "ask|asking yourself|yourselves|ourselves",
    "be|stay|remain|keep|staying|keeping|remaining [very|fully|always] open|alert|attentive|sensitive|calm|positive|"
    "prepared|curious|humble|critical|objective|pragmatic|sceptical|skeptical|considerate to|about|that|for|"
    "minded|when",
    "stay|remain|keep [very|fully|always] alert|attentive|sensitive|calm|positive|prepared|curious|humble|critical|"
    "objective|pragmatic|sceptical|skeptical|considerate",
    "open to|minded",
    "balance|weigh|weighing|balancing ... against|versus",
    "keep|bear|have .. in focus|sight|view",
    "keep|hold|manage your|the|our [own] expectations",
    "see it|things|this|that from",
    "reconsider|rethink the|our|your strategy|approach|plan|priorities|question|problem|situation",
    "respect|value|honour|honor|prioritise|prioritize the|your|their|our [customer|family|own] "
    "feelings|wishes|needs|interests|concerns|privacy|safety|wellbeing",
    "strive|aim|aspire|endeavour|endeavor|seek [for] [to] [a|an|the|find|strike|keep] [good|right|fair|better] "
    "balance|compromise|understanding|harmony|clarity|excellence",
    "strike|find|seek|keep a|the [good|right|fair|better] balance",
    "let [the] .. sink|guide|inform|inspire",
    "question whether|if|why|how|what",
    "reconsider|rethink|revisit whether|if|why|how|what",
    "determine|decide|establish|figure|work|clarify|see|find|check [out] whether|if .. is|are|still|really .. "
    "worth|right|needed|necessary|sense|appropriate|justified|realistic|desirable",
    "beware",
    "meditate|contemplate|deliberate|ruminate",
    "learn from",
    "put .. first",
    "err on",
    "account|allow for possible|potential|unforeseen|any|contingencies",
)
_MINDS = Phrases.from_lines(
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
_NAMES = Phrases.from_lines(
    f"the|any|possible|potential|overall [possible|potential|overall|likely] {_MATTERS}",
    f"[potential|possible] {_MATTERS} [off|offs] of|on|from|that|between",
    "the|a need|desire|importance|question|issue|matter of|for",
    "there [may|might|could|will] is|are|be",
)
_THINGS = frozenset(_MATTERS.split("|")) | {"and", "or", "offs", "morale", "quality", "safety", "privacy", "budget"}
_AGAINST = frozenset({"versus", "vs"})
_FINITE = word_set("is are was were will must should shall has have gets goes")
_CONCRETE = re.compile(
    r"\d|(?<=\s)[A-Z](?=\w)|\b(?:every|each|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b"
)
_ALONE = (("remember",), ("note",))
"""What opens a sentence that goes on after a comma."""
_TOLD = Phrases.from_lines(
    "is|are|remains|remain|can|could|may|might|will|would|plays|play [be|also|still|always] [a|an|the|one|our|another] "
    "[very|key|main|big|major|real|serious|important|central] factor|concern|consideration|issue|aspect|question|"
    "priority|constraint|role|point|matter|topic|important|essential|crucial|vital|key|relevant|paramount|critical",
    "should|must|need|needs|ought|has|have|deserves|deserve [to] [not|never|also|always|first] [be] "
    "[carefully|also|always|not|fully] forgotten|overlooked|neglected|ignored|underestimated|considered|weighed|"
    "remembered|borne|kept|taken|respected|valued|appreciated|acknowledged|recognised|recognized|understood|reflected|"
    "pondered|balanced|discussed|thought|attention|consideration|explored|evaluated|assessed",
    "matters|counts|weighs",
)
"""What is said of a consideration that stands as a sentence."""
_ABSTRACT = _THINGS | word_set("""
    burden burdens reputation fairness feasibility scalability reliability maintainability compliance liability exposure
    sustainability convenience trust perception workload fatigue complexity flexibility durability robustness ethics
    optics culture equity inclusion acceptance readiness resilience continuity transparency accountability
    security patience caution diplomacy tact vigilance prudence moderation restraint empathy teamwork communication
    collaboration discretion sensitivities expectations constraints dependencies uncertainty uncertainties
""")
_TRADES = Phrases.from_lines("trade off|offs", "tradeoff|tradeoffs|tension|balance between|of")
_LINKS = word_set("of for to with against at by from until no not a the")
_LONGEST_NAME = 5


def is_consideration(recommendation: str) -> bool:
    """Return whether a recommendation names a consideration and no action."""
    parts = [each.words for each in split_clauses(recommendation)]
    concrete = _CONCRETE.search(recommendation[:MAX_READ]) is not None
    if (
        not parts
        or SETTLED_OPENINGS.startswith(parts[0])
        or any(is_order(each) and not _thinks(each, concrete) for each in parts[1:])
    ):
        return False
    told = len(parts) == 1 and not concrete and _tells(parts[0])
    named = parts[0] in _ALONE or _TRADES.startswith(parts[0]) or _balances(parts[0])
    return named or told or _thinks(parts[0], concrete) or _names(parts)


def _balances(words: Sequence[str]) -> bool:
    """Return whether two qualities are to be balanced, and nothing that has a weight: "balance quality and price"."""
    two = words[:1] in (("balance",), ("weigh",)) and words[2:3] == ("and",)
    return two and not _ABSTRACT.isdisjoint((words[1], *words[3:4]))


def _names(parts: list[tuple[str, ...]]) -> bool:
    """Return whether no verb is there, only what would have to be considered."""
    said = [word for each in parts for word in each]
    if "there" not in said[:1] and any(is_order(each) or not _FINITE.isdisjoint(each) for each in parts):
        return False
    return (
        not _AGAINST.isdisjoint(said)
        or _NAMES.startswith(said)
        or all(word in _THINGS for word in said)
        or (len(said) <= _LONGEST_NAME and said[-1] in _ABSTRACT and _LINKS.isdisjoint(said))
        or _prefers(said)
    )


def _prefers(said: Sequence[str]) -> bool:
    """Return whether one quality is set above or beside another, and nothing more: "quality over speed"."""
    joined = said[1:2] in (["over"], ["before"], ["and"], ["not"], ["or"], ["first"])
    return joined and len(said) <= _LONGEST_NAME and (said[0] in _ABSTRACT or said[-1] in _ABSTRACT)


def _tells(words: Sequence[str]) -> bool:
    """Return whether a clause tells of something that it counts, and no more."""
    return words[0] not in VERBS | UNDECIDED_VERBS and _TOLD.contains(words)


def _thinks(words: tuple[str, ...], concrete: bool) -> bool:  # noqa: FBT001 - read once for all clauses
    head = tuple(dropwhile(_SOFTENERS.__contains__, words))
    by_doing = any(word == "by" and after.endswith("ing") for word, after in pairwise(head))
    minds = _CONSIDERS.startswith(head) or (not concrete and _MINDS.startswith(head))
    return minds and not by_doing and not has_later_order(head)
