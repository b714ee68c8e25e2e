"""A guarded tool is called as the tool is, and looks like it."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError, NotApproved, OtherCall
from tests.authority.guard.forms import Office, plain
from tests.authority.guard.parts import CEO, MOM, leave

if TYPE_CHECKING:
    from collections.abc import Callable


def test_what_it_wraps_is_seen(office: Office) -> None:
    """By those who look at names, words and signatures, as those do who serve tools."""

    def send(to: str, *, body: str = "hi") -> int:
        """Send an e-mail."""
        return len(to + body)

    send.tags = ["mail"]  # type: ignore[attr-defined]
    guard = office.guard(send)

    assert (guard.__name__, guard.__doc__, guard.__module__) == ("send", "Send an e-mail.", __name__)
    assert guard.__qualname__ == send.__qualname__
    assert guard.__wrapped__ is send
    assert guard.tags == ["mail"]
    assert inspect.signature(guard) == inspect.signature(send)
    assert typing.get_type_hints(guard) == {"to": str, "body": str, "return": int}


def test_what_a_tool_has_of_its_own_does_not_stand_before_the_guard(office: Office) -> None:
    """An attribute ``call`` of the tool would be a way around it."""
    ran = list[str]()

    def send(to: str) -> None:
        ran.append(to)

    for name in ("call", "_tool", "_how", "_parts", "_shelf", "_signature", "_take"):
        setattr(send, name, send)
    office.person.says = leave
    guard = office.guard(send)

    with pytest.raises(NotApproved):
        guard.call("c1", MOM)
    with pytest.raises(NotApproved):
        guard(MOM)
    assert ran == []


def test_a_method_can_be_guarded_where_it_is_defined(office: Office) -> None:
    """It is bound as any method is: the object is no argument, and what is reported is what it is called with."""

    class Mailer:
        """What sends in somebody's name."""

        def __init__(self, name: str) -> None:
            self.name = name

        @office.authority.guard(ask=office.person, workflow_id="w", account_of=lambda self: self.name)
        def send(self, to: str, body: str = "hi") -> list[str]:
            """Send."""
            return [self.name, to, body]

    mailer = Mailer("me")

    assert mailer.send(MOM) == ["me", MOM, "hi"]
    assert office.reported == [f'to: "{MOM}"', 'body: "hi"', 'Account: "me"']
    assert mailer.send.call("c1", CEO) == mailer.send.call("c1", CEO) == ["me", CEO, "hi"]
    assert mailer.send.workflow_id == "w"
    assert office.authority.workflows() == ("w",)
    with pytest.raises(OtherCall) as other:
        Mailer("you").send.call("c1", CEO)
    assert other.value.pointer == "/account"


def test_a_method_that_does_not_tell_whose_it_is_is_not_called(office: Office) -> None:
    """What was approved for one object would run for another."""

    class Account:
        """What pays."""

        @office.authority.guard(ask=office.person)
        def pay(self, cents: int) -> int:
            """Pay."""
            return cents

    with pytest.raises(InputError, match="without account_of="):
        Account().pay(5)
    assert office.person.asked == []


def test_a_static_method_is_nobodys(office: Office) -> None:
    """It has no object, so nothing has to tell whose it is."""

    class Mailer:
        """What sends."""

        @office.authority.guard(ask=office.person)
        @staticmethod
        def send(to: str) -> str:
            """Send."""
            return to

    assert Mailer().send(MOM) == MOM


def test_a_lambda_needs_a_name(office: Office) -> None:
    """Two of them would pass for each other."""
    with pytest.raises(InputError, match="Pass name="):
        office.authority.guard(lambda a: a)


def test_another_tool_of_the_same_name_is_another_call(office: Office) -> None:
    """What was approved is the function that was guarded, as far as its own name tells."""

    def other() -> str:
        return "other"

    def one() -> str:
        return "one"

    assert office.authority.guard(one, name="act", ask=office.person, workflow_id="w").call("c1") == "one"
    with pytest.raises(OtherCall):
        office.authority.guard(other, name="act", ask=office.person, workflow_id="w").call("c1")


