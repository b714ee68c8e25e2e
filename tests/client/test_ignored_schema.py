"""A server that ignores the schema is found out by its answers: from the second call on, the prompt describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from emitter import Emitter, Invalid, Policy, emit, emit_many
from emitter.client import refusals
from emitter.events import SCHEMA_IGNORED
from emitter.testing import Text, simulator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.testing import Behaviour, ReceivedRequest, Simulator

SCHEMA = {
    "title": "Invoice",
    "type": "object",
    "properties": {"total": {"type": "integer", "minimum": 5}, "due": {"type": ["string", "null"]}},
    "required": ["total", "due"],
    "additionalProperties": False,
}
RIGHT = {"total": 7, "due": None}
HEADING = "# The form of the answer"
MODELS = {
    "Responses": {"model": "openai/gpt-6-sol"},
    "chat": {"model": "openai/gpt-6-sol", "wire": "openai-chat"},
    "Messages": {"model": "anthropic/claude-sonnet-5-5"},
    "Gemini": {"model": "google/gemini-3.8-flash"},
}
EVIDENCE: dict[str, tuple[Any, bool]] = {
    "prose": ("Acme sent it.", True),
    "a missing name": ({"due": None}, True),
    "a wrong type": ({"total": "seven", "due": None}, True),
    "another name": ({"total": 7, "due": None, "sum": 7}, True),
    "a list": ([7], True),
    "a bound": ({"total": 1, "due": None}, False),
    "nothing": ("", False),
    "half a document": ('{"total": 7', False),
    "a refusal in words": ("I cannot help with that request.", False),
}


class Watched:
    """A running server that describes whether its requests had the schema in the prompt."""

    def __init__(self, first: Behaviour) -> None:
        self.first, self.described = first, list[bool]()

    def __call__(self, request: ReceivedRequest) -> Behaviour:
        """Answer as if the server showed nothing to the model."""
        is_described = HEADING in json.dumps(request.body)
        self.described.append(is_described)
        return Text(RIGHT) if is_described or len(self.described) > 1 else self.first


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every vendor have a key, and forget what servers ignored before and after."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "k")
    refusals._REMEMBERED.clear()
    yield
    refusals._REMEMBERED.clear()


def options(vendor: Simulator, server: dict[str, str]) -> dict[str, Any]:
    """Return the options that lead to a server."""
    return {**server, "base_url": vendor.base_url(server["model"])}


def log(found: Any) -> list[str]:
    """Return the levels of the log lines about an ignored schema."""
    events = [each.event for each in found.trace.events]
    return [event.level.value for event in events if getattr(event, "message", None) == SCHEMA_IGNORED]


@pytest.mark.parametrize("server", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize(("answer", "is_evidence"), EVIDENCE.values(), ids=EVIDENCE)
def test_the_prompt_describes_an_ignored_schema(server: dict[str, str], answer: Any, *, is_evidence: bool) -> None:
    """It does from the second call on, and in later emissions from the first; both have an event."""
    watched = Watched(Text(answer))
    with simulator(answers=watched) as vendor:
        found = emit(SCHEMA, "Who sent it?", **options(vendor, server))
        again = emit(SCHEMA, "Who sent it?", **options(vendor, server))

    assert (found.value, again.value) == (RIGHT, RIGHT)
    assert watched.described == [False, is_evidence, is_evidence]
    assert (log(found), log(again)) == ((["warn"], ["info"]) if is_evidence else ([], []))


def test_the_error_names_the_cause() -> None:
    """A caller reads that the server does not use the schema."""
    with simulator(answers=lambda _: Text("Acme sent it.")) as vendor, pytest.raises(Invalid) as raised:
        emit(SCHEMA, "Who sent it?", **options(vendor, MODELS["Responses"]), policy=Policy(max_attempts=1))

    assert "The server ignores the schema that it is sent." in str(raised.value)


def test_a_run_shares_what_was_found() -> None:
    """The jobs of a run begin with the description once one of them has found out."""
    watched = Watched(Text("Acme sent it."))
    with simulator(answers=watched) as vendor:
        server = options(vendor, MODELS["Responses"])
        results = emit_many(SCHEMA, ["1?", "2?", "3?"], **server, in_flight=1, progress=False).results()

    assert [each.result.value for each in results] == [RIGHT] * 3
    assert watched.described == [False, True, True, True]


def test_what_was_found_belongs_to_a_client() -> None:
    """Another client begins without the description."""
    watched = Watched(Text("Acme sent it."))
    with simulator(answers=watched) as vendor:
        server = options(vendor, MODELS["Responses"])
        model, address = server["model"], server["base_url"]
        with Emitter(model, base_url=address) as one, Emitter(model, base_url=address) as two:
            for emitter in (one, one, two):
                emitter.emit(SCHEMA, "Who sent it?")

    assert watched.described == [False, True, True, False]
