"""Print the digest that names an envelope, and that every resolution of it is bound to.

FILE holds a binding moment, a tool's result with one, or what `emitter moment --json` printed; - or nothing is standard
input. The digest is `sha256:` and 64 hexadecimal digits, over the envelope in canonical JSON (RFC 8785).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli.document import write
from emitter.cli.envelope import read_moment
from emitter.decide import digest

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the envelope; - or nothing is standard input"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(asked: argparse.Namespace) -> int:
    """Read and print."""
    named = digest(read_moment(asked.file))
    if asked.json:
        write({"digest": named})
    else:
        sys.stdout.write(f"{named}\n")
    return 0
