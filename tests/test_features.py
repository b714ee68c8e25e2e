"""The table of features in docs/features.md: each row has its API, its page and its tests, or its reason."""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import emitter
from emitter.cli import _COMMANDS
from emitter.errors import MissingExtra
from emitter.profiles import listed_profile_names, load_profile
from emitter.render import FORMATS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "features.md"
HAS = ("yes", "no, on purpose", "not yet")
_LINK = re.compile(r"\[[^\]]+\]\(([^)]+)\)")
_API = re.compile(r"`([^`]+)`")


class Feature(NamedTuple):
    """A row of the table."""

    name: str
    has: str
    api: str
    how: str
    tests: str


def features() -> list[Feature]:
    """Return the rows of the page."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [Feature(*(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines]
    return [row for row in rows if row.name != "feature"]


ALL = features()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def resolve(dotted: str) -> Any:
    """Return what a dotted name stands for."""
    module, _, name = dotted.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except MissingExtra as error:
        pytest.skip(str(error))


def check_api(text: str) -> None:
    """Fail unless a name, a parameter, an attribute or a command with its options exists."""
    if command := re.fullmatch(r"emitter ([a-z-]+)((?: --[\w-]+)*)", text):
        parser, name = argparse.ArgumentParser(), command[1].replace("-", "_")
        module = importlib.import_module(f"emitter.cli.{_COMMANDS[command[1]][0]}")
        getattr(module, f"add_{name}_arguments")(parser)
        assert set(command[2].split()) <= set(parser._option_string_actions)
    elif call := re.fullmatch(r"(\w+)\((\w+)=\)", text):
        assert call[2] in inspect.signature(getattr(emitter, call[1])).parameters
    elif attribute := re.fullmatch(r"([A-Z]\w+)\.(\w+)", text):
        assert hasattr(getattr(emitter, attribute[1]), attribute[2])
    else:
        assert text.startswith("emitter.")
        assert resolve(text) is not None


def test_there_is_a_table() -> None:
    """A page without rows would pass everything below."""
    assert len(ALL) > 50
    assert {row.has for row in ALL} == set(HAS)
    assert len({row.name for row in ALL}) == len(ALL)


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_a_row_holds_what_it_says(row: Feature) -> None:
    """What is there has a page or an example, and tests; what is not there has a reason and nothing else."""
    assert row.has in HAS
    for api in _API.findall(row.api):
        check_api(api)
    if row.has == "yes":
        assert _LINK.findall(row.how)
        assert _LINK.findall(row.tests)
    else:
        assert (row.api, row.tests) == ("", "")
        assert row.how.endswith((".", ")"))


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_a_row_links_to_what_exists(row: Feature) -> None:
    """Pages with their headings, and files or folders of tests."""
    for link in _LINK.findall(row.how):
        name, _, anchor = link.partition("#")
        assert (DOCS / name).is_file(), link
        assert not anchor or anchor in anchors(DOCS / name), link
    for link in _LINK.findall(row.tests):
        path = (DOCS / link).resolve()
        assert path.is_relative_to(ROOT / "tests")
        assert list(path.rglob("test_*.py")) if path.is_dir() else path.name.startswith("test_"), link
        assert path.exists(), link


def test_every_format_is_in_the_table_of_surfaces() -> None:
    """A renderer that nobody reads of is used by nobody."""
    table = re.findall(r"^\| `([a-z0-9-]+)` \|", (DOCS / "surfaces.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert set(FORMATS) == set(table), "The first table of docs/surfaces.md has a row for each format in FORMATS."


@pytest.mark.parametrize("name", listed_profile_names())
def test_every_vendor_is_named(name: str) -> None:
    """In the pages that list what can be asked, by its title or as a prefix of models."""
    text = (DOCS / "features.md").read_text(encoding="utf-8") + (DOCS / "typed-output.md").read_text(encoding="utf-8")

    assert load_profile(name).title in text or f"{name}/" in text, f"Name {name} in docs/typed-output.md."