def test_a_workflow_that_is_named_is_the_call_s_own(office: Office) -> None:
    """What was approved in one workflow does not go on in another, which may be stopped."""

    def act() -> str:
        return "done"

    office.authority.guard(act, ask=office.person, workflow_id="w").call("c1")
    with pytest.raises(OtherCall) as other:
        office.authority.guard(act, ask=office.person, workflow_id="v").call("c1")
    assert other.value.pointer == "/workflow_id"


def all_kinds(a: Any, /, b: Any = 2, *rest: Any, c: Any, d: Any = 4, **more: Any) -> Any:
    """Return all of it."""
    return [a, b, list(rest), c, d, more]


CALLS: dict[str, tuple[Callable[[Any], Any], list[Any], list[str]]] = {
    "the least": (
        lambda tool: tool(1, c=3),
        [1, 2, [], 3, 4, {}],
        ["a: 1", "b: 2", "rest: []", "c: 3", "d: 4", "more: {}"],
    ),
    "all by place": (
        lambda tool: tool(1, 5, 6, 7, c=3),
        [1, 5, [6, 7], 3, 4, {}],
        ["a: 1", "b: 5", "rest: [6, 7]", "c: 3", "d: 4", "more: {}"],
    ),
    "names that are parameters' too": (
        lambda tool: tool(1, b=5, c=3, a=8, rest=9, more=10, self=11, call_id=12),
        [1, 5, [], 3, 4, {"a": 8, "rest": 9, "more": 10, "self": 11, "call_id": 12}],
        [
            "a: 1",
            "b: 5",
            "rest: []",
            "c: 3",
            "d: 4",
            'more: {"a": 8, "rest": 9, "more": 10, "self": 11, "call_id": 12}',
        ],
    ),
}


@pytest.mark.parametrize(("make", "value", "reported"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("by_id", [False, True], ids=["new", "by id"])
def test_every_kind_of_parameter_is_reported_and_given(
    office: Office, make: Callable[[Any], Any], value: list[Any], reported: list[str], by_id: bool
) -> None:
    """As the tool's own signature has it."""
    guard = office.guard(all_kinds)

    assert make(functools.partial(guard.call, "c1") if by_id else guard) == value
    assert office.reported == reported


WRONG: dict[str, Callable[[Any], Any]] = {
    "too few": lambda tool: tool(),
    "too many": lambda tool: tool(1, 2, 3),
    "unknown": lambda tool: tool(1, c=3),
    "twice": lambda tool: tool(1, a=1),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_a_call_that_the_tool_would_not_take_is_refused_as_the_tool_does(
    office: Office, make: Callable[[Any], Any]
) -> None:
    """Nobody is asked about it."""
    with pytest.raises(TypeError):
        make(office.guard(plain))
    assert office.person.asked == []


def test_a_context_is_no_content(office: Office) -> None:
    """What ``exclude`` names is given as it is, reported nowhere, and may differ when the call is gone on with."""
    contexts = list[Any]()

    def send(to: str, ctx: Any, log: Any = None) -> int:
        contexts.append((ctx, log))
        return len(to)

    waiting = office.authority.guard(send, exclude=["ctx", "log"], workflow_id="w")
    guard = office.guard(send, exclude=["ctx", "log"], workflow_id="w")
    first, second, log = object(), object(), iter([1])
    with pytest.raises(Exception, match="waits"):
        waiting.call("c1", MOM, first)

    assert guard.call("c1", MOM, second, log) == len(MOM)
    assert contexts == [(second, log)]
    assert next(log) == 1
    assert office.reported == [f'to: "{MOM}"']


def test_a_guarded_tool_may_call_another(office: Office) -> None:
    """Each is asked about for itself."""
    inner = office.guard(plain)

    def outer(a: Any) -> Any:
        return inner(a)

    assert office.guard(outer)(1) == [1, 2]
    assert len(office.person.asked) == 2
    assert len(office.authority.receipts()) == 2


def test_a_call_is_not_made_again_from_within(office: Office) -> None:
    """A tool that makes its own call under its own id is told that it runs."""
    found = list[str]()

    def once(a: Any) -> None:
        try:
            guard.call("c1", a)
        except Exception as error:  # noqa: BLE001  its name is what is looked at
            found.append(type(error).__name__)

    guard = office.guard(once)
    guard.call("c1", 1)

    assert found == ["Unfinished"]
