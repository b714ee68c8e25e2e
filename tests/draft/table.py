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
    parts = [section(f"Section {number}: {_lower(HEADINGS[number])}", told) for number, told in sections]
    return "\n".join([INTRODUCTION, open_points(OBLIGATIONS), *parts])


def _lower(heading: str) -> str:
    return f"{heading[0].lower()}{heading[1:]}"


if __name__ == "__main__":
    sys.exit(run("tests.draft.table", PAGE, page))
