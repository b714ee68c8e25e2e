"""The commands about one binding moment: ``moment``, ``render``, ``digest`` and ``lint-moment``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from emitter.checks import EnglishLexicon, StructuralChecks
from emitter.checks.lexicon import load_lexicon
from emitter.checks.structural import STRUCTURAL_RULES, parse_severities
from emitter.cli.arguments import (
    add_emission_arguments,
    add_file_argument,
    add_json_argument,
    add_model_argument,
    add_secrets_argument,
    emission_options,
)
from emitter.cli.input_output import Timeline, parse_prompt, print_json, read_json, read_text, source_name
from emitter.client.binding_moments import emit_binding_moment, stream_binding_moment
from emitter.client.result import Emission
from emitter.decisions import digest
from emitter.decisions.canonical_json import CanonicalProfile, parse_strict_json
from emitter.decisions.envelope_parsing import DRAFT, MOMENT_FIELD, REVISIONS
from emitter.errors import InputError, NotCanonical
from emitter.findings import Finding, Severity
from emitter.host import Acceptor, HostConfig
from emitter.messages import as_mapping
from emitter.redaction import Secrets
from emitter.render import FORMATS, get_renderer, text_formats
from emitter.render.delivery import PlainResult, draw_delivery, read_structured_content, read_tool_result
from emitter.streaming import FieldComplete

if TYPE_CHECKING:
    import argparse

    from emitter.client.result import Decision, Withheld
    from emitter.client.streams import Stream
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
    if not isinstance(delivery, PlainResult):
        return delivery.moment
    if delivery.diagnostic is None:
        raise InputError(
            f"{source_name(name)} holds no decision: the agent withheld it, or had none.", hint=_EXPECTED_CONTENT
        )
    raise InputError(f"{source_name(name)}: {delivery.diagnostic}")


def read_delivery(name: str) -> Delivery:
    """Return the decision in a file, or its plain result.

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
    members = as_mapping(document)
    if "structuredContent" in members or isinstance(members.get("content"), list):
        return read_tool_result(members)
    if MOMENT_FIELD in members:
        return read_structured_content(members)
    if _PAYLOAD_MEMBER in members:
        return read_structured_content(members[_PAYLOAD_MEMBER])
    if members and not members.keys() & REVISIONS[DRAFT].member_names:
        return read_structured_content(document)
    # A bare envelope. It is read as a member, so that a malformed one is reported and not taken for a payload.
    return read_structured_content({MOMENT_FIELD: document})


def add_moment_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser, "the situation, as text or as messages in JSON")
    add_model_argument(parser, required=True)
    add_emission_arguments(parser)
    add_secrets_argument(parser)
    parser.add_argument("--decision-class", metavar="CLASS", help="the decision's class, for the envelope's meta")
    parser.add_argument(
        "--stream", action="store_true", help="report each part of the decision as soon as it is complete"
    )
    add_json_argument(parser, "print the envelope as JSON")


def run_moment(args: argparse.Namespace) -> int:
    """Ask a model for a binding moment.

    A binding moment is a decision for a person: a briefing, a question, and two to four options. The model may also
    answer that it is too early to decide.
    """
    timeline = Timeline()
    situation = parse_prompt(read_text(args.file), source_name(args.file))
    settings = {**emission_options(args, timeline), "decision_class": args.decision_class}
    if args.secrets is not None:
        settings["host"] = Acceptor(HostConfig(secrets=Secrets.of(read_json(args.secrets))), store=None)
    if args.stream:
        decision = _run_stream(stream_binding_moment(situation, **settings), timeline)
    else:
        decision = emit_binding_moment(situation, **settings)
    print_decision(decision, as_json=args.json)
    return 0


def _run_stream(stream: Stream[Decision], timeline: Timeline) -> Decision:
    with stream:
        for item in stream:
            if isinstance(item, FieldComplete):
                timeline.write_line("quiet", "slot", item.pointer)
        return stream.result()


def print_decision(decision: Emission[BindingMoment] | Withheld, *, as_json: bool) -> None:
    """Print the decision, or the envelope as JSON."""
    if as_json:
        print_json(decision.envelope.to_json())
    elif isinstance(decision, Emission):
        sys.stdout.write(f"{text_formats.format_moment(decision.value)}\n")
    else:
        sys.stdout.write(f"{text_formats.format_withheld(decision.reason)}\n")


