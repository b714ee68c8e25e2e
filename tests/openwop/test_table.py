"""docs/openwop.md says what holds: the code and the tests that it names are there."""

from __future__ import annotations

import ast
import re

import pytest

from tests.faults.test_matrix import TABLE
from tests.openwop.obligations import OBLIGATIONS
from tests.openwop.obligations.amiss import AMISS
from tests.openwop.obligations.invariants import INVARIANTS
from tests.openwop.obligations.rulings import RULINGS
from tests.openwop.scenarios import HELD, NOT_HELD
from tests.openwop.table import PAGE, page
from tests.traced.checks import check_code, check_links, check_test
from tests.traced.form import Level
from tests.traced.look import function, lame
from tests.traced.markdown import ROOT

FACTS = ROOT / ".." / "shared" / "spec" / "openwop-facts.md"
needs_facts = pytest.mark.skipif(not FACTS.is_file(), reason="../shared/spec is absent")

OPEN_MUSTS = {"N11", "N33", "N37"}
"""What must be done and is held in part: a decision, made here and reported on the page."""

NAMED = [*OBLIGATIONS, *RULINGS, *INVARIANTS]
TESTS = sorted({each for row in NAMED for each in row.tests})
CODE = sorted({each for row in OBLIGATIONS for each in row.code})


def test_the_page_is_what_is_written() -> None:
    """Else run: python -m tests.openwop.table --write."""
    assert PAGE.read_text("utf-8") == page()


def test_its_links_lead_somewhere() -> None:
    """To a file, and to a heading where one is named."""
    check_links(page(), PAGE)


@pytest.mark.parametrize("reference", CODE)
def test_the_code_is_there(reference: str) -> None:
    """A module of the library, and a name in it."""
    check_code(reference)


@pytest.mark.parametrize("reference", TESTS)
def test_the_test_is_there_and_runs(reference: str) -> None:
    """A function of that name, which is neither skipped nor expected to fail, and the row where one is named."""
    path, _, row = reference.removesuffix("]").partition("[")

    check_test(path)
    assert not row or (path, row in TABLE) == ("tests/faults/test_matrix.py::test_fault", True)


def test_what_is_known_to_be_wrong_is_so() -> None:
    """Tests that are expected to fail, or a row of them; else they are taken out of ``obligations.amiss``."""
    for reference in {each for tests in AMISS.values() for each in tests}:
        assert [each for each in lame(function(reference).decorator_list) if re.search(r"xfail|bug\(", each)], reference


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("@pytest.mark.xfail(strict=True, reason='x')\ndef test_a(): ...", 1),
        ("@pytest.mark.skip\ndef test_a(): ...", 1),
        ("@pytest.mark.parametrize('a', [1, bug(2, why='x')])\ndef test_a(a): ...", 1),
        ("@pytest.mark.skipif(absent, reason='x')\n@needs_schemas\ndef test_a(): ...", 0),
    ],
    ids=["xfail", "skip", "row", "skipif"],
)
def test_a_test_that_says_nothing_is_seen(text: str, count: int) -> None:
    """Otherwise the test above says nothing; one that is skipped where something is absent counts."""
    (given,) = ast.parse(text).body
    assert isinstance(given, ast.FunctionDef)

    assert len(lame(given.decorator_list)) == count
    assert len(lame(ast.parse("pytestmark = pytest.mark.skip").body)) == 1


def test_every_obligation_stands_once() -> None:
    """In the order of the page, and each with its level."""
    numbers = {Level.MUST: 37, Level.SHOULD: 12, Level.MAY: 5}
    letters = {Level.MUST: "N", Level.SHOULD: "S", Level.MAY: "M"}

    wanted = [(f"{letters[level]}{number}", level) for level in Level for number in range(1, numbers[level] + 1)]
    assert [(each.id, each.level) for each in OBLIGATIONS] == wanted
    assert [each.number for each in RULINGS] == list(range(1, 23))
    assert len({each.id for each in INVARIANTS}) == len(INVARIANTS)


def test_what_no_test_holds_says_why() -> None:
    """And no MUST is without a test; those that are held in part are known."""
    bare = [each for each in (*OBLIGATIONS, *INVARIANTS) if not each.tests]

    assert all(each.beyond for each in bare)
    assert not {each.id for each in bare} & {each.id for each in OBLIGATIONS if each.level is Level.MUST}
    assert all(each.tests for each in RULINGS)
    assert set(AMISS) <= {each.id for each in (*OBLIGATIONS, *INVARIANTS)}
    assert {each.id for each in OBLIGATIONS if each.level is Level.MUST and each.beyond} == OPEN_MUSTS


@needs_facts
def test_nothing_is_left_out() -> None:
    """Every obligation, ruling, invariant and scenario of the digest of the specification has its row."""
    numbers = re.findall(r"(?:^|\. ) ?(\d+) [a-zA-Z`]", section(17), re.MULTILINE)

    assert {each.id for each in OBLIGATIONS} == set(re.findall(r"(?<![\w-])[NSM]\d+(?= )", section(13)))
    assert [str(each.number) for each in RULINGS][: len(numbers)] == numbers
    assert {each.id for each in INVARIANTS} == set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+){2,}", spread(section(11))))
    assert {*HELD, *NOT_HELD} == scenarios(section(14))


def section(number: int) -> str:
    """Return a section of the digest, without its heading."""
    _, _, rest = FACTS.read_text("utf-8").partition(f"\n## {number}. ")
    return rest.partition("\n")[2].partition("\n---")[0]


def spread(text: str) -> str:
    """Return a text with its shorthands written out: names that share a beginning."""
    text = text.replace(" and -no-network-egress", " a2ui-surface-no-network-egress")
    text = text.replace(
        "replay-llm-cache-key**(+portable)", "replay-llm-cache-key**, **replay-llm-cache-key-portable**"
    )

    def named(found: re.Match[str]) -> str:
        return ", ".join(f"{found[1]}{each}" for each in found[2].split(","))

    return re.sub(r"([\w-]+)\{([\w,-]+)\}", named, text)


def scenarios(text: str) -> set[str]:
    """Return the scenarios that a text names: in bold, and those of version 2 as they are."""
    bold = [name for each in re.findall(r"\*\*(.+?)\*\*", spread(text)) for name in each.split(", ")]
    return {*bold, *re.findall(r"v2-[a-z-]+", text)} - {"gated"}
