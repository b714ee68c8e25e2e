"""Draw random JSON documents that a schema allows, byte by byte.

llguidance computes the bytes that may come next, and a seeded sampling policy chooses one. Needs the extra
``testing``.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

END_TOKEN = 256
"""The token after the 256 bytes: the end of the document."""
_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCXYZ _-")
_DIGITS = frozenset(b"0123456789")
_PRINTABLE = frozenset(range(0x20, 0x7F))
_STYLES = (_LETTERS, _DIGITS, _DIGITS | frozenset(b"{}[]:,.-+eE\\ntrufals"), _PRINTABLE, frozenset(range(END_TOKEN)))
_STYLE_WEIGHTS = (6, 2, 2, 2, 2)
_JSON_TEXTS = (
    *("null", "true", "0", "-1.5", "1e3", "7", '""', '"x"', "[]", "{}", '{"a":1}', '[1,"b",null]', '{"a":{"b":[]}}'),
    *("{", "[1,", "NaN", "1e999", '{"a":1,"a":2}', " 1 ", '"\\ud800"', "01", ""),
)
"""Strings for properties that carry JSON text, valid and invalid."""
_RARE_WEIGHTS = {ord("."): 0.15, ord("e"): 0.05, ord("E"): 0.05, ord("{"): 0.7, ord("["): 0.7, ord("-"): 0.4}
_FREQUENT_WEIGHTS = {ord("}"): 1.5, ord("]"): 1.5, ord(","): 1.5, END_TOKEN: 3.0}
# Outside strings, these weights keep numbers short, and documents shallow and small.
_BYTE_WEIGHTS = tuple((_RARE_WEIGHTS | _FREQUENT_WEIGHTS).get(token, 1.0) for token in range(END_TOKEN + 1))
# The bytes that bring the end of the document closest: brackets that close, then the shortest literals.
_CLOSING_COSTS = {
    END_TOKEN: 0,
    ord("}"): 1,
    ord("]"): 1,
    ord("n"): 2,
    ord("t"): 3,
    ord("f"): 3,
    ord("["): 5,
    ord("{"): 6,
    ord(","): 7,
}
_CLOSE_PROBABILITY = 0.15
"""Probability that a string ends at a character where it may end."""
_SEPARATORS = frozenset(b"@.:/-")
_SEPARATOR_PROBABILITY = 0.1
"""Probability of a separator where a string may not end yet: a format may require one."""
_NO_TEXT_PROBABILITY = 0.4
"""Probability that a string is not one of the known texts."""
_CALLER_TEXT_PROBABILITY = 0.7
"""Probability that a known text is one of the caller's, if there are any."""
_IN_STYLE_PROBABILITY = 0.95
"""Probability that a character has the style of its string."""


class SamplingPolicy:
    """Chooses the next byte, with regard to the bytes so far."""

    def __init__(self, rng: Random, texts: Sequence[str]) -> None:
        self._rng = rng
        self._texts = texts
        self._in_string = self._in_escape = self._at_string_start = self._text_written = False
        self._style = _LETTERS

    def observe(self, data: bytes) -> None:
        """Update the state of the current string with new bytes."""
        for byte in data:
            self._at_string_start = byte == _QUOTE and not self._in_string
            if self._at_string_start:
                self._in_string, self._text_written = True, False
                self._style = self._rng.choices(_STYLES, _STYLE_WEIGHTS)[0]
            elif self._in_string and not self._in_escape and byte == _QUOTE:
                self._in_string = False
            self._in_escape = self._in_string and not self._in_escape and byte == _BACKSLASH

    def choose_text(self) -> bytes:
        """Return a whole text to try at the start of a string, or nothing."""
        if not self._at_string_start or self._rng.random() < _NO_TEXT_PROBABILITY:
            return b""
        self._text_written = True
        texts = self._texts if self._texts and self._rng.random() < _CALLER_TEXT_PROBABILITY else _JSON_TEXTS
        return json.dumps(self._rng.choice(texts), ensure_ascii=False).encode(errors="replace")[1:-1]

    def choose_byte(self, allowed: list[int]) -> int:
        """Choose one of the allowed bytes."""
        if not self._in_string:
            return self._rng.choices(allowed, [_BYTE_WEIGHTS[byte] for byte in allowed])[0]
        may_end = _QUOTE in allowed
        if may_end and (self._text_written or self._rng.random() < _CLOSE_PROBABILITY):
            return _QUOTE
        style = _SEPARATORS if not may_end and self._rng.random() < _SEPARATOR_PROBABILITY else self._style
        preferred = [byte for byte in allowed if byte in style]
        return self._rng.choice(preferred if preferred and self._rng.random() < _IN_STYLE_PROBABILITY else allowed)

    def choose_closing_byte(self, allowed: list[int]) -> int:
        """Choose a byte that leads to the end of the document."""
        if self._in_string:
            return _QUOTE if _QUOTE in allowed else self.choose_byte(allowed)
        minimum = min(_CLOSING_COSTS.get(byte, 4) for byte in allowed)
        return self._rng.choice([byte for byte in allowed if _CLOSING_COSTS.get(byte, 4) == minimum])


