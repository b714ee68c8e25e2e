"""The command ``moment``, and the timeline and decision that it prints."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from emitter.cli.input_output import (
    add_file_argument,
    add_json_argument,
    add_model_arguments,
    print_json,
    read_json,
    read_text,
)
from emitter.client.binding_moments import emit_binding_moment, stream_binding_moment
from emitter.client.result import Emission
from emitter.errors import InputError
from emitter.events import CALLING, LogAppended
from emitter.host import Acceptor, HostConfig
from emitter.messages import as_list, as_mapping
from emitter.models import Trust
from emitter.policy import Policy
from emitter.prompts import Material
from emitter.redaction import Secrets
from emitter.render import text_formats
from emitter.render.safe_text import to_single_line as safe
from emitter.streaming import FieldComplete
from emitter.telemetry.sinks import to_all, to_jsonl

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from emitter.client.result import Decision, Withheld
    from emitter.client.streams import Stream
    from emitter.events import RunEvent
    from emitter.messages import Json
    from emitter.models import BindingMoment

_MESSAGES_START = re.compile(r"\s*(\[\s*[\]{]|\{\s*\")")


def add_moment_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_file_argument(parser, "the situation")
    parser.add_argument("--model", required=True, metavar="M", help="vendor/model, such as openai/gpt-6-sol")
    add_model_arguments(parser)
    parser.add_argument("--material", action="append", default=[], metavar="FILE", help="trusted text to consider")
    parser.add_argument("--untrusted", action="append", default=[], metavar="FILE", help="untrusted text to consider")
    parser.add_argument("--decision-class", metavar="C", help="the decision's class, for the envelope's meta")
    parser.add_argument("--prompts", metavar="DIR", help="a folder with files that replace the library's prompts")
    parser.add_argument("--max-attempts", type=int, default=3, metavar="N", help="calls at most, 1 to 16 (default: 3)")
    parser.add_argument(
        "--output-tokens", type=int, metavar="N", help="the first call's output budget (default: computed)"
    )
    parser.add_argument("--max-total-tokens", type=int, metavar="N", help="input and output tokens of all calls")
    parser.add_argument(
        "--nl-to-format",
        action="store_true",
        help="if every attempt is malformed, make two more calls: first free text, then the form",
    )
    parser.add_argument("--stream", action="store_true", help="report each part of the decision when it is complete")
    parser.add_argument("--events", metavar="FILE", help="append every event to FILE, one JSON document per line")
    parser.add_argument("--secrets", metavar="FILE", help='a JSON file of {"id": "value"}: secrets to redact')
    add_json_argument(parser, "print the envelope as JSON")


def run_moment(args: argparse.Namespace) -> int:
    """Ask a model for a binding moment.

    The model may also answer that it is too early to decide. FILE holds the situation as text, or the agent's
    messages as a JSON array. Without FILE, or with -, standard input is read.
    """
    timeline = Timeline()
    situation = _parse_situation(read_text(args.file))
    settings: dict[str, Any] = {
        "model": args.model,
        "materials": [
            *_read_materials(args.material, Trust.TRUSTED),
            *_read_materials(args.untrusted, Trust.UNTRUSTED),
        ],
        "decision_class": args.decision_class,
        "policy": _build_policy(args),
        "on_event": timeline if args.events is None else to_all(timeline, to_jsonl(args.events)),
        "wire": args.wire,
        "base_url": args.base_url,
        "prompts": args.prompts,
    }
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


def _build_policy(args: argparse.Namespace) -> Policy:
    return Policy(
        max_attempts=args.max_attempts,
        output_tokens=args.output_tokens,
        max_total_tokens=args.max_total_tokens,
        deadline=args.deadline,
        nl_to_format=args.nl_to_format,
    )


def _parse_situation(text: str) -> Any:
    """Parse the messages if the text is JSON, or return the text itself.

    Broken JSON is rejected: as trusted text, its tool results would lose their fence.
    """
    if not _MESSAGES_START.match(text):
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("The situation starts like JSON messages but is not JSON.", hint="Fix the JSON.") from error
    return as_mapping(document).get("messages", document)


def _read_materials(names: list[str], trust: Trust) -> list[Material]:
    return [Material(read_text(name), name, trust) for name in names]


def print_decision(decision: Emission[BindingMoment] | Withheld, *, as_json: bool) -> None:
    """Print the decision, or the envelope as JSON."""
    if as_json:
        print_json(decision.envelope.to_json())
    elif isinstance(decision, Emission):
        sys.stdout.write(f"{text_formats.format_moment(decision.value)}\n")
    else:
        sys.stdout.write(f"{text_formats.format_withheld(decision.reason)}\n")


_TONE_COLOURS = {"good": "32", "odd": "33", "bad": "31", "quiet": "2"}
_EVENT_LINES: dict[str, tuple[str, str, str]] = {
    "provider.usage": ("quiet", "tokens", "{inputTokens} in, {outputTokens} out"),
    "envelope.truncated": ("odd", "truncated", "cut at the budget ({stopReason})"),
    "envelope.retry.attempted": ("odd", "again", "call {attempt} follows, because of {reason}"),
    "envelope.retry.exhausted": ("bad", "exhausted", "after {totalAttempts} calls: {finalReason}"),
    "envelope.refusal": ("bad", "refused", "it is not sent again"),
    "envelope.recovery.applied": ("odd", "recovered", "the document was read by {path}"),
    "envelope.nlToFormat.engaged": ("odd", "in words", "plain words first, then the form: {fallbackCalls} more calls"),
    "cap.breached": ("bad", "limit", "{kind}: {limit} reached"),
    "node.completed": ("good", "accepted", "{outputs}"),
    "clarification.requested": ("odd", "asked", "{questions} to be answered"),
    "interrupt.requested": ("odd", "waiting", "for a {kind}"),
    "model.capability.substituted": (
        "odd",
        "other",
        "{fallbackProvider}/{fallbackModel} is asked in place of {originalProvider}/{originalModel}",
    ),
    "model.capability.insufficient": ("bad", "lacking", "{provider}/{model} lacks {missingCapabilities}"),
    "replay.diverged": ("bad", "diverged", "{divergenceKind} at {divergencePoint}"),
    "replay.divergedAtRefusal": ("bad", "diverged", "{originalEnvelopeKind} before, {replayEnvelopeKind} now"),
}
"""The tone, label and sentence of each event. The sentence is filled from the event's payload."""


