"""Ask a model for a binding moment, or an honest "not yet".

FILE holds the situation as text, or the agent's messages as a JSON array; - or nothing is standard input.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from emitter.cli.show import show
from emitter.cli.source import read_text
from emitter.cli.timeline import Timeline
from emitter.errors import InputError
from emitter.kinds import Trust
from emitter.moment import emit_binding_moment
from emitter.prompt import Material
from emitter.remedy import Policy
from emitter.sinks import to_all, to_jsonl
from emitter.wire import mapping

if TYPE_CHECKING:
    import argparse

    from emitter.sinks import Sink

_MEANT_AS_MESSAGES = re.compile(r"\s*(\[\s*[\]{]|\{\s*\")")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = "The vendor's key is taken from its usual environment variable: see `emitter providers`."
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the situation; - or nothing is standard input"
    )
    parser.add_argument("--model", required=True, metavar="M", help="vendor/model, such as openai/gpt-6-sol")
    parser.add_argument("--wire", metavar="W", help="one of the vendor's wires, where it has several")
    parser.add_argument("--base-url", metavar="URL", help="where the server is")
    parser.add_argument("--material", action="append", default=[], metavar="FILE", help="trusted text that bears on it")
    parser.add_argument("--untrusted", action="append", default=[], metavar="FILE", help="text nobody vouches for")
    parser.add_argument("--decision-class", metavar="C", help="goes into the envelope's meta")
    parser.add_argument("--prompts", metavar="DIR", help="a folder whose files replace the library's prompts")
    parser.add_argument("--max-attempts", type=int, default=3, metavar="N", help="calls in all, 1 to 16 (default 3)")
    parser.add_argument(
        "--output-tokens", type=int, metavar="N", help="the first output budget (default: the vendor's)"
    )
    parser.add_argument("--deadline", type=float, metavar="S", help="seconds for everything")
    parser.add_argument("--events", metavar="FILE", help="append every event to FILE, one JSON document a line")
    parser.add_argument("--json", action="store_true", help="print the envelope as JSON instead of the decision")


def run(asked: argparse.Namespace) -> int:
    """Emit and print."""
    policy = Policy(max_attempts=asked.max_attempts, output_tokens=asked.output_tokens, deadline=asked.deadline)
    decision = emit_binding_moment(
        _situation(read_text(asked.file)),
        model=asked.model,
        materials=[*_materials(asked.material, Trust.TRUSTED), *_materials(asked.untrusted, Trust.UNTRUSTED)],
        decision_class=asked.decision_class,
        policy=policy,
        sink=_sink(asked.events),
        wire=asked.wire,
        base_url=asked.base_url,
        prompts=asked.prompts,
    )
    show(decision, as_json=asked.json)
    return 0


def _situation(text: str) -> Any:
    """Return the messages where the text is meant as JSON, else the text itself.

    What begins like messages and is none must not pass as trusted text: tool results would lose their fence.
    """
    if not _MEANT_AS_MESSAGES.match(text):
        return text
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("The situation begins like JSON messages and is not JSON.", hint="Mend it.") from error
    return mapping(given).get("messages", given)


def _materials(names: list[str], trust: Trust) -> list[Material]:
    return [Material(read_text(name), name, trust) for name in names]


def _sink(events: str | None) -> Sink:
    timeline = Timeline()
    return timeline if events is None else to_all(timeline, to_jsonl(events))
