"""The tables of stops, codes and exceptions in the pages are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emitter import errors
from emitter.attempts import Verdict
from emitter.client.result import _ERROR_BY_CODE
from emitter.core.capability_gate import CAPABILITY_NOT_PROVIDED
from emitter.core.verdicts import FAULTS, REMEDIES
from emitter.errors import EmissionError
from emitter.messages import StopReason

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not here")
FAILURES = {
    **{verdict.value: rule.failure for verdict, rule in REMEDIES.items()},
    **{kind.value: failure for kind, failure in FAULTS.items()},
}


ERRORS = DOCS / "errors.md"


def section(page: str, heading: str) -> str:
    """Return the text under a heading of a page."""
    return (DOCS / page).read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", FAILURES)
def test_the_table_of_codes_has_every_end_of_an_emission(name: str) -> None:
    """With the code and the exception that follow."""
    code, exception = FAILURES[name].code, FAILURES[name].error.__name__
    row = re.compile(rf"^\| `{name}` \| [^|]+ \| `{code}` \| `{exception}` \|$", re.MULTILINE)
    reported = f"docs/errors.md: | `{name}` | what emitter does | `{code}` | `{exception}` |"
    assert row.search(ERRORS.read_text("utf-8")), reported


def test_the_table_of_codes_has_no_other_rows() -> None:
    """A row that no failure stands for is out of date."""
    row = re.compile(r"^\| `(\w+)` \| [^|]+ \| `\w+` \| `\w+` \|$", re.MULTILINE)
    assert sorted(row.findall(ERRORS.read_text("utf-8"))) == sorted(FAILURES)


@pytest.mark.parametrize("code", [*_ERROR_BY_CODE, CAPABILITY_NOT_PROVIDED])
def test_every_code_is_named(code: str) -> None:
    """Those of limits too."""
    assert f"`{code}`" in ERRORS.read_text("utf-8")


@pytest.mark.parametrize(
    "name", [name for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, EmissionError)]
)
def test_every_exception_of_an_emission_is_named(name: str) -> None:
    """What a caller may catch stands where it is looked up."""
    assert f"`{name}`" in ERRORS.read_text("utf-8"), f"docs/errors.md: name {name}."


def test_every_exception_of_an_emission_is_in_the_tree() -> None:
    """The docstring of the module draws what inherits ``EmissionError`` directly."""
    direct = {name for name, each in vars(errors).items() if EmissionError in getattr(each, "__bases__", ())}
    missing = {name for name in direct if not re.search(rf"\b{name}\b", errors.__doc__ or "")}
    assert not missing, "Name these in the tree at the top of src/emitter/errors.py."


def test_every_reason_of_a_restart_is_in_the_table() -> None:
    """With the reason of the event: a verdict that has a remedy, or after which another model may be asked."""
    reasons = {
        verdict.value: "no such event" if verdict in {Verdict.FAULTED, Verdict.REFUSED} else f"`{rule.reason.value}`"
        for verdict, rule in REMEDIES.items()
        if rule.remedy is not None or rule.failure.fallback is not None or verdict is Verdict.FAULTED
    }
    row = re.compile(r"^\| (`[a-z]+`(?:, `[a-z]+`)*) \| ([^|;]+?)(?:;[^|]+)? \|$", re.MULTILINE)
    rows = row.findall(section("streaming.md", "Fields and text"))
    table = {name: reason for names, reason in rows for name in re.findall(r"\w+", names)}
    assert table == reasons, "The second table of docs/streaming.md has the reasons of REMEDIES."


@pytest.mark.parametrize("stop", StopReason)
def test_every_stop_is_explained(stop: StopReason) -> None:
    """With examples and what follows."""
    page, heading = "explanation/stop-reasons.md", "A table for each vendor, and no guess"
    row = f"| {stop.value} | "
    assert f"\n{row}" in section(page, heading), f"docs/{page}: {row}examples | what emitter does |"
