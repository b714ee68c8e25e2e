"""Scan a narrative against its policy, and a refusal's message for control-plane details.

Quantities, the caller's markers and leaks are found by their form. Verdicts, orders, attributions and hedges are found
by the phrases of ``english.toml``, which can be wrong. Every finding is an error nevertheless: a narrative must not
claim authority, and RFC-0011 renders no sentence by default before it is cleared. So a text that might claim authority
is corrected, or refused. (In a decision, a phrase alone refuses nothing: there the principal judges.)

Source: RFC-0010, NarrativePolicy and RefusalReason ("MUST NOT leak control-plane details that enable probing"). The
rules that recognize each kind of marker are emitter's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from emitter.authority.narrative.sources import KNOWN_SOURCE, mark_sources, name_words
from emitter.authority.narrative.text import (
    find_measurements,
    find_spellings,
    join_spaced_words,
    split_sentences,
    to_visible_text,
)
from emitter.checks.lexicon import load_lexicon
from emitter.errors import InputError
from emitter.visible_text import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.checks.lexicon import PhraseAutomaton


class NarrativeRule(str, Enum):
    """The rules, by id."""

    MEASUREMENT = "measurement"
    CLASSIFICATION = "classification"
    IMPERATIVE = "imperative"
    FORBIDDEN = "forbidden"
    UNATTRIBUTED = "unattributed"
    UNHEDGED = "unhedged"
    PARTICULAR = "particular"
    SPECIFIC = "specific"
    LEAK = "leak"


class NarrativePolicyLike(Protocol):
    """RFC-0010's NarrativePolicy, or any object with these four properties."""

    @property
    def grammar_mode(self) -> str:
        """``attributive``, ``hedged`` or ``educational``."""
        ...

    @property
    def forbidden_markers(self) -> tuple[str, ...]:
        """Words and phrases that the caller forbids."""
        ...

    @property
    def max_specificity(self) -> str:
        """``general`` or ``contextualized``."""
        ...

    @property
    def scrub_measurements(self) -> bool:
        """True if the caller removes measurements instead of refusing the narrative."""
        ...


@dataclass(frozen=True, slots=True)
class NarrativeMarker:
    """One broken rule, its place in the text, and what is expected there.

    ``start`` and ``end`` count the characters of the text as it was passed. ``expected`` is a constant sentence and
    quotes nothing of the text.
    """

    rule: str
    start: int
    end: int
    expected: str


EXPECTED_BY_RULE: Mapping[NarrativeRule, str] = MappingProxyType(
    {
        NarrativeRule.MEASUREMENT: (
            "A narrative states no quantity; a measurement is an envelope of its own, with a provenance."
        ),
        NarrativeRule.CLASSIFICATION: "A narrative gives no verdict; a classification is an envelope of its own.",
        NarrativeRule.IMPERATIVE: "A narrative gives no instructions; an action is an envelope of its own.",
        NarrativeRule.FORBIDDEN: "A narrative contains none of the markers that its policy forbids.",
        NarrativeRule.UNATTRIBUTED: (
            "Each sentence names its source. Verdicts and instructions are those of a material or a reading that was "
            "given, named as it is there."
        ),
        NarrativeRule.UNHEDGED: "Each sentence leaves open whether it is true.",
        NarrativeRule.PARTICULAR: (
            "An educational narrative states what is true in general. It addresses nobody and describes no single case."
        ),
        NarrativeRule.SPECIFIC: (
            "A general narrative has no numbers, dates, names or identifiers, and addresses nobody."
        ),
        NarrativeRule.LEAK: "The text of a refusal reveals nothing about how it came about.",
    }
)
"""One sentence for each rule, the same for every text."""


def make_marker(rule: NarrativeRule, span: tuple[int, int]) -> NarrativeMarker:
    """Return the marker of a rule at a place."""
    return NarrativeMarker(rule, *span, EXPECTED_BY_RULE[rule])


