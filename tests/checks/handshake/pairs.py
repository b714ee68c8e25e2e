"""Pairs of questions, labelled by hand: the same question, or another one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.decisions import Reopen
from emitter.decisions.reopening import REPEATED, REWORDED, SIMILAR, check_reopened
from emitter.models import BindingMoment
from tests.labelled.shares import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER = Path(__file__).parents[2] / "data" / "handshake"


class Part(str, Enum):
    """Part of the pairs: two halves of a table, what else the measure was set by, and what was written afterwards."""

    TUNING = "tuning"
    TEST = "test"
    MORE = "more_tuning"
    AFTERWARDS = "afterwards"
    REOPENED = "reopened"


_TABLE = "pairs"
_FILES = (_TABLE, Part.MORE.value, Part.AFTERWARDS.value, Part.REOPENED.value)
HALVES = (Part.TUNING, Part.TEST)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, by id and family, the second after the first; ``same`` is the label."""

    id: str
    part: Part
    family: str
    same: bool
    one: BindingMoment
    other: BindingMoment

    @property
    def asked_again(self) -> bool:
        """Whether the second question is refused or sent back as the first one."""
        return not {REPEATED, REWORDED}.isdisjoint(check_reopened([Reopen(self.one, "")], self.other))

    @property
    def found(self) -> bool:
        """Whether the second question is found to be the first one, at any severity."""
        return not {REPEATED, REWORDED, SIMILAR}.isdisjoint(check_reopened([Reopen(self.one, "")], self.other))


@dataclass(frozen=True, slots=True)
class Counts:
    """How the measure did: right and wrong, among the same and among the different."""

    hits: int
    misses: int
    alarms: int
    passes: int

    @property
    def precision(self) -> tuple[float, float, float]:
        """What share of those that it took for the same are, with the interval's ends."""
        return _share(self.hits, self.hits + self.alarms)

    @property
    def recall(self) -> tuple[float, float, float]:
        """What share of those that are the same it found, with the interval's ends."""
        return _share(self.hits, self.hits + self.misses)


def moment(stem: str, options: Sequence[str], **changes: Any) -> BindingMoment:
    """Return an envelope that asks this."""
    question = {
        "stem": stem,
        "options": [{"label": each, "reasoning": f"Reason {number}."} for number, each in enumerate(options)],
        "recommended_idx": 0,
        "hatches": {"free_text": True, "dialogue": True},
    }
    document = {
        "synopsis": "The first option is the one to take.",
        "findings": ["A finding.", "A second finding.", "A third finding."],
        "recommendations": ["Take the first option.", "Tell those concerned."],
        "offer": "Ask for detail on any item.",
        "question": {**question, **changes.pop("question", {})},
    }
    return BindingMoment.model_validate({**document, **changes})


@cache
def pairs() -> tuple[Pair, ...]:
    """Return all pairs."""
    return tuple(_pair(json.loads(line), name) for name in _FILES for line in _lines(name))


def of(*parts: Part) -> tuple[Pair, ...]:
    """Return the pairs of some parts."""
    return tuple(each for each in pairs() if each.part in parts)


def _lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()


def _pair(line: dict[str, Any], name: str) -> Pair:
    part = _half(line["one"]["stem"]) if name == _TABLE else Part(name)
    return Pair(
        line["id"], part, line.get("family", ""), line["label"] == "same", _moment(line["one"]), _moment(line["other"])
    )


def _half(stem: str) -> Part:
    """Return the half that a pair is in, by a hash of its first stem: what is made of one question stays together."""
    return Part.TUNING if hashlib.sha256(stem.encode()).digest()[0] % 2 else Part.TEST


def counts(some: Iterable[Pair], *, warnings: bool = True) -> Counts:
    """Return how the pairs are judged, with warnings or only by what asks again."""
    reported = [(each.same, each.found if warnings else each.asked_again) for each in some]
    return Counts(*(reported.count(each) for each in ((True, True), (True, False), (False, True), (False, False))))


def _moment(question: dict[str, Any]) -> BindingMoment:
    return moment(question["stem"], question["options"])


def _share(part: int, whole: int) -> tuple[float, float, float]:
    """Return a share with the ends of Wilson's interval."""
    return part / whole if whole else 0.0, *wilson(part, whole)
