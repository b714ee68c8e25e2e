"""Compile a JSON Schema for a vendor.

Prints {"schema", "losses"}: what goes on the wire, and each keyword that the vendor does not enforce, which is
told to the model and checked here. Where descriptions have no room for a piece of the schema, "appendix" holds it
for the prompt. A schema that has no sound form for the vendor is refused with its place.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from emitter.cli.document import write
from emitter.cli.schemas import read_schema
from emitter.schema import Undeclared, compile_schema

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", nargs="?", default="-", metavar="SCHEMA", help="a JSON Schema; - is standard input")
    parser.add_argument("--profile", required=True, metavar="P", help="the vendor, as `emitter providers` names it")
    parser.add_argument(
        "--undeclared",
        choices=[each.value for each in Undeclared],
        default=Undeclared.CARRY.value,
        help="properties that an object is silent about: carried as JSON text (carry, the default) or left out (close)",
    )
    parser.add_argument(
        "--no-degrade", action="store_true", help="refuse a schema over the vendor's limits of size, do not cut it down"
    )
    parser.add_argument("--json", action="store_true", help="the only form: one JSON document")


def run(asked: argparse.Namespace) -> int:
    """Compile and print."""
    undeclared = Undeclared(asked.undeclared)
    schema = read_schema(asked.file)
    compiled = compile_schema(schema, asked.profile, degrade=not asked.no_degrade, undeclared=undeclared)
    appendix = {"appendix": compiled.appendix} if compiled.appendix else {}
    write({"schema": compiled.schema, "losses": [asdict(each) for each in compiled.losses], **appendix})
    return 0
