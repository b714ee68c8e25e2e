"""The commands ``render``, ``digest`` and ``lint-moment``, and reading an envelope from a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from emitter.checks import DEFAULT_LINT_CONFIG, LintConfig, LintFinding, LintRule, LintSeverity, lint
from emitter.cli.input_output import add_file_argument, add_json_argument, print_json, read_text, source_name
from emitter.decisions import digest
from emitter.decisions.canonical_json import CanonicalProfile, parse_strict_json
from emitter.decisions.envelope_parsing import DRAFT, MOMENT_FIELD, REVISIONS
from emitter.errors import InputError, NotCanonical
from emitter.messages import as_mapping
from emitter.render import FORMATS, get_renderer, text_formats
from emitter.render.delivery import Fallback, draw_delivery, read_structured_content, read_tool_result

if TYPE_CHECKING:
    import argparse

    from emitter.messages import Json
    from emitter.models import BindingMoment
    from emitter.render.delivery import Delivery

_PAYLOAD_MEMBER: Final = "payload"
_RESULT_MEMBERS: Final = ("structuredContent", "content")
_EXPECTED_CONTENT: Final = "Pass a binding moment, a tool's result with one, or the output of `emitter moment --json`."


def read_moment(name: str) -> BindingMoment:
    """Return the envelope in a file, or on standard input for ``-``.

    The file holds the envelope itself, a tool's result with the member ``binding_moment``, or an AIEnvelope with it in
    its payload.

    Raises:
        InputError: The file holds no envelope, a malformed one, or ambiguous JSON.
    """
    delivery = read_delivery(name)
    if not isinstance(delivery, Fallback):
        return delivery.moment
    if delivery.diagnostic is None:
        message = f"{source_name(name)} holds no decision: the agent withheld it, or had none."
        raise InputError(message, hint=_EXPECTED_CONTENT)
    raise InputError(f"{source_name(name)}: {delivery.diagnostic}")


def read_delivery(name: str) -> Delivery:
    """Return the decision in a file, or its fallback.

    Raises:
        InputError: The file is not unambiguous JSON.
    """
    names = REVISIONS[DRAFT].member_names | {_PAYLOAD_MEMBER, *_RESULT_MEMBERS}
    try:
        document = parse_strict_json(read_text(name), CanonicalProfile.WIRE, names)
    except NotCanonical as error:
        raise InputError(f"{source_name(name)} cannot be read: {error}") from None
    return _unwrap(document)


def _unwrap(document: Json) -> Delivery:
    """Find the envelope in a document. The document's members tell which wrapper it is."""
    table = as_mapping(document)
    if MOMENT_FIELD in table:
        return read_structured_content(table)
    if any(member in table for member in _RESULT_MEMBERS):
        return read_tool_result(table)
    if _PAYLOAD_MEMBER in table:
        return read_structured_content(table[_PAYLOAD_MEMBER])
    if table and not table.keys() & REVISIONS[DRAFT].member_names:
        return read_structured_content(document)
    return read_structured_content({MOMENT_FIELD: document})


def add_render_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = "Exit status: 0 the decision was drawn, 1 the tool's own payload was printed, 2 bad usage."
    add_file_argument(parser)
    parser.add_argument("--to", default="text", metavar="FORMAT", help=f"one of {', '.join(FORMATS)} (default: text)")
    add_json_argument(parser, "print JSON also for a format that is text")


def run_render(args: argparse.Namespace) -> int:
    """Draw a binding moment for a surface.

    FILE holds a binding moment, a tool's result that contains one, or the output of `emitter moment --json`. Without
    FILE, or with -, standard input is read. A malformed envelope is discarded: the tool's own payload is printed
    instead, and the reason goes to standard error.
    """
    renderer = get_renderer(args.to)
    drawing = draw_delivery(read_delivery(args.file), renderer)
    if isinstance(drawing, Fallback):
        return _print_fallback(drawing, as_json=args.json)
    if isinstance(drawing, str) and not args.json:
        sys.stdout.write(f"{drawing}\n")
    else:
        print_json(drawing)
    return 0


def _print_fallback(fallback: Fallback, *, as_json: bool) -> int:
    """Print the tool's own payload, and the reason on standard error (draft, section 8.3)."""
    sys.stderr.write(f"emitter: {fallback.diagnostic or 'The input holds no decision.'}\n")
    if as_json:
        print_json(fallback.payload)
    else:
        sys.stdout.write(f"{text_formats.format_fallback(Fallback(fallback.payload))}\n")
    return 1


def add_digest_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser)
    add_json_argument(parser)


def run_digest(args: argparse.Namespace) -> int:
    """Print the digest that names an envelope. Every resolution is bound to it.

    FILE holds a binding moment, a tool's result that contains one, or the output of `emitter moment --json`. Without
    FILE, or with -, standard input is read. The digest is `sha256:` and 64 hexadecimal digits, over the envelope in
    canonical JSON (RFC 8785).
    """
    value = digest(read_moment(args.file))
    if args.json:
        print_json({"digest": value})
    else:
        sys.stdout.write(f"{value}\n")
    return 0


def add_lint_moment_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    width = max(len(rule.value) for rule in LintRule)
    rules = "\n".join(f"  {rule.value:<{width}}  {DEFAULT_LINT_CONFIG.severity(rule).value}" for rule in LintRule)
    parser.epilog = f"rules and their default severity:\n{rules}"
    add_file_argument(parser)
    parser.add_argument(
        "--rule", action="append", default=[], metavar="RULE=off|warn|error", help="a rule's severity; repeatable"
    )
    add_json_argument(parser, "print the findings as JSON")


def run_lint_moment(args: argparse.Namespace) -> int:
    """Report where a binding moment breaks the content rules, such as a question that leads.

    FILE holds a binding moment, a tool's result that contains one, or the output of `emitter moment --json`. Without
    FILE, or with -, standard input is read. Exits with 1 if a rule with severity error is broken.
    """
    config = LintConfig.from_mapping(dict(map(_parse_rule, args.rule)))
    findings = lint(read_moment(args.file), config)
    args.unread = status = int(any(finding.severity is LintSeverity.ERROR for finding in findings))
    if args.json:
        print_json({"findings": [_finding_json(finding) for finding in findings]})
    else:
        sys.stdout.write("".join(f"{_finding_line(finding)}\n" for finding in findings) or "nothing found\n")
    return status


def _parse_rule(text: str) -> tuple[str, str]:
    rule, separator, severity = text.partition("=")
    if not separator:
        raise InputError(f"--rule {text!r} has no severity.", hint="Write --rule RULE=off, =warn or =error.")
    return rule.strip(), severity.strip()


def _finding_line(finding: LintFinding) -> str:
    rule = f"{finding.rule.value}: {finding.expected} (section {finding.section})"
    return f"{finding.severity.value:<5}  {finding.slot}  {rule}"


def _finding_json(finding: LintFinding) -> dict[str, Json]:
    return {
        "severity": finding.severity.value,
        "slot": finding.slot,
        "rule": finding.rule.value,
        "section": finding.section,
        "expected": finding.expected,
    }
