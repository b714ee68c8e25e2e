"""Scripted scenarios, each recorded as a cassette for each API.

``emitter demo`` replays them, and the tests check them. All but ``TYPED_SCENARIO`` ask for a binding moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from emitter.adapters.clients import create_client
from emitter.assets import find_data_folder
from emitter.errors import InputError
from emitter.policy import Policy
from emitter.profiles import find_profile
from emitter.prompts import Material
from emitter.testing.cassettes import ReplayTransport, make_http_client, parse_cassette

if TYPE_CHECKING:
    from emitter.testing.cassettes import Cassette

SITUATION = """\
The nightly migration of the orders table failed at 02:14 after moving 61 of 148 partitions. Writes go to \
the old table and nothing is lost. The migration can go on from partition 62 in about 50 minutes, be rolled \
back in about 12 minutes, or wait for the database team at 09:00. Checkout is open and has its daily peak at \
08:00. The failure was a lock timeout, and the long-running report that held the lock has ended."""
MATERIALS = (
    Material("A migration that is half done at peak adds about 40 ms to each checkout.", "runbook, section 4"),
)
DECISION_CLASS = "operations"
SCENARIO_MODELS = {
    "openai-responses": "openai/gpt-6-sol",
    "openai-chat": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "google": "google/gemini-3.8-flash",
    "gemini-interactions": "google/gemini-3.8-flash",
    "bedrock-converse": "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
"""The APIs and the model called on each."""
WIRE_ALIASES = {"openai": "openai-responses"}
"""Other names of an API."""
SCENARIOS = {
    "bound": "a clean answer at the first call",
    "deliberation": "the model declines to bind yet",
    "truncated-then-bound": "cut at the budget, whole at twice the budget",
    "truncated-to-the-ceiling": "cut at every budget up to the ceiling",
    "refused": "the model refuses",
    "filtered": "a safety system blocks the answer",
    "violated-then-bound": "breaks the schema once",
    "fenced": "the document is in a Markdown fence",
    "prose": "the document is surrounded by prose",
    "malformed-to-the-end": "no document in any answer",
    "overloaded-then-bound": "the vendor is overloaded once",
    "thinking-ate-the-budget": "all of the first budget goes into thinking",
}
"""The scenarios, each with a one-line description."""
TYPED_SCENARIO = "typed-object"
"""Asks for an ``Invoice``: cut at the budget, whole at twice the budget."""
MAIL = "Acme here. Please pay 12.50 for the two boxes that you got in January."
TOKEN_CEILINGS = {"truncated-to-the-ceiling": 3000}
"""The token ceilings of scenarios, if they are below the model's."""
FIRST_BUDGET = 1024
_BASE_URLS = {"openai": "https://vendor.invalid/v1"}
_BASE_URL = "https://vendor.invalid"
"""Nothing is sent to it. It keeps a replay independent of the environment."""


class Invoice(BaseModel):
    """The typed object that ``TYPED_SCENARIO`` asks for."""

    vendor: str
    total: float


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario on one API, ready to run through a client."""

    name: str
    wire: str

    @property
    def model(self) -> str:
        """The model to call."""
        return SCENARIO_MODELS[self.wire]

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``emit_binding_moment`` or ``emit``, without ``client``."""
        policy = Policy(output_tokens=FIRST_BUDGET, max_output_tokens=TOKEN_CEILINGS.get(self.name))
        shared: dict[str, Any] = {"model": self.model, "wire": self.wire, "policy": policy}
        if self.name == TYPED_SCENARIO:
            return shared
        return shared | {"materials": MATERIALS, "decision_class": DECISION_CLASS}

    def client(self, transport: Any, *, asynchronous: bool = False) -> object:
        """Return the vendor's own SDK client, which sends through ``transport``."""
        vendor, _ = find_profile(self.model)
        return create_client(
            vendor,
            asynchronous=asynchronous,
            base_url=_BASE_URLS.get(vendor.name, _BASE_URL),
            api_key="demo-key",
            http_client=make_http_client(transport, asynchronous=asynchronous and not vendor.client.is_blocking),
        )


def get_scenario(name: str, wire: str) -> Scenario:
    """Return a scenario. Raises ``InputError`` for an unknown name or API."""
    if name not in (*SCENARIOS, TYPED_SCENARIO):
        raise InputError(f"There is no scenario {name!r}.", hint=f"There are {', '.join(SCENARIOS)}.")
    wire = WIRE_ALIASES.get(wire, wire)
    if wire not in SCENARIO_MODELS:
        raise InputError(f"There is no wire {wire!r}.", hint=f"There are {', '.join(SCENARIO_MODELS)}.")
    return Scenario(name, wire)


def load_scenario_cassette(scenario: Scenario) -> Cassette:
    """Load the scenario's cassette."""
    path = f"{scenario.name}/{scenario.wire}.json"
    try:
        text = find_data_folder("cassettes").joinpath(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"cassettes/{path} does not exist.") from error
    return parse_cassette(text, f"cassettes/{path}")


def make_replay_transport(scenario: Scenario) -> ReplayTransport:
    """Return a transport that replays the scenario."""
    return ReplayTransport(load_scenario_cassette(scenario))
