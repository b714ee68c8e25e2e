"""Whole decisions that were written before the rules, and how the default checks judge them."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from emitter.models import BindingMoment
from tests.checks.content.labelled import DATA, check

if TYPE_CHECKING:
    from emitter.findings import Finding


@dataclass(frozen=True, slots=True)
class FreshDecision:
    """A decision that is in order, or breaks one rule."""

    id: str
    broken: str | None
    moment: BindingMoment
    findings: tuple[Finding, ...]


@cache
def fresh_decisions() -> tuple[FreshDecision, ...]:
    """Return all of them."""
    lines = [json.loads(line) for line in DATA.joinpath("whole.jsonl").read_text("utf-8").splitlines()]
    good = {line["id"]: line["moment"] for line in lines if line["label"] == "good"}
    return tuple(_judge(line, good) for line in lines)


def _judge(line: dict[str, Any], good: dict[str, Any]) -> FreshDecision:
    document = line["moment"] if line["label"] == "good" else _spoil(good[line["base"]], line["slots"])
    moment = BindingMoment.model_validate(document)
    return FreshDecision(line["id"], line.get("rule"), moment, tuple(check(moment)))


def _spoil(document: dict[str, Any], slots: dict[str, Any]) -> dict[str, Any]:
    spoilt = copy.deepcopy(document)
    for slot, text in slots.items():
        if slot == "stem":
            spoilt["question"]["stem"] = text
        elif slot == "labels":
            options = [{"label": label, "reasoning": f"Reason {index}."} for index, label in enumerate(text)]
            spoilt["question"] |= {"options": options, "recommended_idx": 0}
        else:
            spoilt[slot] = text
    return spoilt
