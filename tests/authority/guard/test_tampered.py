"""What somebody wrote into the store is found out, and nothing is done by it.

Who can write into a store that nobody signs can also write an approval into it; what is shown here is that no single
record can be changed, swapped or put before, and that what was approved cannot be made to mean something else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.decisions import digest, parse_moment, select_option
from emitter.decisions.ledger_entries import decision_reference
from emitter.errors import ApprovalPending, OtherCall, StoreFailed, Tampered
from emitter.stores import SqliteStore
from tests.authority.guard.parts import CEO, MOM, Post, kept, leave, resolved
from tests.stores.making import edited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

INDEX, SHELF, LEDGER = "emitter.authority", "emitter.proposals", "emitter.ledger"


@dataclass
class Office:
    """An authority whose store somebody else can write into, with two calls under way, ``c1`` and ``c2``."""

    file: Path
    store: SqliteStore
    post: Post = field(default_factory=Post)

    def authority(self) -> Authority:
        """Return it as after a restart."""
        return Authority(self.store)

    def call(self, call_id: str = "c1", to: str = MOM) -> Any:
        """Make a call, as after a restart."""
        return self.authority().guard(self.post.send_email).call(call_id, to)

    def begin(self, call_id: str, to: str) -> str:
        """Come to where a call waits; return its decision."""
        with pytest.raises(ApprovalPending) as waiting:
            self.call(call_id, to)
        return waiting.value.decision_id

    def known(self, call_id: str = "c1") -> Any:
        """Return what stands under a call's id."""
        return kept(self.authority(), call_id)

    def edit(self, run: str, name: str, change: Callable[[Any], Any]) -> None:
        """Write into the file."""
        with edited(self.file) as connection:
            place = (run, name)
            found = "SELECT entry FROM entries WHERE run_id = ? AND correlation_id = ?"
            entry = json.loads(connection.execute(found, place).fetchone()[0])
            change(entry)
            text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
            connection.execute("UPDATE entries SET entry = ? WHERE run_id = ? AND correlation_id = ?", (text, *place))


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """Return one in which both calls wait."""
    file = tmp_path / "store.db"
    with SqliteStore(file, timeout=20) as store:
        made = Office(file, store)
        for call_id, to in {"c1": MOM, "c2": CEO}.items():
            made.begin(call_id, to)
        yield made


def in_call(name: str, of: Callable[[Office], Any]) -> Callable[[Office], None]:
    """Return what changes a member of what stands under the call's id."""
    return lambda office: office.edit(
        INDEX, "call:c1", lambda entry: entry["outcome"]["value"].update({name: of(office)})
    )


def in_document(change: Callable[[dict[str, Any]], Any]) -> Callable[[Office], None]:
    """Return what changes the proposal that is served."""

    def edit(entry: Any) -> None:
        document = json.loads(entry["envelope"]["document"])
        change(document)
        entry["envelope"]["document"] = json.dumps(document, separators=(",", ":"))

    return lambda office: office.edit(SHELF, f"s256:{office.known()['r3_s256']}", edit)


def in_decision(change: Callable[[Any], Any], *, hashed: bool = False) -> Callable[[Office], None]:
    """Return what changes the decision about the call; ``hashed``, its digest is made to fit."""

    def edit(entry: Any) -> None:
        change(entry)
        if hashed:
            entry["outcome"]["digest"] = digest(parse_moment(entry["envelope"]["binding_moment"]))  # type: ignore[arg-type]

    return lambda office: office.edit(LEDGER, f"opened:{decision_reference(office.known()['decision_id'])}", edit)


def _to_dad(entry: Any) -> None:
    findings = entry["envelope"]["binding_moment"]["findings"]
    findings[0] = findings[0].replace(MOM, "dad@x.org")


def _relabelled(entry: Any) -> None:
    options = entry["envelope"]["binding_moment"]["question"]["options"]
    options[0]["label"], options[1]["label"] = options[1]["label"], options[0]["label"]


def _other_option(entry: Any) -> None:
    entry["outcome"]["actions"].reverse()


def _both_options(entry: Any) -> None:
    entry["outcome"]["actions"] = [entry["outcome"]["actions"][0]] * 2


def swapped_resolution(office: Office) -> None:
    """Put the answer about another call in the place of the one about this."""
    authority = office.authority()
    for call_id, says in {"c1": leave, "c2": lambda pending: select_option(pending.moment, 0)}.items():
        resolved(authority, office.known(call_id)["decision_id"], says)
    other = office.store.find(LEDGER, f"closed:{decision_reference(office.known('c2')['decision_id'])}")
    assert other is not None
    reported = dict(other.outcome)
    office.edit(
        LEDGER,
        f"closed:{decision_reference(office.known()['decision_id'])}",
        lambda entry: entry.update(outcome=reported),
    )


_EITHER = (Tampered, StoreFailed)
"""The envelope does not tell the call; or, once it was resolved, it is not the one that was."""

