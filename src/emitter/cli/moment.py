"""The command ``moment``, and the decision that it prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli.arguments import (
    add_emission_arguments,
    add_file_argument,
    add_json_argument,
    add_secrets_argument,
    emission_options,
)
from emitter.cli.input_output import parse_prompt, print_json, read_json, read_text, source_name
from emitter.cli.timeline import Timeline
from emitter.client.binding_moments import emit_binding_moment, stream_binding_moment
from emitter.client.result import Emission
from emitter.host import Acceptor, HostConfig
from emitter.redaction import Secrets
from emitter.render import text_formats
from emitter.streaming import FieldComplete

if TYPE_CHECKING:
    import argparse

    from emitter.client.result import Decision, Withheld
    from emitter.client.streams import Stream
    from emitter.models import BindingMoment


def add_moment_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser, "the situation")
    parser.add_argument("--model", required=True, metavar="M", help="vendor/model, such as openai/gpt-6-sol")
    add_emission_arguments(parser)
    add_secrets_argument(parser)
    parser.add_argument("--decision-class", metavar="C", help="the decision's class, for the envelope's meta")
    parser.add_argument("--stream", action="store_true", help="report each part of the decision when it is complete")
    add_json_argument(parser, "print the envelope as JSON")


def run_moment(args: argparse.Namespace) -> int:
    """Ask a model for a binding moment.

    The model may also answer that it is too early to decide. FILE holds the situation as text, or the agent's
    messages as a JSON array. Without FILE, or with -, standard input is read.
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