def add_render_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = "Exit status: 0 the decision was drawn, 1 the tool's own payload was printed, 2 bad usage."
    add_file_argument(parser)
    parser.add_argument("--to", default="text", metavar="FORMAT", help=f"one of {', '.join(FORMATS)} (default: text)")
    add_json_argument(parser, "print a text format as a JSON string")


def run_render(args: argparse.Namespace) -> int:
    """Draw a binding moment for a surface.

    A malformed envelope is discarded: the tool's own payload is printed instead, and the reason goes to standard error.
    """
    renderer = get_renderer(args.to)
    drawing = draw_delivery(read_delivery(args.file), renderer)
    if isinstance(drawing, PlainResult):
        return _print_plain_result(drawing, as_json=args.json)
    if isinstance(drawing, str) and not args.json:
        sys.stdout.write(f"{drawing}\n")
    else:
        print_json(drawing)
    return 0


def _print_plain_result(result: PlainResult, *, as_json: bool) -> int:
    """Print the tool's own payload, and the reason on standard error (draft, section 8.3)."""
    sys.stderr.write(f"emitter: {result.diagnostic or 'The input holds no decision.'}\n")
    if as_json:
        print_json(result.payload)
    else:
        sys.stdout.write(f"{text_formats.format_plain_result(PlainResult(result.payload))}\n")
    return 1


def add_digest_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser)
    add_json_argument(parser)


def run_digest(args: argparse.Namespace) -> int:
    """Print the digest of a binding moment. Every resolution names it.

    The digest is `sha256:` and 64 hexadecimal digits, over the envelope in canonical JSON (RFC 8785).
    """
    value = digest(read_moment(args.file))
    if args.json:
        print_json({"digest": value})
    else:
        sys.stdout.write(f"{value}\n")
    return 0


def add_lint_moment_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    severities = default_severities()
    width = max(map(len, severities))
    rules = "\n".join(f"  {rule:<{width}}  {severity.value}" for rule, severity in severities.items())
    parser.epilog = f"rules and their default severity:\n{rules}"
    add_file_argument(parser)
    parser.add_argument(
        "--rule", action="append", default=[], metavar="RULE=SEVERITY", help="off, warning, retry or error; repeatable"
    )
    add_json_argument(parser, "print the findings as JSON")


def run_lint_moment(args: argparse.Namespace) -> int:
    """Report where a binding moment breaks the content rules, such as a question that leads.

    Exits with 1 if a finding has the severity error, which rejects a model's answer, or retry, which asks for it again.
    """
    findings = [finding for check in _configure_checks(args.rule) for finding in check(read_moment(args.file))]
    args.pipe_status = status = int(any(finding.severity is not Severity.WARNING for finding in findings))
    if args.json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        sys.stdout.write("".join(f"{_finding_line(finding)}\n" for finding in findings) or "nothing found\n")
    return status


def _parse_rule(text: str) -> tuple[str, str]:
    rule, separator, severity = text.partition("=")
    if not separator:
        raise InputError(f"--rule {text!r} has no severity.", hint="Write --rule RULE=off, =warning, =retry or =error.")
    return rule.strip(), severity.strip()


def default_severities() -> dict[str, Severity]:
    """Return the rules of the default checks with their severities."""
    lexicon = {rule.id: rule.severity for rule in load_lexicon("english").rules.values()}
    return {rule: settings.severity for rule, settings in STRUCTURAL_RULES.items()} | lexicon


def _configure_checks(rules: list[str]) -> tuple[StructuralChecks, EnglishLexicon]:
    """Return the default checks with the severities of ``--rule``."""
    severities = parse_severities(dict(map(_parse_rule, rules)), default_severities(), tuple(Severity))
    structural = {rule: severity for rule, severity in severities.items() if rule in STRUCTURAL_RULES}
    lexical = {rule: severity for rule, severity in severities.items() if rule not in STRUCTURAL_RULES}
    return StructuralChecks(structural), EnglishLexicon(lexical)


def _finding_line(finding: Finding) -> str:
    return f"{finding.severity.value:<7}  {finding.pointer}  {finding.rule}: {finding.message}"
