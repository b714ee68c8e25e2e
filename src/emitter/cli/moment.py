"""Ask a model for a binding moment, or an honest "not yet".

FILE holds the situation as text, or the agent's messages as a JSON array; - or nothing is standard input.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from emitter.accept import Acceptor, Rules
from emitter.cli.show import show
from emitter.cli.source import read_json, read_text
from emitter.cli.timeline import Timeline
from emitter.errors import InputError
from emitter.kinds import Trust
from emitter.moment import emit_binding_moment, stream_binding_moment
from emitter.policy import Policy
from emitter.progress import Slot
from emitter.prompt import Material
from emitter.redact import Secrets
from emitter.sinks import to_all, to_jsonl
from emitter.wire import mapping

if TYPE_CHECKING:
    import argparse

    from emitter.door.running import Stream
    from emitter.moment.result import Decision

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
        "--output-tokens", type=int, metavar="N", help="the first output budget (default: worked out from the form)"
    )
    parser.add_argument("--max-total-tokens", type=int, metavar="N", help="for all calls together, in and out")
    parser.add_argument(
        "--nl-to-format",
        action="store_true",
        help="two calls more, in plain words first, if the form is broken to the end",
    )
    parser.add_argument("--deadline", type=float, metavar="S", help="seconds for everything")
    parser.add_argument("--stream", action="store_true", help="tell of each part of the decision as it is whole")
    parser.add_argument("--events", metavar="FILE", help="append every event to FILE, one JSON document a line")
    parser.add_argument("--secrets", metavar="FILE", help='a file of {"id": "value"}: what is struck out')
    parser.add_argument("--json", action="store_true", help="print the envelope as JSON instead of the decision")


def run(asked: argparse.Namespace) -> int:
    """Emit and print."""
    timeline = Timeline()
    situation = _situation(read_text(asked.file))
    settings: dict[str, Any] = {
        "model": asked.model,
        "materials": [*_materials(asked.material, Trust.TRUSTED), *_materials(asked.untrusted, Trust.UNTRUSTED)],
        "decision_class": asked.decision_class,
        "policy": _policy(asked),
        "sink": timeline if asked.events is None else to_all(timeline, to_jsonl(asked.events)),
        "wire": asked.wire,
        "base_url": asked.base_url,
        "prompts": asked.prompts,
    }
    if asked.secrets is not None:
        settings["host"] = Acceptor(Rules(secrets=Secrets.of(read_json(asked.secrets))), store=None)
    if asked.stream:
        decision = _streamed(stream_binding_moment(situation, **settings), timeline)
    else:
        decision = emit_binding_moment(situation, **settings)
    show(decision, as_json=asked.json)
    return 0


def _streamed(running: Stream[Decision], timeline: Timeline) -> Decision:
    with running:
        for told in running:
            if isinstance(told, Slot):
                timeline.line("quiet", "slot", told.pointer)
        return running.result()


def _policy(asked: argparse.Namespace) -> Policy:
    return Policy(
        max_attempts=asked.max_attempts,
        output_tokens=asked.output_tokens,
        max_total_tokens=asked.max_total_tokens,
        deadline=asked.deadline,
        nl_to_format=asked.nl_to_format,
    )


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
