"""What a compiled schema costs, measured once and kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from emitter.budget.answer import Span, of_schema

if TYPE_CHECKING:
    from emitter.schema import Compiled


@dataclass(frozen=True, slots=True)
class Measured:
    """How long an answer of the schema can be, and the schema as it travels."""

    answer: Span
    text: str


@lru_cache(maxsize=256)
def measured(compiled: Compiled) -> Measured:
    """Return what ``compiled`` costs."""
    text = json.dumps(compiled.schema, ensure_ascii=False, separators=(",", ":"))
    return Measured(answer_tokens(compiled), text)


def answer_tokens(compiled: Compiled) -> Span:
    """Return how long an answer can be.

    A bound that the vendor does not enforce counts all the same: it is told to the model and checked here, so
    a longer answer is worth nothing.
    """
    sent = of_schema(compiled.schema)
    asked = sent if sent.bounded else of_schema(compiled.original)
    if sent.bounded or not asked.bounded:
        return sent
    return Span(min(sent.typical, asked.known), max(sent.known, asked.known))
