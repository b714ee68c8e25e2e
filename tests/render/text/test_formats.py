"""The names of the formats, and where their renderers are."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from emitter.decisions import Selected, digest
from emitter.errors import InputError
from emitter.render import FORMATS, get_renderer
from emitter.testing.sample_moments import ORDINARY_MOMENTS, VALID_MOMENT


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_renderer_of_its_name(name: str) -> None:
    """It draws every envelope there is."""
    found = get_renderer(name)

    assert found.name == name
    assert all(found.draw(each) for each in ORDINARY_MOMENTS.values())


def test_an_unknown_format_is_told_the_known_ones() -> None:
    """In the order in which they stand."""
    with pytest.raises(InputError, match=", ".join(FORMATS)):
        get_renderer("pdf")


def test_a_renderer_is_loaded_when_it_is_asked_for() -> None:
    """Naming the formats loads none of them."""
    program = "import sys, emitter.render as f; print(sorted(m for m in f.FORMATS.values() if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_what_is_found_reads_too() -> None:
    """The way there and back by name alone."""
    assert get_renderer("text").read(VALID_MOMENT, "1") == Selected(digest(VALID_MOMENT), 0)


QUESTION = VALID_MOMENT.question
SPOILT = {
    "one option": {"question": QUESTION.model_copy(update={"options": QUESTION.options[:1], "recommended_idx": 0})},
    "five options": {"question": QUESTION.model_copy(update={"options": (*QUESTION.options, *QUESTION.options)[:5]})},
    "nothing recommended": {"question": QUESTION.model_copy(update={"recommended_idx": 7})},
    "no synopsis": {"synopsis": None},
    "a text for a list": {"findings": "One."},
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("spoilt", SPOILT.values(), ids=SPOILT.keys())
def test_a_copy_that_is_malformed_is_not_drawn(spoilt: dict[str, Any], name: str) -> None:
    """Section 4: a model's copy is not looked at by whoever makes it, and what is malformed is no decision."""
    with pytest.raises(InputError, match="malformed"):
        get_renderer(name).draw(VALID_MOMENT.model_copy(update=spoilt))
