"""The binding moment's form: draft-morrison-binding-moment-envelope-00, sections 4 and 5."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from emitter.models import OPEN_HATCHES, BindingMoment, Hatches, Option, Question

VECTORS = Path(__file__).parents[2] / ".." / "shared" / "vectors" / "emilia_resolution.v1.json"

MOMENT: dict[str, Any] = {
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
OPTION = MOMENT["question"]["options"][0]
ABSENT = object()


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the moment with one place set, or taken out."""
    moment = copy.deepcopy(MOMENT)
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    place: Any = moment
    for step in way:
        place = place[step]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    return moment


GOOD: dict[str, tuple[str, Any]] = {
    "four options": ("question/options", [OPTION] * 4),
    "the last option": ("question/recommended_idx", 1),
    "no findings": ("findings", []),
    "one finding": ("findings", ["x"]),
    "seven findings": ("findings", ["x"] * 7),
    "no meta": ("meta", ABSENT),
    "empty meta": ("meta", {}),
    "class only": ("meta/calibration_note", ABSENT),
    "note only": ("meta/decision_class", ABSENT),
    "closed hatches": ("question/hatches", {"free_text": False, "dialogue": False}),
}


@pytest.mark.parametrize(("path", "value"), GOOD.values(), ids=GOOD.keys())
def test_a_well_formed_moment_comes_back_as_it_was(path: str, value: Any) -> None:
    """The wire form is exactly the members: nothing added, nothing null."""
    document = changed(path, value)

    assert BindingMoment.model_validate(document).to_json() == document
    assert BindingMoment.model_validate_json(json.dumps(document)).to_json() == document


BAD: dict[str, tuple[str, Any]] = {
    **{
        f"no {path.rpartition('/')[2]}": (path, ABSENT)
        for path in (
            "synopsis",
            "findings",
            "recommendations",
            "offer",
            "question",
            "question/stem",
            "question/options",
            "question/recommended_idx",
            "question/hatches",
            "question/hatches/free_text",
            "question/hatches/dialogue",
            "question/options/0/label",
            "question/options/1/reasoning",
        )
    },
    **{
        f"unknown member in {place or 'moment'}": (f"{place}/extra".lstrip("/"), "x")
        for place in ("", "question", "question/hatches", "question/options/1", "meta")
    },
    "one option": ("question/options", [OPTION]),
    "five options": ("question/options", [OPTION] * 5),
    "index out of range": ("question/recommended_idx", 2),
    "index below zero": ("question/recommended_idx", -1),
    "index as boolean": ("question/recommended_idx", True),
    "index as false": ("question/recommended_idx", False),
    "index as text": ("question/recommended_idx", "0"),
    "index as fraction": ("question/recommended_idx", 0.5),
    "index as null": ("question/recommended_idx", None),
    "two marked": ("question/recommended_idx", [0, 1]),
    "hatch as text": ("question/hatches/dialogue", "true"),
    "hatch as number": ("question/hatches/free_text", 1),
    "hatches as null": ("question/hatches", None),
    "meta as null": ("meta", None),
    "class as null": ("meta/decision_class", None),
    "note as null": ("meta/calibration_note", None),
    "synopsis as number": ("synopsis", 1),
    "findings as text": ("findings", "x"),
    "findings as object": ("findings", {"x": "y"}),
    "finding as number": ("findings", [1]),
    "options as object": ("question/options", {"0": OPTION, "1": OPTION}),
    "option as text": ("question/options/0", "Ship"),
}


@pytest.mark.parametrize(("path", "value"), BAD.values(), ids=BAD.keys())
def test_a_malformed_moment_is_refused(path: str, value: Any) -> None:
    """Closed at every level, every type exact, the index in range, absent rather than null."""
    with pytest.raises(ValidationError):
        BindingMoment.model_validate(changed(path, value))


def test_hatches_are_open_unless_given() -> None:
    """The builder leaves both vetoes open; closing one has to be said."""
    options = [Option(**OPTION), Option(**OPTION)]

    assert Question.ask("When?", options, 1).hatches is OPEN_HATCHES
    assert Question.ask("When?", iter(options), 1).recommended == options[1]
    closed = Hatches(free_text=False, dialogue=True)
    assert Question.ask("When?", options, 0, closed).hatches == closed
    with pytest.raises(ValidationError, match="recommended_idx must be below"):
        Question.ask("When?", options, 2)


def test_a_moment_cannot_be_changed() -> None:
    """What was validated stays what it was."""
    moment = BindingMoment.model_validate(MOMENT)

    with pytest.raises(ValidationError, match="frozen"):
        moment.synopsis = "Something else."  # type: ignore[misc]


MALFORMED = ("reject_malformed_binding_moment", "reject_noncanonical_binding_moment")
"""The vectors whose binding moment breaks the draft's form; all others break the receipt around it."""


@pytest.mark.skipif(not VECTORS.is_file(), reason="../shared/vectors is absent: its binding moments are not read")
def test_the_shared_vectors_agree() -> None:
    """Every vector's moment is read as it stands, but for those that say that it is malformed."""
    vectors = json.loads(VECTORS.read_text("utf-8"))["vectors"]
    refused = []
    for vector in vectors:
        try:
            assert BindingMoment.model_validate(vector["binding_moment"]).to_json() == vector["binding_moment"]
        except ValidationError:
            refused.append(vector["id"])

    assert tuple(refused) == MALFORMED
    assert len(vectors) == 33
