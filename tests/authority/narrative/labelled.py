"""The labelled narratives and refusals, and what the rules find in them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from emitter.authority.narrative import NarrativeRule, find_leaks, scan_narrative
from tests.labelled.shares import Score

DATA = Path(__file__).parents[2] / "data/narratives"
FILES = ("narratives", "refusals")
HALVES = ("tuning", "test")
PARTS = (*HALVES, "more_tuning", "fresh", "fresh_attribution")
"""The halves of the labelled set, by a hash of the id, and what was written when the rules stood."""
HALF = 128
"""The first byte of the SHA-256 of an id below which its text is for tuning."""
REFUSAL = "refusal"
NAMES = ("openfda", "FDA Orange Book", "oracle-7", "WHO", "Experian", "primary-ledger")
"""The oracles of the labelled refusals."""


@dataclass(frozen=True, slots=True)
class As:
    """A policy with the four of RFC-0010."""

    grammar_mode: str = "educational"
    forbidden_markers: tuple[str, ...] = ()
    max_specificity: str = "contextualized"
    scrub_measurements: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A text, how it may speak, and the rules that it breaks."""

    id: str
    text: str
    mode: str
    labels: frozenset[NarrativeRule]
    specificity: str = ""
    forbidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, line: dict[str, Any]) -> Line:
        """Return a line of a file."""
        labels = frozenset(map(NarrativeRule, line["labels"]))
        forbidden = tuple(line.get("forbidden", ()))
        return cls(line["id"], line["text"], line["mode"], labels, line.get("specificity", ""), forbidden)

    @property
    def rules(self) -> tuple[NarrativeRule, ...]:
        """The rules that it is held to."""
        if self.mode == REFUSAL:
            return (NarrativeRule.LEAK,)
        of_mode = {
            "attributive": NarrativeRule.UNATTRIBUTED,
            "hedged": NarrativeRule.UNHEDGED,
            "educational": NarrativeRule.PARTICULAR,
        }
        always = (NarrativeRule.MEASUREMENT, NarrativeRule.CLASSIFICATION, NarrativeRule.IMPERATIVE, of_mode[self.mode])
        forbidden = (NarrativeRule.FORBIDDEN,) if self.forbidden else ()
        return (*always, *forbidden, *((NarrativeRule.SPECIFIC,) if self.specificity == "general" else ()))

    @property
    def found(self) -> frozenset[NarrativeRule]:
        """The rules that are found broken."""
        if self.mode == REFUSAL:
            return frozenset(NarrativeRule(each.rule) for each in find_leaks(self.text, NAMES))
        return frozenset(NarrativeRule(each.rule) for each in scan_narrative(self.text, self.policy))

    @property
    def policy(self) -> As:
        """The policy that it is held to."""
        return As(self.mode, self.forbidden, self.specificity)


def half(name: str) -> str:
    """Return which half the text with an id is in."""
    return "tuning" if hashlib.sha256(name.encode()).digest()[0] < HALF else "test"


@cache
def read(name: str) -> tuple[Line, ...]:
    """Return the lines of a file."""
    text = DATA.joinpath(f"{name}.jsonl").read_text("utf-8")
    return tuple(Line.of(json.loads(line)) for line in text.split("\n") if line)


@cache
def part(name: str) -> tuple[tuple[Line, frozenset[NarrativeRule]], ...]:
    """Return the lines of a part, each with what is found in it."""
    lines = (
        read(name) if name not in HALVES else [line for each in FILES for line in read(each) if half(line.id) == name]
    )
    return tuple((line, line.found) for line in lines)


def score(rule: NarrativeRule, name: str) -> Score[Line]:
    """Return how a rule judges the lines of a part that are held to it."""
    return Score.of((line, rule in line.labels, rule in found) for line, found in part(name) if rule in line.rules)