class Timeline:
    """A sink that writes one line for each event, with the seconds since its creation."""

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out or sys.stderr
        self._clock = clock
        self._began = clock()
        self._coloured = self._out.isatty() and "NO_COLOR" not in os.environ

    def __call__(self, event: RunEvent) -> None:
        """Write a line for ``event``."""
        tone, word, sentence = _describe_event(event)
        self.write_line(tone, word, sentence)

    def write_line(self, tone: str, word: str, sentence: str) -> None:
        """Write one line."""
        label = f"\033[{_TONE_COLOURS[tone]}m{word:<10}\033[0m" if self._coloured else f"{word:<10}"
        self._out.write(f"{self._clock() - self._began:7.2f} s  {label} {safe(sentence)}\n")
        self._out.flush()


def _describe_event(event: RunEvent) -> tuple[str, str, str]:
    payload: dict[str, Any] = event.to_json()["payload"]
    if isinstance(event.event, LogAppended):
        return _describe_log(event.event)
    if event.type == "node.failed":
        return "bad", "failed", f"{payload['error']['code']}: {payload['error']['message']}"
    tone, word, sentence = _EVENT_LINES[event.type]
    return tone, word, sentence.format(**{name: _shorten(value) for name, value in payload.items()})


def _shorten(value: Json) -> Json:
    """Return a short form of a value: names joined, other lists and objects summarized."""
    if isinstance(value, dict):
        return as_mapping(value).get("envelopeType", "the node is done")
    if isinstance(value, list):
        names = [name for name in as_list(value) if isinstance(name, str)]
        return ", ".join(names) if names else f"{len(as_list(value))} questions"
    return value


def _describe_log(event: LogAppended) -> tuple[str, str, str]:
    if event.message == CALLING:
        return "good", "call", f"{event.fields['attempt']}, with a budget of {event.fields['budget']} tokens"
    return "odd", event.level.value, event.message