SOFT_LIMIT_BYTES = 1_500
"""Bytes after which bytes that close the document are preferred."""
HARD_LIMIT_BYTES = 12_000
"""Bytes after which the draw fails, for small schemas."""
MAX_CHOICES = 12_000
"""Chosen bytes after which the draw fails: a pattern such as ``.*[.]json`` may never end."""
MAX_LENGTH_RATIO = 2
"""Maximal length of a document relative to its schema, for schemas with many properties."""


class _ByteVocabulary:
    """A vocabulary of single bytes and an end token."""

    eos_token_id = END_TOKEN
    bos_token_id = None
    tokens = (*(bytes([byte]) for byte in range(END_TOKEN)), b"<end>")
    special_token_ids = (END_TOKEN,)

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_TOKENIZER = LLTokenizer(TokenizerWrapper(_ByteVocabulary()), slices=[])


def _make_matcher(schema: Any) -> LLMatcher:
    # The options of a grammar need a schema that is an object.
    members: Any = {} if schema is True else {"not": {}} if schema is False else schema
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(members), overrides={"whitespace_flexible": False})
    return LLMatcher(_TOKENIZER, grammar, log_level=0)


def find_compile_error(schema: Any) -> str | None:
    """Return llguidance's error for a schema, or None."""
    error = _make_matcher(schema).get_error()
    return error.strip().split("\n")[0] or "no reason given" if error else None


class Sampler:
    """Draws documents of one schema. ``texts`` are strings to prefer inside it."""

    def __init__(self, schema: Any, texts: Sequence[str] = ()) -> None:
        self._matcher = _make_matcher(schema)
        self._max_bytes = max(HARD_LIMIT_BYTES, MAX_LENGTH_RATIO * len(json.dumps(schema)))
        self._texts = tuple(texts)

    def draw(self, rng: Random) -> bytes | None:
        """Return a document, or None if it did not end within the limits."""
        matcher = self._matcher.deep_copy()
        policy = SamplingPolicy(rng, self._texts)
        document = bytearray()
        choices = 0
        while len(document) < self._max_bytes and choices < MAX_CHOICES and not matcher.is_error():
            data: bytes | None = matcher.compute_ff_bytes()
            if not data:
                if matcher.is_stopped():
                    return bytes(document)
                choices += 1
                data = self._choose_next(matcher, policy, hurried=len(document) > SOFT_LIMIT_BYTES)
            if data == b"":
                return bytes(document)
            if data is None or not matcher.consume_tokens(list(data)):
                return None
            policy.observe(data)
            document += data
        return None

    @staticmethod
    def _choose_next(matcher: LLMatcher, policy: SamplingPolicy, *, hurried: bool) -> bytes | None:
        """Return the next bytes: empty at the end, None if nothing is allowed."""
        if not hurried:
            text = policy.choose_text()
            valid = matcher.validate_tokens(list(text)) if text else 0
            if valid:
                return text[:valid]
        mask = matcher.compute_logit_bias()
        allowed = [token for token, bias in enumerate(mask) if bias]
        if not allowed:
            return None
        byte = policy.choose_closing_byte(allowed) if hurried else policy.choose_byte(allowed)
        return b"" if byte == END_TOKEN else bytes([byte])


def parse_document(document: bytes) -> Any:
    """Parse a document. Raises ``ValueError`` for a number that overflows a float."""
    return json.loads(document, parse_float=_parse_finite)


def _parse_finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is beyond every float")
    return number
