"""docs/authority.md says what holds: the code and the tests that it names are there, and nothing is left out."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from tests.authority.obligations import PARTS
from tests.authority.sentences import SEEDS, binding
from tests.authority.table import OBLIGATIONS, PAGE, page
from tests.traced.form import Level
from tests.traced.look import function, headings, lame, tree
from tests.traced.markdown import resolved

needs_seeds = pytest.mark.skipif(not all(each.is_file() for each in SEEDS), reason="../shared/seeds is absent")

TESTS = sorted({each for row in OBLIGATIONS for each in row.tests})
CODE = sorted({each for row in OBLIGATIONS for each in row.code})
PARTLY = {"E.3", "E.4", "E.5", "G.4", "P.8", "R.3", "S.4"}
"""What must be done and is held in part: told on the page."""


def test_the_page_is_what_is_written() -> None:
    """Else run: python -m tests.authority.table --write."""
    assert PAGE.read_text("utf-8") == page()


def test_its_links_lead_somewhere() -> None:
    """To a file, and to a heading where one is named."""
    for place, heading in re.findall(r"\]\((?!https:)([^)#]*)#?([^)]*)\)", page()):
        file = (PAGE.parent / place) if place else PAGE
        assert file.is_file(), place
        assert not heading or heading in headings(file.read_text("utf-8")), heading


@pytest.mark.parametrize("reference", CODE)
def test_the_code_is_there(reference: str) -> None:
    """A module of the library, and a name in it."""
    assert reference.startswith("emitter.")
    assert resolved(reference) is not None


@pytest.mark.parametrize("reference", TESTS)
def test_the_test_is_there_and_runs(reference: str) -> None:
    """A function of that name, which is neither skipped nor expected to fail."""
    assert lame(function(reference).decorator_list) == []
    assert lame(tree(reference.partition("::")[0]).body) == []


def test_what_no_test_holds_says_why() -> None:
    """And no MUST is without a test; those that are held in part are known."""
    assert all(each.beyond for each in OBLIGATIONS if not each.tests)
    assert {each.id for each in OBLIGATIONS if each.level is Level.MUST and each.beyond} == PARTLY
    assert all(each.tests for each in OBLIGATIONS if each.level is Level.MUST)
    assert len({each.id for each in OBLIGATIONS}) == len(OBLIGATIONS)


@needs_seeds
def test_nothing_is_left_out() -> None:
    """Every sentence of the three that binds somebody stands behind one obligation, and no other does."""
    named = [each for passage in chain.from_iterable(PARTS.values()) for each in passage.sentences]

    assert set(named) == set(binding())
    assert len(set(named)) == len(named)
