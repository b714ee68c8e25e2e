"""The command line: ``emitter demo | moment | resolve | render | lint-moment | classify | recover | compile | …``.

Every command reads files or standard input, prints JSON with ``--json``, and exits 0 on success, 1 on a
refused or failed emission, 2 on bad usage. Bad input never ends in a traceback. Of the library only what the
asked command needs is loaded. A pipe that is closed, as by ``| head``, ends a command in silence: with
success, save where success is an answer that nobody had given yet.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.errors import EmissionError, EmitterError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

SUCCESS, FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130

_COMMANDS = {
    "demo": "play a scripted scenario, with no key and no network",
    "moment": 'ask a model for a binding moment, or an honest "not yet"',
    "classify": "say what recorded exchanges with vendors were",
    "recover": "read the one JSON document out of a text that a model wrote",
    "compile": "compile a JSON Schema for a vendor",
    "lint": "say where a JSON Schema leaves what vendors take",
    "lint-moment": "say where a binding moment breaks the content discipline",
    "render": "draw a binding moment for a surface",
    "resolve": "answer a binding moment at the terminal",
    "serve": "answer a binding moment on a local web page",
    "decisions": "list the decisions that wait in a store",
    "digest": "print the digest that names a binding moment",
    "mcp": "serve binding moments over the Model Context Protocol",
    "receipts": "list, export and verify what was done, and by whose authority",
    "accept": "say what a host makes of AI envelopes",
    "capabilities": "print what a host of this configuration can do, as OpenWOP's capability document",
    "simulate": "run a simulated vendor on this machine, to test against",
    "providers": "list the vendors there are facts about, or the facts of one",
}
"""The commands, each a module of this package, with a line for the list."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except BrokenPipeError:
        _abandon(sys.stdout, sys.stderr)
        return SUCCESS
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except EmissionError as error:
        return _say(f"{error} ({error.code})", FAILED)
    except EmitterError as error:
        return _say(str(error), BAD_USAGE)
    except OSError as error:
        _abandon(sys.stdout)
        return _say(f"{error.strerror or error}.", BAD_USAGE)


def _run(arguments: list[str]) -> int:
    if not sys.stderr:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  it lives as long as the process
    if not sys.stdout:
        raise InputError("Standard output is closed.", hint="Send it to a file, or to /dev/null.")
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    asked = _parser(arguments).parse_args(arguments)
    try:
        asked.unread = asked.run(asked)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon(sys.stdout, sys.stderr)
    status: int = asked.unread
    return status


def _say(sentence: str, status: int) -> int:
    sys.stderr.write(f"emitter: {sentence}\n")
    return status


def _abandon(*streams: TextIO) -> None:
    """Send what is still to be written nowhere, so that the interpreter's own last flush cannot fail."""
    for stream in streams:
        with suppress(io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _parser(arguments: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="emitter",
        description="Decisions a program can rely on, from language models.",
        epilog="Exit status: 0 success, 1 a refused or failed emission, 2 bad usage. COMMAND --help tells more.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('emitter')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    asked = next((each for each in arguments if not each.startswith("-")), None)
    for name, summary in _COMMANDS.items():
        sub = commands.add_parser(name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == asked:
            command = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
            sub.description = command.__doc__
            sub.set_defaults(unread=SUCCESS)
            command.add_arguments(sub)
            sub.set_defaults(run=command.run)
    return parser
