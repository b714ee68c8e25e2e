"""What a tool was given before it was guarded, and settings that are none: refused before anybody is asked."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from emitter.authority import Authority
from emitter.errors import ApprovalPending, InputError, OtherCall
from tests.authority.guard.parts import CEO, MOM, Person, Post, resolved


def send(to: str, body: str = "hi", *, outbox: Any = None) -> list[str]:
    """Send something."""
    outbox.append((to, body))
    return [to, body]


def test_an_argument_that_no_call_tells_is_refused() -> None:
    """Else "email mom" would be approved of one tool, and done by another that is called the same."""
    for tool in (partial(send, CEO), partial(partial(send, CEO), "hello"), partial(send, CEO, body="hello")):
        with pytest.raises(InputError, match="positional arguments"):
            Authority().guard(tool, name="send")


def test_an_argument_that_was_given_by_its_name_is_reported() -> None:
    """So the same call of another tool is another one."""
    authority, sent = Authority(), list[Any]()
    settings: dict[str, Any] = {"name": "send", "workflow_id": "w", "exclude": ["outbox"]}
    mom, ceo = (authority.guard(partial(send, to=each, outbox=sent), **settings) for each in (MOM, CEO))
    with pytest.raises(ApprovalPending) as waits:
        mom.call("c")
    assert f'to: "{MOM}"' in resolved(authority, waits.value.decision_id).pending.moment.findings
    with pytest.raises(OtherCall) as refused:
        ceo.call("c")
    assert refused.value.pointer == "/parameters/to"
    assert sent == []
    assert mom.call("c") == [MOM, "hi"]
    assert sent == [(MOM, "hi")]


NONE_SUCH: dict[str, list[Any]] = {
    "target": [5, [], {}, b"x", True],
    "vocabulary": [None, 5, [], "", {}],
    "digested": [None, 5, b"to", [5], [None]],
    "exclude": [None, 5, [5], [["to"]]],
    "brief": [None, 5, "Send it."],
    "ask": [5, "Who?"],
    "spends": [{"budget_usd": 5}],
}


@pytest.mark.parametrize(("name", "value"), [(name, each) for name, those in NONE_SUCH.items() for each in those])
def test_a_setting_that_is_none_is_refused_at_once(name: str, value: Any) -> None:
    """Not at the first call."""
    settings: dict[str, Any] = {name: value}
    with pytest.raises(InputError):
        Authority().guard(send, **settings)


RETURNED: dict[str, list[Any]] = {
    "spends": [
        None,
        5,
        "x",
        [("budget_usd", 5)],
        {"budget_usd": -1},
        {"budget_usd": 1.5},
        {1: 1},
        {"budget_usd": True},
    ],
    "target": [None, 5, "", b"x", "\ud800", "x" * 600],
    "display": [5, "Send it.", {"summary": "Send it."}],
}


@pytest.mark.parametrize(("name", "value"), [(name, each) for name, those in RETURNED.items() for each in those])
def test_what_a_setting_returns_is_looked_at_before_anybody_is_asked(name: str, value: Any) -> None:
    """It is the host's own code, and what it returns is reported with an error of ours."""
    person, post = Person(), Post()
    settings: dict[str, Any] = {name: lambda _: value}
    with pytest.raises(InputError):
        Authority().guard(post.send_email, ask=person, **settings)(MOM)
    assert (person.asked, post.sent) == ([], [])


@pytest.mark.parametrize("whose", [None, "", 5])
def test_an_object_of_nobody_is_refused(whose: Any) -> None:
    """What is approved for one would run for another of whom it says no more."""

    class Mailbox:
        @Authority().guard(ask=Person(), account_of=lambda _: whose)
        def send(self, to: str) -> str:
            return to

    with pytest.raises(InputError, match="account_of="):
        Mailbox().send(MOM)
