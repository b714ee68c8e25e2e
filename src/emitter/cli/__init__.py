"""The ``emitter`` command line.

Commands read files or standard input and print JSON with ``--json``. They exit with 0 on success, 1 on a
refused or failed emission, and 2 on bad usage. Bad input never ends in a traceback. Each command loads only the
modules it needs. A closed pipe, as with ``| head``, ends a command silently with success, except for commands
whose success is an answer.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import io
import os
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from emitter.errors import EmissionError, EmitterError, InputError, JournalFailed
from emitter.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TextIO

SUCCESS, FAILED, BAD_USAGE = 0, 1, 2
INTERRUPTED = 130
"""The status with which a shell reports a process that Ctrl-C ended: 128 and the number of the signal."""
_COMMAND_GROUPS = {
    "typed output": {
        "demo": ("demo", "show what emitter does, without a key or a network", "refused --vendor anthropic"),
        "emit": ("emit", "ask a model for a typed object", "--type invoices:Invoice --model openai/gpt-6-sol mail.txt"),
        "batch": (
            "batch",
            "ask for a typed object for each line of a JSON Lines file",
            "jobs.jsonl --journal run.journal",
        ),
        "recover": ("model_answers", "read the one JSON document out of a text that a model wrote", "answer.txt"),
        "compile": ("json_schema", "compile a JSON Schema for a vendor", "--profile anthropic schema.json"),
        "lint": ("json_schema", "report where vendors do not support a JSON Schema", "schema.json"),
    },
    "decisions": {
        "moment": (
            "moments",
            'ask a model for a decision, or an honest "not yet"',
            "--model openai/gpt-6-sol facts.txt",
        ),
        "resolve": ("resolve", "answer a binding moment at the terminal", "moment.json"),
        "serve": ("serve", "answer a binding moment on a local web page", "moment.json --open"),
        "inbox": ("serve", "serve the decisions of a store as an inbox on this machine", "--store agents.db --open"),
        "decisions": ("stores", "list the decisions that wait in a store", "agents.db"),
        "render": ("moments", "draw a binding moment for a surface", "moment.json --to markdown"),
        "lint-moment": ("moments", "report where a binding moment breaks the content rules", "moment.json"),
        "digest": ("moments", "print the digest that names a binding moment", "moment.json"),
        "mcp": ("mcp", "serve binding moments over the Model Context Protocol", "--model openai/gpt-6-sol"),
    },
    "acting": {
        "receipts": ("receipts", "list, export and verify the records of what was done", "verify agents.db"),
        "call": ("calls", "make an approved call, with its stored arguments", "tools:refund job-7"),
        "stop": ("authority", "stop a workflow, or one of its steps", "agents.db deploy --takeover-mode pause"),
        "resume": ("authority", "lift a pause or a human takeover", "agents.db deploy REQUEST"),
        "revoke": ("authority", "revoke an approval", "agents.db CONFIRM --reason 'the plan has changed'"),
        "settle": (
            "authority",
            "write the receipt of an action that never ended",
            "agents.db deploy INTENT --result failure",
        ),
        "forget": ("authority", "delete what people wrote about decisions", "agents.db --older-than 2"),
    },
    "testing and vendors": {
        "simulate": ("vendors", "run a simulated vendor on this machine, to test against", "--answer decoded=9,cut=1"),
        "providers": ("vendors", "list the vendors that emitter knows, or the facts about one", "anthropic"),
        "classify": ("model_answers", "classify recorded exchanges with vendors", "recordings/"),
    },
    "OpenWOP": {
        "accept": (
            "host",
            "report whether a host accepts AI envelopes",
            "envelope.json --contract clarification.request",
        ),
        "capabilities": ("host", "print a host's capabilities, as OpenWOP's document", "--contracts"),
    },
}
"""The module, the one-line summary and the arguments of an example of each command, by the group that help shows."""
_COMMANDS = {name: command for group in _COMMAND_GROUPS.values() for name, command in group.items()}

_WELCOME = f"""\
emitter {__version__}: typed objects and decisions from language models.

