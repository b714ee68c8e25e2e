"""What a call came to, and whether its caller was told the truth.

The rule: the caller was told the truth who got the right value, whole, or an error that names the true cause. An error
names it when one of the cause's words stands in the class, the code or the first 2000 characters of the message of the
exception or of one that it came from. What an error merely quotes of the vendor's fields does not count: names with an
empty value are taken out before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from benchmarks.runners.task import WHOLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.faults import Cause

_PLAIN = frozenset({"builtins", "json", "pydantic", "pydantic_core"})
"""Packages whose exceptions say what Python stumbled over, not what the vendor did."""
_UNSET = re.compile(r"['\"]?\w+['\"]?\s*[:=]\s*(None|null|\[\]|\{\})")


class Outcome(Enum):
    """How a call ended."""

    RIGHT = "right"
    TYPED = "raised, typed"
    OTHER = "raised, other"
    NONE = "returned None"
    WRONG = "WRONG value"
    LOST = "hung or died"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a call came to; ``raised`` is the exception's class."""

    outcome: Outcome
    truth: bool
    raised: str = ""


def judged(answer: Mapping[str, Any], cause: Cause) -> Verdict:
    """Return the verdict on what a runner tells of one call."""
    if "raised" in answer:
        chain: Sequence[Mapping[str, str]] = answer["raised"]
        outcome = Outcome.OTHER if chain[0]["package"] in _PLAIN else Outcome.TYPED
        return Verdict(outcome, names(chain, cause), chain[0]["class"])
    if answer["value"] is None:
        return Verdict(Outcome.NONE, truth=False)
    right = answer["value"] == WHOLE
    return Verdict(Outcome.RIGHT if right else Outcome.WRONG, truth=right)


def names(chain: Sequence[Mapping[str, str]], cause: Cause) -> bool:
    """Tell whether an exception, or one that it came from, names a cause."""
    reported = " ".join(_UNSET.sub(" ", f"{each['class']} {each['text']}") for each in chain)
    return any(re.search(word, reported, re.IGNORECASE) for word in cause.value)
