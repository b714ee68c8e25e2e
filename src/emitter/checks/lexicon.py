"""Find phrases of a lexicon in a binding moment.

A lexicon is a TOML file of rules with phrases and examples. Its findings are guesses about language, so no finding is
an error.

A phrase is a list of words. ``a|b`` is one of several words, ``[a|b]`` is optional, ``{name}`` is one of the words
listed under ``words.name``, ``..`` skips up to four words of the clause, and ``^`` is the beginning or the end of a
clause. A comma and a question mark match themselves, and ``#`` any number. ``asides`` lists words that begin a
subordinate clause, which is skipped up to the next mark.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from emitter.checks.structural import NOTE, OPTIONS, RECOMMENDATIONS, STEM, SYNOPSIS, parse_severities
from emitter.checks.text import MARK, is_english, split_tokens
from emitter.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.models import BindingMoment

_GAP: Final = ".."
_MAX_GAP: Final = 4
_NUMBER: Final = "#"
_UNLESS, _EXEMPT = "-", "~"
"""The first characters of the tags of a rule's exceptions: of those for the whole text, and of those for a phrase."""
_BREAKS: Final = frozenset({MARK, ",", "?"})
"""The tokens that a gap does not skip."""
_MAX_STATES: Final = 4096
"""The number of cached states at which the cache is emptied, so that hostile text cannot fill the memory."""


@dataclass(frozen=True, slots=True)
class LexiconRule:
    """A rule of a lexicon.

    A finding is reported if ``slot`` contains one of ``phrases``, unless it also contains one of ``unless``. A phrase
    that ends with the same word as one of ``exempt`` does not count, and others in the text do. ``finds`` and
    ``passes`` are examples of texts with and without a finding, for tests.
    """

    id: str
    slot: str
    section: str
    severity: Severity
    message: str
    phrases: tuple[str, ...]
    unless: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()


class _Step(NamedTuple):
    """A word that a phrase expects next, and the steps that may follow. ``words`` is None in a gap."""

    words: frozenset[str] | None
    following: tuple[int, ...]
    tag: str | None


class _State:
    """A state of the automaton: the steps that are expected next, and the phrases that ended here."""

    __slots__ = ("expected", "next", "tags")

    def __init__(self, expected: frozenset[int], tags: frozenset[str]) -> None:
        self.expected, self.tags = expected, tags
        self.next: dict[str | None, _State] = {}


class PhraseAutomaton:
    """Finds all phrases of all rules in one pass.

    It is a finite automaton whose states are built on first use. A token costs one look-up in a known state.
    """

    def __init__(self, phrases: Iterable[tuple[str, str]], words: Mapping[str, str]) -> None:
        """Compile phrases with the tag that each of them reports. ``words`` are the words behind a name in braces."""
        self._words = {f"{{{name}}}": text.split() for name, text in words.items()}
        self._steps: list[_Step] = []
        self._first: dict[str | None, set[int]] = {}
        for phrase, tag in phrases:
            self._add(phrase, tag)
        vocabulary = {word for step in self._steps for word in step.words or ()}
        self._vocabulary = {word: word for word in vocabulary | _BREAKS}
        self._reset()

    def _reset(self) -> None:
        self._states: dict[tuple[frozenset[int], frozenset[str]], _State] = {}
        self._start = _State(frozenset(), frozenset())

    def _add(self, phrase: str, tag: str) -> None:
        elements = [
            part for element in phrase.split() for part in ([_GAP] * _MAX_GAP if element == _GAP else [element])
        ]
        following: tuple[int, ...] = ()  # the steps that may come after the current element
        ends = True
        # From the last element back, so that each step knows its followers. An optional element can be skipped, so the
        # elements before it are followed by its followers too.
        for element in reversed(elements):
            optional = element.startswith("[") or element == _GAP
            words = None if element == _GAP else self._expand(element.strip("[]"))
            self._steps.append(_Step(words, following, tag if ends else None))
            number = len(self._steps) - 1
            following = (number, *following) if optional else (number,)
            ends = ends and optional
        for number in following:
            for word in self._steps[number].words or ():
                self._first.setdefault(word, set()).add(number)

    def _expand(self, element: str) -> frozenset[str]:
        return frozenset(word for choice in element.split("|") for word in self._words.get(choice, (choice,)))

    def knows(self, word: str) -> bool:
        """Return whether a phrase has this word."""
        return word in self._vocabulary

    def find(self, tokens: Iterable[str]) -> set[str]:
        """Return the tags of the phrases that the tokens contain."""
        found = set[str]()
        state = self._start
        vocabulary = self._vocabulary
        for token in tokens:
            known = vocabulary.get(token) or (_NUMBER if token[0].isdigit() else None)
            state = state.next.get(known) or self._advance(state, known)
            if state.tags:
                found |= state.tags
        return found

    def _advance(self, state: _State, token: str | None) -> _State:
        """Build the state that follows on a token."""
        # A number that is a word of some phrase, such as the 2 of "type 2", is still any number for the others.
        read = (token, _NUMBER) if token is not None and token[0].isdigit() else (token,)
        matched = {number for number in state.expected if any(self._accepts(number, each) for each in read)}
        matched |= {number for each in read for number in self._first.get(each, ())}
        expected = frozenset(number for step in matched for number in self._steps[step].following)
        ended = {tag for step in matched if (tag := self._steps[step].tag) is not None}
        tags = frozenset(tag for tag in ended if tag[0] != _EXEMPT and f"{_EXEMPT}{tag}" not in ended)
        if len(self._states) >= _MAX_STATES:
            self._reset()
        following = self._states.setdefault((expected, tags), _State(expected, tags))
        state.next[token] = following
        return following

    def _accepts(self, number: int, token: str | None) -> bool:
        words = self._steps[number].words
        return token not in _BREAKS if words is None else token in words


