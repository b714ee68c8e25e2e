"""Writes docs/authority.md from what stands in ``tests.authority.obligations``."""

from __future__ import annotations

import sys
from typing import Final

from tests.authority.obligations import PARTS
from tests.traced.markdown import ROOT
from tests.traced.page import open_points, run, section

PAGE: Final = ROOT / "docs" / "authority.md"
OBLIGATIONS: Final = tuple(each.obligation for part in PARTS.values() for each in part)

INTRODUCTION: Final = """\
# From decision to act, obligation by obligation

This page is for you if you must know which rules emitter follows between a person's decision and an act, and how that \
is checked. The rules come from three documents:

- the *delegation invariants* (CONFIRM, STOP, RECEIPT), a proposal to openclaw of March 2026;
- *RFC-0010* of the Claim Authorization Architecture (the authorization envelope);
- *AAuth R3* (per-call proposals), read as draft-hardt-aauth-r3-02.

For each obligation, it names the code that implements it and the tests that check it. "Ours" marks an addition that \
the documents leave open. The obligations are in our words; the documents have the last word. To use all of this, read \
[guarded tools](acting.md), [receipts](receipts.md) and [what an agent may claim](authorization.md). The folder of \
[the receipt's JSON Schema](schemas/receipt.schema.json) has the schemas of all records.

**How it is checked.** `python -m tests.authority.table --write` writes the page from one list. A test compares the \
two and looks up every name of code and every test. If the documents are available, another test finds every sentence \
in them that binds somebody, and fails if one is missing here.
"""


def page() -> str:
    """Return the page."""
    parts = [section(title, [each.obligation for each in part]) for title, part in PARTS.items()]
    return "\n".join([INTRODUCTION, open_points(OBLIGATIONS), *parts])


if __name__ == "__main__":
    sys.exit(run("tests.authority.table", PAGE, page))
