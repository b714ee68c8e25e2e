"""Read the one JSON document out of a text that a model wrote.

Prints {"value", "path", "byteOffset"}; exits 1 when the text holds no whole document, or several, or takes
back the one it holds. A document in a thinking block is not counted.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli.document import write
from emitter.cli.source import read_text
from emitter.recover import Retracted, Several, read

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="the text; - or nothing is standard input")
    parser.add_argument("--json", action="store_true", help="the only form: one JSON document")


def run(asked: argparse.Namespace) -> int:
    """Recover and print."""
    found = read(read_text(asked.file))
    if found is None:
        sys.stderr.write("emitter: the text holds no whole JSON document.\n")
        return 1
    if isinstance(found, Retracted):
        sys.stderr.write("emitter: the text takes its document back.\n")
        return 1
    if isinstance(found, Several):
        sys.stderr.write(f"emitter: the text holds {found.count} different documents; none is chosen for you.\n")
        return 1
    write({"value": found.value, "path": found.path.value, "byteOffset": found.byte_offset}, indent=None)
    return 0
