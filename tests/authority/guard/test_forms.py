"""What can be guarded, and how: any callable that says what it takes, by a call or as a decorator."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

import pytest

from emitter.authority import GuardedTool
from emitter.errors import InputError
from tests.authority.guard.forms import Office, plain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class Thing:
    """What has methods, and can be called itself."""

    def __init__(self, name: str = "thing") -> None:
        self.name = name

    def method(self, a: Any, b: Any = 2) -> Any:
        """Return the name and both."""
        return [self.name, a, b]

    @classmethod
    def of_class(cls, a: Any, b: Any = 2) -> Any:
        """Return the class's name and both."""
        return [cls.__name__, a, b]

    @staticmethod
    def of_nothing(a: Any, b: Any = 2) -> Any:
        """Return both."""
        return [a, b]

    def __call__(self, a: Any, b: Any = 2) -> Any:
        """Do as ``method`` does."""
        return [self.name, a, b]


FORMS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "a function": (plain, {}, [1, 2]),
    "a lambda": (lambda a, b=2: [a, b], {"name": "pair"}, [1, 2]),
    "a method": (Thing().method, {}, ["thing", 1, 2]),
    "a class method": (Thing.of_class, {}, ["Thing", 1, 2]),
    "a static method": (Thing.of_nothing, {}, [1, 2]),
    "an object that is called": (Thing(), {"name": "thing"}, ["thing", 1, 2]),
    "a part of a function": (functools.partial(plain, b=2), {"name": "plain"}, [1, 2]),
    "what wraps a function": (functools.wraps(plain)(lambda *args, **named: [*plain(*args, **named)]), {}, [1, 2]),
    "what is cached": (functools.cache(plain), {}, [1, 2]),
}


@pytest.mark.parametrize(("tool", "settings", "value"), FORMS.values(), ids=FORMS)
def test_whatever_says_what_it_takes_can_be_guarded(
    office: Office, tool: Any, settings: dict[str, Any], value: Any
) -> None:
    """Its arguments are reported by their names, the defaults among them."""
    assert office.guard(tool, **settings)(1) == value
    assert office.reported == ["a: 1", "b: 2"]


NAMELESS: dict[str, Any] = {
    "an object": Thing(),
    "a part": functools.partial(plain, 1),
}


@pytest.mark.parametrize("tool", NAMELESS.values(), ids=NAMELESS)
def test_a_tool_without_a_name_needs_one(office: Office, tool: Any) -> None:
    """Nobody could approve what has none."""
    with pytest.raises(InputError, match="name="):
        office.guard(tool)


NO_TOOLS: dict[str, Any] = {
    "a class of Python's own": dict,
    "a function that does not say": max,
    "an object that does not say": functools.partial(max),
    "a number": 5,
    "a text": "send",
    "a class method that is not bound": classmethod(lambda cls: cls),
}


@pytest.mark.parametrize("tool", NO_TOOLS.values(), ids=NO_TOOLS)
def test_what_does_not_say_what_it_takes_is_refused(office: Office, tool: Any) -> None:
    """When it is guarded, not when it is called."""
    with pytest.raises(InputError):
        office.guard(tool, name="tool")


def _generates() -> Iterator[int]:
    yield 1


async def _agenerates() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize(
    "tool", [_generates, _agenerates, functools.partial(_generates)], ids=["sync", "async", "part"]
)
def test_a_generator_is_no_tool(office: Office, tool: Any) -> None:
    """It would do what it does after its receipt was written."""
    with pytest.raises(InputError, match="generator"):
        office.guard(tool, name="tool")


class Waits:
    """An object whose call is awaited."""

    async def __call__(self, a: Any) -> Any:
        """Do as ``method`` does."""
        await asyncio.sleep(0)
        return a

    async def method(self, a: Any) -> Any:
        """Return it."""
        await asyncio.sleep(0)
        return a


ASYNC: dict[str, Any] = {
    "an object": Waits(),
    "a method": Waits().method,
    "a part": functools.partial(Waits().method),
}


@pytest.mark.parametrize("tool", ASYNC.values(), ids=ASYNC)
def test_what_is_awaited_is_awaited(office: Office, tool: Any) -> None:
    """Whatever form it has."""
    guard = office.guard(tool, name="tool")

    async def call() -> Any:
        return await guard.call("c1", 1)

    assert asyncio.run(call()) == asyncio.run(call()) == 1
    (receipt,) = office.authority.receipts()
    assert receipt.result.value == "success"


def test_as_a_decorator(office: Office) -> None:
    """With settings and without."""

    @office.authority.guard
    def waits(a: Any) -> Any:
        """Wait."""
        return a

    @office.authority.guard(ask=office.person, target="inbox")
    def asks(a: Any) -> Any:
        """Ask."""
        return a

    @office.authority.guard()
    def also(a: Any) -> Any:
        return a

    assert isinstance(waits, GuardedTool)
    assert isinstance(also, GuardedTool)
    assert asks(1) == 1
    assert office.authority.receipts()[0].target == "inbox"
