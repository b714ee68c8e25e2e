"""An approved call runs by its id with the arguments that were stored, without anybody passing them again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from emitter.authority import Authority
from emitter.authority.guard import calls
from emitter.authority.proposals import propose
from emitter.errors import ApprovalPending, InputError, NotApproved, OtherCall, Tampered, UnknownDecision
from emitter.stores import MemoryStore
from tests.authority.guard.parts import CEO, MOM, leave, proven, resolved
from tests.authority.guard.values import Colour, Word

if TYPE_CHECKING:
    from collections.abc import Callable

    from emitter.authority import GuardedTool


@dataclass
class Mail:
    """An argument."""

    to: str
    at: datetime


class Order(BaseModel):
    """Another argument."""

    amount: Decimal
    items: tuple[int, ...]


SENT: list[Any] = []


def send(first: Any, *rest: Any, context: Any = None, **named: Any) -> str:
    """Send it."""
    SENT.append((first, rest, context, named))
    return "sent"


def guard(store: MemoryStore, tool: Callable[..., Any] = send, **options: Any) -> GuardedTool[..., Any]:
    """Return the tool in a process of its own: another authority over the same store."""
    return Authority(store).guard(tool, **{"workflow_id": "w", "exclude": ["context"], **options})


def approve_call(store: MemoryStore, *positional: Any, tool: Any = None, **named: Any) -> None:
    """Propose a call, and have it approved."""
    guarded = tool or guard(store)
    with pytest.raises(ApprovalPending) as waiting:
        guarded.call("c", *positional, **named)
    resolved(Authority(store), waiting.value.decision_id)


ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "JSON": (({"to": [MOM, 1, -0.5, None, True]},), {"cc": CEO}),
    "numbers": ((1.0, -0.0, 5, Decimal("120.0")), {}),
    "bytes": ((b"\x00\xff", bytearray(b"x")), {"files": [b"a", {"b": b"c"}]}),
    "a dataclass": ((Mail(MOM, datetime(2026, 1, 31, tzinfo=UTC)),), {}),
    "a model": ((Order(amount=Decimal("1E+2"), items=(1, 2)),), {}),
    "enumerations": ((Colour.RED, {Word.YES: (1, 2)}), {}),
    "what looks like a digest": (({"s256": "x", "to": MOM},), {"a/b~": [{"s256": 1.0}]}),
    "a long text": (("x" * 5_000,), {}),
}


@pytest.mark.parametrize(("positional", "named"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_call_runs_with_its_stored_arguments(positional: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Each is of the class that it was; once, whoever resumes it; and another call of the same id is the same one."""
    SENT.clear()
    store = MemoryStore()
    approve_call(store, *positional, context="a connection", **named)

    assert guard(store).resume("c") == guard(store).resume("c") == "sent"
    assert guard(store).call("c", *positional, **named) == "sent"
    assert [repr(each) for each in SENT] == [repr((positional[0], positional[1:], None, named))]
    proven(Authority(store))


def test_named_parameters_are_resumed() -> None:
    """Those of a tool that takes any."""
    got = list[Any]()
    store, options = MemoryStore(), {"parameters": ["to", "self"], "exclude": [], "name": "f"}
    tool = guard(store, lambda **arguments: got.append(arguments), **options)
    approve_call(store, tool=tool, to=Decimal("1.0"), self=b"x")
    tool.resume("c")
    assert got == [{"to": Decimal("1.0"), "self": b"x"}]


def test_an_async_tool_is_resumed() -> None:
    """It is awaited."""
    store = MemoryStore()

    async def asend(to: str) -> str:
        await asyncio.sleep(0)
        return to

    tool = guard(store, asend, exclude=[])

    async def run() -> str:
        with pytest.raises(ApprovalPending) as waiting:
            await tool.call("c", MOM)
        resolved(Authority(store), waiting.value.decision_id)
        result: str = await tool.resume("c")
        return result

    assert asyncio.run(run()) == MOM


def test_what_is_not_approved_is_not_resumed() -> None:
    """It waits, or it was refused; an unknown id is no call."""
    SENT.clear()
    store = MemoryStore()
    with pytest.raises(UnknownDecision):
        guard(store).resume("c")
    pending = guard(store).propose("c", MOM)
    with pytest.raises(ApprovalPending):
        guard(store).resume("c")
    resolved(Authority(store), pending.decision_id, leave)
    with pytest.raises(NotApproved):
        guard(store).resume("c")
    assert SENT == []