EDITS: dict[str, tuple[Callable[[Office], None], Any]] = {
    "the call's proposal, for that of another call": (
        in_call("r3_s256", lambda office: office.known("c2")["r3_s256"]),
        OtherCall,
    ),
    "the call's proposal, for one that is not there": (in_call("r3_s256", lambda _: "A" * 43), Tampered),
    "the call's terms": (in_call("request", lambda _: f"sha256:{'0' * 64}"), OtherCall),
    "the call's terms, for those of another call": (
        in_call("request", lambda office: office.known("c2")["request"]),
        OtherCall,
    ),
    "a member of the call": (
        lambda office: office.edit(INDEX, "call:c1", lambda entry: entry["outcome"]["value"].pop("workflow_id")),
        Tampered,
    ),
    "what kind a member is of": (in_call("decision_id", lambda _: 5), Tampered),
    "the call's workflow": (in_call("workflow_id", lambda _: "another"), OtherCall),
    "the call's decision, for that of another call": (
        in_call("decision_id", lambda office: office.known("c2")["decision_id"]),
        Tampered,
    ),
    "the whole call, for another": (
        lambda office: office.edit(
            INDEX, "call:c1", lambda entry: entry["outcome"].update(value=dict(office.known("c2")))
        ),
        OtherCall,
    ),
    "a parameter of the proposal": (in_document(lambda reported: reported["parameters"].update(to=CEO)), Tampered),
    "the display": (in_document(lambda reported: reported["display"].update(summary="Nothing much.")), Tampered),
    "the display's detail": (in_document(lambda reported: reported["display"].update(detail="## Action")), Tampered),
    "the operation of the proposal": (
        in_document(lambda reported: reported["operations"][0].update(tool="x")),
        Tampered,
    ),
    "a member more in the proposal": (in_document(lambda reported: reported.update(note="x")), Tampered),
    "the envelope": (in_decision(_to_dad), StoreFailed),
    "the envelope, with its digest": (in_decision(_to_dad, hashed=True), _EITHER),
    "the labels, with the digest": (in_decision(_relabelled, hashed=True), _EITHER),
    "the option that makes the call": (in_decision(_other_option), Tampered),
    "what the other option does": (in_decision(_both_options), Tampered),
    "what the option does": (in_decision(lambda entry: entry["outcome"].update(actions=[None, None])), Tampered),
    "the resolution, for that of another envelope": (swapped_resolution, StoreFailed),
}


@pytest.mark.parametrize("stage", ["waiting", "approved"])
@pytest.mark.parametrize(("edit", "error"), EDITS.values(), ids=EDITS)
def test_an_edited_record_authorizes_nothing(
    office: Office, edit: Callable[[Office], None], error: Any, stage: str
) -> None:
    """Whatever was approved before or after the edit; each is refused for its own reason."""
    if stage == "approved" and edit is not swapped_resolution:
        for call_id in ("c1", "c2"):
            resolved(office.authority(), office.known(call_id)["decision_id"])
    edit(office)

    with pytest.raises(error):
        office.call()

    assert office.post.sent == []


def number_of(office: Office, kind: str) -> tuple[str, str]:
    """Return where the line of a kind stands."""
    workflow_id = office.known()["workflow_id"]
    kinds = [each["record"]["type"] for each in office.authority().lines(workflow_id)]
    return f"{INDEX}:{workflow_id}", str(kinds.index(kind))


LINES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "the confirm's target": ("CONFIRM", lambda entry: entry["outcome"]["record"]["scope"].update(targets=["ceo"])),
    "the confirm's limits": ("CONFIRM", lambda entry: entry["outcome"]["record"]["limits"].update(budget_usd=9)),
    "the intent's target": ("INTENT", lambda entry: entry["outcome"]["record"].update(target="ceo")),
    "the receipt's result": ("RECEIPT", lambda entry: entry["outcome"]["record"].update(result="failure")),
    "the receipt's act": ("RECEIPT", lambda entry: entry["outcome"]["record"].update(intent_ref="c2")),
    "the receipt's time": ("RECEIPT", lambda entry: entry["outcome"].update(at="2020-01-01T00:00:00.000Z")),
    "the receipt's place": ("RECEIPT", lambda entry: entry["outcome"].update(seq=7)),
    "what is retained": ("RECEIPT", lambda entry: entry["envelope"]["kept"].update(value=2)),
    "that something is retained": ("RECEIPT", lambda entry: entry["envelope"].clear()),
    "the hash of what is retained": (
        "RECEIPT",
        lambda entry: entry["outcome"]["record"].update(retained=f"sha256:{'0' * 64}"),
    ),
}


@pytest.mark.parametrize(("kind", "change"), LINES.values(), ids=LINES)
def test_an_edited_line_is_found_by_whoever_reads_it(office: Office, kind: str, change: Callable[[Any], Any]) -> None:
    """The call was made, and is answered again from what was retained: not where any of it was edited."""
    resolved(office.authority(), office.known()["decision_id"])
    assert office.call() == office.call() == 1
    office.edit(*number_of(office, kind), change)

    with pytest.raises(Tampered):
        office.call()

    assert len(office.post.sent) == 1


def test_lines_do_not_change_places(office: Office) -> None:
    """Nor does one stand twice."""
    resolved(office.authority(), office.known()["decision_id"])
    office.call()
    run, number = number_of(office, "INTENT")
    receipt = office.store.find(run, str(int(number) + 1))
    assert receipt is not None
    office.edit(run, number, lambda entry: entry.update(type=receipt.type, outcome=dict(receipt.outcome)))

    with pytest.raises(Tampered):
        office.call()
    assert len(office.post.sent) == 1
