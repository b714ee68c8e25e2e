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

Three documents say how a decision becomes an act: the *delegation invariants* (CONFIRM, STOP, RECEIPT; a proposal to \
openclaw, March 2026), *RFC-0010* of the Claim Authorization Architecture (the authorization envelope), and *AAuth R3* \
(per-call proposals, read as draft-hardt-aauth-r3-02). This page says for each thing they ask for which code of this \
library holds it, and which tests would turn red if it did not. What begins with "Ours" is an addition: the documents \
leave it open. [acting.md](acting.md) and [authorization.md](authorization.md) are for those who want to use it, \
[schemas](schemas/receipt.schema.json) has the JSON Schema of every record, side by side.

The words are ours; the documents have the last one.

**How it is checked.** The page is written by `python -m tests.authority.table --write`, from one list. A test \
compares the two, resolves every name of code, and looks up every test. Where the documents are at hand, another \
finds every sentence of them that binds somebody, and that none is left out here.
"""


def page() -> str:
    """Return the page."""
    parts = [section(title, [each.obligation for each in part]) for title, part in PARTS.items()]
    return "\n".join([INTRODUCTION, open_points(OBLIGATIONS), *parts])


if __name__ == "__main__":
    sys.exit(run("tests.authority.table", PAGE, page))
