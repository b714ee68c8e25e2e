"""Finds links that lead nowhere, in pages and in the built site."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

_LINK = re.compile(r"(?P<text>!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<target>[^()\s]+)\)")
_FENCE = re.compile(r"^ *(```|~~~)")
_LINKED = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "srcset"}


class BrokenLink(ValueError):
    """A page links to a file that does not exist."""


def rewrite_links(text: str, path: str, pages: Mapping[str, str], root: Path) -> str:
    """Return a page with its links changed to fit the site.

    A link to another page leads to where that page stands in the site. A link to any other file of the repository
    becomes the file's name, since the site does not have it.

    Args:
        text: The page.
        path: The page's path in the repository.
        pages: The files of the site: their paths in the repository, and in the site.
        root: The repository.

    Raises:
        BrokenLink: A link leads to a file that does not exist.
    """

    def rewrite(link: re.Match[str]) -> str:
        target = urlsplit(link["target"])
        if target.scheme or not target.path:
            return link[0]
        file = normpath((PurePosixPath(path).parent / target.path).as_posix())
        if file in pages:
            fragment = f"#{target.fragment}" if target.fragment else ""
            return f"{link['text']}({relpath(pages[file], PurePosixPath(pages[path]).parent)}{fragment})"
        if not (root / file).exists():
            raise BrokenLink(f"{path}: {link['target']} does not exist.")
        return _name_file(link["text"][1:-1], file)

    lines, is_code = text.split("\n"), False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            lines[number] = _LINK.sub(rewrite, line)
    return "\n".join(lines)


def _name_file(text: str, file: str) -> str:
    """Return the text of a link with the name of the file that it led to, unless the text says it."""
    words = text.strip("`")
    if text != words and PurePosixPath(file).stem in re.split(r"[.:/]", words):
        return text
    if file.endswith(words.strip("/")) or file.removesuffix(".py").endswith(words.replace(".", "/")):
        return f"`{words}`"
    return f"{text} (`{file}`)"


@dataclass
class _Document(HTMLParser):
    """The ids and links of an HTML page."""

    ids: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect an element's id and link."""
        values = dict(attrs)
        self.ids |= {name for name in (values.get("id"), values.get("name")) if name}
        if link := values.get(_LINKED.get(tag, "")):
            self.links.append((tag, link))


def find_broken_links(site: Path) -> list[str]:
    """Return each link of the built site that leads to no file, to no id, or loads something from another host."""
    documents = {page: _read(page) for page in sorted(site.rglob("*.html"))}
    problems = (
        (page, link, _problem(site, page, tag, link, documents))
        for page, document in documents.items()
        for tag, link in document.links
    )
    return [f"{page.relative_to(site)}: {link}: {problem}" for page, link, problem in problems if problem]


def count_links(site: Path) -> int:
    """Return how many links the built site has."""
    return sum(len(_read(page).links) for page in site.rglob("*.html"))


def _read(page: Path) -> _Document:
    document = _Document()
    document.feed(page.read_text(encoding="utf-8"))
    return document


def _problem(site: Path, page: Path, tag: str, link: str, documents: Mapping[Path, _Document]) -> str:
    target = urlsplit(link)
    if target.scheme or target.netloc:
        return "" if tag == "a" or target.scheme == "data" else "it is loaded from another host"
    folder = site if target.path.startswith("/") else page.parent
    file = Path(normpath(folder / unquote(target.path).lstrip("/"))) if target.path else page
    file = file / "index.html" if file.is_dir() else file
    if not file.is_file():
        return "there is no such file"
    if target.fragment and file in documents and unquote(target.fragment) not in documents[file].ids:
        return "there is no such id"
    return ""
