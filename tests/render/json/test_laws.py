"""Laws of every surface of JSON: whatever the envelope says, the drawing is the format's own, whole, and answerable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from emitter.errors import InputError
from emitter.testing import surfaces
from emitter.testing.sample_moments import HOSTILE_MOMENTS, HUGE_MOMENTS, ORDINARY_MOMENTS, VALID_MOMENT
from tests.render.json.envelopes import LONG, envelopes
from tests.render.json.subjects import SUBJECTS
from tests.work import examples

if TYPE_CHECKING:
    from emitter.models import BindingMoment

SURFACES = sorted(SUBJECTS)
KEPT = (
    surfaces.check_briefing,
    surfaces.check_options,
    surfaces.check_warnings,
    surfaces.check_mark,
    surfaces.check_hatches,
    surfaces.check_harmless,
    surfaces.check_selection,
    surfaces.check_free_text,
    surfaces.check_dialogue,
)
"""What the contract asks of any envelope."""

each_surface = pytest.mark.parametrize("name", SURFACES)


@each_surface
def test_the_kits_envelopes_are_drawn_in_the_format(name: str) -> None:
    """The schema, or the SDK's models, find nothing."""
    for case, moment in {**ORDINARY_MOMENTS, **HOSTILE_MOMENTS}.items():
        assert SUBJECTS[name].faults(SUBJECTS[name].draw(moment)) == [], case


@each_surface
@settings(max_examples=examples(20))
@given(moment=envelopes())
def test_any_envelope_is_drawn_in_the_format_and_whole(name: str, moment: BindingMoment) -> None:
    """Every slot is there, the mark is where it belongs, and all three resolutions come back."""
    subject = SUBJECTS[name]

    for check in KEPT:
        check(subject, moment)
    assert subject.faults(subject.draw(moment)) == []


@each_surface
@settings(max_examples=examples(6))
@given(moment=envelopes(LONG))
def test_a_long_envelope_is_drawn_whole_or_not_at_all(name: str, moment: BindingMoment) -> None:
    """Nothing is cut: a surface without room says so."""
    subject = SUBJECTS[name]
    try:
        drawn = subject.draw(moment)
    except InputError as error:
        assert (subject.has_room, type(error).__name__) == (False, "TooLong")  # noqa: PT017  which one is the law
        return
    surfaces.check_briefing(subject, moment)
    surfaces.check_options(subject, moment)
    assert subject.faults(drawn) == []


@each_surface
def test_a_million_characters_are_drawn_whole_or_not_at_all(name: str) -> None:
    """A megabyte in one slot."""
    words = "many words " * 95_000
    moment = VALID_MOMENT.model_copy(update={"findings": (words, *VALID_MOMENT.findings)})
    subject = SUBJECTS[name]
    if not subject.has_room:
        with pytest.raises(InputError):
            subject.draw(moment)
        return
    drawn = subject.draw(moment)
    assert words.strip() in subject.text(drawn)
    assert subject.faults(drawn) == []


@each_surface
def test_a_drawing_is_plain_json(name: str) -> None:
    """It is what comes back from being written and read."""
    for moment in (*ORDINARY_MOMENTS.values(), *HOSTILE_MOMENTS.values()):
        drawn = SUBJECTS[name].draw(moment)

        assert json.loads(json.dumps(drawn)) == drawn


@each_surface
def test_two_drawings_share_nothing(name: str) -> None:
    """Whoever changes one has changed one."""
    one, other = SUBJECTS[name].draw(VALID_MOMENT), SUBJECTS[name].draw(VALID_MOMENT)

    assert one == other
    assert not set(_objects(one)) & set(_objects(other))
    assert len(_objects(one)) == len(set(_objects(one)))


def _objects(value: Any) -> list[int]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [id(value)] if isinstance(value, dict | list) else []
    return own + [found for each in inner for found in _objects(each)]


@each_surface
@pytest.mark.parametrize(
    "label", ["(recommended)", "(recommended) Delete", "(recommended): Delete", "Option 1 (recommended)"]
)
def test_a_label_cannot_put_the_mark(name: str, label: str) -> None:
    """Our word stands where no label reaches; the warning stands with the false one."""
    options = [each.model_copy(update={"label": label}) for each in VALID_MOMENT.question.options[:1]]
    question = VALID_MOMENT.question.model_copy(update={"options": (*options, *VALID_MOMENT.question.options[1:])})
    moment = VALID_MOMENT.model_copy(update={"question": question})

    surfaces.check_mark(SUBJECTS[name], moment)
    surfaces.check_warnings(SUBJECTS[name], moment)


@each_surface
def test_a_huge_envelope_is_no_harm(name: str) -> None:
    """The kit's own large ones are in the format where they are drawn."""
    for moment in HUGE_MOMENTS.values():
        try:
            drawn = SUBJECTS[name].draw(moment)
        except InputError:
            continue
        assert SUBJECTS[name].faults(drawn) == []
