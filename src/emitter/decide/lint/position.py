"""Whether a clause states a position: tells what to do, or what shall be."""

from __future__ import annotations

from itertools import dropwhile, pairwise
from typing import TYPE_CHECKING

from emitter.decide.lint.inflected import ACTS
from emitter.decide.lint.phrases import Phrases, lexicon
from emitter.decide.lint.verbs import DETERMINERS, LEADS, MODALS, NOT_VERBS, UNSETTLED, UNSETTLED_RULES, VERBS

if TYPE_CHECKING:
    from collections.abc import Sequence

OFFERED = 6
"""How near to a clause's beginning the second of two orders stands."""
_DONE = ACTS - {"have", "do"}
"""What somebody does who says so; the two others begin "we have gathered …" and "I do not feel …" as well."""
_FINITE = lexicon("is are was were has will would could may might depends")
_RELATIVE = lexicon("what that who which whatever whoever as it he she they we i you there")
_LETTERED = lexicon("option plan variant version type class group team grade candidate choice case point part")
"""Nouns that a letter follows, "option A", which is no determiner."""
_SUPPOSES = lexicon("may might could")
_LINKS = lexicon("not to now be only also have need first then all")
_SAYS = Phrases.of(
    "i|we [now|still|therefore|strongly] recommend|advise|propose",
    "my|our|the recommendation|answer|position|verdict|decision is|remains",
    "is|are to be",
    "wins|prevails|gets|recommends",
    "is|are the one|ones|chosen|preferred",
    "let [the|a|an]",
)
_HOLDS = Phrases.of(
    "my|our|the .. answer|choice|option|call|move|course|recommendation|advice|position|step|verdict|pick|plan is",
    "my|our|the recommendation|advice|choice|answer|pick would be",
    "is|are|was .. the [only] right|best|better|one|way|answer|choice|course|winner",
    "is|are [not|very|fully|well|only] warranted|recommended|due|approved|declined|rejected|refused|granted|awarded|"
    "enough|justified|worth|time|closed|accepted|denied|needed|required|dismissed|settled|ready|good|safe|over|off|out",
    "it makes sense to",
    "time to",
    "i|we would|will [not|rather|still|now] " + "|".join(sorted(ACTS)),
    "i|we am|are sure|confident|certain|convinced that",
    "yes|no|nothing|full|thumbs",
    "to dismiss|grant|approve|reject|refuse",
    "supports|favours|favors|points to|paying|the",
)
_ASKS_ROUND = Phrases.of("check|confer|consult|speak|talk [first] with|to your|a|an")
_DOINGS = ACTS - lexicon(
    "use plan offer permit grant quote bid point charge claim order report request test trial price top benefit "
    "match fund lead design draft measure target tax trade step group way cost review option need result rate risk "
    "track cap answer pass list figure question detail present record contract"
)
"""Verbs whose third person is seldom the plural of a noun."""


def without_leads(words: Sequence[str]) -> Sequence[str]:
    """Return a clause's words from the first that is more than a link to what was said before."""
    return tuple(dropwhile(LEADS.__contains__, words))


def orders(words: Sequence[str]) -> bool:
    """Say whether a clause is an imperative that settles something."""
    verb = without_leads(words)
    if verb[:2] in (("do", "not"), ("do", "nothing")) or verb[:1] == ("never",):
        return not UNSETTLED & set(verb[2:3])
    if verb[:2] == ("let", "us"):
        return _is_order(verb[2:])
    return _is_order(verb)


def then_orders(words: Sequence[str]) -> bool:
    """Say whether an imperative that settles something follows in the same clause: "… and sign"."""
    return any(word in {"and", "then"} and orders(words[place + 1 : place + 8]) for place, word in enumerate(words))


def then_does(words: Sequence[str]) -> bool:
    """Say whether the one who leans or thinks goes on to say what they would do: "… and would buy it"."""
    return any(
        one == "and" and other in {"would", "will", "shall"} and after in ACTS
        for one, other, after in zip(words, words[1:], words[2:], strict=False)
    )


def offers(words: Sequence[str]) -> bool:
    """Say whether a clause orders one thing or another: "release or hold"."""
    verb = words[1:] if words[:1] == ("either",) else words
    following = pairwise(verb[1 : OFFERED + 1])
    return bool(verb) and verb[0] in VERBS and any(one == "or" and other in VERBS for one, other in following)


def commits(words: Sequence[str]) -> bool:
    """Say whether a clause states what to do or what shall be."""
    return orders(words) or _SAYS.within(words) or _we_do(words) or _rules(words)


def _is_order(verb: Sequence[str]) -> bool:
    if not verb or verb[0] in UNSETTLED or "or" in verb or _is_subject(verb) or _asks_round(verb):
        return False
    return verb[0] in VERBS or (
        len(verb) > 1
        and verb[0] not in NOT_VERBS | _LETTERED
        and not verb[0].endswith(("ing", "ly"))
        and verb[1] in DETERMINERS
    )


def _asks_round(verb: Sequence[str]) -> bool:
    """Say whether what is ordered is only to hear somebody: "check with your vet"."""
    return _ASKS_ROUND.begin(verb) and "and" not in verb


def _is_subject(verb: Sequence[str]) -> bool:
    """Say whether what looks like a verb is a noun, with its own verb soon after: "plan B is ready"."""
    return any(word in _FINITE and before not in _RELATIVE for before, word in pairwise(verb[:4]))


def _we_do(words: Sequence[str]) -> bool:
    """Say whether the agent, or it and the principal, simply do something."""
    following = enumerate(pairwise(words))
    return "or" not in words and any(
        one in {"we", "i"} and other in _DONE and words[place - 1 : place] != ("that",)
        for place, (one, other) in following
    )


def _rules(words: Sequence[str]) -> bool:
    """Say whether a clause says what somebody or something should do or be, and that it is more than thinking."""
    for place, word in enumerate(words):
        if word in MODALS and _SUPPOSES.isdisjoint(words[max(0, place - 1) : place]):
            verb = [each for each in words[place + 1 : place + 5] if each not in _LINKS]
            return "or" not in words and not UNSETTLED_RULES & set(verb[:1]) and "whether" not in words[:place]
    return False


def holds(words: Sequence[str]) -> bool:
    """Say whether a clause may state a position in whatever form: also as a plain fact, "the photos stay private"."""
    return commits(words) or words[0] in UNSETTLED or _HOLDS.within(words) or any(_does(word) for word in words[1:])


def _does(word: str) -> bool:
    return word.endswith("s") and (word[:-1] in _DOINGS or word[:-2] in _DOINGS)