_ATTRIBUTIVE: Final = "attributive"
_HEDGED: Final = "hedged"
_EDUCATIONAL: Final = "educational"
_MODES: Final = (_ATTRIBUTIVE, _HEDGED, _EDUCATIONAL)
_GENERAL: Final = "general"
_LEVELS: Final = (_GENERAL, "contextualized")
_Span = tuple[int, int]


def scan_narrative(
    text: str, policy: NarrativePolicyLike, *, sources: Iterable[str] | None = None
) -> tuple[NarrativeMarker, ...]:
    """Return the places where a narrative breaks its policy, in the order of the text.

    In the attributive mode a source may pass a verdict or give an instruction. ``sources`` are the names of those that
    may: the materials and readings of the call. If it is None, any source may.

    Measurements are reported even with ``scrub_measurements``; a caller who removes them ignores those. The rules are
    for English. In a text in another language, only numbers, the caller's markers and missing sources or hedges are
    found. The time is linear in the length of the text.

    Raises:
        InputError: ``text`` is not a string, or the policy has an unknown mode or level, or a blank marker.
    """
    visible = to_visible_text(_check_text(text))
    joined = join_spaced_words(visible)
    mode = _check_choice("grammar_mode", policy.grammar_mode, _MODES)
    level = _check_choice("max_specificity", policy.max_specificity, _LEVELS)
    known = None if sources is None else name_words(_check_names("sources", sources))
    scan = _NarrativeScan(mode, level, find_measurements(joined), joined.text, known)
    found = {(joined.span(*span), rule) for rule, span in scan.iter_markers()}
    forbidden = find_spellings(_check_markers(policy), visible.text)
    found |= {(visible.span(*span), NarrativeRule.FORBIDDEN) for span in forbidden}
    return tuple(make_marker(rule, span) for span, rule in sorted(found))


def names_unknown_source(text: str, sources: Iterable[str]) -> bool:
    """Return whether a sentence of a narrative is attributed to a source that ``sources`` does not name."""
    joined = join_spaced_words(to_visible_text(_check_text(text)))
    known = name_words(_check_names("sources", sources))
    return _NarrativeScan(_ATTRIBUTIVE, _GENERAL, [], joined.text, known).names_unknown_source()


@dataclass(frozen=True, slots=True)
class _NarrativeScan:
    """The visible text of a narrative, the mode and level of its policy, and the places of its measurements."""

    mode: str
    level: str
    measurement_spans: list[_Span]
    text: str
    known_sources: tuple[frozenset[str], ...] | None

    def iter_markers(self) -> Iterator[tuple[NarrativeRule, _Span]]:
        yield from ((NarrativeRule.MEASUREMENT, span) for span in self.measurement_spans)
        masked = _mask_spans(self.text, self.measurement_spans)
        named = _NamedSource.NONE
        for start, end in self._split(masked):
            sentence = masked[start:end]
            found, span = _find_ids(sentence), (start, start + len(sentence.rstrip(_END_MARKS)))
            source = self._find_source(sentence, found, named) if self.mode == _ATTRIBUTIVE else _NamedSource.NONE
            named = named if source is _NamedSource.NONE else source
            quotes = _QUOTED.search(masked, start, end) is not None
            for rule in self._broken_rules(found, source, quotes=quotes):
                yield rule, span

    def names_unknown_source(self) -> bool:
        """Return whether a sentence is attributed to a source that is none of the call's."""
        named = _NamedSource.NONE
        for start, end in self._split(self.text):
            source = self._find_source(self.text[start:end], _find_ids(self.text[start:end]), named)
            if source is _NamedSource.UNKNOWN:
                return True
            named = named if source is _NamedSource.NONE else source
        return False

    def _split(self, masked: str) -> Iterator[_Span]:
        """Yield the sentences; a part that names a source of its own is one, so that no other answers for it."""
        is_split = self.known_sources is not None and self.mode == _ATTRIBUTIVE
        for first, end in split_sentences(masked):
            start = first
            for joint in _JOINT.finditer(masked, first, end) if is_split else ():
                clause = masked[joint.end() : min(end, joint.end() + _LONGEST_CLAUSE)].partition(",")[0]
                if _is_attributed(_find_ids(f"{clause}."), has_named_source=True):
                    yield start, joint.start()
                    start = joint.end()
            yield start, end

    def _find_source(self, sentence: str, found: set[str], named: _NamedSource) -> _NamedSource:
        """Return whether a sentence names its source, or refers by a pronoun to a source of an earlier sentence."""
        if self.known_sources and _OWN_SOURCE not in found and _names_known_source(sentence, self.known_sources):
            return _NamedSource.KNOWN
        if not _is_attributed(found, has_named_source=named is not _NamedSource.NONE):
            return _NamedSource.NONE
        if self.known_sources is None:
            return _NamedSource.KNOWN
        return named if _PRONOUN_SOURCE in found else _NamedSource.UNKNOWN

    def _broken_rules(self, found: set[str], source: _NamedSource, *, quotes: bool) -> set[NarrativeRule]:
        """Return the rules that a sentence breaks, given what the lexicon finds in it."""
        exempt = {NarrativeRule.CLASSIFICATION.value, NarrativeRule.IMPERATIVE.value, *((_ORDER,) if quotes else ())}
        if source is _NamedSource.UNKNOWN and not exempt.isdisjoint(found):
            found, source = found | {NarrativeRule.UNATTRIBUTED.value}, _NamedSource.NONE
        sourced = source is not _NamedSource.NONE
        broken = {NarrativeRule(each.partition(".")[0]) for each in found - (exempt if sourced else set())}
        checked = {*_RULES_BY_MODE[self.mode], *((NarrativeRule.SPECIFIC,) if self.level == _GENERAL else ())}
        return broken & (checked | _AUTHORITY_RULES) - ({NarrativeRule.UNATTRIBUTED} if sourced else set())


