"""The programs of README.md and docs/ can be type-checked page by page."""

from __future__ import annotations

import pytest

from tests.typing.blocks import check, pages, program

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


def test_both_type_checkers_read_every_page() -> None:
    """What one of them finds is told by page and line; a page that holds says nothing."""
    for tool in ("mypy", "pyright"):
        pytest.importorskip(tool)
    assert check({"right.md": PAGE}) == ""
    found = check({"wrong.md": PAGE.replace("double(total)", 'double("1")')})

    assert "page_wrong.py:19: error: Argument 1" in found
    assert "page_wrong.py:19:14 - error: Argument of type" in found


def test_the_pages_are_those_that_hold_programs() -> None:
    """The README, and every page of docs/ and its folders."""
    assert {"README.md", "acting.md", "schemas.md"} <= {each.name for each in pages()}
    assert any(each.parent.name == "tutorial" for each in pages())
