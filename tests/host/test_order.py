"""The steps run in the normative order: of two defects, the one that is looked for first is reported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from emitter.host import Counters, EnvelopeContext, EnvelopeContract, HostConfig, Trust
from emitter.host.outcomes import OutcomeCode
from emitter.host.pipeline import RECORDING_STEPS, STEPS, VALIDATION_STEPS
from emitter.redaction import Secrets
from emitter.stores import MemoryStore
from tests.host.envelopes import CATALOGUE, CONTEXT, NOTE, acceptor, envelope

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "sk-live-0123456789"


@dataclass(frozen=True)
class Asked:
    """An envelope, where it comes from, and what the host takes."""

    given: dict[str, Any]
    context: EnvelopeContext
    rules: HostConfig
    before: str | None = None


def shape(asked: Asked) -> Asked:
    """Make the document no AIEnvelope."""
    return replace(asked, given={**asked.given, "extra": 1})


def kind(asked: Asked) -> Asked:
    """Name an unknown kind."""
    return replace(asked, given={**asked.given, "type": "vendor.acme.unknown"})


def payload(asked: Asked) -> Asked:
    """Break the payload."""
    return replace(asked, given={**asked.given, "payload": {"text": 1}})


def contract(asked: Asked) -> Asked:
    """Have the node allow another kind only."""
    return replace(asked, context=replace(asked.context, contract=EnvelopeContract(frozenset({"vendor.acme.other"}))))


def limits(asked: Asked) -> Asked:
    """Give the turn all the envelopes that it may have."""
    return replace(asked, context=replace(asked.context, counters=Counters(envelopes=32)))


def redaction(asked: Asked) -> Asked:
    """Put a secret where it cannot be struck out."""
    return replace(
        asked,
        given={**asked.given, "meta": {**asked.given["meta"], "source": "system"}},
        rules=replace(asked.rules, secrets=Secrets.of({"mark": "system"})),
    )


def trust(asked: Asked) -> Asked:
    """Have an approval advance on untrusted content."""
    return replace(asked, context=replace(asked.context, approving=True, inputs=Trust.UNTRUSTED))


def dedup(asked: Asked) -> Asked:
    """Take a correlation id that was another kind's."""
    return replace(asked, before="error")


STEP_NAMES = [
    "check_shape",
    "check_kind",
    "check_payload",
    "check_contract",
    "check_limits",
    "redact_secrets",
    "apply_trust",
    "deduplicate",
]
"""The steps that look for the defects below, in the same order."""
DEFECTS: dict[Callable[[Asked], Asked], OutcomeCode] = {
    shape: OutcomeCode.SHAPE,
    kind: OutcomeCode.KIND,
    payload: OutcomeCode.PAYLOAD,
    contract: OutcomeCode.CONTRACT,
    limits: OutcomeCode.CAP,
    redaction: OutcomeCode.SHAPE,
    trust: OutcomeCode.APPROVAL,
    dedup: OutcomeCode.CONFLICT,
}
"""What each step looks for, in the order of ai-envelope.md, and the code it is reported with."""


def accepted(asked: Asked) -> tuple[Any, list[str]]:
    """Return what becomes of it, and the kinds that were handled."""
    handled: list[str] = []

    def handle(given: Any, _: EnvelopeContext) -> tuple[()]:
        handled.append(given.type)
        return ()

    rules = replace(asked.rules, handlers={NOTE: handle})
    store = MemoryStore()
    if asked.before is not None:
        first = acceptor(HostConfig(registry=CATALOGUE), store=store).accept(envelope(asked.before), CONTEXT)
        assert first.status == "accepted"
    return acceptor(rules, store=store).accept(asked.given, asked.context), handled


WHOLE = Asked(envelope(), CONTEXT, HostConfig(registry=CATALOGUE))


def test_the_steps_stand_in_the_normative_order() -> None:
    """Ten steps, of which the last two are done once for a correlation id."""
    names = [each.__name__ for each in STEPS]

    assert names == [*STEP_NAMES, "call_handler", "record_envelope"]
    assert len(STEP_NAMES) == len(DEFECTS)
    assert (*VALIDATION_STEPS, *RECORDING_STEPS) == STEPS
    assert [each.__name__ for each in RECORDING_STEPS] == ["call_handler", "record_envelope"]


def test_an_envelope_without_a_defect_is_handled_once() -> None:
    """What the table below breaks is whole before."""
    found, handled = accepted(WHOLE)

    assert (found.status, handled) == ("accepted", [NOTE])


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.__name__)
def test_a_defect_is_reported_with_its_code(defect: Callable[[Asked], Asked]) -> None:
    """Each step refuses what it looks for, and nothing is handled."""
    found, handled = accepted(defect(WHOLE))

    assert (found.outcome.code, found.envelope, handled) == (DEFECTS[defect], None, [])


PAIRS = {f"{one.__name__}<{other.__name__}": (one, other) for one, other in combinations(DEFECTS, 2)}


@pytest.mark.parametrize(("first", "second"), PAIRS.values(), ids=PAIRS.keys())
def test_of_two_defects_the_earlier_is_reported(
    first: Callable[[Asked], Asked], second: Callable[[Asked], Asked]
) -> None:
    """Whichever way they come together."""
    alone, _ = accepted(first(WHOLE))
    found, handled = accepted(second(first(WHOLE)))

    assert found.outcome.to_json() == alone.outcome.to_json() or first is redaction
    assert (found.outcome.code, handled) == (DEFECTS[first], [])
