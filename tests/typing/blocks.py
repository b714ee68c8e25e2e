"""Type-check the Python blocks of README.md and docs/: ``python -m tests.typing.blocks``.

The blocks of a page are one program, as a reader would type them in: names of earlier blocks are known in later
ones. Both mypy and pyright read them, as they read a user's code by default, with unannotated functions checked too.
The exit status is 1 where one of them finds something; what it says names the page and its line.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^(?P<indent>[ ]*)```python[^\n]*\n(?P<code>.*?)^[ ]*```", re.MULTILINE | re.DOTALL)
_CONFIG = """
[mypy]
python_version = 3.11
check_untyped_defs = True
follow_imports = silent
disable_error_code = empty-body
"""


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


def check(texts: dict[str, str]) -> str:
    """Return what mypy and pyright find in the programs of the pages, by their names; nothing where they hold."""
    with tempfile.TemporaryDirectory() as place:
        for name, text in texts.items():
            (Path(place) / f"page_{_module_name(name)}.py").write_text(program(text), encoding="utf-8")
        (Path(place) / "mypy.ini").write_text(_CONFIG, encoding="utf-8")
        files = sorted(str(each) for each in Path(place).glob("*.py"))
        mypy = [sys.executable, "-m", "mypy", "--config-file", f"{place}/mypy.ini", "--no-error-summary", *files]
        pyright = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--level", "error", *files]
        found = [_run(mypy, place), _run(pyright, place)]
    return "\n".join(filter(None, found)).replace(f"{place}/", "")


def _module_name(page: str) -> str:
    return re.sub(r"\W", "_", page.removeprefix("docs/").removesuffix(".md"))


def _run(command: list[str], place: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main() -> int:
    """Check every page."""
    found = check({each.relative_to(ROOT).as_posix(): each.read_text(encoding="utf-8") for each in pages()})
    sys.stdout.write(f"{found}\n" if found else "README.md and docs/ hold no error of types.\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
