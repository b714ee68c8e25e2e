"""Every surface with every fault: what the person reads, and what is recorded."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import emitter
from emitter.answers import AnswerRecorder, Reply, ReplyKind
from emitter.cli.stores import OpenDecision
from emitter.decisions import Selected, select_option
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.decisions.principals import Principal
from emitter.decisions.resolution import resolution_to_json
from emitter.errors import BadResolution, EmitterError, StoreFailed, UnknownDecision
from emitter.stores import MemoryStore
from emitter.testing.sample_moments import VALID_MOMENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.stores import NewEntry, StoredEntry

GRACE = Principal("grace")
NOBODY = "0" * 64


class Store(MemoryStore):
    """A store that can be away, from some use of it on."""

    uses_left: float = float("inf")
    loses_replies: bool = False
    stays_away: bool = False

    def __getattribute__(self, name: str) -> Any:
        """Count what is used."""
        if name in {"find", "get_or_create", "append", "events", "entries", "scan", "last_sequence"}:
            self.uses_left -= 1
            if self.uses_left < 0:
                raise StoreFailed("The store is away.")
        return super().__getattribute__(name)

    def get_or_create(self, run_id: str, correlation_id: str, make: Callable[[], NewEntry]) -> StoredEntry:
        """Store an entry; its reply may be lost, and the store away from then on."""
        stored = super().get_or_create(run_id, correlation_id, make)
        if self.loses_replies:
            self.uses_left = 0 if self.stays_away else self.uses_left
            raise StoreFailed("The store is away.")
        return stored


@dataclass
class Office:
    """A decision that Grace answers on a surface, and a fault."""

    fault: str
    offset: float = 0.0
    four_eyes: bool = False
    store: Store = field(default_factory=Store)
    ledger: Ledger = field(init=False)
    pending: PendingDecision = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.store, clock=lambda: time.time() + self.offset)
        self.pending = self.ledger.open(
            VALID_MOMENT, actions=("a", "b", None), expires_in=3600, four_eyes=self.four_eyes
        )

    def begin(self) -> None:
        """Let the fault happen, after the person has seen the question."""
        match self.fault:
            case "answered by another":
                self.ledger.resolve(self.pending.decision_id, Selected(self.pending.digest, 1), principal="ada")
            case "withdrawn":
                self.ledger.withdraw(self.pending.decision_id)
            case "expired":
                self.offset = 7200
                self.ledger.last_sequence()  # records it
            case "store away":
                self.store.uses_left = 0
            case _:
                pass

    def authenticate(self, *_: Any) -> Principal | None:
        """Return who answers."""
        if self.fault == "authenticate raises":
            raise RuntimeError("SECRET of the directory")
        return GRACE

    def may(self, _principal: Principal, _pending: PendingDecision, action: str) -> bool:
        """Return whether they may."""
        if self.fault == "may raises" and action == "answer":
            raise RuntimeError("SECRET of the policy")
        return self.fault != "not allowed" or action == "see"

    def stands(self) -> str:
        """Return how the decision stands."""
        self.store.uses_left = float("inf")
        decision = self.ledger.find(self.pending.decision_id)
        if isinstance(decision, ResolvedDecision):
            return f"{decision.principal or 'somebody'}: {getattr(decision.resolution, 'index', '')}"
        return "closed" if decision.expiry_recorded else "open"


def answer_in_slack(office: Office) -> str:
    """Press the first option's button, and return the message that only Grace sees, or the decision's message."""
    pytest.importorskip("slack_bolt", reason="slack-bolt is not installed")
    from emitter.integrations.slack import SlackApprovals  # noqa: PLC0415
    from tests.integrations.slack_api import ANSWERS, slack_api  # noqa: PLC0415

    with slack_api() as api, pytest.MonkeyPatch.context() as patch:
        app = api.app()
        approvals = SlackApprovals(app, office.ledger, authenticate=office.authenticate, may=office.may)
        approvals.post(office.pending.decision_id, "#releases")
        button = api.button("selected.0")
        if office.fault == "unknown":
            button["block_id"] = f"emitter.decision.{NOBODY}.1"
        if office.fault == "malformed":
            button["value"] = json.dumps({"digest": office.pending.digest, "outcome": "selected", "index": 9})
        if office.fault == "message not updated":
            patch.setitem(ANSWERS, "chat.update", {"ok": False, "error": "ratelimited"})
        office.begin()
        assert api.press(app, button, "UG").status == 200
        notes = [each["text"] for each in api.sent("chat.postEphemeral")]
        return "\n".join(notes) or str(api.message["text"])


def answer_in_inbox(office: Office) -> str:
    """Send the form of the first option, and return the page."""
    testclient = pytest.importorskip("starlette.testclient", reason="starlette or its test client is not installed")

    from emitter.web import inbox  # noqa: PLC0415

    fault, office.fault = office.fault, ""
    app = inbox(office.ledger, authenticate=office.authenticate, may=office.may)
    client = testclient.TestClient(app, base_url="http://testserver", raise_server_exceptions=False)
    path = f"/decisions/{office.pending.reference}"
    shown = client.get(path).text
    fields = {name: re.findall(f'name="{name}" value="([^"]+)"', shown)[0] for name in ("digest", "token")}
    office.fault = fault
    office.begin()
    path = f"/decisions/{NOBODY}" if fault == "unknown" else path
    choice = "option:9" if fault == "malformed" else "option:0"
    page = client.post(path, data={**fields, "choice": choice}, headers={"origin": "http://testserver"}).text
    return " ".join(re.sub(r"<(style|script).*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL).split())


def answer_over_ag_ui(office: Office) -> str:
    """Send a resume entry, and return the text of its reply."""
    core = pytest.importorskip("ag_ui.core", reason="ag-ui-protocol is not installed")
    from emitter.integrations.ag_ui import resolve_entries  # noqa: PLC0415

    may = [] if office.fault == "not allowed" else [office.pending.decision_id, "nothing"]
    payload = True if office.fault == "malformed" else resolution_to_json(select_option(VALID_MOMENT, 0))
    decision_id = "nothing" if office.fault == "unknown" else office.pending.decision_id
    entry = core.ResumeEntry(interrupt_id=decision_id, status="resolved", payload=payload)
    office.begin()
    (reply,) = resolve_entries(office.ledger, [entry], decision_ids=may, principal=GRACE)
    return reply.text


def answer_over_acp(office: Office) -> str:
    """Choose in the dialog of an editor, and return what the session shows after it."""
    acp = pytest.importorskip("acp", reason="agent-client-protocol is not installed")
    from emitter.integrations.acp import request_permission  # noqa: PLC0415

    shown: list[str] = []

    class Editor:
        async def request_permission(self, **_: Any) -> Any:
            office.begin()
            choice = "option:9" if office.fault == "malformed" else "option:0"
            return acp.RequestPermissionResponse.model_validate(
                {"outcome": {"outcome": "selected", "optionId": choice}}
            )

        async def session_update(self, update: Any, **_: Any) -> None:
            if office.fault == "message not updated":
                raise RuntimeError("the client is gone")
            shown.append(update.content.text)

    client: Any = Editor()
    try:
        asyncio.run(request_permission(client, "s1", office.ledger, office.pending, tool_call_id="c1", principal=GRACE))
    except EmitterError as error:  # the agent's program learns of it, too
        assert isinstance(error, (BadResolution, StoreFailed))  # noqa: PT017  some faults raise
    return "\n".join(shown)


def answer_over_mcp(office: Office) -> str:
    """Pass an answer to the tool, and return the message of its result."""
    pytest.importorskip("mcp", reason="mcp is not installed")
    from emitter.mcp.asker import DecisionAsker  # noqa: PLC0415
    from emitter.mcp.server import _resolve, _run_to_result  # noqa: PLC0415  without a transport

    answer = {
        **resolution_to_json(select_option(VALID_MOMENT, 0)),
        **({"index": 9} if office.fault == "malformed" else {}),
    }
    office.begin()
    decision_id = "nothing" if office.fault == "unknown" else office.pending.decision_id
    call = _resolve(DecisionAsker(office.ledger), None, decision_id, answer)
    result = asyncio.run(_run_to_result(call))
    return str(result.content[0].text)


def answer_at_terminal(office: Office) -> str:
    """Record an answer of ``emitter resolve``, and return its error."""
    office.begin()
    answer = Selected(office.pending.digest, 9 if office.fault == "malformed" else 0)
    try:
        OpenDecision(office.ledger, office.pending).record(answer, "terminal", GRACE)
    except EmitterError as error:
        return str(error)
    return ""


SURFACES: dict[str, Callable[[Office], str]] = {
    "Slack": answer_in_slack,
    "inbox": answer_in_inbox,
    "AG-UI": answer_over_ag_ui,
    "ACP": answer_over_acp,
    "MCP": answer_over_mcp,
    "terminal": answer_at_terminal,
}
FAULTS: dict[str, tuple[str, str]] = {
    "store away": ("store.* (away|cannot be reached|not available)", "open"),
    "authenticate raises": ("could not check who you are", "open"),
    "may raises": ("could not check who you are", "open"),
    "not allowed": ("may not answer", "open"),
    "answered by another": ("ada answered: Birch the release", "ada: 1"),
    "withdrawn": ("The agent withdrew this decision", "closed"),
    "expired": ("This decision has expired", "closed"),
    "unknown": ("(?i)no (such decision|decision has this id)", "open"),
    "malformed": ("(?i)no option|choose an option|not offered|not the wire form|must be|not plain|option", "open"),
    "message not updated": ("", "grace: 0|somebody: 0"),
}
"""What the person reads, and how the decision stands then."""
WITHOUT: dict[str, set[str]] = {
    "AG-UI": {"authenticate raises", "may raises"},
    "ACP": {"authenticate raises", "may raises", "not allowed", "unknown"},
    "MCP": {"authenticate raises", "may raises", "not allowed"},
    "terminal": {"authenticate raises", "may raises", "not allowed", "unknown"},
}
"""Faults that a surface cannot have: it authenticates nobody, or was given the decision."""
TABLE = [(surface, fault) for surface in SURFACES for fault in FAULTS if fault not in WITHOUT.get(surface, ())]


@pytest.mark.parametrize(("surface", "fault"), TABLE, ids=[f"{surface}: {fault}" for surface, fault in TABLE])
def test_the_person_reads_what_became_of_their_answer(surface: str, fault: str) -> None:
    """Whatever fails, they read why in words, without a secret; only what the table says is recorded."""
    office = Office(fault)
    read = SURFACES[surface](office)
    words, stands = FAULTS[fault]

    assert re.search(words, read), read
    assert re.fullmatch(stands, office.stands())
    assert "SECRET" not in read
    assert not re.search("You (chose|have answered)", read) or fault == "message not updated"


@pytest.mark.skipif(find_spec("slack_bolt") is None, reason="slack-bolt is not installed")
def test_a_message_that_is_not_updated_is_reported() -> None:
    """The answer counts, and the person reads that its message does not show it."""
    read = answer_in_slack(Office("message not updated"))

    assert "Your answer is recorded." in read
    assert "could not be updated" in read


@pytest.mark.parametrize("uses", range(40))
def test_a_store_that_fails_in_between_is_reported(uses: int) -> None:
    """At whichever use it fails, the reply is true: it never says that an answer counts or is lost if it may not be."""
    office = Office("")
    office.store.uses_left = uses
    answers = AnswerRecorder(office.ledger, "test")
    reply = answers.receive(
        lambda: office.ledger.find(office.pending.decision_id), GRACE, lambda: select_option(VALID_MOMENT, 0)
    )
    stands = office.stands()

    if reply.kind is ReplyKind.RECORDED:
        assert stands == "grace: 0"
    else:
        assert reply.kind in {ReplyKind.UNAVAILABLE, ReplyKind.ANSWERED}
        assert stands == "open" or "was not recorded" not in reply.text
    again = answers.record(office.pending, GRACE, lambda: select_option(VALID_MOMENT, 0))
    assert again.kind in {ReplyKind.RECORDED, ReplyKind.REPEATED}


@pytest.mark.parametrize("is_back", [True, False], ids=["comes back", "stays away"])
@pytest.mark.parametrize("four_eyes", [False, True], ids=["one person", "two people"])
def test_an_answer_whose_confirmation_is_lost_is_not_called_lost(*, is_back: bool, four_eyes: bool) -> None:
    """It was stored, so the reply says so, or that it is not certain."""
    office = Office("", four_eyes=four_eyes)
    office.store.loses_replies = True
    office.store.stays_away = not is_back
    answers = AnswerRecorder(office.ledger, "test")
    reply = answers.record(office.pending, GRACE, lambda: select_option(VALID_MOMENT, 0))
    office.store.loses_replies = False
    stands = office.stands()

    assert stands == ("open" if four_eyes else "grace: 0")
    assert [each.principal for each in office.ledger.first_approvals(office.pending.decision_id)] == [
        "grace"
    ] * four_eyes
    assert "was not recorded" not in reply.text
    assert reply.counts if is_back and not four_eyes else "not certain" in reply.text


def test_who_may_not_answer_learns_nothing() -> None:
    """Neither who answered nor what, also if authentication fails."""
    for fault in ("authenticate raises", "may raises", "not allowed"):
        office = Office("answered by another")
        office.begin()
        office.fault = fault
        answers = AnswerRecorder(office.ledger, "test", office.may)
        reply = answers.admit(partial(office.ledger.find, office.pending.decision_id), office.authenticate)

        assert isinstance(reply, Reply)
        assert reply.kind in {ReplyKind.FAILED, ReplyKind.NOT_ALLOWED}
        assert "ada" not in reply.text


def test_surfaces_record_answers_in_one_way() -> None:
    """A second way would have faults of its own."""
    package = Path(emitter.__file__).parent
    files = [each for name in ("web", "mcp", "integrations") for each in (package / name).rglob("*.py")]
    calls = re.compile(r"import .*record_answer|[Ll]edger\.(resolve|approve)\b")
    code = {
        each.name: re.sub(r'"""[\s\S]*?"""|"[^"\n]*"', "", each.read_text("utf-8"))
        for each in [*files, package / "cli/stores.py"]
    }

    assert [name for name, text in code.items() if calls.search(text)] == []


def test_an_unknown_decision_is_none() -> None:
    """The reply has no decision, so that nothing is drawn for it."""

    def find() -> PendingDecision:
        raise UnknownDecision("There is none.")

    reply = AnswerRecorder(Ledger(), "test").receive(find, None, lambda: select_option(VALID_MOMENT, 0))
    assert (reply.kind, reply.decision, reply.counts) == (ReplyKind.UNKNOWN, None, False)
