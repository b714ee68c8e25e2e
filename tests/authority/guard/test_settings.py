"""How a tool is guarded: what cannot be is refused when it is guarded, and what is set is what is recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority, Effects, RiskLevel
from emitter.authority.proposals import DigestedParameter, Display
from emitter.errors import EmitterError, InputError, LimitUnknown
from tests.authority.guard.parts import MOM, Office, Person, Post, approve, kept, moment

if TYPE_CHECKING:
    from collections.abc import Callable


def send(to: str, body: str = "hi", **headers: str) -> str:
    """Send."""
    return to + body + "".join(headers.values())


async def _later(_: Any) -> Any:
    return {}


BAD: dict[str, dict[str, Any]] = {
    "a setting that there is not": {"tries": 3},
    "no time": {"ttl_seconds": 0},
    "a time below nought": {"ttl_seconds": -1},
    "a time with a point": {"ttl_seconds": 1.5},
    "a time that is true": {"ttl_seconds": True},
    "a time without end": {"ttl_seconds": 10**12},
    "a risk that there is not": {"risk_level": "extreme"},
    "revocable, but not quite": {"revocable": "yes"},
    "no workflow": {"workflow_id": ""},
    "a workflow that is no text": {"workflow_id": 5},
    "a long workflow": {"workflow_id": "w" * 600},
    "half a character": {"workflow_id": "\ud800"},
    "no step": {"step_id": ""},
    "a capability that is no text": {"capability": 5},
    "a name that is no text": {"name": 5},
    "a name on two lines": {"name": "send\nto all"},
    "a name that runs backwards": {"name": "send\u202eall"},
    "a name that drives a terminal": {"name": "send\x1b[2J"},
    "a target that is no text": {"target": 5},
    "a channel that is no text": {"channel": 5},
    "a long channel": {"channel": "c" * 600},
    "no time to answer": {"expires_in": 0},
    "a limit of a blocking ask": {"ask": print, "ask_timeout": 60},
    "a limit without ask": {"ask_timeout": 60},
    "a time to answer that is a text": {"expires_in": "60"},
    "an ask that is none": {"ask": 5},
    "a brief that is none": {"brief": "template"},
    "a describe that is none": {"describe": 5},
    "a describe that nobody waits for": {"describe": _later},
    "spends that are none": {"spends": {"budget_usd": 5}},
    "spends that nobody waits for": {"spends": _later},
    "a display that is none": {"display": Display("Send.")},
    "a display that nobody waits for": {"display": _later},
    "no length": {"longest": 0},
    "a length that is a text": {"longest": "x"},
    "an account of nobody": {"account_of": 5},
    "an account that nobody waits for": {"account_of": _later},
    "one name instead of a list": {"digested": "body"},
    "one name to leave out": {"exclude": "to"},
    "a parameter to leave out that there is not": {"exclude": ["bdy"]},
    "a parameter to keep back that there is not": {"digested": ["bdy"]},
    "parameters of a tool that names its own": {"parameters": ["to"]},
    "parameters beside one that is passed by name": {"parameters": ["cc"], "exclude": ["to", "body"]},
    "one name of a parameter": {"parameters": "to"},
    "a place to keep back that there is not": {"digested": ["/bdy/pin"]},
    "a pointer to keep back without its slash": {"digested": ["to/pin"]},
    "a digested that there is not": {"digested": [DigestedParameter("/bdy", excerpt=True)]},
}


@pytest.mark.parametrize("settings", BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_when_the_tool_is_guarded(settings: dict[str, Any]) -> None:
    """Not when somebody has approved a call that cannot be made so."""
    with pytest.raises(InputError):
        Authority().guard(send, **settings)


OPEN_BAD: dict[str, dict[str, Any]] = {
    "a parameter to keep back that is not among them": {"digested": ["bdy"]},
    "the arguments to leave out": {"exclude": ["arguments"]},
    "a parameter to leave out": {"exclude": ["to"]},
}


@pytest.mark.parametrize("settings", OPEN_BAD.values(), ids=OPEN_BAD)
def test_parameters_name_what_may_be_kept_back(settings: dict[str, Any]) -> None:
    """A typo exposes nothing, and nothing that acts is left out."""
    with pytest.raises(InputError):
        Authority().guard(lambda **arguments: arguments, name="send", parameters=["to", "body"], **settings)


AT_CALL: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "spends below nought": ({"spends": lambda _: {"budget_usd": -1}}, InputError),
    "spends with a point": ({"spends": lambda _: {"budget_usd": 1.5}}, InputError),
    "spends of a name that is none": ({"spends": lambda _: {"Budget": 1}}, InputError),
    "spends of what nobody can limit": ({"spends": lambda _: {"tokens": 1}}, LimitUnknown),
    "spends that are nothing": ({"spends": lambda _: None}, InputError),
    "spends that raise": ({"spends": lambda given: given["sum"]}, KeyError),
    "a target that is nothing": ({"target": lambda _: None}, InputError),
    "an empty target": ({"target": lambda _: ""}, InputError),
    "a long target": ({"target": lambda _: "t" * 600}, InputError),
    "a target that raises": ({"target": lambda given: given["recipient"]}, KeyError),
    "a display that says nothing": ({"display": lambda _: Display(" ")}, InputError),
    "a display that raises": ({"display": lambda given: given["recipient"]}, KeyError),
    "an account that is no text": ({"account": 5}, InputError),
    "an operation that is none": ({"operation": 5}, InputError),
    "a text for an operation of a vocabulary that knows none": ({"vocabulary": "urn:acme:tools"}, InputError),
    "a vocabulary that is none": ({"vocabulary": "tools", "operation": {"tool": "send"}}, InputError),
    "a place to keep back that is none": ({"digested": ["/to~2"]}, InputError),
    "a media type of another kind": ({"digested": [DigestedParameter("to", media_type="image/png")]}, InputError),
}


@pytest.mark.parametrize(("settings", "error"), AT_CALL.values(), ids=AT_CALL)
def test_what_a_call_shows_to_be_wrong_is_refused_before_anybody_is_asked(
    settings: dict[str, Any], error: type[Exception]
) -> None:
    """Nothing stands of the call, so that it can be made under the same id once it is put right."""
    authority, person = Authority(), Person()
    try:
        with pytest.raises(error):
            authority.guard(send, ask=person, **settings).call("c1", MOM)
    except InputError:
        assert error is InputError  # it was refused when the tool was guarded, which is as well
    assert (person.asked, kept(authority, "c1")) == ([], {})

    assert authority.guard(send, ask=person).call("c1", MOM) == f"{MOM}hi"


CALL_IDS: dict[str, Any] = {
    "empty": "",
    "long": "x" * 257,
    "a number": 5,
    "nothing": None,
    "bytes": b"c1",
    "half a character": "c\ud800",
}


@pytest.mark.parametrize("call_id", CALL_IDS.values(), ids=CALL_IDS)
def test_a_call_id_that_is_none_is_refused(call_id: Any) -> None:
    """As bad input, like anything else."""
    with pytest.raises(InputError, match="call_id"):
        Authority().guard(send, ask=approve).call(call_id, MOM)


@pytest.mark.parametrize("call_id", ["c", "x" * 256, "a b\n\u202e", "call:c1", "workflow:w", "\U0001f4e7"])
def test_any_text_is_a_call_id(call_id: str) -> None:
    """One is no other, whatever it looks like."""
    post = Post()
    guard = Authority().guard(post.send_email, ask=approve)

    assert guard.call(call_id, MOM) == guard.call(call_id, MOM) == 1
    assert guard.call("another", MOM) == 2


def test_what_is_set_is_what_is_recorded() -> None:
    """In the confirm, the intent, the receipt and the proposal that is served."""
    authority = Authority(actor="mailer")
    guard = authority.guard(
        send,
        ask=approve,
        name="email",
        target=lambda given: str(given["to"]),
        capability="mail",
        step_id="s1",
        workflow_id="w",
        spends=lambda given: {"budget_usd": len(str(given["body"]))},
        risk_level=RiskLevel.LOW,
        ttl_seconds=60,
        revocable=False,
        account="me",
        operation={"tool": "send_email"},
        display=lambda given: Display(f"Write to {given['to']}."),
        describe=lambda value: Effects(side_effects={"length": len(value)}),
        channel="terminal",
        digested=["body"],
    )
    guard.call("c1", MOM, "hello")

    confirm, intent, receipt = [each["record"] for each in authority.lines("w")]  # type: ignore[index]
    scope = {"workflow_id": "w", "step_ids": ["s1"], "targets": [MOM], "capabilities": ["mail"]}
    assert confirm["scope"] == scope
    assert confirm["limits"] == intent["spends"] == {"budget_usd": 5, "max_side_effects": 1}
    assert (confirm["ttl_seconds"], confirm["revocable"], confirm["risk_level"]) == (60, False, "low")
    assert confirm["granted_by"]["channel"] == "terminal"
    assert confirm["call"] == intent["call"]
    assert (intent["action"], intent["target"], intent["step_id"], intent["actor"]) == ("email", MOM, "s1", "mailer")
    assert receipt["side_effects"] == {"length": len(MOM) + 5}
    assert receipt["authorization_ref"] == intent["authorization_ref"] == confirm["confirm_id"]
    proposal = authority.proposals.get(confirm["call"]["r3_s256"])
    assert proposal is not None
    assert (proposal.account, dict(proposal.operation)) == ("me", {"tool": "send_email"})
    assert set(proposal.parameters["body"]) == {"s256", "media_type"}
    assert replace(proposal.display, detail=None) == Display(f"Write to {MOM}.")  # type: ignore[type-var]


def test_a_limit_of_the_hosts_own_is_known_where_it_is_named() -> None:
    """And nowhere else."""
    spends: Callable[[Any], dict[str, int]] = lambda _: {"tokens": 5}  # noqa: E731  it is what is set

    assert Authority(limits=["tokens"]).guard(send, ask=approve, spends=spends)(MOM)
    with pytest.raises(LimitUnknown):
        Authority().guard(send, ask=approve, spends=spends)(MOM)


def test_a_call_of_nothing_but_side_effects_says_how_many() -> None:
    """One, where nothing is said."""
    authority = Authority()
    authority.guard(send, ask=approve, workflow_id="w")(MOM)
    authority.guard(send, ask=approve, workflow_id="v", spends=lambda _: {"max_side_effects": 3})(MOM)

    assert [each.spends for each in _intents(authority)] == [{"max_side_effects": 1}, {"max_side_effects": 3}]


def _intents(authority: Authority) -> list[Any]:
    from emitter.authority import Intent, Line  # noqa: PLC0415  only here

    lines = [
        Line.model_validate(each) for workflow_id in authority.workflows() for each in authority.lines(workflow_id)
    ]
    return [each.record for each in lines if isinstance(each.record, Intent)]


class Vetoes:
    """A hook that stops what it is called before."""

    def __init__(self, name: str) -> None:
        self.called = 0
        setattr(self, name, self._veto)

    def _veto(self, _: object) -> None:
        self.called += 1
        raise PermissionError


@pytest.mark.parametrize("name", ["before_confirm", "before_execute"])
def test_a_hook_that_raises_before_the_act_stops_it(name: str) -> None:
    """As often as the call is made; what it raises is raised, and the approval is not used up."""
    post, hook = Post(), Vetoes(name)
    authority = Authority(hooks=[hook])  # type: ignore[list-item]  # it has one of the methods
    guard = authority.guard(post.send_email, ask=approve, workflow_id="w")
    for _ in range(2):
        with pytest.raises(PermissionError):
            guard.call("c1", MOM)
    assert (post.sent, authority.receipts(), hook.called) == ([], (), 2)

    again = Authority(authority._context.journal._store)
    assert again.guard(post.send_email, ask=approve, workflow_id="w").call("c1", MOM) == 1


def test_a_hook_that_would_not_have_it_confirmed_is_heard_before_anybody_is_asked() -> None:
    """No envelope is written, and no decision is opened, for what would be refused whatever the answer."""
    authority = Authority(hooks=[Vetoes("before_confirm")])  # type: ignore[list-item]  # it has one of the methods
    guard = authority.guard(Post().send_email, ask=pytest.fail, brief=pytest.fail)  # type: ignore[arg-type]
    with pytest.raises(PermissionError):
        guard(MOM)
    assert authority.ledger.pending() == ()


def test_an_error_of_the_guard_is_one_of_the_librarys() -> None:
    """Each refusal is an ``EmitterError`` with a hint, and quotes nothing of the call."""
    post = Post()
    guard = Authority().guard(post.send_email, brief=lambda asked: moment(asked, label="x"))
    with pytest.raises(EmitterError) as refused:
        guard("secret@x.org", "the PIN is PLUGH")

    assert refused.value.hint
    assert "PLUGH" not in str(refused.value)
    assert "secret" not in str(refused.value)


TARGETS: dict[str, tuple[Any, str]] = {
    "a number": (
        lambda _: 5,
        r"target= of send_email returned a value of type int, not a string\. Return the name",
    ),
    "a long one": (lambda _: "t" * 600, "No authority can be requested with this target=: String should have"),
}


@pytest.mark.parametrize(("target", "reported"), TARGETS.values(), ids=TARGETS)
def test_a_target_that_cannot_be_is_named_as_the_option_that_it_is(target: Any, reported: str) -> None:
    """Before anybody is asked."""
    office = Office(target=target)
    with pytest.raises(InputError, match=reported):
        office.call()
    assert office.person.asked == []


def test_the_explanation_of_guard_precedes_its_arguments() -> None:
    """A reader learns what it does before what it takes."""
    text = Authority.guard.__doc__ or ""
    assert text.index("A call builds a proposal") < text.index("Args:") < text.index("ask: Puts")
