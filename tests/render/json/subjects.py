"""Every surface of JSON as a person meets it, by the name of its class in the modules ``subject_*`` beside this one.

Each host is the least one that follows its format: it interprets no more than the format says, and it echoes what a
real one echoes.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tests.render.json.subject import JsonSubject

if TYPE_CHECKING:
    from collections.abc import Iterator


def _found() -> Iterator[JsonSubject]:
    for file in sorted(Path(__file__).parent.glob("subject_*.py")):
        module = import_module(f"{__name__.rpartition('.')[0]}.{file.stem}")
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, JsonSubject) and each.__module__ == module.__name__:
                yield each()


SUBJECTS = {type(each).__name__.removesuffix("Subject"): each for each in _found()}
