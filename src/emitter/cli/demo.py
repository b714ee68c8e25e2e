"""The command ``demo``, and scenario replay for ``emitter mcp --demo``. Needs a vendor's SDK.

Without a scenario, the command is a tour: a typed object, a decision, and the act that was approved.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from emitter.authority import ActionRequest, Authority, ConfirmRequest, Execution, RiskLevel, Scope
from emitter.cli.arguments import add_json_argument
from emitter.cli.input_output import Timeline
from emitter.cli.moments import print_decision
from emitter.cli.resolve import DEMO_TIMEOUT, ask_at_terminal, is_interactive
from emitter.client.binding_moments import aemit_binding_moment, emit_binding_moment
from emitter.client.documents import emit
from emitter.client.result import Emission
from emitter.decisions import Selected, Unresolved, select_option
from emitter.errors import EmissionError, MissingExtra
from emitter.terminal import ask

if TYPE_CHECKING:
    import argparse

    from emitter.client.result import Decision
    from emitter.decisions import Resolution
    from emitter.mcp.server import EmitFunction
    from emitter.messages import Usage
    from emitter.models import BindingMoment

try:
    from emitter.testing.scenarios import (
        MAIL,
        SCENARIO_MODELS,
        SCENARIOS,
        SITUATION,
        TYPED_SCENARIO,
        Invoice,
        Scenario,
        get_scenario,
        load_scenario_cassette,
        make_replay_transport,
    )
except ImportError as error:
    raise MissingExtra("The demo needs a vendor's SDK.", extra="openai") from error

_DEFAULT_WIRE: Final = "openai-responses"
_TOUR_SCENARIO = "truncated-then-bound"
"""The scenario of ``--json``, which also selects the model of the tour."""
_ACTIONS = ("resume_migration", "roll_back_migration", "wait_for_the_team")
"""The actions of the options in the tour's decision."""


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    width = max(map(len, SCENARIOS))
    scenarios = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in SCENARIOS.items())
    parser.epilog = f"scenarios:\n{scenarios}\n\nvendors:\n  {'  '.join(SCENARIO_MODELS)}"
    parser.add_argument(
        "scenario",
        nargs="?",
        metavar="SCENARIO",
        help="one of the scenarios below (default: a tour: a typed object, a decision, and an act)",
    )
    parser.add_argument(
        "--vendor",
        default=_DEFAULT_WIRE,
        metavar="VENDOR",
        help="one of the vendors below (default: %(default)s)",
    )
    add_json_argument(parser, "print the envelope as JSON")


def run_demo(args: argparse.Namespace) -> int:
    """Show what emitter does, without a key or a network.

    The vendor's own SDK runs over scripted answers. You see each call and event as it happens: a typed object whose
    first answer was cut off, a decision that you can answer at a terminal, and the act that you approved, with its
    receipt. With SCENARIO, one scripted decision is played.
    """
    scenario = get_scenario(args.scenario or _TOUR_SCENARIO, args.vendor)
    is_tour = args.scenario is None and not args.json
    try:
        if is_tour:
            return _run_tour(scenario)
        sys.stderr.write(
            f"{scenario.name} on {scenario.wire} ({scenario.model}): {SCENARIOS[scenario.name]}\n"
            f"cassette {load_scenario_cassette(scenario).provenance.value}\n\n"
        )
        decision = _play(scenario)
    except EmissionError as error:
        sys.stderr.write(f"\n{error}\n{_usage_line(error.trace.usage)}\n")
        return 1
    moment = decision.value if isinstance(decision, Emission) and not args.json else None
    if moment is None or not is_interactive():
        print_decision(decision, as_json=args.json)
    if moment is not None:
        ask_at_terminal(moment)
    return 0


def _play(scenario: Scenario) -> Decision:
    """Ask for the decision of a scenario, and report each event."""
    timeline, client = Timeline(), scenario.client(make_replay_transport(scenario))
    decision = emit_binding_moment(SITUATION, client=client, on_event=timeline, **scenario.arguments())
    timeline.write_line("good", "done", _usage_line(decision.usage))
    return decision


