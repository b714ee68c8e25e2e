"""Writes docs/schemas from what stands in ``emitter.authority.schemas``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Final

from emitter.authority.schemas import SCHEMAS
from tests.traced.markdown import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = ROOT / "docs" / "schemas"


def files() -> dict[Path, str]:
    """Return the files, and the text that each must have."""
    return {FOLDER / each["$id"]: f"{json.dumps(each, indent=2)}\n" for each in SCHEMAS.values()}


def main() -> int:
    """Write the files, or say whether they are what would be written."""
    parser = argparse.ArgumentParser(prog="python -m tests.authority.schemas", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write docs/schemas")
    what.add_argument("--check", action="store_true", help="end with 1 where it is not what would be written")
    if parser.parse_args().write:
        FOLDER.mkdir(exist_ok=True)
        for file, text in files().items():
            file.write_text(text, "utf-8")
        return 0
    there = {file: file.read_text("utf-8") for file in FOLDER.iterdir()} if FOLDER.is_dir() else {}
    if there != files():
        sys.stderr.write("docs/schemas is not what would be written. Run: python -m tests.authority.schemas --write\n")
    return int(there != files())


if __name__ == "__main__":
    sys.exit(main())
