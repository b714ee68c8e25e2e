"""Recognise prose around a document that says nothing about it.

Lead-ins, headings, sign-offs, code fences and the special tokens of chat templates are harmless. The file
``harmless_prose.toml`` lists the sentences, in the languages that models are most often asked in. A piece of prose is
harmless only as a whole: a sentence that says more is not.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_HARMLESS_CHARS: Final = 1_500
"""Longer prose is never harmless."""
_MAX_PIECE_CHARS: Final = 240


def is_harmless(prose: str) -> bool:
    """Return whether ``prose`` consists of nothing but lead-ins, sign-offs and markup."""
    lines = "\n".join(filter(None, map(str.strip, prose.split("\n"))))
    if not lines:
        return True
    if len(lines) > MAX_HARMLESS_CHARS:
        return False
    text = _SPECIAL_TOKENS.sub("\n", _FENCES.sub("\n", lines))
    words = normalize("NFKC", _APOSTROPHES.sub("'", _DECORATIONS.sub("", text))).casefold().replace(_DOT_ABOVE, "")
    pieces = [" ".join(piece.split()) for piece in _SEPARATORS.split(words)]
    return all(not piece or _is_harmless_piece(piece) for piece in pieces)


def _is_harmless_piece(piece: str) -> bool:
    if len(piece) > _MAX_PIECE_CHARS:
        return False
    for grammar in load_grammars():
        matcher = _PieceMatcher(grammar, piece.replace("?", " ?") if grammar.has_spaces else piece.replace(" ", ""))
        if any(map(matcher.matches, grammar.pieces)):
            return True
    return False


_LANGUAGES = (
    r"json[5cl]?|ndjson|js|javascript|typescript|python|te?xt|plain(?:text)?|output|answer|response|result|code|ya?ml"
    r"|markdown|tool_(?:code|calls?)"
)
_FENCES: Final = re.compile(
    rf"`{{3,}}(?:[ \t]*(?:{_LANGUAGES}))?(?=[\s{{}}\[\]`]|\Z)|^[ \t]*~{{3,}}[ \t]*(?:{_LANGUAGES})?[ \t]*$"
    r"|^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Code fences with the languages of a document, and rules across the page."""
_SPECIAL_WORD = (
    r"(?:im|eot|eom|eos|bos|end|endoftext|begin|start|of|turn|message|channel|constrain|return|calls?|content|flush|id"
    r"|header|assistant|model|final|json|python|tools?|tag|text|box|sentence|answer|solution|section|sep|response|prefix"
    r"|suffix|chatbot|token|outer)"
)
_TAG = (
    r"(?:final_?)?(?:answer|output|response|results?|solution|conclusion)|(?:json|structured|extracted)?_?(?:json|output|data)"
    r"|object|extraction|assistant|tool_?(?:calls?|use)|function_?calls?|arguments|parameters|end_of_turn|code|pre|eos"
)
_SPECIAL_TOKENS: Final = re.compile(
    rf"<[|\uff5c]{_SPECIAL_WORD}(?:[_\u2581]{_SPECIAL_WORD})*[|\uff5c]?>|<{_SPECIAL_WORD}(?:[_\u2581]{_SPECIAL_WORD})*[|\uff5c]>|</?(?:{_TAG})>|</s>"
    r"|\[/?(?:tool_calls|answer|json|output|result|response)\]|\[/inst\]|<unused\d{1,4}>|\[unused\d{1,4}\]",
    re.IGNORECASE,
)
"""Special tokens such as ``<|im_end|>`` and tags that wrap an answer, such as ``<answer>`` and ``[TOOL_CALLS]``."""
_DECORATIONS: Final = re.compile(
    r"^[ \t]*#{1,6}(?=[ \t]+[\w*_])|\*{1,2}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|`"
    "|[\u00ad\u200b-\u200f\u2060\ufe0f\ufeff\u180e]|[\u2728\u2705\u2714\u2b07\U0001f447\U0001f44b\U0001f44d\U0001f389"
    "\U0001f4c4\U0001f4ca\U0001f4cb\U0001f4dd\U0001f600\U0001f60a\U0001f642\U0001f64f\U0001f680]",
    re.MULTILINE,
)
"""The marks of headings, bold text and code, invisible characters, and symbols that neither cross out nor warn."""
_APOSTROPHES: Final = re.compile("[\u2018\u2019\u02bc\u00b4\uff07]")
_DOT_ABOVE: Final = "\u0307"
"""Left of a Turkish capital I."""
_SEPARATORS: Final = re.compile(
    r"[\n.,:;()}\]\u3001\u3002\u060c\u061b\u0964\u00a1]|(?<=\w)\s?[!.\u2026\u2013\u2014]+|(?<=[\w:])\s*-+\s*(?=\n|\Z)"
)
"""The marks between pieces, with the brackets of a document that was closed twice."""


