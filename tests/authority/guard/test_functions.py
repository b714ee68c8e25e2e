"""An approval binds one function: another one never runs by it, and never answers with what the first returned."""

from __future__ import annotations

import functools
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import Authority
from emitter.authority.guard.inspection import ToolFunction
from emitter.errors import ApprovalPending, OtherCall
from tests.authority.guard.parts import MOM, Post, approve, resolved

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.stores import Store

SENT: list[str] = []
"""What ran."""


@pytest.fixture(autouse=True)
def _nothing_was_sent() -> None:
    SENT.clear()


def module(name: str, source: str = "def send(to):\n    sent.append(__name__)\n    return __name__\n") -> ModuleType:
    """Return a module with a function in it."""
    made = ModuleType(name)
    made.__dict__["sent"] = SENT
    exec(source, made.__dict__)  # noqa: S102  two modules with a function of one name
    return made


MAIL, BANK = module("mail"), module("bank")


def factory(name: str) -> Callable[[str], str]:
    """Return a closure over a text."""

    def send(to: str) -> str:
        SENT.append(f"{name} {to}")
        return name

    return send


def over(held: list[str]) -> Callable[[str], str]:
    """Return a closure over an object that can be changed."""

    def send(_: str) -> str:
        SENT.append(held[0])
        return held[0]

    return send


def bare(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function without taking its name."""

    def wrapper(to: str) -> Any:
        return tool(to)

    return wrapper


def named(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function and take its name."""

    @functools.wraps(tool)
    def wrapper(to: str) -> Any:
        SENT.append("decorated")
        return tool(to)

    return wrapper


class Box:
    """A class with a method, of which there may be several objects."""

    def __init__(self, owner: str = "alice") -> None:
        self.owner = owner

    def send(self, _: str) -> str:
        """Send."""
        SENT.append(self.owner)
        return self.owner

    def __call__(self, to: str) -> str:
        """Send."""
        return self.send(to)

    @classmethod
    def shared(cls, _: str) -> str:
        """Send for a class."""
        SENT.append(cls.__name__)
        return cls.__name__


class Inbox(Box):
    """A subclass that inherits the method."""


def _redefined(sent: str) -> Any:
    return module("one", f"def send(to):\n    sent.append({sent!r})\n    return {sent!r}\n").send


PAIRS: dict[str, tuple[Any, Any]] = {
    "two modules": (MAIL.send, BANK.send),
    "two closures over texts": (factory("mail"), factory("bank")),
    "two closures over objects": (over(["mail"]), over(["bank"])),
    "two lambdas": (lambda to: SENT.append(f"mail {to}"), lambda to: SENT.append(f"bank {to}")),
    "two functions in a decorator": (bare(MAIL.send), bare(BANK.send)),
    "a function and the same decorated": (MAIL.send, named(MAIL.send)),
    "methods of two objects": (Box("alice").send, Box("bob").send),
    "a method of a subclass": (Box().send, Inbox().send),
    "methods of two classes": (Box.shared, Inbox.shared),
    "two objects that are called": (Box("alice"), Box("bob")),
    "partials of two functions": (functools.partial(MAIL.send), functools.partial(BANK.send)),
    "partials of two closures": (functools.partial(factory("mail")), functools.partial(factory("bank"))),
    "methods that are built in": ([MOM].append, [MOM, MOM].append),
    "two functions of one name, both in use": (_redefined("mail"), _redefined("bank")),
}


@pytest.mark.parametrize("stage", ["waiting", "approved", "done"])
@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_two_functions_never_share_an_approval_or_a_result(one: Any, other: Any, stage: str) -> None:
    """Under one call id, with the same arguments and an explicit name that is the same."""
    authority = Authority()
    first, second = (authority.guard(each, name="send", workflow_id="w") for each in (one, other))
    with pytest.raises(ApprovalPending) as waiting:
        first.call("c", MOM)
    if stage != "waiting":
        resolved(authority, waiting.value.decision_id)
    if stage == "done":
        first.call("c", MOM)
    before = list(SENT)

    with pytest.raises(OtherCall):
        second.call("c", MOM)

    assert before == SENT


@pytest.mark.parametrize("settings", [{}, {"name": "send"}, {"name": "send", "workflow_id": "w"}], ids=str)
def test_functions_of_one_name_in_two_modules(any_store: Store, settings: dict[str, Any]) -> None:
    """In each store, and for processes that come later: each function has an approval of its own."""

    def guard(tool: Any) -> Any:
        return Authority(any_store).guard(tool, **settings)

    with pytest.raises(ApprovalPending) as waiting:
        guard(MAIL.send).call("c", MOM)
    resolved(Authority(any_store), waiting.value.decision_id)
    with pytest.raises(OtherCall):
        guard(BANK.send).call("c", MOM)
    assert SENT == []

    assert guard(MAIL.send).call("c", MOM) == "mail"
    with pytest.raises(OtherCall):
        guard(BANK.send).call("c", MOM)
    assert SENT == ["mail"]


LATER: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "closures over texts": (lambda: factory("mail"), lambda: factory("bank")),
    "functions in a decorator": (lambda: bare(MAIL.send), lambda: bare(BANK.send)),
    "a function and the same decorated": (lambda: MAIL.send, lambda: named(MAIL.send)),
    "a method of a subclass": (lambda: Box().send, lambda: Inbox().send),
    "lambdas": (lambda: lambda to: [to], lambda: lambda to: (to,)),
}


