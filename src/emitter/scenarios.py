"""The scripted scenarios: one situation, four wires, and what a vendor may do to an answer.

Each ``cassettes/<scenario>/<wire>.json`` holds one. ``emitter demo`` plays them, and the tests pin them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emitter.adapters.client import make
from emitter.assets import folder
from emitter.cassette import Replay, http_client, parse
from emitter.errors import InputError
from emitter.policy import Policy
from emitter.profile import of_model
from emitter.prompt import Material

if TYPE_CHECKING:
    from emitter.cassette import Cassette

SITUATION = """\
The nightly migration of the orders table failed at 02:14 after moving 61 of 148 partitions. Writes go to \
the old table and nothing is lost. The migration can go on from partition 62 in about 50 minutes, be rolled \
back in about 12 minutes, or wait for the database team at 09:00. Checkout is open and has its daily peak at \
08:00. The failure was a lock timeout, and the long-running report that held the lock has ended."""

MATERIALS = (
    Material("A migration that is half done at peak adds about 40 ms to each checkout.", "runbook, section 4"),
)

DECISION_CLASS = "operations"

MODELS = {
    "openai-responses": "openai/gpt-6-sol",
    "openai-chat": "openai/gpt-6-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "google": "google/gemini-3.8-flash",
}
"""The wires and the model asked on each."""

ALIASES = {"openai": "openai-responses"}
"""Other words for a wire."""

SCENARIOS = {
    "bound": "a clean answer at the first call",
    "deliberation": "the model declines to bind yet",
    "truncated-then-bound": "cut at the budget, whole at twice the budget",
    "truncated-to-the-ceiling": "cut at every budget up to the ceiling",
    "refused": "the model refuses",
    "filtered": "a safety system blocks the answer",
    "violated-then-bound": "breaks the schema once",
    "fenced": "the document stands in a Markdown fence",
    "prose": "the document stands in prose",
    "malformed-to-the-end": "no document in any answer",
    "overloaded-then-bound": "the vendor is overloaded once",
    "thinking-ate-the-budget": "all of the first budget goes into thinking",
}
"""Every scenario in one line."""

CEILING = {"truncated-to-the-ceiling": 3000}
"""The scenarios that need a ceiling below the model's own, in tokens."""

FIRST_BUDGET = 1024

_BASE_URLS = {"openai": "https://vendor.invalid/v1"}
_BASE_URL = "https://vendor.invalid"
"""Nothing is sent there; it keeps the caller's own environment out of a replay."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A scenario on a wire, ready to be played through a client."""

    scenario: str
    wire: str

    @property
    def model(self) -> str:
        """The model that is asked."""
        return MODELS[self.wire]

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``emit_binding_moment`` beside ``client``."""
        return {
            "model": self.model,
            "wire": self.wire,
            "materials": MATERIALS,
            "decision_class": DECISION_CLASS,
            "policy": Policy(output_tokens=FIRST_BUDGET, max_output_tokens=CEILING.get(self.scenario)),
        }

    def client(self, transport: Any, *, asynchronous: bool = False) -> object:
        """Return the vendor's own SDK client, sending through ``transport``."""
        vendor, _ = of_model(self.model)
        return make(
            vendor,
            asynchronous=asynchronous,
            base_url=_BASE_URLS.get(vendor.name, _BASE_URL),
            api_key="demo-key",
            http_client=http_client(transport, asynchronous=asynchronous),
        )


def scene(scenario: str, wire: str) -> Scene:
    """Return the scene; raises ``InputError`` with what there is."""
    if scenario not in SCENARIOS:
        raise InputError(f"There is no scenario {scenario!r}.", hint=f"There are {', '.join(SCENARIOS)}.")
    wire = ALIASES.get(wire, wire)
    if wire not in MODELS:
        raise InputError(f"There is no wire {wire!r}.", hint=f"There are {', '.join(MODELS)}.")
    return Scene(scenario, wire)


def cassette(asked: Scene) -> Cassette:
    """Return the scene's cassette."""
    file = folder("cassettes").joinpath(asked.scenario, f"{asked.wire}.json")
    name = f"cassettes/{asked.scenario}/{asked.wire}.json"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"{name} does not exist.") from error
    return parse(text, name)


def replay(asked: Scene) -> Replay:
    """Return a transport that plays the scene."""
    return Replay(cassette(asked))