class _NamedSource(Enum):
    """The attribution of a sentence: none, a source of the call, or another source."""

    NONE = "none"
    KNOWN = "known"
    UNKNOWN = "unknown"


def _find_ids(sentence: str) -> set[str]:
    """Return the ids of the lexicon's rules that match a sentence. A heading needs no source and no hedge."""
    lexicon = load_lexicon("english", __package__ or "")
    plain = _MONTH.sub("q", sentence.translate(_CLAUSE_MARKS))
    text = _NUMBERED_WORD.sub(_read_number, _unmask_digits(plain, lexicon.automaton))
    found = {rule.id for rule in lexicon.find("narrative", text)} - {_KNOWN_SOURCE}
    is_heading = len(sentence.split()) <= _HEADING and not sentence.rstrip(_CLOSING_MARKS).endswith(".")
    return found - {NarrativeRule.UNATTRIBUTED.value, NarrativeRule.UNHEDGED.value} if is_heading else found


def _names_known_source(sentence: str, names: tuple[frozenset[str], ...]) -> bool:
    """Return whether a sentence is attributed to a source of the call, whatever kind of thing that is."""
    lexicon = load_lexicon("english", __package__ or "")
    verbs = frozenset[str]().union(*(lexicon.words[name] for name in ("say", "says", "saying")))
    marked = mark_sources(sentence, names, lexicon.words["source"], verbs).translate(_CLAUSE_MARKS)
    if all(rule.id != _KNOWN_SOURCE for rule in lexicon.find("narrative", marked)):
        return False
    clauses_before = marked.partition(KNOWN_SOURCE)[0].rpartition(",")[0]
    return not (clauses_before and _is_attributed(_find_ids(f"{clauses_before}."), has_named_source=True))


def _is_attributed(found: set[str], *, has_named_source: bool) -> bool:
    """Return whether a sentence names its source, or refers by a pronoun to a source of an earlier sentence."""
    missing = {NarrativeRule.UNATTRIBUTED.value, _OWN_SOURCE, *(() if has_named_source else (_PRONOUN_SOURCE,))}
    return missing.isdisjoint(found)


def _unmask_digits(text: str, automaton: PhraseAutomaton) -> str:
    """Return a text with letters for the digits that replace them in words of the lexicon, such as ``ill3gal``."""

    def unmask(word: re.Match[str]) -> str:
        letters = word[0].translate(_LEET_DIGITS)
        return letters if automaton.knows(letters.casefold()) else word[0]

    return _MASKED_WORD.sub(unmask, text)


