"""Draw a binding moment for a surface.

FILE holds a binding moment, a tool's result with one, or what `emitter moment --json` printed; - or nothing is standard
input. A malformed envelope is discarded: the tool's own payload is printed instead, with a word on standard error why.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from emitter.cli.document import write
from emitter.cli.envelope import read_delivery
from emitter.render import plain_text
from emitter.render.delivery import Fallback, drawn
from emitter.render.formats import FORMATS, renderer

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = "Exit status: 0 the decision was drawn, 1 something else was shown instead, 2 bad usage."
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the envelope; - or nothing is standard input"
    )
    parser.add_argument("--to", default="text", metavar="FORMAT", help=f"one of {', '.join(FORMATS)} (default text)")
    parser.add_argument("--json", action="store_true", help="print a text as a JSON string, too")


def run(asked: argparse.Namespace) -> int:
    """Draw and print."""
    chosen = renderer(asked.to)
    shown = drawn(read_delivery(asked.file), chosen)
    if isinstance(shown, Fallback):
        return _instead(shown, as_json=asked.json)
    _print(shown, as_json=asked.json)
    return 0


def _instead(shown: Fallback, *, as_json: bool) -> int:
    """Show the conventional payload, and say why (draft, section 8.3)."""
    sys.stderr.write(f"emitter: {shown.diagnostic or 'There is no decision in it.'}\n")
    if as_json:
        write(shown.payload)
    else:
        sys.stdout.write(f"{plain_text.fallback(Fallback(shown.payload))}\n")
    return 1


def _print(shown: Any, *, as_json: bool) -> None:
    if isinstance(shown, str) and not as_json:
        sys.stdout.write(f"{shown}\n")
    else:
        write(shown)
