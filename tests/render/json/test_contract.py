"""Every surface of JSON keeps the draft's contract for renderers, and every format is held to it."""

from __future__ import annotations

from emitter.render import FORMATS
from emitter.testing.surfaces import SurfaceContract
from tests.render.json.subjects import SUBJECTS

for subject in SUBJECTS.values():
    name = f"Test{type(subject).__name__.removesuffix('Subject')}"
    attributes = {"__module__": __name__, "__doc__": type(subject).__doc__}
    globals()[name] = type(name, (SurfaceContract,), {**attributes, "subject": subject, "moments": subject.moments})

OTHERS = {"text", "markdown", "notification", "html"}
"""The formats that are no JSON, which have contracts of their own beside these."""


def test_every_format_has_a_subject() -> None:
    """A new one is held to the contract and to the laws of all surfaces, or is missing here."""
    assert {*SUBJECTS, *OTHERS} == set(FORMATS)
