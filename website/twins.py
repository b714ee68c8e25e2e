"""Writes a Markdown twin of each page, ``llms.txt`` and ``llms-full.txt``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"[A-Za-z`].*?(?:\.(?=\s|$)|:$)", re.DOTALL)


def write_twins(site: Path, project: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    """Write the pages as Markdown beside their HTML: ``/many.md`` for ``/many/``.

    Args:
        site: The built site.
        project: The site's name, description and navigation.
        texts: The pages as Markdown, by their paths.
    """
    for path, text in texts.items():
        twin = site / path
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(text, encoding="utf-8")
    head = f"# {project['site_name']}\n\n> {project['site_description']}\n"
    listed = list(list_pages(project["nav"]))
    (site / "llms.txt").write_text(head + "".join(_index(listed, texts)), encoding="utf-8")
    whole = "\n\n".join(texts[path].strip() for _, path in listed)
    (site / "llms-full.txt").write_text(f"{head}\n{whole}\n", encoding="utf-8")


def list_pages(nav: object, section: str = "") -> Iterator[tuple[str, str]]:
    """Yield the section and path of each page of a navigation."""
    match nav:
        case str():
            yield section, nav
        case dict():
            for title, part in nav.items():
                yield from list_pages(part, section if isinstance(part, str) else section or title)
        case list():
            for part in nav:
                yield from list_pages(part, section)
        case _:
            raise TypeError(f"{nav!r} is no part of a navigation.")


def _index(listed: list[tuple[str, str]], texts: Mapping[str, str]) -> Iterator[str]:
    current = None
    for section, path in listed:
        if section != current:
            current = section
            yield f"\n## {section}\n\n" if section else "\n"
        yield f"- [{title(texts[path])}]({path}){_summary(texts[path])}\n"


def title(text: str) -> str:
    """Return the title of a page."""
    found = _TITLE.search(text)
    return found[1] if found else ""


def _summary(text: str) -> str:
    """Return the first sentence of the first paragraph that is text."""
    for paragraph in _FENCED.sub("", text).split("\n\n"):
        if found := _SENTENCE.match(paragraph):
            return f": {' '.join(found[0].split()).rstrip(':')}"
    return ""
