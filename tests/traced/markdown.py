"""Rows of a page that says what holds an obligation: links to the code, and to the tests by their names in words."""

from __future__ import annotations

import importlib
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT: Final = Path(__file__).parents[2]


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(each)} |\n" for each in rows)


def tests_of(tests: Iterable[str]) -> str:
    """Return links to tests, those of one file together."""
    split = [each.partition("::") for each in tests]
    files = groupby(split, key=lambda each: each[0])
    return "<br>".join(f"{file_of(file)}: {'; '.join(words_of(each[2]) for each in named)}" for file, named in files)


def file_of(path: str) -> str:
    """Return a link to a file of tests."""
    return f"[{path.removeprefix('tests/').removesuffix('.py')}](../{path})"


def words_of(name: str) -> str:
    """Return a test's name in words; a row of a table is shown as it is called."""
    function, _, row = name.removesuffix("]").partition("[")
    words = function.rpartition("__")[2].removeprefix("test_").replace("_", " ")
    return f"`{row}`" if row else words


def code_of(reference: str) -> str:
    """Return a link to the file in which the name is defined, where the object can tell, else to its module's."""
    defined = str(getattr(resolved(reference), "__module__", ""))
    module = defined if defined.startswith("emitter.") else reference.partition(":")[0]
    path = f"src/{module.replace('.', '/')}"
    file = f"{path}/__init__.py" if (ROOT / path).is_dir() else f"{path}.py"
    return f"[`{reference.removeprefix('emitter.')}`](../{file})"


def resolved(reference: str) -> Any:
    """Return what a reference names; raises ``ImportError`` or ``AttributeError`` where nothing is."""
    module, _, name = reference.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
