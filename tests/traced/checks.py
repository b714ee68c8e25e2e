"""What every page of obligations is held to: its links lead somewhere, and what it names is there and runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.traced.form import Level
from tests.traced.look import function, headings, lame, tree
from tests.traced.markdown import resolved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from tests.traced.form import Obligation, Passage


def check_links(page: str, place: Path) -> None:
    """See that each link leads to a file, and to a heading where one is named."""
    for target, heading in re.findall(r"\]\((?!https:)([^)#]*)#?([^)]*)\)", page):
        file = (place.parent / target) if target else place
        assert file.is_file(), target
        assert not heading or heading in headings(file.read_text("utf-8")), heading


def check_code(reference: str) -> None:
    """See that a module of the library is there, and the name in it."""
    assert reference.startswith("emitter.")
    assert resolved(reference) is not None


def check_test(reference: str) -> None:
    """See that a test is there, and is neither skipped nor expected to fail."""
    assert lame(function(reference).decorator_list) == []
    assert lame(tree(reference.partition("::")[0]).body) == []


def check_reported(obligations: Sequence[Obligation], partly: Collection[str]) -> None:
    """See that what no test holds says why, that no MUST is without a test, and that what is held in part is known."""
    assert all(each.beyond for each in obligations if not each.tests)
    assert {each.id for each in obligations if each.level is Level.MUST and each.beyond} == set(partly)
    assert all(each.tests for each in obligations if each.level is Level.MUST)
    assert len({each.id for each in obligations}) == len(obligations)


def check_complete(passages: Iterable[Passage], binding: Collection[str]) -> None:
    """See that every sentence that binds somebody stands behind one obligation, and no other does."""
    named = [each for passage in passages for each in passage.sentences]
    assert set(named) == set(binding)
    assert len(set(named)) == len(named)
