"""Rules for the synopsis: it takes a position and does not hedge it (section 5.1)."""

from __future__ import annotations

from itertools import dropwhile, pairwise, takewhile
from typing import TYPE_CHECKING

from emitter.checks import deferral_phrases
from emitter.checks.deferral_phrases import ECHO_PHRASES, EVENNESS_PHRASES, HANDOVER_PHRASES, PENDING_PHRASES
from emitter.checks.english import (
    ACTION_VERBS,
    CLAUSE_BREAKS,
    DETERMINERS,
    LEADING_LINKS,
    MODALS,
    NOT_VERBS,
    SUBORDINATE,
    UNDECIDED_MODAL_VERBS,
    UNDECIDED_VERBS,
    VERBS,
    Phrases,
    TextClause,
    has_gerund_form,
    has_participle_form,
    split_clauses,
    strip_quotations,
    word_set,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_OFFER_DISTANCE = 6
"""How near to a clause's beginning the second of two orders stands."""
_DONE = ACTION_VERBS - {"have", "do"}
"""What somebody does who says so; the two others begin "we have gathered …" and "I do not feel …" as well."""
_POSITION_FINITE_VERBS = word_set("is are was were has will would could may might depends")
_RELATIVE = word_set("what that who which whatever whoever as it he she they we i you there")
_LETTERED = word_set("option plan variant version type class group team grade candidate choice case point part")
"""Nouns that a letter follows, "option A", which is no determiner."""
_SUPPOSES = word_set("may might could")
_LINKS = word_set("not to now be only also have need first then all")
_SAYS = Phrases.from_lines(
    "i|we [now|still|therefore|strongly] recommend|advise|propose",
    "my|our|the recommendation|answer|position|verdict|decision is|remains",
    "is|are to be",
    "wins|prevails|gets|recommends",
    "is|are the one|ones|chosen|preferred",
    "let [the|a|an]",
)
_HOLDS = Phrases.from_lines(
    "my|our|the .. answer|choice|option|call|move|course|recommendation|advice|position|step|verdict|pick|plan is",
    "my|our|the recommendation|advice|choice|answer|pick would be",
    "is|are|was .. the [only] right|best|better|one|way|answer|choice|course|winner",
    "is|are [not|very|fully|well|only] warranted|recommended|due|approved|declined|rejected|refused|granted|awarded|"
    "enough|justified|worth|time|closed|accepted|denied|needed|required|dismissed|settled|ready|good|safe|over|off|out",
    "it makes sense to",
    "time to",
    "i|we would|will [not|rather|still|now] " + "|".join(sorted(ACTION_VERBS)),
    "i|we am|are sure|confident|certain|convinced that",
    "yes|no|nothing|full|thumbs",
    "to dismiss|grant|approve|reject|refuse",
    "supports|favours|favors|points to|paying|the",
)
_ASKS_ROUND = Phrases.from_lines("check|confer|consult|speak|talk [first] with|to your|a|an")
_DOINGS = ACTION_VERBS - word_set(
    "use plan offer permit grant quote bid point charge claim order report request test trial price top benefit "
    "match fund lead design draft measure target tax trade step group way cost review option need result rate risk "
    "track cap answer pass list figure question detail present record contract"
)
"""Verbs whose third person is seldom the plural of a noun."""


def strip_leading_links(words: Sequence[str]) -> Sequence[str]:
    """Return a clause's words from the first that is more than a link to what was said before."""
    return tuple(dropwhile(LEADING_LINKS.__contains__, words))


def is_order(words: Sequence[str]) -> bool:
    """Return whether a clause is an imperative that settles something."""
    verb = strip_leading_links(words)
    if verb[:2] in (("do", "not"), ("do", "nothing")) or verb[:1] == ("never",):
        return not UNDECIDED_VERBS & set(verb[2:3])
    if verb[:2] == ("let", "us"):
        return _is_order(verb[2:])
    return _is_order(verb)


def has_later_order(words: Sequence[str]) -> bool:
    """Return whether an imperative that settles something follows in the same clause: "… and sign"."""
    return any(word in {"and", "then"} and is_order(words[place + 1 : place + 8]) for place, word in enumerate(words))


def has_later_action(words: Sequence[str]) -> bool:
    """Return whether the one who leans or thinks goes on to say what they would do: "… and would buy it"."""
    return any(
        one == "and" and other in {"would", "will", "shall"} and after in ACTION_VERBS
        for one, other, after in zip(words, words[1:], words[2:], strict=False)
    )


def is_alternative_order(words: Sequence[str]) -> bool:
    """Return whether a clause orders one thing or another: "release or hold"."""
    verb = words[1:] if words[:1] == ("either",) else words
    following = pairwise(verb[1 : MAX_OFFER_DISTANCE + 1])
    return bool(verb) and verb[0] in VERBS and any(one == "or" and other in VERBS for one, other in following)


def is_commitment(words: Sequence[str]) -> bool:
    """Return whether a clause states what to do or what shall be."""
    return is_order(words) or _SAYS.contains(words) or _we_do(words) or _rules(words)


def _is_order(verb: Sequence[str]) -> bool:
    if not verb or verb[0] in UNDECIDED_VERBS or "or" in verb or _is_subject(verb) or _asks_round(verb):
        return False
    return verb[0] in VERBS or (
        len(verb) > 1
        and verb[0] not in NOT_VERBS | _LETTERED
        and not verb[0].endswith(("ing", "ly"))
        and verb[1] in DETERMINERS
    )


def _asks_round(verb: Sequence[str]) -> bool:
    """Return whether what is ordered is only to hear somebody: "check with your vet"."""
    return _ASKS_ROUND.startswith(verb) and "and" not in verb


def _is_subject(verb: Sequence[str]) -> bool:
    """Return whether what looks like a verb is a noun, with its own verb soon after: "plan B is ready"."""
    return any(word in _POSITION_FINITE_VERBS and before not in _RELATIVE for before, word in pairwise(verb[:4]))


def _we_do(words: Sequence[str]) -> bool:
    """Return whether the agent, or it and the principal, simply do something."""
    following = enumerate(pairwise(words))
    return "or" not in words and any(
        one in {"we", "i"} and other in _DONE and words[place - 1 : place] != ("that",)
        for place, (one, other) in following
    )


def _rules(words: Sequence[str]) -> bool:
    """Return whether a clause says what somebody or something should do or be, and that it is more than thinking."""
    for place, word in enumerate(words):
        if word in MODALS and _SUPPOSES.isdisjoint(words[max(0, place - 1) : place]):
            verb = [each for each in words[place + 1 : place + 5] if each not in _LINKS]
            return "or" not in words and not UNDECIDED_MODAL_VERBS & set(verb[:1]) and "whether" not in words[:place]
    return False


def may_state_position(words: Sequence[str]) -> bool:
    """Return whether a clause may state a position, also as a plain fact: "the photos stay private"."""
    return (
        is_commitment(words)
        or words[0] in UNDECIDED_VERBS
        or _HOLDS.contains(words)
        or any(_does(word) for word in words[1:])
    )


def _does(word: str) -> bool:
    return word.endswith("s") and (word[:-1] in _DOINGS or word[:-2] in _DOINGS)


_JOINS = word_set("and but while whereas")
_CONCEDES = SUBORDINATE - {"while", "whereas"}
_CONTRAST_FINITE_VERBS = word_set("is are was were would will could might may can has have does do seems looks means")
_PRONOUNS = word_set("it this that they there we i he she which who so")
_COMPARES = word_set(
    "cheaper faster safer slower quicker easier simpler riskier stronger weaker closer warmer colder quieter louder "
    "larger smaller longer shorter lighter heavier newer older higher lower harder stricter earlier later more less "
    "fewer dearer nearer fairer kinder cleaner tougher milder roomier greener sturdier"
)
_KINDS = {"is": "be", "are": "be", "has": "have", "have": "have", "offers": "offer", "offer": "offer", "would": "would"}
_SOME = Phrases.from_lines("some|others", "half of|the", "one|the side|camp|group|other", "two|three [of]")
_YIELDS = word_set(
    "costs saves takes brings gives keeps buys adds reduces risks avoids spares leaves lets allows makes lowers raises "
    "requires needs preserves protects cuts gains loses offers helps frees delays lasts feels sounds involves carries "
    "wins earns limits ties spreads exposes improves"
)
"""What a doing brings or takes."""
_POSSIBILITY_ADVERBS = word_set(
    "also simply just instead then well possibly perhaps always equally either still even easily both"
)
_NONE = word_set("no not nothing none nobody neither nor never hardly")
_TO_DO = Phrases.from_lines(
    "whether",
    "what|how|when|where|who|whom|which to",
    "how|which much|many|long|soon|one|option|of .. to",
    "what|which .. should",
)
_KNOWN = word_set("settled clear decided simple obvious plain irrelevant immaterial easy fixed agreed moot")
_OR = word_set("or versus vs")
_LONGEST_TITLE = 12
_OTHERWISE = word_set("no or maybe")
_LONG = 4
"""A word of fewer letters says little."""
_COLONS = frozenset({":", "\u2014", "\u2013", "-"})


def is_comparison(parts: Sequence[TextClause]) -> bool:
    """Return whether two segments of a sentence praise different answers, by a comparison or as two doings."""
    said = [each for part in parts if _CONCEDES.isdisjoint(part.words[:1]) for each in _segments(part.words)]
    return sum(map(_compares, said)) > 1 or sum(map(_tells_of_doing, said)) > 1


def is_parallel(parts: Sequence[TextClause]) -> bool:
    """Return whether two segments tell something alike of two subjects: "oak is warm, pine is cheap"."""
    said = [strip_leading_links(each) for part in parts for each in _segments(part.words)]
    told = [each for each in map(_predicate, said) if each]
    some = sum(_SOME.startswith(each) for each in said)
    return len(told) > len(set(told)) or some > 1


def _predicate(words: Sequence[str]) -> str:
    """Return what kind of thing a segment says of a subject of its own; nothing where it says that it is done."""
    place = next((place for place, word in enumerate(words) if word in _KINDS), 0)
    if place == 0 or words[0] in _PRONOUNS | SUBORDINATE or any(map(has_participle_form, words[place + 1 : place + 2])):
        return ""
    return _KINDS[words[place]]


def is_topic_question(parts: Sequence[TextClause]) -> bool:
    """Return whether a sentence has the question for its subject ("whether to sell is …"), or answers for its title."""
    if not parts[1:]:
        return any(_asks_what(each.words) for each in parts)
    title, answer = parts[0].words, parts[1].words
    named = parts[1].mark in _COLONS and len(title) <= _LONGEST_TITLE and _CONTRAST_FINITE_VERBS.isdisjoint(title)
    if answer[0] == "yes":
        return named and (answer[1:2] == ("or",) or any(each.words[0] in _OTHERWISE for each in parts[2:3]))
    return named and not _OR.isdisjoint(title) and (not _OR.isdisjoint(answer) or _new(title, answer))


def is_option_list(parts: Sequence[TextClause]) -> bool:
    """Return whether doings are listed under a title for one of them to be chosen: "the contract: renew or drop"."""
    titled = any(each.mark in _COLONS for each in parts[1:2]) and _CONTRAST_FINITE_VERBS.isdisjoint(parts[0].words)
    return titled and any(_of_two(each.words) for each in parts[1:])


def _of_two(words: Sequence[str]) -> bool:
    """Return whether two doings are named of which one is to be done: "renegotiate or drop"."""
    return any(one == "or" and other in ACTION_VERBS for one, other in pairwise(words))


def _asks_what(words: Sequence[str]) -> bool:
    """Return whether a clause has a question for its subject, of which it is not said that the answer is known."""
    told = words[0] == "whether" or not _CONTRAST_FINITE_VERBS.isdisjoint(words[2:])
    return told and _TO_DO.startswith(words) and _KNOWN.isdisjoint(words)


def _new(title: Sequence[str], answer: Sequence[str]) -> bool:
    """Return whether what follows a title takes up none of its words, as an answer would."""
    return {each for each in title if len(each) >= _LONG}.isdisjoint(answer)


def is_mere_possibility(words: Sequence[str]) -> bool:
    """Return whether a clause tells only that something could be done: "the test might be skipped"."""
    for place, word in enumerate(words):
        if word in {"could", "might"}:
            following = [each for each in words[place + 1 : place + 5] if each not in _POSSIBILITY_ADVERBS]
            return _NONE.isdisjoint(words) and _is_act(following)
    return False


def _is_act(following: Sequence[str]) -> bool:
    passive = following[:1] == ["be"] and any(map(has_participle_form, following[1:2]))
    return passive or any(each in ACTION_VERBS or (each in UNDECIDED_VERBS and each != "be") for each in following[:1])


def _segments(words: Sequence[str]) -> Iterator[Sequence[str]]:
    start = 0
    for place, word in enumerate(words):
        if word in _JOINS:
            yield words[start:place]
            start = place + 1
    yield words[start:]


def _compares(words: Sequence[str]) -> bool:
    """Return whether a segment has a subject of its own, and says that it is more or less than another."""
    said = strip_leading_links(words)
    about = next((place for place, word in enumerate(said) if word in _CONTRAST_FINITE_VERBS), 0)
    return about > 0 and said[0] not in _PRONOUNS and not _COMPARES.isdisjoint(said[about + 1 : about + 4])


def _tells_of_doing(words: Sequence[str]) -> bool:
    """Return whether a segment's subject is a doing, of which something is said: "waiting costs a week"."""
    said = strip_leading_links(words)
    told = next((place for place, word in enumerate(said) if word in _CONTRAST_FINITE_VERBS or word in _YIELDS), 0)
    return (
        any(map(has_gerund_form, said[:1]))
        and told > 0
        and not any(map(has_participle_form, said[told + 1 : told + 2]))
    )


_TURNS = word_set("before until after whether that if when than as how what so")
_UNKNOWING = Phrases.from_lines(
    "without|until [first|having] knowing|seeing|hearing|having|known|seen|heard|more|further"
)
_WHO = word_set("you they")
_DOES = ACTION_VERBS - word_set("have do choose pick select call judge answer advise need want find feel")
_IS = word_set("is are get gets i we")
_SIGNS = HANDOVER_PHRASES | EVENNESS_PHRASES | PENDING_PHRASES


def leaves_decision_open(parts: Sequence[TextClause], said: Sequence[tuple[str, ...]]) -> bool:
    """Return whether a sentence has a sign of openness and no position, given its clauses and the main ones' words."""
    said = said or [each.words for each in parts]
    signs = [_open(words) for words in said]
    rest = [words for words, each in zip(said, signs, strict=True) if not each]
    if is_option_list(parts):
        return True
    if is_topic_question(parts) or is_comparison(parts):
        return not any(is_commitment(words) for words in said)
    if is_parallel(parts) and not any(may_state_position(words) or _done(words) for words in said):
        return True
    return (any(signs) or _unknowing(parts) or _echoes(parts)) and not any(
        may_state_position(words) or _done(words) for words in rest
    )


def _open(words: Sequence[str]) -> bool:
    joined = words.index("and") if "and" in words else len(words)
    return (_SIGNS.contains(words) or is_mere_possibility(words)) and not (
        is_commitment(words) or _done(words[joined:])
    )


def _done(words: Sequence[str]) -> bool:
    """Return whether something is done in a clause: "… and is paid in full", "so I picked it", "you drive"."""
    said = takewhile(lambda word: word not in _TURNS, words)
    return any(
        (one in _IS and has_participle_form(other)) or (one in _WHO and other in _DOES) for one, other in pairwise(said)
    )


def _unknowing(parts: Sequence[TextClause]) -> bool:
    return any(_UNKNOWING.startswith(each.words) for each in parts)


def _echoes(parts: Sequence[TextClause]) -> bool:
    return any(ECHO_PHRASES.startswith(each.words) for each in parts[1:])


_QUESTION = ("?", "\uff1f", "\u061f", "\u2047", "\u203d")
_CLOSERS = ")]}\u00bb\u201d\u2019\"'\u300d\u300f\uff09 \t\r\n.!…"
_DECIDING = (
    deferral_phrases.INABILITY_PHRASES
    | deferral_phrases.MORE_WORK_PHRASES
    | deferral_phrases.MENU_PHRASES
    | deferral_phrases.CONSULTING_PHRASES
)
_DEFERRING = (
    _DECIDING
    | deferral_phrases.DEPENDS_PHRASES
    | deferral_phrases.EITHER_PHRASES
    | deferral_phrases.UNCLEAR_PHRASES
    | deferral_phrases.MIGHT_PHRASES
    | deferral_phrases.WEIGHING_PHRASES
)
"""What defers in the sentence's first part; after a colon or a semicolon only what is said of deciding itself does."""
_BREAKS = frozenset(";:\u2014\u2013")
_TITLE = 2
"""Before a colon so many words at most are a title, and no part of the sentence."""
_ASKED = frozenset({"which", "who", "whose", "where"})
"""What begins a clause that supports another, but not a sentence."""
_ASKING = word_set("say tell know decide determine judge see clear unclear sure certain obvious unknown on of to about")
"""After these it is a question, and belongs to what is said."""
_SYNOPSIS_FINITE_VERBS = MODALS | word_set("may might could can would is are was were has have had")
"""What follows "that" where it begins such a clause too."""
_YOURS = deferral_phrases.DELEGATING_PHRASES | HANDOVER_PHRASES
"""What hands the decision over also where it begins like a clause that supports another: "whichever you prefer"."""
_OUTRANKS = deferral_phrases.TIE_PHRASES | deferral_phrases.DELEGATING_PHRASES | deferral_phrases.POSTPONING_PHRASES
"""Those that an imperative in the same clause does not take back."""


def defers_decision(synopsis: str) -> bool:
    """Return whether a synopsis defers the decision rather than stating it."""
    if is_question(synopsis):
        return True
    parts = split_clauses(synopsis)
    if sum(deferral_phrases.VALUE_PHRASES.count(each.words) for each in parts) > 1:
        return True
    head = len(_until_break(parts))
    found = [
        *((each, _DEFERRING) for each in main_clauses(parts[:head])),
        *((each, _DECIDING) for each in main_clauses(parts[head:])),
    ]
    deferring = [_defers(words, phrases) for words, phrases in found]
    if any(deferring):
        return not any(
            is_commitment(words) for (words, _), deferred in zip(found, deferring, strict=True) if not deferred
        )
    return leaves_decision_open(parts, [words for words, _ in found])


def is_noncommittal(synopsis: str) -> bool:
    """Return whether a synopsis that defers nothing explicitly speaks of deciding and states no position to be seen."""
    if defers_decision(synopsis):
        return False
    found = list(main_clauses(split_clauses(synopsis)))
    return any(deferral_phrases.LOOSE_OPENINGS.contains(words) for words in found) and not any(
        may_state_position(words) for words in found
    )


def is_question(text: str) -> bool:
    """Return whether a text ends as a question."""
    return strip_quotations(text).rstrip(_CLOSERS).endswith(_QUESTION)


def main_clauses(parts: Sequence[TextClause]) -> Iterator[tuple[str, ...]]:
    """Yield the words of the clauses that stand by themselves, without what supports them."""
    for part in parts:
        words = strip_leading_links(part.words)
        asked = not part.mark and words[:1] and words[0] in _ASKED
        if words and (asked or words[0] not in SUBORDINATE or _YOURS.startswith(words)):
            yield tuple(_uncut(words))


def _uncut(words: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(words):
        relative = (
            word == "that"
            and words[place - 1] != "so"
            and not _SYNOPSIS_FINITE_VERBS.isdisjoint(words[place + 1 : place + 2])
        )
        supports = word in CLAUSE_BREAKS and not (word in _ASKED and words[place - 1] in _ASKING)
        if place and (supports or relative):
            return
        yield word


def _until_break(parts: Sequence[TextClause]) -> Sequence[TextClause]:
    """Return the clauses before the first colon, semicolon or dash that divides the sentence."""
    for place, part in enumerate(parts):
        if part.mark in _BREAKS and sum(len(each.words) for each in parts[:place]) > _TITLE:
            return parts[:place]
    return parts


def _defers(words: Sequence[str], phrases: Phrases) -> bool:
    if deferral_phrases.SETTLED_OPENINGS.startswith(words):
        return False
    if deferral_phrases.WHOLE_DEFERRALS.fullmatch(words) or _OUTRANKS.contains(words) or is_alternative_order(words):
        return True
    if deferral_phrases.DEFERRAL_OPENINGS.startswith(words):
        return not has_later_action(words)
    if deferral_phrases.MULLING_OPENINGS.startswith(words):
        return not has_later_order(words)
    return not is_order(words) and phrases.contains(words)


_EPISTEMIC_ADVERBS = Phrases.from_lines(
    "probably",
    "likely",
    "presumably",
    "arguably",
    "conceivably",
    "perhaps",
    "maybe",
    "possibly",
    "apparently",
    "supposedly",
    "seemingly",
    "unlikely",
    "in all likelihood|probability",
    "seems|seem|appears|appear [as|like|to|that|right|best|wise|reasonable|sensible|prudent]",
    "looks|look like|as",
)
_MODALS = frozenset({"may", "might", "could"})
_BOUNDARY = frozenset(";:\u2014\u2013.!?…(\n-")
_SEEMING = frozenset({"looks", "look", "seems", "seem", "appears", "appear"})
_DEPENDENT = SUBORDINATE - {"for"} | {"that", "so", "but", "whether", "than"}


def is_hedged(synopsis: str) -> bool:
    """Return whether the main clause of a synopsis is under an epistemic modal."""
    words = _main_words(split_clauses(synopsis))
    supposed = any(
        word in _MODALS and place and words[place + 1 : place + 2] != ["not"] for place, word in enumerate(words)
    )
    return supposed or _EPISTEMIC_ADVERBS.contains(words)


def _main_words(parts: list[TextClause]) -> list[str]:
    """Return the words of the main clause, and of what hangs on it by a comma."""
    leading = next((place for place, each in enumerate(parts) if any(main_clauses([each]))), 0)
    follow = takewhile(
        lambda each: each.mark not in _BOUNDARY and each.words[0] not in _DEPENDENT, parts[leading + 1 :]
    )
    return [word for each in (*parts[leading : leading + 1], *follow) for word in _independent(each)]


def _independent(part: TextClause) -> list[str]:
    cuts = (
        place
        for place, (before, word) in enumerate(pairwise(part.words), 1)
        if word in _DEPENDENT and before not in _SEEMING
    )
    return list(part.words[: next(cuts, None)])
