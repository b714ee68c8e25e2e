"""The programs of README.md and docs/ are type-checked, with the page and the line of an error."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.typing.blocks import ROOT, pages, program, write_programs

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """# Sums

```python
total = 1
```

Text, and a block in a list:

  ```python
  def double(n: int) -> int:
      return n * 2
  ```

```bash
total = "no program"
```

```python
print(double(total))
```
"""


def test_the_blocks_of_a_page_are_one_program() -> None:
    """Each line stands where it stands in the page, so that what is found names the line."""
    lines = program(PAGE).split("\n")

    assert [(nth, line) for nth, line in enumerate(lines, 1) if line] == [
        (4, "total = 1"),
        (10, "def double(n: int) -> int:"),
        (11, "    return n * 2"),
        (19, "print(double(total))"),
    ]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Write a page without an error, and one with an error that mypy and pyright both report."""
    folder = tmp_path / "programs"
    write_programs({"right.md": PAGE, "docs/a/wrong.md": PAGE.replace("double(total)", 'double("1")')}, folder)
    return folder


@pytest.mark.parametrize(
    ("tool", "message"),
    [("mypy", "a_wrong.py:19: error: Argument 1"), ("pyright", "a_wrong.py:19:14 - error: Argument of type")],
    ids=["mypy", "pyright"],
)
def test_both_type_checkers_read_every_page(
    programs: Path, tool: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error has the page and the line; strict rules, which the page breaks, do not hold for it."""
    pytest.importorskip(tool)
    unannotated = "\ndef add(a, b):\n    return a + b\n\nadd(1, 2)\n"
    for file in programs.glob("*.py"):
        file.write_text(file.read_text() + unannotated)
    monkeypatch.setenv("MYPY_CACHE_DIR", str(programs.parent / "cache"))  # make check runs mypy meanwhile
    command = [sys.executable, "-m", tool, str(programs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    errors = [line for line in done.stdout.splitlines() if "error:" in line]

    assert done.returncode == 1
    assert len(errors) == 1
    assert message in errors[0]


def test_the_pages_are_those_that_hold_programs() -> None:
    """The README, and every page of docs/ and its folders."""
    assert {"README.md", "acting.md", "schemas.md"} <= {each.name for each in pages()}
    assert any(each.parent.name == "tutorial" for each in pages())
