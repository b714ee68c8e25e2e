"""The command ``demo``, and scenario replay for ``emitter mcp --demo``. Needs a vendor's SDK."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from emitter.cli.arguments import add_json_argument
from emitter.cli.moment import print_decision
from emitter.cli.resolve import ask_at_terminal, is_interactive
from emitter.cli.timeline import Timeline
from emitter.client.binding_moments import aemit_binding_moment, emit_binding_moment
from emitter.client.result import Emission
from emitter.errors import EmissionError, MissingExtra

if TYPE_CHECKING:
    import argparse

    from emitter.client.result import Decision, Withheld
    from emitter.mcp.server import EmitFunction
    from emitter.models import BindingMoment

try:
    from emitter.testing.scenarios import (
        SCENARIO_MODELS,
        SCENARIOS,
        SITUATION,
        get_scenario,
        load_scenario_cassette,
        make_replay_transport,
    )
except ImportError as error:
    raise MissingExtra("The demo needs a vendor's SDK.", extra="openai") from error


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    width = max(map(len, SCENARIOS))
    scenarios = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in SCENARIOS.items())
    parser.epilog = f"scenarios:\n{scenarios}\n\nvendors:\n  {'  '.join(SCENARIO_MODELS)}"
    parser.add_argument(
        "scenario",
        nargs="?",
        default="truncated-then-bound",
        metavar="SCENARIO",
        help="one of the scenarios below (default: %(default)s)",
    )
    parser.add_argument(
        "--vendor",
        default="openai-responses",
        metavar="V",
        help="one of the vendors below (default: %(default)s)",
    )
    add_json_argument(parser, "print the envelope as JSON")


def run_demo(args: argparse.Namespace) -> int:
    """Play a scripted scenario, without a key or a network.

    The vendor's own SDK runs over a recorded cassette. You see each call and event as it happens, then the decision.
    At a terminal you can answer it.
    """
    scenario = get_scenario(args.scenario, args.vendor)
    transport = make_replay_transport(scenario)
    sys.stderr.write(
        f"{scenario.name} on {scenario.wire} ({scenario.model}): {SCENARIOS[scenario.name]}\n"
        f"cassette {load_scenario_cassette(scenario).provenance.value}\n\n"
    )
    timeline = Timeline()
    try:
        decision = emit_binding_moment(
            SITUATION, client=scenario.client(transport), on_event=timeline, **scenario.arguments()
        )
    except EmissionError as error:
        sys.stderr.write(f"\n{error}\n{_usage_line(error.trace.usage)}\n")
        return 1
    timeline.write_line("good", "done", _usage_line(decision.usage))
    _finish(decision, as_json=args.json)
    return 0


def _finish(decision: Emission[BindingMoment] | Withheld, *, as_json: bool) -> None:
    """Print the decision, or let the person at this terminal answer it."""
    moment = decision.value if isinstance(decision, Emission) and not as_json else None
    if moment is None or not is_interactive():
        print_decision(decision, as_json=as_json)
    if moment is not None:
        ask_at_terminal(moment)


def _usage_line(usage: object) -> str:
    return f"spent in all: {getattr(usage, 'input', 0)} tokens in, {getattr(usage, 'output', 0)} out"


DEFAULT_WIRE: Final = "openai-responses"
"""The wire that is replayed by default."""


def replay_scenario(name: str, wire: str | None = None) -> EmitFunction:
    """Return a function that answers every request with a recorded scenario.

    Raises:
        InputError: No such scenario or wire exists.
    """
    scenario = get_scenario(name, wire or DEFAULT_WIRE)
    make_replay_transport(scenario)

    async def emit(_situation: str, **_settings: Any) -> Decision:
        client = scenario.client(make_replay_transport(scenario), asynchronous=True)
        return await aemit_binding_moment(SITUATION, client=client, **scenario.arguments())

    return emit
