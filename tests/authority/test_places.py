"""What may stand at a place: a chain that somebody forged whole is refused, and none that the library wrote is."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.authority import Authority, StopRequest
from emitter.authority.audit import read_lines, report_chain
from emitter.errors import AuthorityError, InputError, Tampered
from emitter.stores import MemoryStore
from tests.authority.execution.making import S256, act, asked, granted, work
from tests.authority.lived import TYPES, Document, chain, forged, text
from tests.decisions.ledger.asking import Hand

if TYPE_CHECKING:
    from collections.abc import Callable


def moved(lines: list[Document], old: int, new: int) -> list[Document]:
    """Let a line stand elsewhere, at the time of its new place."""
    line = lines.pop(old)
    line["at"] = lines[new - 1]["at"]
    if line["record"]["type"] != "CONFIRM":
        line["record"]["timestamp"] = line["at"]
    lines.insert(new, line)
    return lines


def reported(lines: list[Document], number: int, **members: Any) -> list[Document]:
    """Let a record say something else; None takes a member out."""
    record = lines[number]["record"] | members
    lines[number]["record"] = {name: each for name, each in record.items() if each is not None}
    return lines


def added(lines: list[Document], number: int, **members: Any) -> list[Document]:
    """Add a record like another one, at the end."""
    line, at = lines[number], lines[-1]["at"]
    timed = {} if line["record"]["type"] == "CONFIRM" else {"timestamp": at}
    return [*lines, {**line, "at": at, "record": {**line["record"], **timed, **members}}]


def terms(lines: list[Document], number: int, **members: Any) -> list[Document]:
    """Let what was approved be something else too, as a digest of the terms that are granted."""
    granted = {**lines[number]["record"], **members}
    names = ("scope", "limits", "ttl_seconds", "revocable", "risk_level", "call")
    request = asked(**{name: granted[name] for name in names if name in granted})
    granted["granted_by"] = {**granted["granted_by"], "request": request.digest}
    lines[number]["record"] = granted
    return lines


CALL = {"r3_s256": S256, "call_id": "c"}
STEP = {"workflow_id": "w", "step_ids": ["a"]}
READ = {"workflow_id": "w", "capabilities": ["read"]}
PART = {"request_id": "s", "stop_scope": "step", "step_id": "a"}
OVER = {"request_id": "s", "takeover_mode": "delegate_to_other_agent", "delegate_to": "bob"}
LATE = "2027-01-15T09:00:00.000Z"
MIGHT = "was not allowed at its position"
FORGED: dict[str, tuple[Callable[[list[Document]], list[Document]], int, str]] = {
    "an act that nobody confirmed": (lambda it: it[1:2], 0, "This workflow has no confirm with this id"),
    "an act before its confirm": (lambda it: moved(it, 0, 1), 0, "This workflow has no confirm with this id"),
    "an act by another's confirm": (
        lambda it: reported(it, 1, authorization_ref="x"),
        1,
        "This workflow has no confirm with this id",
    ),
    "an act after the revocation": (lambda it: moved([it[0], it[1], it[3]], 1, 2), 2, "The confirm was revoked"),
    "an act by a revoked confirm": (
        lambda it: reported(it, 12, authorization_ref=it[0]["record"]["confirm_id"]),
        12,
        "The confirm was revoked",
    ),
    "an act while all is stopped": (lambda it: moved(it, 12, 6), 6, "The workflow or this step was stopped"),
    "an act of a stopped step": (
        lambda it: added(added(it, 5, **PART), 12, intent_id="again", step_id="a"),
        14,
        "The workflow or this step was stopped",
    ),
    "an act by another than the delegate": (
        lambda it: added(added(it, 5, **OVER), 12, intent_id="again"),
        14,
        "The workflow or this step was stopped",
    ),
    "an act by what the stop killed": (
        lambda it: reported(it, 12, authorization_ref=it[4]["record"]["confirm_id"]),
        12,
        "The workflow was stopped after this confirm",
    ),
    "an act after the time": (
        lambda it: [*it[:12], {**it[12], "at": LATE}],
        12,
        "The record's timestamp differs from its line's",
    ),
    "an act too late": (
        lambda it: reported([*it[:12], {**it[12], "at": LATE}], 12, timestamp=LATE),
        12,
        "The confirm has expired",
    ),
    "an act on another target": (
        lambda it: reported(it, 8, target="ceo"),
        8,
        "The confirm does not cover this workflow, step, target or capability",
    ),
    "an act of another step": (
        lambda it: reported(terms(it, 7, scope=STEP), 8, step_id="b"),
        8,
        "The confirm does not cover this workflow, step, target or capability",
    ),
    "an act of another capability": (
        lambda it: reported(terms(it, 0, scope=READ), 1, capability="purchase"),
        1,
        "The confirm does not cover this workflow, step, target or capability",
    ),
    "an act riskier than approved": (
        lambda it: reported(terms(it, 7, risk_level="low"), 8, risk_level="high"),
        8,
        "The action's risk level is higher than the approved one",
    ),
    "an act over the budget": (
        lambda it: reported(it, 1, spends={"budget_usd": 801}),
        1,
        "The action would use more budget_usd than the 800 left",
    ),
    "an act that hides its price": (
        lambda it: reported(it, 1, spends={}),
        1,
        "The action does not state how much of budget_usd it uses",
    ),
    "an act that spends another coin": (
        lambda it: reported(it, 8, spends={"budget_eur": 1}),
        8,
        "The action uses budget_eur, which was not granted",
    ),
    "an act too many": (
        lambda it: terms(it, 0, limits={"max_side_effects": 0, "budget_usd": 800}),
        1,
        "The action would use more max_side_effects than the 0 left",
    ),
    "an act twice": (lambda it: added(it, 12), 13, "The record is already in the chain"),
    "an act of another call": (lambda it: terms(it, 0, call=CALL), 1, "The confirm is for a different call"),
    "a call made twice": (
        lambda it: added(reported(terms(it, 11, call=CALL), 12, call=CALL), 12, intent_id="again"),
        13,
        "The confirm was for one call, which was already made",
    ),
    "a confirm wider than approved": (
        lambda it: reported(it, 0, limits={"budget_usd": 900}),
        0,
        "The confirm does not match the chosen option",
    ),
    "a confirm of longer life": (
        lambda it: reported(it, 0, ttl_seconds=601),
        0,
        "The confirm does not match the chosen option",
    ),
    "a confirm twice": (lambda it: added(it, 11), 13, "The record is already in the chain"),
    "a decision that grants twice": (
        lambda it: added(it, 11, confirm_id="more"),
        13,
        "The decision already granted another confirm",
    ),
    "a confirm of the future": (
        lambda it: reported(it, 11, timestamp=LATE),
        11,
        "The approval's time is in the future",
    ),
    "a confirm from before the stop": (
        lambda it: moved([*it[:1], *it[3:7]], 0, 4)[1:],
        3,
        "The workflow was stopped after this approval",
    ),
    "a confirm while all is stopped": (lambda it: moved(it, 11, 6), 6, "The workflow or this step was stopped"),
    "a confirm too old": (
        lambda it: reported(it, 11, timestamp="2027-01-15T08:00:22.000Z") and terms(it, 11, ttl_seconds=60),
        11,
        "The approval had expired",
    ),
    "a revocation of nothing": (
        lambda it: reported(it, 3, confirm_id="x"),
        3,
        "This workflow has no confirm with this id",
    ),
    "a revocation twice": (lambda it: added(it, 3, revoke_id="more"), 13, "The confirm was already revoked"),
    "a revocation that nobody may make": (
        lambda it: terms(it, 0, revocable=False),
        3,
        "The confirm was granted as not revocable",
    ),
    "an end twice": (lambda it: added(it, 10), 13, "The record is already in the chain"),
    "a stop twice": (lambda it: added(it, 5), 13, "The record is already in the chain"),
    "a resumption of nothing": (
        lambda it: reported(it, 6, request_id="x"),
        6,
        "This workflow has no active stop with this id",
    ),
    "a resumption twice": (lambda it: added(it, 6), 13, "This workflow has no active stop with this id"),
    "a resumption of what is final": (
        lambda it: reported(it, 5, takeover_mode=None),
        6,
        "The stop is final, or control was delegated to another agent",
    ),
    "a receipt of nothing": (lambda it: reported(it, 2, intent_ref="x"), 2, "The receipt's action never began"),
    "a receipt before its act": (lambda it: moved(it, 2, 1), 1, "The receipt's action never began"),
    "a receipt twice": (lambda it: added(it, 2, receipt_id="more"), 13, "The record is already in the chain"),
    "a receipt's id twice": (
        lambda it: added(it, 2, intent_ref="killed", receipt_id=it[2]["record"]["receipt_id"]),
        13,
        "The record is already in the chain",
    ),
    "a receipt of another target": (
        lambda it: reported(it, 2, target="ceo"),
        2,
        "The receipt does not match the action's intent",
    ),
    "a receipt of another action": (
        lambda it: reported(it, 2, action="read"),
        2,
        "The receipt does not match the action's intent",
    ),
    "a receipt of another step": (
        lambda it: reported(it, 2, step_id="a"),
        2,
        "The receipt does not match the action's intent",
    ),
    "a receipt of another actor": (
        lambda it: reported(it, 2, actor="bob"),
        2,
        "The receipt does not match the action's intent",
    ),
    "a receipt by another's confirm": (
        lambda it: reported(it, 2, authorization_ref="x"),
        2,
        "The receipt does not match the action's intent",
    ),
    "a receipt of another time": (
        lambda it: reported(it, 2, timestamp=LATE),
        2,
        "The record's timestamp differs from its line's",
    ),
    "a stop of another time": (
        lambda it: reported(it, 5, timestamp=LATE),
        5,
        "The record's timestamp differs from its line's",
    ),
}


@pytest.mark.parametrize(("forge", "number", "reason"), FORGED.values(), ids=FORGED.keys())
def test_a_forged_chain_is_refused(forge: Callable[[list[Document]], list[Document]], number: int, reason: str) -> None:
    """All of its hashes hold, and what one line says was never allowed where it stands."""
    with pytest.raises(Tampered) as refused:
        report_chain(forged(forge(chain())))

    message = str(refused.value)
    assert (refused.value.place, MIGHT in message, reason in message) == (f"line {number}", True, True), message


def test_what_is_forged_is_else_as_it_was() -> None:
    """The table above says something only because a chain whose hashes are made anew holds."""
    assert report_chain(forged(chain())).head == chain()[-1]["hash"]
    assert report_chain(forged(terms(chain(), 0, limits={"budget_usd": 742, "max_side_effects": 1}))).lines == len(
        TYPES
    )


def test_an_intent_has_all_that_it_was_authorized_by() -> None:
    """Else nobody could check it anew: its kind of tool, its risk, and what it takes of each limit."""
    intent = chain()[1]["record"]

    assert (intent["capability"], intent["risk_level"]) == ("purchase", "high")
    assert intent["spends"] == {"budget_usd": 742, "max_side_effects": 1}


STEPS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 40)), max_size=30)
MODES = (None, "pause", "human", "delegate_to_other_agent")


@dataclass
class Life:
    """A workflow that goes on by numbers."""

    skew: float
    clock: Hand = field(default_factory=Hand)
    confirms: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.authority = Authority(MemoryStore(), clock=self.clock, max_skew=self.skew)
        self.grant(0)

    def go(self, which: int, about: int, seconds: int) -> None:
        """Take a step; nothing forbids that it is refused."""
        confirm_id, step = self.confirms[about % len(self.confirms)], (None, "a", "b")[about % 3]
        match which:
            case 0 | 1:
                self.grant(about)
            case 2 | 3 | 4:
                spends = {"budget_usd": about} if about else {}
                self.authority.execute(confirm_id, work(act(f"{about}{seconds}", spends=spends, step_id=step)))
            case 5:
                self.authority.revoke(confirm_id)
            case 6:
                delegate = "agent" if about == MODES.index("delegate_to_other_agent") else None
                self.authority.stop(StopRequest("w", step, MODES[about], delegate, request_id=f"{about}"))
            case 7:
                self.authority.resume("w", f"{about}")
            case _:
                self.clock.now += seconds - 10

    def grant(self, about: int) -> None:
        """Have something granted."""
        limits = {"budget_usd": 9} if about else {}
        self.confirms.append(granted(self.authority, ttl_seconds=30, limits=limits).confirm_id)


@given(STEPS, st.sampled_from([0.0, 7.0]))
@settings()
def test_what_the_library_writes_holds(steps: list[tuple[int, int, int]], skew: float) -> None:
    """Whatever is done in whichever order, by a clock that may go back: the report says what the authority says."""
    life = Life(skew)
    for each in steps:
        with suppress(AuthorityError, InputError):
            life.go(*each)
    found = report_chain(read_lines(text(list(life.authority.lines("w")))), workflow_id="w", max_skew=skew)

    assert found.confirms == tuple(map(life.authority.get_grant, life.confirms))
    assert found.unfinished == life.authority.unfinished_actions("w")