def _read_number(word: re.Match[str]) -> str:
    """Return ``0`` for an identifier with digits, and ``q`` for a name such as ``B12`` or ``H1N1``."""
    return "q" if _NUMBERED_NAME.fullmatch(word[0].casefold()) else "0"


_ORDER: Final = "imperative.order"
_OWN_SOURCE: Final = "unattributed.own"
_PRONOUN_SOURCE: Final = "unattributed.pronoun"
_KNOWN_SOURCE: Final = "known-source"
_JOINT: Final = re.compile(r",?\s+(?:and|but|while|whereas|although|though|yet)\s+", re.IGNORECASE)
"""The places at which a sentence may go on with another source."""
_LONGEST_CLAUSE: Final = 160
"""The number of characters after a joint that are read for a source, so that many joints take linear time."""
_QUOTED: Final = re.compile('["\u201c\u201d]')
_CLAUSE_MARKS: Final = str.maketrans(dict.fromkeys('"\u201c\u201d|=<>\u2192', ";"))
"""Quotation marks and the marks of tables and assignments, which separate clauses."""
_END_MARKS: Final = " \t\n.;!?"
_CLOSING_MARKS: Final = " \t\"\u201d')]"
_LEET_DIGITS: Final = str.maketrans("013457", "oieast")
_MONTH: Final = re.compile(r"(?<=[^\W_] )May\b")
"""The month May, so that it is not taken for the modal verb."""
_MASKED_WORD: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]++[013457][^\W\d_](?:[013457]|[^\W\d_])*")
_NUMBERED_WORD: Final = re.compile(r"(?<![^\W\d_])(?=[^\W\d_]++[^\W_]*\d)[^\W\d_]+-?[^\W_]+|\d{1,2}[dgkDGK]\b")
_NUMBERED_NAME: Final = re.compile(r"[a-z]{1,9}-?\d{1,2}[a-z]?|[a-z]\d[a-z]\d{1,2}|\d{1,2}[dgk]")
_AUTHORITY_RULES: Final = frozenset({NarrativeRule.CLASSIFICATION, NarrativeRule.IMPERATIVE})
"""The rules of every mode. A sentence that is attributed to a named source breaks none of them."""
_RULES_BY_MODE: Final[Mapping[str, frozenset[NarrativeRule]]] = MappingProxyType(
    {
        _ATTRIBUTIVE: frozenset({NarrativeRule.UNATTRIBUTED}),
        _HEDGED: frozenset({NarrativeRule.UNHEDGED}),
        _EDUCATIONAL: frozenset({NarrativeRule.PARTICULAR}),
    }
)
_HEADING: Final = 2
"""Maximum number of words of a heading, which states nothing."""


def _mask_spans(text: str, spans: Iterable[_Span]) -> str:
    """Return a text of the same length with letters in place of each span, so that it is not read as a number."""
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "q" * (end - start)
    return "".join(characters)


def _check_text(text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"text is of type {type(text).__name__}; it must be a string.")
    return text


def _check_names(name: str, values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):
        raise InputError(f"{name} must be a list of strings.", hint="Put the name into a list.")
    return tuple(map(_check_text, values))


