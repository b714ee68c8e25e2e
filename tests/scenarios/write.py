"""Write ``cassettes/``: the requests as the SDKs send them today, the responses as scripted by hand.

Run it (``make cassettes``) after a change of prompt, schema or SDK, and read the difference.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2

from emitter import EmissionError, emit, emit_binding_moment
from emitter.clock import Clock
from emitter.testing.cassettes import Provenance, RecordingTransport, save_cassette
from emitter.testing.scenarios import (
    MAIL,
    SCENARIO_MODELS,
    SCENARIOS,
    SITUATION,
    TYPED_SCENARIO,
    Invoice,
    Scenario,
    get_scenario,
)
from tests.scenarios.scripts import SCRIPTS
from tests.scenarios.vendors import VENDORS, Response

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTE = "Requests are what the vendor's SDK sent; responses were written by hand from the vendor's documentation."


def main() -> None:
    """Write every cassette."""
    root = Path(__file__).parents[2] / "cassettes"
    names = (*SCENARIOS, TYPED_SCENARIO)
    for scenario in names:
        for wire in SCENARIO_MODELS:
            asked = get_scenario(scenario, wire)
            save_cassette(recorded(asked).to_cassette(Provenance.BY_HAND, NOTE), root / scenario / f"{wire}.json")
    sys.stdout.write(f"{len(names) * len(SCENARIO_MODELS)} cassettes written\n")


def recorded(asked: Scenario) -> RecordingTransport:
    """Return a record of the scene, played through the vendor's SDK."""
    tape = RecordingTransport(inner=scripted(SCRIPTS[asked.name](VENDORS[asked.wire])))
    clock = Clock(sleep=lambda _: None)
    with contextlib.suppress(EmissionError):
        if asked.name == TYPED_SCENARIO:
            emit(Invoice, MAIL, client=asked.client(tape), clock=clock, **asked.arguments())
        else:
            emit_binding_moment(SITUATION, client=asked.client(tape), clock=clock, **asked.arguments())
    return tape


def scripted(responses: list[Response]) -> httpx2.MockTransport:
    """Return a transport that gives these responses in order."""
    left: Iterator[Response] = iter(responses)

    def handle(_: httpx2.Request) -> httpx2.Response:
        given = next(left)
        return httpx2.Response(given.status, json=given.body, headers=dict(given.headers))

    return httpx2.MockTransport(handle)


if __name__ == "__main__":
    main()
