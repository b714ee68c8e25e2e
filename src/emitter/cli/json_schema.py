"""The commands ``compile`` and ``lint``, which work on a JSON Schema."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from emitter import profiles as profile
from emitter.cli.arguments import add_file_argument, add_json_argument, find_facts
from emitter.cli.input_output import print_json, read_schema
from emitter.errors import Uncompilable
from emitter.render.safe_text import to_single_line
from emitter.schema import (
    LossReason,
    Tier1Mode,
    UndeclaredProperties,
    VariantEdition,
    compile_schema,
    lint_tier1,
    lint_variants,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from emitter.messages import Json
    from emitter.schema import Loss


def add_compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser, "a JSON Schema", metavar="SCHEMA")
    parser.add_argument(
        "--profile", required=True, metavar="VENDOR", help="the vendor, tier1, or a .toml file: see `emitter providers`"
    )
    parser.add_argument(
        "--undeclared",
        choices=[policy.value for policy in UndeclaredProperties],
        default=UndeclaredProperties.CARRY.value,
        help="what to do with properties that an object does not declare: send them as JSON text (carry, the default) "
        "or forbid them (close)",
    )
    parser.add_argument(
        "--no-degrade", action="store_true", help="reject a schema over the vendor's size limits instead of reducing it"
    )
    add_json_argument(parser, "print one JSON document (always on)")


def run_compile(args: argparse.Namespace) -> int:
    """Compile a JSON Schema for a vendor.

    Prints {"schema", "losses"}: the schema to send, and each keyword that the vendor does not enforce. Descriptions
    tell the model about those keywords, and emitter checks them. "appendix" holds text that did not fit into
    descriptions and belongs in the prompt. A schema that cannot be compiled soundly is rejected with the location of
    the problem.
    """
    undeclared = UndeclaredProperties(args.undeclared)
    schema = read_schema(args.file)
    compiled = compile_schema(schema, find_facts(args.profile), degrade=not args.no_degrade, undeclared=undeclared)
    appendix = {"appendix": compiled.appendix} if compiled.appendix else {}
    print_json({"schema": compiled.schema, "losses": [asdict(loss) for loss in compiled.losses], **appendix})
    return 0


_PORTABLE_PROFILE = "tier1"
_REJECTED_FIX = "Change the schema so that a document can satisfy it, or use another vendor."
_UNENFORCED_FIX = "The schema is put into the prompt, and emitter checks it. A server with a strict mode enforces it."
_FIX_BY_REASON = {
    LossReason.UNSUPPORTED: (
        "is not enforced",
        "Nothing to do: a description tells the model about it, and emitter checks it.",
    ),
    LossReason.OPEN: ("is inside a value sent as JSON text", "Declare that value's type and properties."),
    LossReason.CLOSED: (
        "is not declared",
        "Set additionalProperties to false or to a type, or use undeclared=carry to send them as text.",
    ),
    LossReason.CONTRADICTORY: (
        "contradicts another keyword, so what it describes is left out",
        "Change one of them. No document can satisfy both.",
    ),
    LossReason.DEGRADED: ("is dropped: the schema is too large", "Request less at once, or nest less deeply."),
}
"""The effect and the fix of a loss, by its reason. A union around a loss needs no separate fix."""
_FIX_BY_KEYWORD = {
    "oneOf": "Give each branch a required property with its own constant. Until then emitter checks it.",
    "allOf": "Merge the parts into one schema.",
    "not": "Describe the allowed values instead. Until then emitter checks it.",
}


class LintRow(NamedTuple):
    """A finding about a schema."""

    vendor: str
    pointer: str
    rule: str
    fix: str


def add_lint_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser, "a JSON Schema", metavar="SCHEMA")
    add_json_argument(parser, "print the findings as a JSON array")


def run_lint(args: argparse.Namespace) -> int:
    """Report where vendors do not support a JSON Schema, and how to fix it.

    The first column is the vendor. `tier1` is OpenWOP's portable subset, with the rules and ids of its conformance
    suite. Exits with 2 if no vendor accepts the schema.
    """
    schema = read_schema(args.file)
    vendors = [name for name in profile.profile_names() if name != _PORTABLE_PROFILE]
    rows = [*_portable_rows(schema), *(row for name in vendors for row in _vendor_rows(schema, name))]
    rejecting = {row.vendor for row in rows if row.fix == _REJECTED_FIX}
    status = 2 if len(rejecting) == len(vendors) else 0
    if args.json:
        print_json([row._asdict() for row in rows])
        return status
    if not status:
        affected = {row.vendor for row in rows}
        unaffected = [name for name in (_PORTABLE_PROFILE, *vendors) if name not in affected]
        rows += [LintRow(name, "#", "nothing is lost", "") for name in unaffected]
    widths = [max((len(to_single_line(row[column])) for row in rows), default=0) for column in range(3)]
    for row in rows:
        cells = [f"{to_single_line(cell):<{width}}" for cell, width in zip(row, widths, strict=False)]
        sys.stdout.write(f"{'  '.join(cells)}  {to_single_line(row.fix)}".rstrip() + "\n")
    return status


def _portable_rows(schema: Json) -> Iterator[LintRow]:
    for finding in (*lint_tier1(schema, Tier1Mode.STRICT), *lint_variants(schema, VariantEdition.V2)):
        rule = f"{finding.rule} {finding.detail or ''}".strip()
        yield LintRow(_PORTABLE_PROFILE, finding.pointer, rule, finding.fix)


def _vendor_rows(schema: Json, name: str) -> Iterator[LintRow]:
    try:
        compiled = compile_schema(schema, name, undeclared=UndeclaredProperties.CLOSE)
    except Uncompilable as error:
        yield LintRow(name, f"#{error.pointer}", error.reason, _REJECTED_FIX)
        return
    if not profile.load_profile(name).subset.enforced:
        yield LintRow(name, "#", "nothing is enforced", _UNENFORCED_FIX)
        return
    yield from (_loss_row(name, loss) for loss in _outermost_losses(compiled.losses))


def _outermost_losses(losses: tuple[Loss, ...]) -> Iterator[Loss]:
    """Yield the losses to fix: only the outermost of those inside a value sent as text."""
    open_pointers = {loss.pointer for loss in losses if loss.why is LossReason.OPEN}
    for loss in losses:
        is_nested = loss.why is LossReason.OPEN and any(loss.pointer.startswith(f"{outer}/") for outer in open_pointers)
        if loss.why in _FIX_BY_REASON and not is_nested:
            yield loss


def _loss_row(name: str, loss: Loss) -> LintRow:
    effect, fix = _FIX_BY_REASON[loss.why]
    keyword = f"{loss.keyword} {loss.value}".strip()
    return LintRow(name, f"#{loss.pointer}", f"{keyword} {effect}", _FIX_BY_KEYWORD.get(loss.keyword, fix))