class _Element(NamedTuple):
    """A part of a piece: one of ``words``, an optional sequence, or a group; ``repeats`` allows any number of it."""

    words: frozenset[str] = frozenset()
    optional: tuple[_Element, ...] = ()
    group: str = ""
    repeats: bool = False


class _Grammar(NamedTuple):
    """The pieces of languages with (or without) spaces between words, and the groups that they refer to."""

    pieces: tuple[tuple[_Element, ...], ...]
    groups: Mapping[str, tuple[tuple[_Element, ...], ...]]
    has_spaces: bool


@cache
def load_grammars() -> tuple[_Grammar, ...]:
    """Load the harmless pieces, of languages with and without spaces."""
    tables = tomllib.loads(files("emitter.recover").joinpath("harmless_prose.toml").read_text("utf-8"))
    groups = {name: tuple(map(_parse_piece, pieces)) for name, pieces in tables["groups"].items()}
    return tuple(
        _Grammar(tuple(_parse_piece(piece) for pieces in tables[kind].values() for piece in pieces), groups, has_spaces)
        for kind, has_spaces in (("spaced", True), ("unspaced", False))
    )


_ELEMENT = re.compile(r"\[|\]\*?|\{\w+\}\*?|[^\s\[\]{}]+")


def _parse_piece(piece: str) -> tuple[_Element, ...]:
    open_sequences: list[list[_Element]] = [[]]
    for part in _ELEMENT.findall(piece):
        repeats = part.endswith("*")
        if part == "[":
            open_sequences.append([])
        elif part.startswith("]"):
            optional = tuple(open_sequences.pop())
            open_sequences[-1].append(_Element(optional=optional, repeats=repeats))
        elif part.startswith("{"):
            open_sequences[-1].append(_Element(group=part.strip("{}*"), repeats=repeats))
        else:
            open_sequences[-1].append(_Element(frozenset(part.split("|"))))
    return tuple(open_sequences[0])


class _PieceMatcher:
    """Matches one text against a grammar: from each position, all positions at which an element may end."""

    def __init__(self, grammar: _Grammar, text: str) -> None:
        self._groups = grammar.groups
        self._words = text.split(" ") if grammar.has_spaces else None
        self._text = text
        self._length = len(text) if self._words is None else len(self._words)
        self._ends: dict[tuple[str, int], set[int]] = {}

    def matches(self, piece: tuple[_Element, ...]) -> bool:
        """Return whether the piece is the whole text."""
        return self._length in self._match(piece, 0)

    def _match(self, sequence: tuple[_Element, ...], start: int) -> set[int]:
        ends = {start}
        for element in sequence:
            ends = self._match_element(element, ends)
            if not ends:
                break
        return ends

    def _match_element(self, element: _Element, starts: set[int]) -> set[int]:
        reached = set(starts) if element.optional or element.repeats else set[int]()
        new = starts
        while new:
            new = {end for start in new for end in self._match_once(element, start)} - reached
            reached |= new
            if not element.repeats:
                break
        return reached

    def _match_once(self, element: _Element, start: int) -> set[int]:
        if element.optional:
            return self._match(element.optional, start)
        if element.group:
            key = element.group, start
            if key not in self._ends:
                pieces = self._groups[element.group]
                self._ends[key] = {end for piece in pieces for end in self._match(piece, start)}
            return self._ends[key]
        if self._words is not None:
            return {start + 1} if start < self._length and self._words[start] in element.words else set()
        return {start + len(word) for word in element.words if self._text.startswith(word, start)}
