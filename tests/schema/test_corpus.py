"""The laws of the compiler on a part of the corpora; ``python -m tests.schema.proof.report`` tries all of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from emitter import profiles as profile
from tests.schema.proof.corpora import SCHEMASTORE, SUITE, chosen, read
from tests.schema.proof.laws import Subject, prove
from tests.schema.proof.verdict import LAWS
from tests.work import examples

if TYPE_CHECKING:
    from pathlib import Path

    from tests.schema.proof.verdict import Report

SIZES = {SUITE: examples(100), SCHEMASTORE: examples(14)}
"""How many schemas of each corpus a profile is tried on; another part for each profile."""
SAMPLES = 3

TRIED = [law for law in LAWS if law != "timeout"]


@pytest.fixture(scope="module", autouse=True)
def _corpora() -> None:
    """Skip by name where the corpora do not stand beside the checkout."""
    for corpus in SIZES:
        if not corpus.exists():
            pytest.skip(f"{corpus} is absent")


@cache
def subjects(corpus: Path) -> tuple[Subject, ...]:
    """Read a corpus; what is broken in it is an error here."""
    broken: list[str] = []
    found = tuple(Subject(each) for each in read(corpus, broken.append))
    assert broken == []
    return found


@cache
def reports(name: str) -> tuple[Report, ...]:
    """Prove a profile on its part of the corpora."""
    found: list[Report] = []
    for corpus, size in SIZES.items():
        mine = chosen(subjects(corpus), size, key=lambda each: name + each.case.name)
        found.extend(prove(each, name, SAMPLES) for each in mine)
    return tuple(found)


@pytest.mark.parametrize("law", TRIED)
@pytest.mark.parametrize("name", profile.profile_names())
def test_a_law_holds_on_the_corpora(name: str, law: str) -> None:
    """No schema of the profile's part breaks the law."""
    broken = [(each.case, fault.reason) for each in reports(name) for fault in each.failures if fault.law == law]
    assert broken == []


def test_hardly_any_schema_is_refused() -> None:
    """Every schema has a form, but for those that contradict themselves or refer to another document."""
    tried = [each for name in profile.profile_names() for each in reports(name)]
    refused = [each.case for each in tried if each.refused and "outside this document" not in each.refused]
    assert len(refused) <= len(tried) // 20
