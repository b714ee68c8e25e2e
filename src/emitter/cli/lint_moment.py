"""Say where a binding moment breaks the content discipline: a position not taken, a question that leads, and more.

FILE holds a binding moment, a tool's result with one, or what `emitter moment --json` printed; - or nothing is standard
input. Exit status 1 when a rule that is an error is broken.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli.document import write
from emitter.cli.envelope import read_moment
from emitter.decide.lint import DEFAULT_DISCIPLINE, Discipline, Finding, Rule, Severity, lint
from emitter.errors import InputError

if TYPE_CHECKING:
    import argparse

    from emitter.wire import Json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    width = max(len(each.value) for each in Rule)
    listed = "\n".join(f"  {each.value:<{width}}  {DEFAULT_DISCIPLINE.severity(each).value}" for each in Rule)
    parser.epilog = f"rules, and how severe each is unless you say otherwise:\n{listed}"
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the envelope; - or nothing is standard input"
    )
    parser.add_argument(
        "--rule", action="append", default=[], metavar="RULE=off|warn|error", help="its severity; may be repeated"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(asked: argparse.Namespace) -> int:
    """Lint and print."""
    discipline = Discipline.of(dict(map(_changed, asked.rule)))
    found = lint(read_moment(asked.file), discipline)
    asked.unread = status = int(any(each.severity is Severity.ERROR for each in found))
    if asked.json:
        write({"findings": [_json(each) for each in found]})
    else:
        sys.stdout.write("".join(f"{_line(each)}\n" for each in found) or "nothing found\n")
    return status


def _changed(given: str) -> tuple[str, str]:
    rule, separator, severity = given.partition("=")
    if not separator:
        raise InputError(f"--rule {given!r} names no severity.", hint="Write --rule RULE=off, =warn or =error.")
    return rule.strip(), severity.strip()


def _line(found: Finding) -> str:
    return f"{found.severity.value:<5}  {found.slot}  {found.rule.value}: {found.expected} (section {found.section})"


def _json(found: Finding) -> dict[str, Json]:
    return {
        "severity": found.severity.value,
        "slot": found.slot,
        "rule": found.rule.value,
        "section": found.section,
        "expected": found.expected,
    }
