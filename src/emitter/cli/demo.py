"""Play a scripted scenario, with no key and no network.

The vendor's own SDK runs over a cassette: the timeline of calls and events as it happens, then the decision, which you
may answer where there is a terminal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.cli.answering import answer, possible
from emitter.cli.show import show
from emitter.cli.timeline import Timeline
from emitter.errors import EmissionError
from emitter.moment import Emission, emit_binding_moment
from emitter.scenarios import MODELS, SCENARIOS, SITUATION, cassette, replay, scene

if TYPE_CHECKING:
    import argparse

    from emitter.kinds import BindingMoment
    from emitter.moment import Withheld


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    width = max(map(len, SCENARIOS))
    listed = "\n".join(f"  {name:<{width}}  {told}" for name, told in SCENARIOS.items())
    parser.epilog = f"scenarios:\n{listed}"
    parser.add_argument(
        "scenario",
        nargs="?",
        default="truncated-then-bound",
        metavar="SCENARIO",
        help="one of those below (default %(default)s)",
    )
    parser.add_argument(
        "--vendor", default="openai-responses", metavar="V", help=f"one of {', '.join(MODELS)} (default %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the envelope as JSON instead of the decision")


def run(asked: argparse.Namespace) -> int:
    """Play the scenario; 1 when it ends without an envelope, as some are meant to."""
    played = scene(asked.scenario, asked.vendor)
    tape = replay(played)
    sys.stderr.write(
        f"{played.scenario} on {played.wire} ({played.model}): {SCENARIOS[played.scenario]}\n"
        f"cassette {cassette(played).provenance.value}\n\n"
    )
    timeline = Timeline()
    try:
        decision = emit_binding_moment(SITUATION, client=played.client(tape), sink=timeline, **played.arguments())
    except EmissionError as error:
        sys.stderr.write(f"\n{error}\n{_spent(error.trace.usage)}\n")
        return 1
    timeline.line("good", "done", _spent(decision.usage))
    _end(decision, as_json=asked.json)
    return 0


def _end(decision: Emission[BindingMoment] | Withheld, *, as_json: bool) -> None:
    """Show what came of it, and let a person at this terminal answer, who is shown all of it there."""
    moment = decision.value if isinstance(decision, Emission) and not as_json else None
    if moment is None or not possible():
        show(decision, as_json=as_json)
    if moment is not None:
        answer(moment)


def _spent(usage: object) -> str:
    return f"spent in all: {getattr(usage, 'input', 0)} tokens in, {getattr(usage, 'output', 0)} out"
