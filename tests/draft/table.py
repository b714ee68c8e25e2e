"""Writes docs/binding-moment.md from what stands in ``tests.draft.obligations``."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import Final

from tests.draft.obligations import PASSAGES
from tests.traced.markdown import ROOT
from tests.traced.page import open_points, run, section

PAGE: Final = ROOT / "docs" / "binding-moment.md"
OBLIGATIONS: Final = tuple(each.obligation for each in PASSAGES)

INTRODUCTION: Final = """\
# The binding moment, obligation by obligation

This page is for you if you must know whether emitter conforms to `draft-morrison-binding-moment-envelope-00` (May \
2026), which specifies what a decision contains, and how it is delivered, drawn and answered. For each obligation, it \
names the code that implements it and the tests that check it. Later revisions of the draft exist and are not covered. \
To use decisions, read [decisions.md](decisions.md), [surfaces.md](surfaces.md) and [mcp.md](mcp.md).

The numbers are the draft's sections with a count of ours. MUST stands for the draft's SHALL and REQUIRED, SHOULD for \
its RECOMMENDED, MAY for its OPTIONAL. The obligations are in our words; the draft has the last word.

**How it is checked.** `python -m tests.draft.table --write` writes the page from one list. A test compares the two \
and looks up every name of code and every test. If the draft is available, another test finds every sentence in it \
that binds somebody, and fails if one is missing here.
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
    parts = [section(f"Section {number}: {_lower(HEADINGS[number])}", reported) for number, reported in sections]
    return "\n".join([INTRODUCTION, open_points(OBLIGATIONS), *parts])


def _lower(heading: str) -> str:
    return f"{heading[0].lower()}{heading[1:]}"


if __name__ == "__main__":
    sys.exit(run("tests.draft.table", PAGE, page))
