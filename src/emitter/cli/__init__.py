"""The command line: ``emitter moment | demo | classify | recover | providers``.

Every command reads files or standard input, prints JSON with ``--json``, and exits 0 on success, 1 on a
refused or failed emission, 2 on bad usage. Bad input never ends in a traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from emitter.cli import classify, demo, moment, providers, recover
from emitter.errors import EmissionError, EmitterError

if TYPE_CHECKING:
    from collections.abc import Sequence

SUCCESS, FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130

_COMMANDS = (demo, moment, classify, recover, providers)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    asked = _parser().parse_args(arguments)
    try:
        status: int = asked.run(asked)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUCCESS
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except EmissionError as error:
        return _say(f"{error} ({error.code})", FAILED)
    except (EmitterError, OSError) as error:
        return _say(str(error), BAD_USAGE)
    return status


def _say(sentence: str, status: int) -> int:
    sys.stderr.write(f"emitter: {sentence}\n")
    return status


def _parser() -> argparse.ArgumentParser:
    told = "Decisions a program can rely on, from language models."
    parser = argparse.ArgumentParser(prog="emitter", description=told)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _COMMANDS:
        name = command.__name__.rpartition(".")[2]
        summary, _, detail = (command.__doc__ or "").partition("\n")
        sub = commands.add_parser(
            name,
            help=summary,
            description=f"{summary}\n{detail}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser
