"""Slack through its own SDK: what is posted, who may press, and what an answer leaves in the message."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.decisions import Dialogue, FreeText, Selected
from emitter.decisions.ledger import Ledger
from emitter.decisions.ledger_entries import PendingDecision, ResolvedDecision
from emitter.decisions.principals import Principal
from emitter.errors import BadResolution, InputError, UnknownDecision
from emitter.stores import MemoryStore
from emitter.testing.sample_moments import VALID_MOMENT
from tests.authority.guard.approvals import STATES, Call

slack_bolt = pytest.importorskip("slack_bolt", reason="slack-bolt is not installed")
from emitter.integrations.slack import SlackApprovals  # noqa: E402
from tests.integrations.slack_api import SlackApi, slack_api  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slack_bolt import App

PEOPLE = {f"U{number}": Principal(name) for number, name in enumerate(["nobody", "alice", "bob", "carol"])}


class Office:
    """A Bolt app with a ledger, and a decision that it posted."""

    def __init__(self, api: SlackApi, **opened: Any) -> None:
        self.api, self.ledger, self.app = api, Ledger(MemoryStore()), api.app()
        self.approvals = SlackApprovals(
            self.app,
            self.ledger,
            authenticate=lambda user: PEOPLE.get(str(user["id"])),
            may=lambda principal, _, action: principal.id != "carol" and action == "answer",
        )
        self.pending = self.ledger.open(VALID_MOMENT, **{"actions": ("a", "b", None), **opened})
        self.message = self.approvals.post(self.pending.decision_id, "#releases")

    @property
    def stands(self) -> PendingDecision | ResolvedDecision:
        """The decision as it stands."""
        return self.ledger.find(self.pending.decision_id)

    def press(self, action_id: str, user: str = "U1", app: App | None = None) -> int:
        """Press a button, and return the status of the response."""
        status: int = self.api.press(app or self.app, self.api.button(action_id), user).status
        return status


@pytest.fixture
def api() -> Iterator[SlackApi]:
    """Run a Slack of the test's own."""
    with slack_api() as found:
        yield found


def buttons(message: dict[str, Any]) -> int:
    """Count the buttons of a message."""
    return json.dumps(message).count('"button"')


def test_a_press_is_an_answer(api: SlackApi) -> None:
    """It is recorded by name, and the message shows it and has no buttons any more."""
    office = Office(api)
    posted = buttons(api.message)
    status = office.press("selected.1")
    stands = office.stands

    assert (status, posted, buttons(api.message)) == (200, 5, 0)
    assert isinstance(stands, ResolvedDecision)
    assert (stands.principal, stands.channel, stands.action) == ("alice", "slack", "b")
    assert api.message["blocks"][-1]["text"]["text"] == (
        "This decision was answered by alice: option 2, Birch the release. "
        "Nothing yet. The call is approved, and waits for the agent to make it."
    )
    assert (api.message["channel"], api.message["ts"]) == ("C1", office.message.ts)


def test_a_long_call_is_read_whole_behind_a_button(api: SlackApi) -> None:
    """Whoever may answer reads all that is approved; the press answers nothing."""
    office = Office(api)
    moment = VALID_MOMENT.model_copy(update={"findings": ("x " * 20_000 + "DROP TABLE customers;",)})
    office.pending = office.ledger.open(moment)
    office.approvals.post(office.pending.decision_id, "#releases")
    status = office.press("whole")

    assert status == 200
    assert "DROP TABLE customers;" in json.dumps(api.sent("views.open")[-1]["view"])
    assert office.stands == office.pending


WORDS: dict[str, tuple[str, str | None, Any]] = {
    "own words": ("free_text", "Wait.", FreeText),
    "an objection": ("dialogue", "Why?", Dialogue),
    "no objection": ("dialogue", None, Dialogue),
}


@pytest.mark.parametrize(("veto", "words", "kind"), WORDS.values(), ids=WORDS.keys())
def test_a_veto_asks_for_words_in_a_modal(api: SlackApi, veto: str, words: str | None, kind: Any) -> None:
    """The press records nothing; the submission does, and the words stay out of the channel."""
    office = Office(api)
    office.press(veto)
    still = office.stands
    response = api.submit(office.app, words, "U2")
    stands = office.stands

    assert isinstance(still, PendingDecision)
    assert response.status == 200
    assert isinstance(stands, ResolvedDecision)
    assert stands.resolution == kind(office.pending.digest, words or "")
    assert stands.principal == "bob"
    assert buttons(api.message) == 0
    assert words is None or words not in json.dumps(api.message)


def test_words_that_are_none_are_said_at_the_field(api: SlackApi) -> None:
    """The modal stays open."""
    office = Office(api)
    office.press("free_text")
    response = api.submit(office.app, "  ")

    assert json.loads(response.body)["response_action"] == "errors"
    assert "no visible" in json.loads(response.body)["errors"]["words"]
    assert office.stands == office.pending


