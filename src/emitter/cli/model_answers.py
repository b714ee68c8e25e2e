"""The commands ``classify`` and ``recover``, which work on recorded model answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.cli.arguments import add_file_argument, add_json_argument
from emitter.cli.input_output import ProgressCounter, print_json, read_text
from emitter.errors import BadTraffic
from emitter.recover import Ambiguous, Retracted, parse_answer
from emitter.testing import recordings

if TYPE_CHECKING:
    import argparse


def add_classify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder of *.json files")
    add_json_argument(parser, "print one JSON document per line (always on)")


def run_classify(args: argparse.Namespace) -> int:
    """Classify recorded exchanges with vendors, and print one JSON line for each.

    An exchange is a JSON object {"vendor", "endpoint", "request", "response"}. Folders are searched recursively. The
    verdict depends on the stop reason alone: complete, truncated, overflowed, refused, paused, unknown, faulted, or
    unsupported for an endpoint that emitter does not know. "document" is the content of the answer: json, recovered,
    text, tool, several or none.
    """
    files = [file for path in args.paths for file in _find_files(path)]
    progress, bad = ProgressCounter(len(files), "exchanges"), 0
    for path in files:
        try:
            line = recordings.classify_exchange(recordings.load_exchange(path), str(path)).to_json()
        except BadTraffic as error:
            bad += 1
            progress.write_message(str(error))
        else:
            print_json(line, indent=None)
        progress.step()
    progress.end()
    return 2 if bad else 0


def _find_files(path: Path) -> list[Path]:
    files = recordings.find_exchange_files([path])
    if not files:
        raise BadTraffic(f"{path} holds no *.json file.")
    return files


def add_recover_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser, "the model's text")
    add_json_argument(parser, "print one JSON document (always on)")


def run_recover(args: argparse.Namespace) -> int:
    """Read the one JSON document out of a text that a model wrote.

    Prints {"value", "path", "byteOffset"}. Exits with 1 if the text holds no complete document, holds several, or
    retracts its document. Documents in a thinking block do not count.
    """
    answer = parse_answer(read_text(args.file))
    match answer:
        case None:
            problem = "the text holds no complete JSON document"
        case Retracted():
            problem = "the text retracts its document"
        case Ambiguous(count=count):
            problem = f"the text holds {count} different documents, and emitter does not choose one"
        case _:
            print_json(
                {"value": answer.value, "path": answer.path.value, "byteOffset": answer.byte_offset}, indent=None
            )
            return 0
    sys.stderr.write(f"emitter: {problem}.\n")
    return 1
