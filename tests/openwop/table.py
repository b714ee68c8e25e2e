"""Writes docs/openwop.md from what stands in ``tests.openwop.obligations`` and ``tests.openwop.scenarios``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from tests.openwop.obligations import OBLIGATIONS
from tests.openwop.obligations.amiss import AMISS
from tests.openwop.obligations.invariants import INVARIANTS
from tests.openwop.obligations.rulings import RULINGS
from tests.openwop.scenarios import HELD, NOT_HELD, held_by, slug
from tests.traced.form import Level, Obligation
from tests.traced.markdown import ROOT, code_of, file_of, table, tests_of
from tests.traced.page import run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.openwop.obligations.form import Invariant

PAGE: Final = ROOT / "docs" / "openwop.md"

INTRODUCTION: Final = """\
# OpenWOP, obligation by obligation

This page is for you if you must know whether emitter conforms to [OpenWOP](https://openwop.dev)'s AI envelope, which \
specifies how a model hands typed output to an engine: `ai-envelope.md`, version 1.1.1, \
with RFC 0026, 0030 to 0033, 0041 §B, 0055, 0094, 0102 and 0143. For each obligation, this page names \
the code that implements it and the tests that check it. To use the host, read [accept.md](accept.md). Version 2 of \
the protocol, the delta transport of surfaces (RFC 0114) and the prefix cache of prompts (RFC 0116) are neither built \
nor advertised.

The obligations are numbered as N (must), S (should) and M (may), in our words; the specification has the last word. \
The conformance scenarios and the security invariants have the protocol's own names.

**How it is checked.** `python -m tests.openwop.table --write` writes the page from one list. A test compares the two \
and looks up every name of code and every test; it fails if one is gone, skipped or expected to fail. Tests are named \
in words: "[host/test_order](../tests/host/test_order.py): a defect is told with its code" is \
`test_a_defect_is_reported_with_its_code`. If its name begins with its scenario, that part is left out. Some tests \
compare the library with the protocol's own schemas and fixtures, which are not part of this repository. Without them, \
those tests are skipped by name.
"""

HEADINGS: Final = {
    Level.MUST: "What a host must do",
    Level.SHOULD: "What a host should do",
    Level.MAY: "What a host may do",
}


def page() -> str:
    """Return the page."""
    parts = [
        INTRODUCTION,
        _section("Not met, or met in part", _open()),
        *(_section(heading, _obligations(level)) for level, heading in HEADINGS.items()),
        _section("Conformance scenarios", _scenarios()),
        _section("Where the specification leaves it open", _rulings()),
        _section("Security invariants", _invariants()),
    ]
    return "\n".join(parts)


def _section(heading: str, body: str) -> str:
    return f"## {heading}\n\n{body}"


def _open() -> str:
    reported = [_missing(each) for each in (*OBLIGATIONS, *INVARIANTS) if _is_open(each)]
    return (
        "".join(reported) + "\nThe table of conformance scenarios below gives the reason for each one without a test.\n"
    )


def _missing(each: Obligation | Invariant) -> str:
    wrong = AMISS.get(each.id, ())
    bug = f" Known to be wrong, and expected to fail until it is fixed: {tests_of(wrong)}." if wrong else ""
    how = "in part" if each.tests else "not met"
    return f"- **{each.id}**, {how}: *{each.line}* {each.beyond}".rstrip() + f"{bug}\n"


def _is_open(each: Obligation | Invariant) -> bool:
    return bool(each.beyond) or each.id in AMISS


def _obligations(level: Level) -> str:
    reported = [each for each in OBLIGATIONS if each.level is level]
    lines = [(each.id, _asked(each), "<br>".join(map(code_of, each.code)), _held(each)) for each in reported]
    return table(("", "Obligation", "Code", "Tests"), lines)


def _asked(each: Obligation) -> str:
    return f"{each.line} {each.note}".strip()


def _held(each: Obligation | Invariant) -> str:
    if not _is_open(each):
        return tests_of(each.tests)
    return f"{tests_of(each.tests)}<br>in part: {_ABOVE}" if each.tests else f"not met: {_ABOVE}"


_ABOVE = "see [above](#not-met-or-met-in-part)"


def _scenarios() -> str:
    found = held_by()
    held = [(f"`{each}`", _named_after(each, found[each])) for each in HELD]
    return table(("Scenario", "Tests"), [*held, *((f"`{each}`", f"None. {why}") for each, why in NOT_HELD.items())])


def _named_after(scenario: str, tests: Iterable[str]) -> str:
    files = dict.fromkeys(each.partition("::")[0] for each in tests)
    return f"`test_{slug(scenario)}__…` in {', '.join(map(file_of, files))}"


def _rulings() -> str:
    lines = [(str(each.number), each.question, each.answer, tests_of(each.tests)) for each in RULINGS]
    return table(("", "Contradiction or gap", "Decision", "Tests"), lines)


def _invariants() -> str:
    return table(("Invariant", "Meaning", "Tests"), [(f"`{e.id}`", e.line, _held(e)) for e in INVARIANTS])


if __name__ == "__main__":
    sys.exit(run("tests.openwop.table", PAGE, page))
