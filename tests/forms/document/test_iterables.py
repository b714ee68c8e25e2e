"""An iterable is a list, and is validated at once."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from emitter import InputError, Policy
from emitter.streaming.partials import make_partial_reader
from tests.forms.document.asking import WIRES, ask, said


class Person(BaseModel):
    """A validator that refuses one name."""

    name: str

    @field_validator("name")
    @classmethod
    def is_known(cls, name: str) -> str:
        """Refuse Bob."""
        if name == "Bob":
            raise ValueError("name must not be Bob")
        return name


class Team(BaseModel):
    """An iterable inside a type."""

    people: Iterable[Person]


class League(BaseModel):
    """And deeper."""

    teams: dict[str, Team] = {}


BOB, ANN = [{"name": "Bob"}], [{"name": "Ann"}]


def _is_alone(people: Iterable[Person]) -> bool:
    return len(list(people)) == 1


@pytest.mark.parametrize("form", [Iterable[Person], Iterator[Person], Generator[Person, None, None]])
def test_an_iterable_is_a_list(form: Any) -> None:
    """Its validators run before the value is returned, and a check may read it."""
    asked = ask(
        WIRES[0],
        [said({"value": BOB}), said({"value": ANN})],
        form,
        checks=[_is_alone],
        policy=Policy(max_attempts=2),
    )

    assert asked.value == [Person(name="Ann")]
    assert len(asked.bodies) == 2
    assert make_partial_reader(form)(ANN) == [Person(name="Ann")]


def test_a_bare_iterable_is_a_list_of_anything() -> None:
    """It says nothing of its items."""
    assert make_partial_reader(Iterable)([1, "a"]) == [1, "a"]


@pytest.mark.parametrize(
    ("form", "place"),
    [(Team, "Team.people"), (League, "Team.people"), (Iterable[Person] | None, "A part of the type")],
)
def test_an_iterable_inside_a_type_is_refused(form: Any, place: str) -> None:
    """Nothing is sent."""
    with pytest.raises(InputError, match=rf"{place} .* Use list"):
        ask(WIRES[0], [], form)