@pytest.mark.parametrize("user", ["U3", "U9"], ids=["without the right", "unknown"])
def test_who_may_not_answer_is_reported(api: SlackApi, user: str) -> None:
    """By a message that only they see; nothing is recorded, and no modal opens."""
    office = Office(api)
    office.press("selected.0", user)
    office.press("free_text", user)

    assert [each["user"] for each in api.sent("chat.postEphemeral")] == [user, user]
    assert api.sent("views.open") == []
    assert office.stands == office.pending


def test_a_modal_of_who_may_not_answer_records_nothing(api: SlackApi) -> None:
    """Also if somebody else opened it."""
    office = Office(api)
    office.press("free_text")
    api.submit(office.app, "Mine.", "U3")

    assert office.stands == office.pending


def test_two_people_approve_what_needs_four_eyes(api: SlackApi) -> None:
    """The message says who was first and keeps its buttons; the second press ends it."""
    office = Office(api, four_eyes=True)
    office.press("selected.0", "U1")
    first = json.dumps(api.message), buttons(api.message)
    office.press("selected.0", "U1")
    still = office.stands
    office.press("selected.0", "U2")

    assert "alice approved option 1." in first[0]
    assert first[1] == 5
    assert isinstance(still, PendingDecision)
    assert isinstance(office.stands, ResolvedDecision)
    assert "answered by bob, after alice had approved it" in json.dumps(api.message)


def test_another_process_takes_the_answer(api: SlackApi) -> None:
    """The message names its decision: the app that reads the press need not be the one that posted it."""
    office = Office(api)
    other = api.app()
    SlackApprovals(other, Ledger(office.ledger.store), authenticate=lambda _: PEOPLE["U2"])
    office.press("selected.0", app=other)

    assert office.stands.principal == "bob"  # type: ignore[union-attr]


def test_a_late_press_says_so_and_updates_the_message(api: SlackApi) -> None:
    """After an answer elsewhere, and after the agent withdrew it."""
    for end in ("answer", "withdraw"):
        office = Office(api)
        button = api.button("selected.0")
        if end == "answer":
            office.ledger.resolve(office.pending.decision_id, Selected(office.pending.digest, 2), principal="web")
        else:
            office.ledger.withdraw(office.pending.decision_id)
        stands = office.stands
        api.press(office.app, button)

        assert "closed already" in api.sent("chat.postEphemeral")[-1]["text"]
        assert buttons(api.message) == 0
        assert office.stands == stands


def test_a_message_is_brought_up_to_date(api: SlackApi) -> None:
    """For an answer in the inbox."""
    office = Office(api)
    office.ledger.resolve(office.pending.decision_id, Selected(office.pending.digest, 2), principal="alice@inbox")
    office.approvals.update(office.message)

    assert "answered by alice@inbox" in json.dumps(api.message)


@pytest.mark.parametrize("how", [how for how, (state, _) in STATES.items() if state.label.startswith("approved")])
def test_a_message_says_what_became_of_an_approval(api: SlackApi, how: str) -> None:
    """Whenever it is brought up to date."""
    state, make = STATES[how]
    office = Office(api)
    decision_id = make(Call(office.ledger.store))
    office.approvals.update(replace(office.message, decision_id=decision_id))

    assert state.deed in json.dumps(api.message)


def test_only_open_decisions_are_posted(api: SlackApi) -> None:
    """Others have nothing to press."""
    office = Office(api)
    office.ledger.withdraw(office.pending.decision_id)
    with pytest.raises(BadResolution):
        office.approvals.post(office.pending.decision_id, "C1")
    with pytest.raises(UnknownDecision):
        office.approvals.post("nothing", "C1")


FORGED: dict[str, dict[str, Any]] = {
    "another secret": {"secret": "another"},
    "an old request": {"age": 301},
    "no signature": {"x-slack-signature": ""},
    "another body's signature": {"x-slack-signature": f"v0={'0' * 64}"},
}


@pytest.mark.parametrize("headers", FORGED.values(), ids=FORGED.keys())
def test_a_forged_request_is_refused(api: SlackApi, headers: dict[str, Any]) -> None:
    """Before it reaches the ledger."""
    office = Office(api)
    response = api.press(office.app, api.button("selected.0"), **headers)

    assert response.status == 401
    assert office.stands == office.pending


def test_a_button_of_another_decision_answers_neither(api: SlackApi) -> None:
    """A value is bound to its envelope, and a block to its decision."""
    office, other = Office(api), Office(api)
    mixed = {**api.button("selected.0"), "block_id": f"emitter.decision.{'0' * 64}.1"}
    nowhere = {**api.button("selected.0"), "block_id": "x"}
    changed = json.loads(api.button("selected.0")["value"]) | {"digest": f"sha256:{'0' * 64}"}
    for action in (mixed, nowhere, {**api.button("selected.0"), "value": json.dumps(changed)}):
        api.press(other.app, action)

    assert (office.stands, other.stands) == (office.pending, other.pending)
    assert len(api.sent("chat.postEphemeral")) == 3


def test_misuse_is_said(api: SlackApi) -> None:
    """Before a listener is added."""
    with pytest.raises(InputError):
        SlackApprovals(api.app(), Ledger(), authenticate=None)  # type: ignore[arg-type]
