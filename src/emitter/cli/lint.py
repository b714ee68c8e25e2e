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
from emitter.schema import Edition, Mode, Undeclared, Why, compile_schema, lint_tier1, lint_variants

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from emitter.schema import Loss
    from emitter.wire import Json

_PORTABLE = "tier1"
_REFUSED = "Give it a form that a document can have, or ask another vendor."
_PLAIN = "The schema stands in the prompt and is checked here; a server with a strict mode would hold the model to it."
_BY_WHY = {
    Why.UNSUPPORTED: ("is not enforced", "It is told to the model and checked here; nothing need be done."),
    Why.OPEN: ("stands in a value that goes as JSON text", "Give that value a type, and its properties names."),
    Why.CLOSED: ("is silent", "Say additionalProperties false, or a type; undeclared=carry lets them be said as text."),
    Why.DEGRADED: ("is given up, the schema is too large", "Ask for less at once, or for less depth."),
}
"""What is told of a loss and how it is mended. A union around a loss needs no mending of its own."""

_BY_KEYWORD = {
    "oneOf": "Give each branch a required property with one constant of its own; until then it is checked here.",
    "allOf": "Write the parts as one schema.",
    "not": "Say what is allowed instead; until then it is checked here.",
}


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
    vendors = [each for each in profile.names() if each != _PORTABLE]
    rows = [*_portable(schema), *(row for name in vendors for row in _vendor(schema, name))]
    refused = {row.vendor for row in rows if row.fix == _REFUSED}
    status = 2 if len(refused) == len(vendors) else 0  # no vendor at all: not a schema for anything
    if asked.json:
        write([row._asdict() for row in rows])
        return status
    found = {row.vendor for row in rows}
    rows += [Row(name, "#", "nothing is lost", "") for name in (_PORTABLE, *vendors) if not (status or name in found)]
    widths = [max((len(line(row[column])) for row in rows), default=0) for column in range(3)]
    for row in rows:
        cells = [f"{line(cell):<{width}}" for cell, width in zip(row, widths, strict=False)]
        sys.stdout.write(f"{'  '.join(cells)}  {line(row.fix)}".rstrip() + "\n")
    return status


def _portable(schema: Json) -> Iterator[Row]:
    for each in (*lint_tier1(schema, Mode.STRICT), *lint_variants(schema, Edition.V2)):
        yield Row(_PORTABLE, each.pointer, f"{each.rule} {each.detail or ''}".strip(), each.fix)


def _vendor(schema: Json, name: str) -> Iterator[Row]:
    try:
        compiled = compile_schema(schema, name, undeclared=Undeclared.CLOSE)
    except Uncompilable as error:
        yield Row(name, f"#{error.pointer}", error.reason, _REFUSED)
        return
    if not profile.load(name).subset.enforced:
        yield Row(name, "#", "nothing is enforced", _PLAIN)
        return
    yield from (_row(name, each) for each in _outermost(compiled.losses))


def _outermost(losses: tuple[Loss, ...]) -> Iterator[Loss]:
    """Yield the losses to mend: of what stands inside a value that goes as text, only the outermost."""
    inside = sorted({each.pointer for each in losses if each.why is Why.OPEN})
    for each in losses:
        covered = each.why is Why.OPEN and any(each.pointer.startswith(f"{above}/") for above in inside)
        if each.why in _BY_WHY and not covered:
            yield each


def _row(name: str, loss: Loss) -> Row:
    said, fix = _BY_WHY[loss.why]
    keyword = f"{loss.keyword} {loss.value}".strip()
    return Row(name, f"#{loss.pointer}", f"{keyword} {said}", _BY_KEYWORD.get(loss.keyword, fix))
