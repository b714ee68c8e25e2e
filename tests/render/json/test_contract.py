"""Every surface of JSON keeps the draft's contract for renderers, and every format is held to it."""

from __future__ import annotations

import pytest

from emitter.render import FORMATS
from emitter.testing.surfaces import SurfaceContract
from tests.render.html import test_contract as html
from tests.render.json.subjects import SUBJECTS
from tests.render.text import test_contract as text

for subject in SUBJECTS.values():
    name = f"Test{type(subject).__name__.removesuffix('Subject')}"
    attributes = {"__module__": __name__, "__doc__": type(subject).__doc__}
    globals()[name] = type(name, (SurfaceContract,), {**attributes, "subject": subject, "moments": subject.moments})


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_held_to_the_contract(name: str) -> None:
    """Here, or by the contracts of the texts and of the page."""
    classes = [each for module in (text, html) for each in vars(module).values() if hasattr(each, "subject")]
    held = {*SUBJECTS, *(each.subject.renderer.name for each in classes)}
    file = f"tests/render/json/subject_{name.replace('-', '_')}.py"
    assert name in held, f"Write {file} with a JsonSubject of this renderer, as in subject_adaptive_card.py beside it."
