"""Writes docs/binding-moment.md from what stands in ``tests.draft.obligations``."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Final

from tests.draft.obligations import PASSAGES
from tests.traced.markdown import ROOT, code_of, table, tests_of

if TYPE_CHECKING:
    from tests.traced.form import Obligation

PAGE: Final = ROOT / "docs" / "binding-moment.md"
OBLIGATIONS: Final = tuple(each.obligation for each in PASSAGES)

INTRODUCTION: Final = """\
# The binding moment, obligation by obligation

`draft-morrison-binding-moment-envelope-00` (May 2026) says what an envelope of a decision holds, how it is \
delivered, drawn and answered. This page says for each thing it asks for which code of this library holds it, and \
which tests would turn red if it did not. Later revisions of the draft exist and are not read here. \
[decisions.md](decisions.md), [surfaces.md](surfaces.md) and [mcp.md](mcp.md) are for those who want to use it.

The numbers are the draft's sections with a count of ours; MUST stands for the draft's SHALL and REQUIRED, SHOULD \
for its RECOMMENDED, MAY for its OPTIONAL. The words are ours; the draft has the last one.

**How it is checked.** The page is written by `python -m tests.draft.table --write`, from one list. A test compares \
the two, resolves every name of code, and looks up every test. Where the draft is at hand, another finds every \
sentence of it that binds somebody, and that none is left out here.
"""

HEADINGS: Final = {
    "4": "The envelope",
    "5": "What each slot says",
    "6": "The handshake of two vetoes",
    "7": "Delivery",
    "8": "What every renderer preserves",
    "9": "Records",
    "11": "Security",
    "12": "Privacy",
}


def page() -> str:
    """Return the page."""
    sections = groupby(OBLIGATIONS, key=lambda each: each.id.partition(".")[0])
    parts = [_section(number, list(told)) for number, told in sections]
    return "\n".join([INTRODUCTION, _open(), *parts])


def _open() -> str:
    told = [each for each in OBLIGATIONS if each.beyond]
    lines = (f"- **{e.id}**, {'in part' if e.tests else 'not held'}: *{e.line}* {e.beyond}\n" for e in told)
    return f"## What is not held, or in part\n\n{''.join(lines)}"


def _section(number: str, told: list[Obligation]) -> str:
    lines = [(each.id, each.level.value, _asked(each), _code(each), _held(each)) for each in told]
    header = ("", "", "What is asked", "Code", "Tests")
    return f"## Section {number}: {HEADINGS[number][0].lower()}{HEADINGS[number][1:]}\n\n{table(header, lines)}"


def _asked(each: Obligation) -> str:
    return f"{each.line} {each.note}".strip()


def _code(each: Obligation) -> str:
    return "<br>".join(map(code_of, each.code))


def _held(each: Obligation) -> str:
    in_part = "in part: see [above](#what-is-not-held-or-in-part)" if each.beyond else ""
    return "<br>".join(filter(None, [tests_of(each.tests), in_part]))


def main() -> int:
    """Write the page, or say whether it is what would be written."""
    parser = argparse.ArgumentParser(prog="python -m tests.draft.table", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write docs/binding-moment.md")
    what.add_argument("--check", action="store_true", help="end with 1 where it is not what would be written")
    if parser.parse_args().write:
        PAGE.write_text(page(), "utf-8")
        return 0
    same = PAGE.read_text("utf-8") == page()
    if not same:
        sys.stderr.write("It is not what would be written. Run: python -m tests.draft.table --write\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