def _run_tour(scenario: Scenario) -> int:
    """Play the three parts of the tour on the vendor of the scenario."""
    typed = Scenario(TYPED_SCENARIO, scenario.wire)
    client = typed.client(make_replay_transport(typed))
    source = load_scenario_cassette(typed).provenance.value
    sys.stdout.write(f"No key and no network: the vendor's own SDK runs over answers that were {source}.\n")
    _write_heading(f'1. A typed object: emit(Invoice, "{MAIL}", model="{scenario.model}")')
    timeline = Timeline()
    emission = emit(Invoice, MAIL, client=client, on_event=timeline, **typed.arguments())
    timeline.write_line("good", "done", _usage_line(emission.usage))
    sys.stdout.write(
        f"\n{emission.value!r}\nThe first answer was cut off, so it was not read, and the budget doubled.\n"
    )

    _write_heading(f'2. A decision for you: emit_binding_moment(situation, model="{scenario.model}")')
    decision = _play(Scenario("bound", scenario.wire))
    if not isinstance(decision, Emission):
        raise TypeError("The scenario has no binding moment.")
    _act(decision.value, _ask(decision))
    return 0


def _ask(decision: Emission[BindingMoment]) -> Resolution | Unresolved:
    """Let the person at this terminal answer. Without a terminal, the first option is chosen for them."""
    moment = decision.value
    if is_interactive():
        return ask(moment, timeout=DEMO_TIMEOUT)
    print_decision(decision, as_json=False)
    sys.stdout.write("\nThere is no terminal to answer at, so this demo chooses 1 in your place.\n")
    return select_option(moment, 0)


def _act(moment: BindingMoment, answer: Resolution | Unresolved) -> None:
    """Perform the approved act once, and print its receipt."""
    _write_heading("3. The act: what you approved is what runs, once, with a receipt")
    if not isinstance(answer, Selected):
        sys.stdout.write("You chose no option, so nothing runs: no answer is not consent.\n")
        return
    authority, done = Authority(actor="demo-agent"), list[str]()
    scope = Scope(workflow_id="nightly-migration", targets=("orders",))
    requests = [_request_authority(scope, action) for action in _ACTIONS]
    decision = authority.ledger.open(moment, actions=[request.digest for request in requests])
    confirm = authority.confirm(authority.ledger.resolve(decision.decision_id, answer), requests[answer.index])
    action = ActionRequest(
        intent_id="tonight", workflow_id=scope.workflow_id, action=_ACTIONS[answer.index], target="orders"
    )
    for _ in range(2):  # as an agent does that starts again after a crash
        authority.execute(confirm.confirm_id, Execution(action, lambda: done.append(action.action)))
    (receipt,) = authority.receipts()
    sys.stdout.write(
        f"approved  {confirm.confirm_id}: {action.action}, on {action.target}, once\n"
        f"called    twice, as after a crash; it ran {'once' if len(done) == 1 else len(done)}\n"
        f"receipt   {receipt.receipt_id}: {receipt.action} on {receipt.target}, {receipt.result.value}\n\n"
        "Ask a real model next: `emitter emit --help`, `emitter moment --help`.\n"
    )


def _request_authority(scope: Scope, action: str) -> ConfirmRequest:
    return ConfirmRequest(
        scope=scope.model_copy(update={"capabilities": (action,)}),
        limits={"max_side_effects": 1},
        ttl_seconds=900,
        risk_level=RiskLevel.LOW,
    )


def _write_heading(text: str) -> None:
    sys.stdout.write(f"\n{text}\n\n")
    sys.stdout.flush()  # the timeline follows on standard error


def _usage_line(usage: Usage) -> str:
    return f"spent in all: {usage.input} tokens in, {usage.output} out"


def replay_scenario(name: str, wire: str | None = None) -> EmitFunction:
    """Return a function that answers every request with a recorded scenario.

    Raises:
        InputError: No such scenario or wire exists.
    """
    scenario = get_scenario(name, wire or _DEFAULT_WIRE)
    make_replay_transport(scenario)  # raises for a missing cassette before the first call

    async def emit(_situation: str, **_settings: Any) -> Decision:
        client = scenario.client(make_replay_transport(scenario), asynchronous=True)
        return await aemit_binding_moment(SITUATION, client=client, **scenario.arguments())

    return emit
