"""Builds the documentation site into build/website/site: ``python -m website.build``.

The pages are those of ``docs/``, which are also read in the repository, the project's own documents, and an API
reference made from the docstrings. The build fails on a warning, a broken link, a page that the navigation lacks, and
a public name without a docstring.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from website import charts, reference
from website.links import BrokenLink, count_links, find_broken_links, rewrite_links
from website.twins import list_pages, write_twins

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "website"
DOCUMENTS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
"""The pages outside ``docs/``."""
_NOTEBOOK = "examples/benchmark.ipynb"
_CONFIG = "zensical.toml"
_REFERENCE_NAV = '{ "API" = [] }'


def site_pages(root: Path = ROOT) -> dict[str, str]:
    """Return the files of the site: their paths in the repository, and in the site."""
    files = [file.relative_to(root).as_posix() for file in sorted((root / "docs").rglob("*")) if file.is_file()]
    return {file: file.removeprefix("docs/") for file in files} | {name: name for name in DOCUMENTS}


def read_pages(root: Path = ROOT) -> dict[str, str]:
    """Return the Markdown pages as the site shows them, by their paths in the site."""
    pages = site_pages(root)
    texts = {
        place: rewrite_links((root / path).read_text(encoding="utf-8"), path, pages, root)
        for path, place in pages.items()
        if path.endswith(".md")
    }
    texts[charts.PAGE] += charts.render_charts(charts.read_charts(root / _NOTEBOOK))
    return texts


def read_config(root: Path = ROOT) -> str:
    """Return the configuration with the pages of the reference in its navigation."""
    listed = "".join(f'\n      {{ "{page.title}" = "reference/{page.file_name}" }},' for page in reference.PAGES)
    config = (root / "website" / _CONFIG).read_text(encoding="utf-8")
    return config.replace(_REFERENCE_NAV, f'{{ "API" = [{listed}\n    ] }}')


def find_nav_problems(project: dict[str, Any], pages: set[str]) -> list[str]:
    """Return the pages that the navigation lacks, and the entries without a page."""
    listed = {path for _, path in list_pages(project["nav"])}
    lacking = [f"{path} is not in the nav of website/{_CONFIG}." for path in sorted(pages - listed)]
    return lacking + [f"The nav of website/{_CONFIG} lists {path}, which does not exist." for path in listed - pages]


def stage(pages: dict[str, str]) -> None:
    """Write everything that the site is made of into the build folder."""
    shutil.rmtree(BUILD, ignore_errors=True)
    docs = BUILD / "docs"
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("*.md"))
    shutil.copytree(ROOT / "website" / "assets", docs / "assets")
    (docs / "charts").mkdir()
    for number, chart in enumerate(charts.read_charts(ROOT / _NOTEBOOK)):
        (docs / "charts" / f"{number}.png").write_bytes(chart.picture)
    for path, text in pages.items():
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).write_text(text, encoding="utf-8")
    (BUILD / _CONFIG).write_text(read_config(), encoding="utf-8")


def run_zensical() -> list[str]:
    """Build the HTML, and return the warnings."""
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=BUILD, env=environment, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    is_clean = done.returncode == 0 and "arning" not in output and "griffe:" not in output
    return [] if is_clean else [output or f"zensical ended with {done.returncode}."]


def build() -> list[str]:
    """Build the site, and return what is wrong with it."""
    texts = read_pages()
    pages = texts | {f"reference/{page.file_name}": reference.render_page(page) for page in reference.PAGES}
    project = tomllib.loads(read_config())["project"]
    problems = [f"{name} has no docstring." for name in reference.undocumented()]
    problems += find_nav_problems(project, set(pages))
    if problems:
        return problems
    stage(pages)
    problems = run_zensical()
    site = BUILD / "site"
    if not problems:
        twins = {f"reference/{page.file_name}": reference.render_markdown(page) for page in reference.PAGES}
        write_twins(site, project, texts | twins)
        problems = find_broken_links(site)
    return problems


def main() -> int:
    """Build the site, and print what is wrong with it."""
    try:
        problems = build()
    except BrokenLink as error:
        problems = [str(error)]
    site = BUILD / "site"
    summary = "" if problems else f"{site}: {len(list(site.rglob('*.html')))} pages, {count_links(site)} links\n"
    sys.stdout.write("".join(f"{problem}\n" for problem in problems) + summary)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