@pytest.mark.parametrize(("one", "other"), LATER.values(), ids=LATER)
def test_another_process_tells_functions_apart(
    any_store: Store, one: Callable[[], Any], other: Callable[[], Any]
) -> None:
    """By what names them and by what they hold; the same one, made anew, goes on with its call."""

    def guard(tool: Any) -> Any:
        return Authority(any_store).guard(tool, name="send")

    with pytest.raises(ApprovalPending) as waiting:
        guard(one()).call("c", MOM)
    resolved(Authority(any_store), waiting.value.decision_id)

    with pytest.raises(OtherCall):
        guard(other()).call("c", MOM)
    guard(one()).call("c", MOM)


def test_the_approval_names_the_function() -> None:
    """In what the principal is shown, and in the records of the act."""
    authority, shown = Authority(), list[Any]()

    def ask(pending: Any) -> Any:
        shown.append(pending)
        return approve(pending)

    authority.guard(MAIL.send, ask=ask, workflow_id="w")(MOM)

    assert any('Function: "send" in the module "mail".' in each for each in shown[0].moment.findings)
    records: list[Any] = [each["record"] for each in authority.lines("w")]
    assert [each["call"]["function"] for each in records if "call" in each] == ["mail:send", "mail:send"]


NAMES: dict[str, tuple[Any, str]] = {
    "a function": (MAIL.send, "mail:send"),
    "a nested function that holds nothing": (bare, f"{__name__}:bare"),
    "a method": (Post().send_email, "tests.authority.guard.parts:Post.send_email#"),
    "a partial": (functools.partial(MAIL.send), "mail:send#"),
    "a decorated function": (named(MAIL.send), "mail:send#"),
    "a lambda": (lambda: None, f"{__name__}:<lambda>#"),
    "an object": (Box(), f"{__name__}:Box#"),
    "a class": (Box, f"{__name__}:Box"),
    "a built-in function": (print, "builtins:print"),
    "a closure": (factory("a"), f"{__name__}:factory.<locals>.send#"),
}


@pytest.mark.parametrize(("tool", "name"), NAMES.values(), ids=NAMES)
def test_a_function_is_named_by_its_module_and_qualified_name(tool: Any, name: str) -> None:
    """And by a hash of what these do not tell."""
    found = ToolFunction.from_tool(tool).name

    assert found.rpartition("#")[0] + "#" == name if name.endswith("#") else found == name


def test_a_name_that_is_long_fits_a_record() -> None:
    """And is still its own."""
    found = [ToolFunction.from_tool(module("m" * 600 + each).send).name for each in "ab"]

    assert found[0] != found[1]
    assert all(len(each) <= 512 for each in found)


def test_a_function_that_holds_itself_is_named() -> None:
    """Once."""

    def again(count: int) -> int:
        return again(count - 1) if count else 0

    assert ToolFunction.from_tool(again).name == ToolFunction.from_tool(again).name


def test_a_counter_in_a_closure_does_not_change_the_call() -> None:
    """A guarded tool has one name for as long as it is used."""
    authority, count = Authority(), 0

    def send(_: str) -> int:
        nonlocal count
        count += 1
        return count

    guard = authority.guard(send, ask=approve)

    assert [guard.call("c", MOM), guard.call("c", MOM), guard.call("d", MOM)] == [1, 1, 2]


def test_a_function_that_was_redefined_runs() -> None:
    """The code is no part of what is approved: a corrected function goes on with the call of the one it replaces."""
    authority = Authority()
    guard: Any = authority.guard(_redefined("first"), workflow_id="w")
    try:
        guard.call("c", MOM)
    except ApprovalPending as waiting:
        resolved(authority, waiting.decision_id)
    guard = authority.guard(_redefined("second"), workflow_id="w")

    assert guard.call("c", MOM) == "second"
    assert SENT == ["second"]


def test_an_account_names_the_object_of_a_method() -> None:
    """So another object of the same account goes on with the call, and one of another account does not."""
    authority = Authority()
    first = authority.guard(Box("alice").send, account="alice")
    with pytest.raises(ApprovalPending) as waiting:
        first.call("c", MOM)
    resolved(authority, waiting.value.decision_id)

    with pytest.raises(OtherCall):
        authority.guard(Box("bob").send, account="bob").call("c", MOM)
    assert authority.guard(Box("alice").send, account="alice").call("c", MOM) == "alice"


SCRIPT = """
from emitter.authority.guard.inspection import ToolFunction
def send(to): ...
print(ToolFunction.from_tool(send).name)
"""


def test_a_script_is_named_by_its_file(tmp_path: Path) -> None:
    """Since every script is ``__main__``; a module that is run by ``-m`` is named as it is when it is imported."""
    names = list[str]()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent.py").write_text(SCRIPT, "utf-8")
    for arguments in (["a/agent.py"], ["a/agent.py"], ["b/agent.py"], ["-m", "a.agent"]):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600
        )
        names.append(done.stdout.strip())

    assert names[0] == names[1] != names[2]
    assert names[0].startswith("__main__(agent.py#")
    assert names[3] == "a.agent:send"