def _check_markers(policy: NarrativePolicyLike) -> tuple[str, ...]:
    if any(map(is_blank, policy.forbidden_markers)):
        raise InputError("A forbidden marker is blank.", hint="Leave it out.")
    return tuple(policy.forbidden_markers)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Return the choice that equals a value, which may be a member of any enumeration of strings."""
    for choice in choices:
        if value == choice:
            return choice
    raise InputError(f"{name} of a narrative policy must be one of {', '.join(choices)}.")


_FEW: Final = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_KEPT: Final = r"(?:rules?|polic(?:y|ies)|checks?|clauses?|guards?|filters?|triggers?|guidelines?)"
_BARRED: Final = r"(?:blocked?|banned|forbidden|trigger|flagged|prohibited|restricted|sensitive)"
_NUMBER: Final = r"(?:[$\u20ac\u00a3]\s?)?\d[\d.,]{0,20}+"
_FORM: Final = (
    r"(?!\s*(?:files?|characters?|pages?|words?|lines?|letters?|digits?|photos?|images?|attachments?|questions?|times?|"
    r"minutes?|hours?|days?|weeks?|months?|years?|working|business|mb|kb|gb|people|persons?|items?|things?)\b)"
)
"""Excludes limits on form, such as the number of pages."""
_MORE: Final = (
    r"(?:above|below|over|under|exceed(?:s|ed|ing)?|beyond|at\s+least|at\s+most|(?:less|more|fewer|greater|lower|higher)"
    r"\s+than|(?:limit|minimum|maximum)\s+(?:of|is)|up\s+to)"
)
_ORACLES: Final = (
    r"oracles?|tiers?|provenance|envelopes?|registr(?:y|ies)|adapters?|databases?|control[\s-]+plane",
    r"ground[\s-]+truth(?:\s+store)?|verified_at|value_hash|oracle_id|envelope_id|audit_id",
    r"(?:primary|secondary|cross[\s_-]?domain|unverified|tertiary)[\s_-]+(?:tier|oracle|source|check|record)s?",
    r"(?:two|three|four|five|several|both|the|our|all)\s+sources?\s+(?:disagree|conflict|contradict|differ)\w*",
    r"sources?\s+(?:disagree|conflict|contradict|must\s+agree|did\s+not\s+agree)\w*",
    r"(?:first|second|third|fourth|last|other|verification|trusted|external)\s+sources?",
    r"conflicting\s+(?:values?|answers?|results?|information|records?)",
    r"verification[\s-]+(?:records?|methods?|status|steps?)",
)
_THRESHOLDS: Final = (
    r"thresholds?|cut-?offs?|(?:sub-?)?scor(?:es?|ed|ing)|confidences?|likelihoods?|probabilit(?:y|ies)",
    r"(?:trust|risk|confidence|certainty|safety|verification)[\s-]+(?:levels?|ratings?|class(?:es)?|weights?|index)",
    r"points?\s+(?:short|missing|below)|required\s+(?:level|minimum)",
    r"\d[\d.,]{0,12}\s?(?:%|percent|per\s+cent)|0[.,]\d{1,9}",
    rf"{_MORE}\s+{_NUMBER}{_FORM}",
    rf"[<>\u2264\u2265]=?\s*{_NUMBER}",
)
_RULES: Final = (
    rf"{_KEPT}\s*(?:no\.?|number|id|#)?\s*(?:[a-z]{{1,5}}[-_.]?)?\d[\w.()-]{{0,12}}",
    r"internal\s+(?:polic(?:y|ies)|rules?|checks?|codes?|ids?|systems?|limits?|guidelines?)|rule-?books?",
    rf"{_FEW}\s+(?:out\s+)?of\s+(?:the\s+|our\s+)?(?:{_FEW}(?!\s+(?:pages|files))|checks|rules|oracles|tests|sources)",
    r"(?:all|some)\s+of\s+(?:the\s+|our\s+)?(?:checks|rules|oracles|tests|sources)",
    r"rule\s+sets?|failed\s+(?:the|our|a)\s+\w{3,20}\s+(?:check|test)s?|you\s+will\s+(?:then\s+)?get\s+(?:an?\s+)?answer",
    r"checks?\s+(?:that\s+)?(?:has\s+|have\s+)?failed|did\s+not\s+pass",
    r"failed\s+(?:the\s+|our\s+|a\s+)?(?:check|test|validation|screening)s?",
    r"automated\s+(?:checks?|reviews?|systems?)|automatic(?:ally)?\s+(?:checks?|reviews?|refused|rejected|blocked)",
    r"(?:was|were|is|been)\s+(?:classified|flagged|categori[sz]ed|detected|rated|labell?ed)(?:\s+as)?|flagged",
    r"policy_violation|unresolvable|emergency_escalation|(?<![a-z])blocked(?=\s*[:(\[])",
)
_WAYS_AROUND: Final = (
    rf"{_BARRED}[\s-]+(?:key)?(?:words?|terms?|phrases?|topics?|list)(?:[\s-]+list)?|keywords?",
    r"(?:block|deny|allow|white|black)[\s-]?lists?",
    r"(?:the|avoid|remove|without)\s+(?:words?|terms?|phrases?)(?=\s+[\"\u201c'])",
    r"(?:get|work)\s+(?:past|around)|bypass\w*|circumvent\w*|jailbreaks?",
    r"(?:will|would)\s+(?:then\s+)?(?:pass|be\s+accepted|be\s+let\s+through)|go(?:es)?\s+through",
)
_MODELS: Final = (
    r"guard-?rails?|classifiers?|detectors?|moderation|regex(?:es)?|heuristics?|algorithms?",
    r"(?:policy|rules?|decision)[\s-]+engines?|pipelines?|validators?|verifiers?|fact-?check\w*|lookups?|caches?",
    r"(?:the|our|a)\s+tools?|checkers?",
    r"(?:content|safety|word|output|input)[\s-]+filters?",
    r"(?:system|hidden|developer|base|initial)[\s-]+(?:messages?|instructions?)|prompts?",
    r"(?:assistant|bot|system)(?:'s|s)?\s+instructions?|(?:my|its)\s+instructions?|instructed\s+not\s+to",
    r"context[\s-]+window|embeddings?|fine-?tun\w*|logits?|logprobs?|hallucinat\w*|llms?|tokens?|ai",
    r"artificial\s+intelligence|machine\s+learning",
    r"(?:language|ai|ml|underlying|machine|this|our|the)\s+models?(?!\s+(?:of|name|number|year|and)\b)",
    r"(?:gpt|claude|gemini|llama|mistral|chatgpt|openai|anthropic)(?:[\s-]?\d[\w.]{0,8})?",
    r"(?:lower|higher|sampling|different)\s+temperature|temperature\s+(?:setting|parameter)",
    r"apis?|endpoints?|back-?ends?|stack\s+traces?|tracebacks?|exceptions?|null\s+pointer|timeouts?|https?\s+\d{3}",
)
_IDS: Final = (
    r"(?:incident|ticket|reference|trace)\s+(?:numbers?|no\.?|ids?)|[a-z]{2,5}-\d{3,12}|last\s+verified",
    r"(?:audit|trace|incident|correlation|request|session|log|error|reason)[\s_-]+(?:ids?|identifiers?|codes?|hash)",
    r"(?:aud|env|ref|req|rule|pol|trace|orc|evt|err)[_-][a-z0-9][\w-]{2,40}",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r"(?=[a-f]{0,40}\d)(?=[0-9]{0,40}[a-f])[0-9a-f]{12,64}|sha-?256\S{0,80}",
)
CONTROL_PLANE_DETAILS: Final = "|".join((*_ORACLES, *_THRESHOLDS, *_RULES, *_WAYS_AROUND, *_MODELS, *_IDS))
_DETAILS_PATTERN: Final = re.compile(
    rf"(?<![^\W_])(?:{CONTROL_PLANE_DETAILS})(?![^\W_])|\d[\d.,]{{0,12}}\s?%", re.IGNORECASE
)


def find_leaks(text: str, names: Iterable[str]) -> tuple[NarrativeMarker, ...]:
    """Return the places where a text for a user reveals how its refusal came about, in the order of the text.

    ``names`` are the ids and names of oracles, and others that must not appear. Each is found as a whole word, in any
    case and spelling.

    Raises:
        InputError: ``text`` is not a string, or ``names`` is a single string.
    """
    visible = to_visible_text(_check_text(text))
    if isinstance(names, str):
        raise InputError("names must be a list of strings.", hint="Put the name into a list.")
    joined = join_spaced_words(visible)
    spans = {joined.span(*match.span()) for match in _DETAILS_PATTERN.finditer(joined.text)}
    spans |= {visible.span(*span) for span in find_spellings(tuple(names), visible.text, acronyms=True)}
    return tuple(make_marker(NarrativeRule.LEAK, span) for span in sorted(spans))
