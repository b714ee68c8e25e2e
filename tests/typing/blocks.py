"""Write the Python blocks of README.md and docs/ as programs, for mypy and pyright: ``python -m tests.typing.blocks``.

The blocks of a page are one program, as a reader would type them in: names of earlier blocks are known in later
ones. Each line keeps its number, so an error names the page and its line. The type checkers read the programs with
the package, in one run. ``pyproject.toml`` gives them the defaults that a user's code has, with unannotated functions
checked too.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^(?P<indent>[ ]*)```python[^\n]*\n(?P<code>.*?)^[ ]*```", re.MULTILINE | re.DOTALL)
PROGRAMS = ROOT / "build" / "programs"


def pages(root: Path = ROOT) -> list[Path]:
    """Return the pages that hold programs."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def program(page: str) -> str:
    """Return the Python blocks of a page as one program, each line where it stands in the page."""
    lines = [""] * (page.count("\n") + 1)
    for block in _BLOCK.finditer(page):
        first = page.count("\n", 0, block.start("code"))
        for nth, line in enumerate(block["code"].splitlines()):
            lines[first + nth] = line.removeprefix(block["indent"])
    return "\n".join(lines) + "\n"


def module_name(page: str) -> str:
    """Return the name of a page's program: mypy and pyright report errors under it."""
    return re.sub(r"\W", "_", page.removeprefix("docs/").removesuffix(".md"))


def write_programs(texts: dict[str, str], folder: Path) -> None:
    """Write a program for each page, by the pages' names, into a folder that holds nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("", encoding="utf-8")  # makes one package of them, which has its own settings
    for name, text in texts.items():
        (folder / f"{module_name(name)}.py").write_text(program(text), encoding="utf-8")


if __name__ == "__main__":
    write_programs({each.relative_to(ROOT).as_posix(): each.read_text(encoding="utf-8") for each in pages()}, PROGRAMS)