Try it without a key or a network:
  emitter demo

Ask a model for a typed object, with its vendor's key in the environment:
  emitter emit --type module:Invoice --model openai/gpt-6-sol mail.txt

See all commands:
  emitter --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options: set[str] = set()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, options)
            return _dispatch(list(sys.argv[1:] if arguments is None else arguments), options)
    except BrokenPipeError:
        discard_output(sys.stdout, sys.stderr)
        return SUCCESS
    except KeyboardInterrupt:
        return _report("interrupted", INTERRUPTED)
    except EmissionError as error:
        from emitter.cli.spelling import spell_error  # noqa: PLC0415  most commands succeed

        return _report(f"{spell_error(error, options)} ({error.code})", FAILED)
    except EmitterError as error:
        from emitter.cli.spelling import spell_error  # noqa: PLC0415  most commands succeed

        status = FAILED if isinstance(error, JournalFailed) else BAD_USAGE
        return _report(spell_error(error, options), status)
    except OSError as error:
        discard_output(sys.stdout)
        return _report(f"{error.strerror or error}.", BAD_USAGE)


def _dispatch(arguments: list[str], options: set[str]) -> int:
    """Run a command, and add the names of its options to ``options``."""
    # Python sets a standard stream to None if the shell closed it (``>&-``).
    if not sys.stderr:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  open until the process ends
    if not sys.stdout:
        raise InputError("Standard output is closed.", hint="Redirect it to a file or to /dev/null.")
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        # A model may write characters that the terminal's encoding lacks.
        reconfigure(errors="backslashreplace")
    if not arguments:
        sys.stdout.write(_WELCOME)
        sys.stdout.flush()
        return SUCCESS
    args = _build_parser(arguments).parse_args(arguments)
    options.update(vars(args))
    try:
        args.pipe_status = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output(sys.stdout, sys.stderr)
    status: int = args.pipe_status
    return status


def _show_warning(options: set[str], message: Warning | str, *_: Any, **__: Any) -> None:
    from emitter.cli.spelling import with_flags  # noqa: PLC0415  most commands warn of nothing

    _report(with_flags(str(message), options), SUCCESS)


def _report(message: str, status: int) -> int:
    sys.stderr.write(f"emitter: {message}\n")
    return status


def discard_output(*streams: TextIO) -> None:
    """Redirect streams to the null device, so that the interpreter's final flush of their buffers cannot fail."""
    for stream in streams:
        with suppress(io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _build_parser(arguments: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="emitter",
        usage="emitter [-h] [--version] COMMAND ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"Typed output and human approval for LLM agents.\n\n{_list_commands()}",
        epilog="Exit status: 0 success, 1 a refused or failed emission, 2 bad usage.\n"
        "Run `emitter COMMAND --help` for details.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    # argparse cannot group subcommands, so the description lists them.
    commands = parser.add_subparsers(prog="emitter", required=True, metavar="COMMAND", help=argparse.SUPPRESS)
    selected = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, (module, _, example) in _COMMANDS.items():
        sub = commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == selected:
            commands_module, suffix = importlib.import_module(f"{__name__}.{module}"), name.replace("-", "_")
            run = getattr(commands_module, f"run_{suffix}")
            sub.description = inspect.getdoc(run)
            # ``pipe_status`` is the exit status if the reader of the output closes the pipe. A command whose success
            # is an answer starts with a failure and sets it again once it has the answer.
            sub.set_defaults(pipe_status=SUCCESS, run=run)
            getattr(commands_module, f"add_{suffix}_arguments")(sub)
            sub.epilog = "\n\n".join(filter(None, [f"example:\n  emitter {name} {example}", sub.epilog]))
    return parser


def _list_commands() -> str:
    width = max(map(len, _COMMANDS))
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:{width}}  {summary}" for name, (_, summary, _) in commands.items())])
        for title, commands in _COMMAND_GROUPS.items()
    )
