"""The names of the formats, and where their renderers are."""

from __future__ import annotations

import subprocess
import sys

import pytest

from emitter.decide import Selected, digest
from emitter.errors import InputError
from emitter.render.formats import FORMATS, renderer
from emitter.testing.surfaces import GOOD, MOMENTS


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_renderer_of_its_name(name: str) -> None:
    """It draws every envelope there is."""
    found = renderer(name)

    assert found.name == name
    assert all(found.draw(each) for each in MOMENTS.values())


def test_an_unknown_format_is_told_the_known_ones() -> None:
    """In the order in which they stand."""
    with pytest.raises(InputError, match="text, markdown, notification, html, slack, adaptive-card, a2ui"):
        renderer("pdf")


def test_a_renderer_is_loaded_when_it_is_asked_for() -> None:
    """Naming the formats loads none of them."""
    program = (
        "import sys, emitter.render.formats as f; print(sorted(m for m in f.FORMATS.values() if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_what_is_found_reads_too() -> None:
    """The way there and back by name alone."""
    assert renderer("text").read(GOOD, "1") == Selected(digest(GOOD), 0)