@dataclass(frozen=True, slots=True)
class LexiconData:
    """The rules of a lexicon file, with the automaton of their phrases and the words behind names in braces."""

    rules: Mapping[str, LexiconRule]
    automaton: PhraseAutomaton
    asides: frozenset[str] = frozenset()
    words: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def find(self, slot: str, text: str) -> Iterator[LexiconRule]:
        """Yield the rules of a slot that find something in a text."""
        return self.find_in_tokens(slot, split_tokens(text))

    def find_in_tokens(self, slot: str, tokens: list[str]) -> Iterator[LexiconRule]:
        """Yield the rules of a slot that find something in the tokens of a text."""
        tags = self.automaton.find(self._skip_asides(tokens))
        for tag in sorted(tags):
            rule = self.rules.get(tag)
            if rule is not None and rule.slot == slot and f"{_UNLESS}{tag}" not in tags:
                yield rule

    def _skip_asides(self, tokens: list[str]) -> list[str]:
        if self.asides.isdisjoint(tokens):
            return tokens
        read: list[str] = []
        skipped = False
        for token in tokens:
            skipped = token not in _BREAKS and (skipped or (token in self.asides and read[-1] != MARK))
            if not skipped:
                read.append(token)
        return read


def parse_lexicon(text: str) -> LexiconData:
    """Parse a lexicon in TOML."""
    document = tomllib.loads(text)
    rules = [_parse_rule(table) for table in document["rule"]]
    phrases = [(phrase, rule.id) for rule in rules for phrase in rule.phrases]
    exceptions = [(phrase, f"{_UNLESS}{rule.id}") for rule in rules for phrase in rule.unless]
    exceptions += [(phrase, f"{_EXEMPT}{rule.id}") for rule in rules for phrase in rule.exempt]
    words: dict[str, str] = document.get("words", {})
    automaton = PhraseAutomaton((*phrases, *exceptions), words)
    asides = frozenset(document.get("asides", "").split())
    word_sets = {name: frozenset(text.split()) for name, text in words.items()}
    return LexiconData(MappingProxyType({rule.id: rule for rule in rules}), automaton, asides, word_sets)


def _parse_rule(table: dict[str, Any]) -> LexiconRule:
    members: dict[str, Any] = {**table, "severity": Severity(table["severity"])}
    members |= {name: tuple(table.get(name, ())) for name in ("phrases", "unless", "exempt", "finds", "passes")}
    return LexiconRule(**members)


@cache
def load_lexicon(name: str, package: str = "emitter.checks") -> LexiconData:
    """Return the lexicon ``name`` of a package, such as "english"."""
    return parse_lexicon(files(package).joinpath(f"{name}.toml").read_text("utf-8"))


LANGUAGE_UNCHECKED: Final = "language-unchecked"
"""The rule of the notice that no rule reads the language of a text."""
_ALLOWED: Final = (Severity.OFF, Severity.WARNING, Severity.RETRY)


@dataclass(frozen=True, slots=True)
class EnglishLexicon:
    """Checks a binding moment for English phrases that defer, lead or give no answer.

    The findings ask the model for one correction. If they remain, they are reported as warnings. A decision in another
    language has the warning ``language-unchecked``.

    Args:
        severities: Severities that differ from the defaults, for example ``{"synopsis-open": "off"}``. Each is "off",
            "warning" or "retry".
    """

    severities: Mapping[str, Severity | str] = field(default_factory=dict[str, "Severity | str"])

    def __post_init__(self) -> None:
        rules = (*load_lexicon("english").rules, LANGUAGE_UNCHECKED) if self.severities else ()
        severities = parse_severities(self.severities, rules, _ALLOWED) if self.severities else {}
        object.__setattr__(self, "severities", MappingProxyType(severities))

    def __call__(self, value: BindingMoment, /) -> tuple[Finding, ...]:
        """Return the findings of the lexicon, or a notice that it does not read the language."""
        lexicon = load_lexicon("english")
        slots = [(slot, pointer, split_tokens(text)) for slot, pointer, text in iter_slots(value)]
        findings = [
            Finding(pointer, rule.id, severity, f"{rule.message} (section {rule.section})")
            for slot, pointer, tokens in slots
            for rule in lexicon.find_in_tokens(slot, tokens)
            if (severity := self._severity(rule.id, rule.severity)) is not Severity.OFF
        ]
        is_off = self._severity(LANGUAGE_UNCHECKED, Severity.WARNING) is Severity.OFF
        if not is_off and not is_english(token for _, _, tokens in slots for token in tokens):
            findings.append(Finding("", LANGUAGE_UNCHECKED, Severity.WARNING, _LANGUAGE_UNCHECKED_MESSAGE))
        return tuple(findings)

    def _severity(self, rule: str, default: Severity) -> Severity:
        return Severity(self.severities.get(rule, default))


_LANGUAGE_UNCHECKED_MESSAGE: Final = "Not checked: language. No rule of wording reads the language of this decision."


def iter_slots(moment: BindingMoment) -> Iterator[tuple[str, str, str]]:
    """Yield the name, pointer and text of the slots that have rules."""
    yield "synopsis", SYNOPSIS, moment.synopsis
    for index, text in enumerate(moment.recommendations):
        yield "recommendation", f"{RECOMMENDATIONS}/{index}", text
    yield "stem", STEM, moment.question.stem
    for index, option in enumerate(moment.question.options):
        yield "label", f"{OPTIONS}/{index}/label", option.label
    if moment.meta is not None and moment.meta.calibration_note is not None:
        yield "note", NOTE, moment.meta.calibration_note
