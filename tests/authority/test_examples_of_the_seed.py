"""The delegation invariants' own examples: what has to be added for them to hold here, and where we are stricter."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from emitter.authority import Authority, ForeignConfirm, ForeignReceipt, ForeignStop, read_foreign
from emitter.authority.audit import report_chain
from emitter.authority.chain import compute_genesis_hash
from emitter.authority.schemas import SCHEMAS
from emitter.errors import InputError, Tampered, UnknownConfirm
from emitter.schema import Validator
from tests.authority.execution.making import act, work
from tests.authority.lived import hashed
from tests.shared import SHARED

if TYPE_CHECKING:
    from emitter.messages import Json

SEED = SHARED / "seeds" / "delegation-invariants.txt"

CONFIRM_EXAMPLE: dict[str, Json] = {
    "type": "CONFIRM",
    "confirm_id": "confirm_42c1",
    "timestamp": "2026-03-19T08:12:00Z",
    "scope": {
        "workflow_id": "wf_9f3a",
        "step_ids": ["step_2", "step_3"],
        "targets": ["airline_portal/account_123"],
        "capabilities": ["purchase", "submit_form"],
    },
    "limits": {"budget_usd": 800, "max_side_effects": 1},
    "ttl_seconds": 900,
    "revocable": True,
    "risk_level": "high",
}
STOP_EXAMPLE: dict[str, Json] = {
    "type": "STOP",
    "request_id": "stop_001",
    "timestamp": "2026-03-19T08:14:10Z",
    "workflow_id": "wf_9f3a",
    "stop_scope": "chain",
    "takeover_mode": "human",
    "reason": "User requested immediate halt",
}
RECEIPT_EXAMPLE: dict[str, Json] = {
    "type": "RECEIPT",
    "receipt_id": "rcpt_001",
    "timestamp": "2026-03-19T08:15:30Z",
    "actor": "openclaw.gateway",
    "workflow_id": "wf_9f3a",
    "step_id": "step_3",
    "action": "book_flight",
    "target": "airline_portal/account_123",
    "authorization_ref": "confirm_42c1",
    "result": "success",
    "side_effects": {"charged_usd": 742, "confirmation_code": "ABC123"},
    "evidence_refs": ["txn:ABC123", "log:gateway/2026-03-19/8f2e"],
}
GRANTED = {"decision": "d", "envelope": f"sha256:{'0' * 64}", "option": 0, "request": f"sha256:{'0' * 64}"}
OURS: dict[str, tuple[dict[str, Json], dict[str, Json]]] = {
    "confirm": (CONFIRM_EXAMPLE, {"granted_by": GRANTED}),
    "stop": (STOP_EXAMPLE, {}),
    "receipt": (RECEIPT_EXAMPLE, {"intent_ref": "intent_001"}),
}
"""Each example, and what we require beside what it has: nothing of it is changed."""


def holds(name: str, document: Json) -> bool:
    """Tell whether a record is valid."""
    return Validator(dict(SCHEMAS[name]))(document) == ()


@pytest.mark.parametrize("name", OURS)
def test_an_example_holds_with_our_members(name: str) -> None:
    """A STOP as it is; a CONFIRM needs the choice that granted it, and a RECEIPT the act that it is of."""
    example, ours = OURS[name]

    assert holds(name, example | ours)
    assert holds(name, example) == (not ours)


STRICTER: dict[str, tuple[str, dict[str, Json]]] = {
    "a member that nobody named": ("stop", {"urgency": "high"}),
    "a type in small letters": ("stop", {"type": "stop"}),
    "a time with an offset": ("stop", {"timestamp": "2026-03-19T08:14:10+00:00"}),
    "a step of a whole chain": ("stop", {"step_id": "step_3"}),
    "a step that is not named": ("stop", {"stop_scope": "step"}),
    "a delegation to nobody": ("stop", {"takeover_mode": "delegate_to_other_agent"}),
    "a delegate without delegation": ("stop", {"delegate_to": "agent"}),
    "an amount in fractions": ("confirm", {"limits": {"budget_usd": 7.5}}),
    "a limit that is no amount": ("confirm", {"limits": {"until": "Friday"}}),
    "another level of risk": ("confirm", {"risk_level": "critical"}),
    "no time at all": ("confirm", {"ttl_seconds": 0}),
    "an error with success": ("receipt", {"error": "timeout"}),
    "evidence that is no text": ("receipt", {"evidence_refs": [{"txn": "ABC123"}]}),
    "side effects as a text": ("receipt", {"side_effects": "charged 742"}),
}
"""What the seed would let pass, or leaves open, and is refused here."""


@pytest.mark.parametrize(("name", "change"), STRICTER.values(), ids=STRICTER.keys())
def test_here_it_is_stricter(name: str, change: dict[str, Json]) -> None:
    """The example as it is holds, and no more with this."""
    example, ours = OURS[name]

    assert not holds(name, example | ours | change)


@pytest.mark.parametrize("form", ["an object", "a text", "bytes"])
def test_the_examples_are_read_as_records_of_somebody_elses(form: str) -> None:
    """Whole, with money in dollars, and marked as what nobody here verified."""
    found = {}
    for name, (example, _) in OURS.items():
        text = json.dumps(example)
        found[name] = read_foreign({"an object": example, "a text": text, "bytes": text.encode()}[form])  # type: ignore[arg-type]

    confirm, stop, receipt = found.values()
    assert isinstance(confirm, ForeignConfirm)
    assert (confirm.limits, confirm.ttl_seconds) == ({"budget_usd": 800, "max_side_effects": 1}, 900)
    assert confirm.scope.targets == ("airline_portal/account_123",)
    assert isinstance(stop, ForeignStop)
    assert isinstance(receipt, ForeignReceipt)
    assert receipt.side_effects == {"charged_usd": 742, "confirmation_code": "ABC123"}
    assert not any(each.verified for each in found.values())
    assert [json.loads(each.model_dump_json(exclude_none=True)) for each in found.values()] == [
        example for example, _ in OURS.values()
    ]


def test_a_foreign_record_authorizes_nothing() -> None:
    """Neither what it is nor the id in it, and no chain takes it."""
    authority, foreign = Authority(), read_foreign(CONFIRM_EXAMPLE)
    workflow = str(CONFIRM_EXAMPLE["scope"]["workflow_id"])
    with pytest.raises(InputError):
        authority.confirm("d", foreign)  # type: ignore[arg-type]
    with pytest.raises(UnknownConfirm):
        authority.execute("confirm_42c1", work(act(workflow_id=workflow), pytest.fail))
    line = {
        "seq": 0,
        "at": CONFIRM_EXAMPLE["timestamp"],
        "prev": compute_genesis_hash(workflow),
        "record": CONFIRM_EXAMPLE,
    }
    with pytest.raises(Tampered):
        report_chain([hashed(line)])


FOREIGN: dict[str, tuple[dict[str, Json], bool]] = {
    "more members": (CONFIRM_EXAMPLE | {"issuer": "openclaw", "limits": {"until": "Friday", "budget_usd": 7.5}}, True),
    "one of ours": (CONFIRM_EXAMPLE | {"granted_by": GRANTED}, True),
    "a time with an offset": (STOP_EXAMPLE | {"timestamp": "2026-03-19T08:14:10+01:00"}, True),
    "another level of risk": (CONFIRM_EXAMPLE | {"risk_level": "critical"}, True),
    "no time": (STOP_EXAMPLE | {"timestamp": "yesterday"}, False),
    "no limits": ({name: each for name, each in CONFIRM_EXAMPLE.items() if name != "limits"}, False),
    "a scope without a workflow": (CONFIRM_EXAMPLE | {"scope": {"targets": ["a"]}}, False),
    "another result": (RECEIPT_EXAMPLE | {"result": "done"}, False),
    "another type": (RECEIPT_EXAMPLE | {"type": "INTENT"}, False),
    "no type": ({}, False),
    "a time to live as a text": (CONFIRM_EXAMPLE | {"ttl_seconds": "900"}, False),
}


@pytest.mark.parametrize(("document", "is_read"), FOREIGN.values(), ids=FOREIGN)
def test_what_has_the_seeds_members_is_read(document: dict[str, Json], is_read: bool) -> None:
    """Whatever it has beside them, which is kept; a number stays exact."""
    if not is_read:
        with pytest.raises(InputError):
            read_foreign(document)
        return
    found = read_foreign(document)
    assert not found.verified
    if "issuer" in document:
        assert (found.model_extra or {})["issuer"] == "openclaw"
        assert found.limits == {"until": "Friday", "budget_usd": Decimal("7.5")}  # type: ignore[union-attr]


def test_what_is_no_json_is_refused() -> None:
    """Strictly: a name that stands twice is read by nobody."""
    for text in ("{", "[]", '{"type": "STOP", "type": "STOP"}'):
        with pytest.raises(InputError):
            read_foreign(text)


def test_the_examples_are_the_seeds() -> None:
    """To the letter."""
    if not SEED.is_file():
        pytest.skip(f"{SEED} is absent")
    found = [
        json.loads(each) for each in re.findall(r"^\{\n.*?^\}$", SEED.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    ]

    assert found == [CONFIRM_EXAMPLE, STOP_EXAMPLE, RECEIPT_EXAMPLE]
