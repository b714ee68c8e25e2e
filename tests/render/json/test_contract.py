"""Every surface of JSON keeps the draft's contract for renderers, and every format is held to it."""

from __future__ import annotations

import pytest

from emitter.render import FORMATS
from emitter.testing.surfaces import SurfaceContract
from tests.render.html import test_contract as html
from tests.render.json.subjects import SUBJECTS
from tests.render.text import test_contract as text

for name, subject in SUBJECTS.items():
    attributes = {"__module__": __name__, "__doc__": type(subject).__doc__, "subject": subject}
    attributes |= {"moments": subject.moments, "bound": subject.bound}
    globals()[f"Test{name}"] = type(f"Test{name}", (SurfaceContract,), attributes)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_held_to_the_contract(name: str) -> None:
    """Here, or by the contracts of the texts and of the page."""
    others = [each.subject for module in (text, html) for each in vars(module).values() if hasattr(each, "subject")]
    held = {each.renderer.name for each in (*SUBJECTS.values(), *others)}
    file = f"tests/render/json/subject_{name.replace('-', '_')}.py"
    assert name in held, f"Write {file} with a JsonSubject of this renderer, like subject_adaptive_card.py."
