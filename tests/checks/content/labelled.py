"""The labelled texts, each in a decision that is otherwise in order, and how the default checks judge them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.checks import DEFAULT_CHECKS
from emitter.findings import Finding, Severity
from emitter.models import BindingMoment, Option, Question
from tests.labelled.shares import Score

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[2] / "data/moments"
HALVES = ("tuning", "test")
PARTS = (*HALVES, "more_tuning", "afterwards")
"""The halves of the labelled set, what was tuned on beside it, and what was written after the rules were."""
HALF = 128
"""The first byte of a text's SHA-256 below which it is for tuning."""

ASKED = (Severity.ERROR, Severity.RETRY)
"""The severities that ask the model again."""
REPORTED = (*ASKED, Severity.WARNING)

Line = dict[str, Any]


def check(moment: BindingMoment) -> list[Finding]:
    """Return what the default checks find."""
    return [finding for checker in DEFAULT_CHECKS for finding in checker(moment)]


def moment(**slots: Any) -> BindingMoment:
    """Return a decision in which nothing is amiss, with some slots otherwise."""
    stem = slots.pop("stem", "What happens to the parcel at the depot?")
    labels = slots.pop("labels", ("Collect the parcel", "Return it to the sender"))
    reasonings = slots.pop("reasonings", ("It arrives a day earlier.",) * len(labels))
    options = [Option(label=label, reasoning=why) for label, why in zip(labels, reasonings, strict=True)]
    question = Question.ask(stem, options, slots.pop("recommended", 0))
    whole: dict[str, Any] = {
        "synopsis": "Collect the parcel on Tuesday.",
        "findings": ("The depot opens at seven.", "Storage is free until Friday.", "Nobody else has the slip."),
        "recommendations": ("Drive to the depot at seven.", "Sign the slip."),
        "offer": "Ask for detail on any item.",
    }
    return BindingMoment(**{**whole, **slots, "question": question})


def half(text: str) -> str:
    """Return which half a text is in."""
    return "tuning" if hashlib.sha256(text.encode()).digest()[0] < HALF else "test"


@dataclass(frozen=True, slots=True)
class Set:
    """One of the files: the label that should be found, the slot it stands in, and how a line becomes a decision."""

    name: str
    found: str
    slot: str
    place: Callable[[Line], BindingMoment]

    def lines(self, part: str) -> tuple[Line, ...]:
        """Return one part of the set."""
        if part in HALVES:
            return tuple(line for line in read(self.name) if half(line["text"]) == part)
        return tuple(line for line in read(part) if line["set"] == self.name)

    def caught(self, line: Line, severities: tuple[Severity, ...] = ASKED) -> bool:
        """Say whether anything of some severities is found in the line's slot."""
        return any(each.severity in severities and each.pointer == self.slot for each in check(self.place(line)))


SETS = (
    Set("synopses", "deferring", "/synopsis", lambda line: moment(synopsis=line["text"])),
    Set(
        "stems",
        "leading",
        "/question/stem",
        lambda line: moment(stem=line["text"], labels=line["options"], recommended=line["recommended"]),
    ),
    Set("options", "hatch", "/question/options/1/label", lambda line: moment(labels=("Sell the house", line["text"]))),
    Set(
        "recommendations",
        "consideration",
        "/recommendations/1",
        lambda line: moment(recommendations=("Sell the house.", line["text"])),
    ),
)


@cache
def read(name: str) -> tuple[Line, ...]:
    """Return the lines of a file."""
    text = DATA.joinpath(f"{name}.jsonl").read_text("utf-8")
    return tuple(json.loads(line) for line in text.split("\n") if line)


def score(asked: Set, part: str, severities: tuple[Severity, ...] = ASKED) -> Score[Line]:
    """Return how a part of a set is judged."""
    return Score.of((line, line["label"] == asked.found, asked.caught(line, severities)) for line in asked.lines(part))
