"""docs/binding-moment.md says what holds: the code and the tests that it names are there, and nothing is left out."""

from __future__ import annotations

import pytest

from tests.draft.obligations import PASSAGES
from tests.draft.sentences import SEED, binding
from tests.draft.table import OBLIGATIONS, PAGE, page
from tests.traced.checks import check_code, check_complete, check_links, check_reported, check_test

needs_seeds = pytest.mark.skipif(not SEED.is_file(), reason="../shared/seeds is absent")

PARTLY = {"5.0", "5.1", "5.5", "5.3", "5.8", "5.10", "7.5", "12.2"}
"""What must be done and is held in part: reported on the page."""


def test_the_page_is_what_is_written() -> None:
    """Else run: python -m tests.draft.table --write."""
    assert PAGE.read_text("utf-8") == page()


def test_its_links_lead_somewhere() -> None:
    """To a file, and to a heading where one is named."""
    check_links(page(), PAGE)


@pytest.mark.parametrize("reference", sorted({each for row in OBLIGATIONS for each in row.code}))
def test_the_code_is_there(reference: str) -> None:
    """A module of the library, and a name in it."""
    check_code(reference)


@pytest.mark.parametrize("reference", sorted({each for row in OBLIGATIONS for each in row.tests}))
def test_the_test_is_there_and_runs(reference: str) -> None:
    """A function of that name, which is neither skipped nor expected to fail."""
    check_test(reference)


def test_what_no_test_holds_says_why() -> None:
    """And no MUST is without a test; those that are held in part are known."""
    check_reported(OBLIGATIONS, PARTLY)


@needs_seeds
def test_nothing_is_left_out() -> None:
    """Every sentence that binds somebody stands behind one obligation, and no other does."""
    check_complete(PASSAGES, binding())
