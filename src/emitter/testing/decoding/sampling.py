"""A constrained decoder: it draws documents that a schema lets a model write, byte by byte.

llguidance says which bytes may come next, a seeded generator chooses. What a vendor's own decoder would let
through beyond that, or not at all, is no business of this module.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from emitter.testing.decoding.taste import END, Taste

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

SOFT_LIMIT = 1_500
"""Bytes after which whatever leads to an end is preferred."""
HARD_LIMIT = 12_000
"""Bytes after which a document of a small schema is given up."""
LONGER = 2
"""How many times as long as its schema a document may become: the names of many properties take room."""


class _Bytes:
    """A vocabulary of single bytes, and the end."""

    eos_token_id = END
    bos_token_id = None
    tokens = (*(bytes([each]) for each in range(END)), b"<end>")
    special_token_ids = (END,)

    def __call__(self, text: bytes | str) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_TOKENIZER = LLTokenizer(TokenizerWrapper(_Bytes()), slices=[])


def _matcher(schema: Any) -> LLMatcher:
    # a grammar's options can only be laid over a schema that is an object
    table: Any = {} if schema is True else {"not": {}} if schema is False else schema
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(table), overrides={"whitespace_flexible": False})
    return LLMatcher(_TOKENIZER, grammar, log_level=0)


def compiles(schema: Any) -> str | None:
    """Return the decoder's complaint about a schema, if it has any."""
    error = _matcher(schema).get_error()
    return error.strip().split("\n")[0] or "refused without a word" if error else None


class Sampler:
    """Draws documents of one schema; ``texts`` are strings worth writing, among those the sampler knows itself."""

    def __init__(self, schema: Any, texts: Sequence[str] = ()) -> None:
        self._matcher = _matcher(schema)
        self._most = max(HARD_LIMIT, LONGER * len(json.dumps(schema)))
        self._texts = tuple(texts)

    def draw(self, rng: Random) -> bytes | None:
        """Return a document, or nothing where none came to its end within bounds."""
        matcher = self._matcher.deep_copy()
        taste = Taste(rng, self._texts)
        written = bytearray()
        while len(written) < self._most and not matcher.is_error():
            forced: bytes | None = matcher.compute_ff_bytes()
            if not forced:
                if matcher.is_stopped():
                    return bytes(written)
                forced = self._chosen(matcher, taste, hurried=len(written) > SOFT_LIMIT)
            if forced == b"":
                return bytes(written)
            if forced is None or not matcher.consume_tokens(list(forced)):
                return None
            taste.follow(forced)
            written += forced
        return None

    @staticmethod
    def _chosen(matcher: LLMatcher, taste: Taste, *, hurried: bool) -> bytes | None:
        """Return what to write next: nothing is the end, and none is a dead end."""
        if not hurried:
            text = taste.text()
            fits = matcher.validate_tokens(list(text)) if text else 0
            if fits:
                return text[:fits]
        mask = matcher.compute_logit_bias()
        allowed = [each for each, bias in enumerate(mask) if bias]
        if not allowed:
            return None
        byte = taste.hurry(allowed) if hurried else taste.choose(allowed)
        return b"" if byte == END else bytes([byte])


def value(document: bytes) -> Any:
    """Read a drawn document; raises ``ValueError`` for a number that no float can hold."""
    return json.loads(document, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is beyond every float")
    return number
