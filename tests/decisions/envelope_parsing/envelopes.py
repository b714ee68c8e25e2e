"""One good envelope, and how to change one place of it."""

from __future__ import annotations

import copy
from typing import Any

ENVELOPE: dict[str, Any] = {
    "synopsis": "Ship on Tuesday.",
    "findings": ["All tests pass.", "Support is staffed."],
    "recommendations": ["Tag the release.", "Tell support."],
    "offer": "Ask for the test report.",
    "question": {
        "stem": "When should the release go out?",
        "options": [
            {"label": "Ship on Tuesday", "reasoning": "Support is there."},
            {"label": "Ship on Friday", "reasoning": "More time to test."},
        ],
        "recommended_idx": 0,
        "hatches": {"free_text": True, "dialogue": True},
    },
    "meta": {"decision_class": "release", "calibration_note": "Earlier I said Monday."},
}
OPTION = ENVELOPE["question"]["options"][0]
ABSENT = object()

Way = tuple[str | int, ...]


def changed(way: Way, value: Any, envelope: dict[str, Any] = ENVELOPE) -> Any:
    """Return the envelope with one place set, or taken out."""
    whole = [copy.deepcopy(envelope)]
    place: Any = whole
    *through, last = (0, *way)
    for step in through:
        place = place[step]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    return whole[0]


def at(pointer: str) -> Way:
    """Return the steps of a pointer."""
    return tuple(int(step) if step.isdigit() else step for step in pointer.split("/")[1:])
