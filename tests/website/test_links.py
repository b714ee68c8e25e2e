"""Links of pages are changed to fit the site, and those of the built site lead somewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from website.links import BrokenLink, find_broken_links, rewrite_links

if TYPE_CHECKING:
    from pathlib import Path

PAGES = {"docs/many.md": "many.md", "docs/guides/ci.md": "guides/ci.md", "CHANGELOG.md": "CHANGELOG.md"}
FILES = ("src/emitter/api.py", "tests/mcp/test_tool.py", "providers/openai.toml")

LINKS = {
    "a page beside it": ("docs/guides/ci.md", "[many](../many.md#speed)", "[many](../many.md#speed)"),
    "a page outside of docs": ("docs/many.md", "[changes](../CHANGELOG.md)", "[changes](CHANGELOG.md)"),
    "a page of docs from outside": ("CHANGELOG.md", "[many](docs/many.md)", "[many](many.md)"),
    "a file of the source": ("docs/many.md", "[`emit`](../src/emitter/api.py)", "`emit` (`src/emitter/api.py`)"),
    "a file that the text names": ("docs/many.md", "[test_tool](../tests/mcp/test_tool.py)", "`test_tool`"),
    "a name within a named file": ("docs/many.md", "[`api:emit`](../src/emitter/api.py)", "`api:emit`"),
    "a folder": ("docs/many.md", "[`providers/`](../providers)", "`providers/`"),
    "an address": ("docs/many.md", "[home](https://example.com/a.md)", "[home](https://example.com/a.md)"),
    "a place in the page": ("docs/many.md", "[above](#speed)", "[above](#speed)"),
    "two on one line": ("docs/many.md", "[a](guides/ci.md), [b](#c)", "[a](guides/ci.md), [b](#c)"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository with the files that the links lead to."""
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    return tmp_path


@pytest.mark.parametrize(("path", "text", "expected"), LINKS.values(), ids=LINKS)
def test_a_link_fits_the_site(path: str, text: str, expected: str, root: Path) -> None:
    """The site has pages and no source."""
    assert rewrite_links(f"See {text}.", path, PAGES, root) == f"See {expected}."


def test_code_is_left_alone(root: Path) -> None:
    """A block may hold what looks like a link."""
    page = "```python\nrows[0](missing.md)\n```\n"

    assert rewrite_links(page, "docs/many.md", PAGES, root) == page


def test_a_link_to_no_file_is_an_error(root: Path) -> None:
    """The error names the page and the link."""
    with pytest.raises(BrokenLink, match=r"docs/many.md: \.\./src/gone.py does not exist"):
        rewrite_links("[gone](../src/gone.py)", "docs/many.md", PAGES, root)


HTML = {
    "a page": ('<a href="two/">x</a>', ""),
    "an id of another page": ('<a href="two/#here">x</a>', ""),
    "an id of the same page": ('<h2 id="top"></h2><a href="#top">x</a>', ""),
    "another host": ('<a href="https://example.com/">x</a>', ""),
    "no page": ('<a href="three/">x</a>', "three/: there is no such file"),
    "no id": ('<a href="two/#gone">x</a>', "two/#gone: there is no such id"),
    "no picture": ('<img src="two/chart.png">', "two/chart.png: there is no such file"),
    "a script of another host": (
        '<script src="https://cdn.example/a.js"></script>',
        "https://cdn.example/a.js: it is loaded from another host",
    ),
}


@pytest.mark.parametrize(("body", "problem"), HTML.values(), ids=HTML)
def test_a_broken_link_of_the_site_is_found(body: str, problem: str, tmp_path: Path) -> None:
    """A page may link to others; it loads nothing from another host."""
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "index.html").write_text('<h1 id="here">Two</h1>')
    (tmp_path / "index.html").write_text(body)

    assert find_broken_links(tmp_path) == ([f"index.html: {problem}"] if problem else [])