NOT_STORED: dict[str, tuple[dict[str, Any], Any, str]] = {
    "what is kept back": ({"digested": ["first"]}, MOM, "only a hash of the argument at /first"),
    "a megabyte": ({}, b"x" * 1_000_001, "only a hash of the argument at /first"),
    "a class of a function": ({}, dataclass(type("Local", (), {}))(), "class .*Local"),
}


@pytest.mark.parametrize(("options", "value", "words"), NOT_STORED.values(), ids=NOT_STORED)
def test_what_is_not_stored_is_said(options: dict[str, Any], value: Any, words: str) -> None:
    """With what to do: the call can be repeated with its arguments."""
    store = MemoryStore()
    tool = guard(store, **options)
    approve_call(store, value, tool=tool)
    with pytest.raises(InputError, match=words) as refused:
        guard(store, **options).resume("c")
    assert ".call(call_id" in refused.value.hint
    assert tool.call("c", value) == "sent"


def test_an_argument_that_is_no_content_has_its_default() -> None:
    """One without a default cannot be resumed."""

    def act(context: Any, to: str) -> str:
        return f"{context} {to}"

    store = MemoryStore()
    tool = guard(store, act)
    approve_call(store, "a connection", MOM, tool=tool)
    with pytest.raises(InputError, match="exclude="):
        tool.resume("c")


def test_another_function_resumes_nothing() -> None:
    """Nor the same function with other options."""
    store = MemoryStore()
    approve_call(store, MOM)
    with pytest.raises(OtherCall):
        guard(store, lambda first: first, exclude=[], name="send").resume("c")
    with pytest.raises(OtherCall):
        guard(store, risk_level="low").resume("c")


def test_another_class_is_named() -> None:
    """By the place of the argument."""
    store = MemoryStore()
    approve_call(store, {"n": [1]})
    with pytest.raises(OtherCall) as refused:
        guard(store).call("c", {"n": [1.0]})
    assert refused.value.pointer == "/parameters/first/n/0"


@pytest.mark.parametrize("text", ["", "[", '{"values": {"/first": []}}', '{"values": {"/first": "?"}}'])
def test_stored_arguments_that_were_changed_are_not_run(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says so."""
    SENT.clear()
    store = MemoryStore()
    monkeypatch.setattr(calls.KeptArguments, "to_text", lambda _: text)
    pending = guard(store).propose("c", b"x")
    resolved(Authority(store), pending.decision_id)
    with pytest.raises((Tampered, InputError)):
        guard(store).resume("c")
    assert SENT == []


def test_stored_arguments_of_another_value_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash in the proposal is that of the approved value."""
    SENT.clear()
    store = MemoryStore()
    monkeypatch.setattr(calls.KeptArguments, "to_text", lambda _: '{"values": {"/first": "eA=="}, "classes": {}}')
    pending = guard(store).propose("c", b"y")
    resolved(Authority(store), pending.decision_id)
    with pytest.raises(OtherCall):
        guard(store).resume("c")
    assert SENT == []


def test_a_call_of_an_earlier_release_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its long text has a hash, its letters no marks, and nothing else is stored."""
    SENT.clear()
    store = MemoryStore()
    call = ("m\u043em" * 500, b"x", Decimal("1.0"))

    def propose_short(*given: Any, shown: Any, **options: Any) -> Any:
        assert shown == {}
        proposal = propose(*given, longest=1_024, **options)
        content = {name: each for name, each in proposal.content.items() if name != "shown"}
        document = calls_document.serialize_content(content)
        return type(proposal)(document, calls_document.r3_s256(document))

    from emitter.authority.proposals import document as calls_document  # noqa: PLC0415  two of its functions

    first_entry = calls._new_call_entry
    with monkeypatch.context() as earlier:
        earlier.setattr(calls, "propose", propose_short)
        earlier.setattr(
            calls, "_new_call_entry", lambda *given: {k: v for k, v in first_entry(*given).items() if k != "arguments"}
        )
        earlier.setattr("emitter.authority.guard.briefing.mark_lookalikes", lambda text, _: text)
        pending = guard(store).propose("c", *call)
    assert pending.moment.findings[0].startswith('first: begins "m\u043em')
    resolved(Authority(store), pending.decision_id)

    with pytest.raises(InputError, match="earlier release"):
        guard(store).resume("c")
    assert guard(store).call("c", *call) == "sent"
    assert [(call[0], call[1:], None, {})] == SENT
