"""The command ``call``, which makes an approved call of a guarded tool."""

from __future__ import annotations

import asyncio
import inspect
import sys
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic_core import to_jsonable_python

from emitter.authority import GuardedTool
from emitter.cli.importing import import_object
from emitter.cli.input_output import print_json
from emitter.errors import AuthorityError, EmitterError, InputError
from emitter.render.safe_text import to_single_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_HINT: Final = "Write the module and the name of a guarded tool, such as tools:refund for refund in tools.py."


def add_call_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("tool", metavar="MODULE:TOOL", help="a guarded tool of yours, such as tools:refund")
    parser.add_argument("call_id", metavar="CALL", help="the id under which the call was proposed")
    parser.epilog = "Exit status: 0 the call was made, now or earlier, 1 it was not made or failed, 2 bad usage."


def run_call(args: Namespace) -> int:
    """Make a call that was approved, with the arguments that were stored when it was proposed, and print its result.

    A call is made once: after that, its retained result is printed. A call that waits, was refused, has lapsed or was
    revoked is not made. The store is the one that the module of the tool opens.
    """
    tool = import_object(args.tool, label=args.tool, hint=_HINT)
    if not isinstance(tool, GuardedTool):
        raise InputError(f"{args.tool} is of type {type(tool).__name__}, not a guarded tool.", hint=_HINT)
    try:
        value = _run_tool(cast("GuardedTool[..., Any]", tool), args.call_id)
    except AuthorityError as error:
        sys.stderr.write(f"emitter: {to_single_line(error.summary)} ({error.code})\n")
        return 1
    except EmitterError:
        raise
    except Exception as error:  # noqa: BLE001  of the tool
        sys.stderr.write(f"emitter: the call was made, and failed with {type(error).__name__}\n")
        return 1
    print_json(to_jsonable_python(value, fallback=repr))
    return 0


def _run_tool(tool: GuardedTool[..., Any], call_id: str) -> Any:
    made = tool.resume(call_id)
    if not inspect.isawaitable(made):
        return made

    async def wait() -> Any:
        return await made

    return asyncio.run(wait())
