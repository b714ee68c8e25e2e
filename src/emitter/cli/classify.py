"""Say what recorded exchanges with vendors were, one JSON line each.

PATH is a file in the vendor-traffic form, or a folder that is searched to any depth. The verdict judges the
stop alone: complete, truncated, overflowed, refused, paused, unknown, faulted, or unsupported for an
endpoint that is none of ours. The document says what the answer holds: json, recovered, text, tool, several
or none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from emitter import traffic
from emitter.cli.document import write
from emitter.cli.progress import Progress
from emitter.errors import BadTraffic

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files, and folders of *.json files")
    parser.add_argument("--json", action="store_true", help="the only form: one JSON document a line")


def run(asked: argparse.Namespace) -> int:
    """Print a line for each exchange; 2 when a file could not be read, after all others are done."""
    found = [file for path in asked.paths for file in _files(path)]
    progress, bad = Progress(len(found), "exchanges"), 0
    for path in found:
        try:
            line = traffic.classify(traffic.load(path), str(path)).to_json()
        except BadTraffic as error:
            bad += 1
            progress.say(str(error))
        else:
            write(line, indent=None)
        progress.step()
    progress.end()
    return 2 if bad else 0


def _files(path: Path) -> list[Path]:
    found = traffic.files([path])
    if not found:
        raise BadTraffic(f"{path} holds no *.json file.")
    return found
