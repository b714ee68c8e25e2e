"""What a compiled schema costs, measured once and kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.budget.answer import Span, of_schema

if TYPE_CHECKING:
    from emitter.schema import Compiled

_KEPT = 256


@dataclass(frozen=True, slots=True)
class Measured:
    """How long an answer of the schema can be, and the schema as it travels."""

    answer: Span
    text: str


_measured: dict[int, tuple[Compiled, Measured]] = {}


def measured(compiled: Compiled) -> Measured:
    """Return what ``compiled`` costs.

    A compiled schema cannot be hashed, so it is known by its identity, which is its own while it is kept here.
    """
    found = _measured.get(id(compiled))
    if found is None:
        if len(_measured) >= _KEPT:
            _measured.clear()
        text = json.dumps(compiled.schema, ensure_ascii=False, separators=(",", ":"))
        found = _measured[id(compiled)] = (compiled, Measured(answer_tokens(compiled), text))
    return found[1]


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
