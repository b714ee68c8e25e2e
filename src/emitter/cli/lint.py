"""Say where a JSON Schema leaves what vendors take, and how to mend it.

Each vendor is a row's first word: what it cannot enforce, and what has no sound form for it. `tier1` is the
portable subset of OpenWOP, by the rules and ids of its conformance suite.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from emitter import profile
from emitter.cli.document import write
from emitter.cli.schemas import read_schema
from emitter.errors import Uncompilable
from emitter.render.line import line
from emitter.schema import Edition, Mode, compile_schema, lint_tier1, lint_variants

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from emitter.wire import Json

_LOST = "It is told to the model and checked here; nothing need be done."
_REFUSED = "Give it a closed form, or ask another vendor."


class Row(NamedTuple):
    """One finding."""

    vendor: str
    pointer: str
    rule: str
    fix: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", nargs="?", default="-", metavar="SCHEMA", help="a JSON Schema; - is standard input")
    parser.add_argument("--json", action="store_true", help="print the findings as a JSON array")


def run(asked: argparse.Namespace) -> int:
    """Lint and print; findings are an answer, not a failure."""
    schema = read_schema(asked.file)
    rows = [*_portable(schema), *(row for name in profile.names() for row in _vendor(schema, name))]
    if asked.json:
        write([row._asdict() for row in rows])
        return 0
    widths = [max((len(line(row[column])) for row in rows), default=0) for column in range(3)]
    for row in rows:
        cells = [f"{line(cell):<{width}}" for cell, width in zip(row, widths, strict=False)]
        sys.stdout.write(f"{'  '.join(cells)}  {line(row.fix)}\n")
    return 0


def _portable(schema: Json) -> Iterator[Row]:
    for each in (*lint_tier1(schema, Mode.STRICT), *lint_variants(schema, Edition.V2)):
        yield Row("tier1", each.pointer, f"{each.rule} {each.detail or ''}".strip(), each.fix)


def _vendor(schema: Json, name: str) -> Iterator[Row]:
    try:
        losses = compile_schema(schema, name).losses
    except Uncompilable as error:
        yield Row(name, f"#{error.pointer}", error.reason, _REFUSED)
        return
    for each in losses:
        yield Row(name, f"#{each.pointer}", f"{each.keyword} {each.value} is not enforced", _LOST)
