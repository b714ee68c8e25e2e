"""A call's real arguments: as a tool takes them, and as its proposal tells them."""

from __future__ import annotations

import copy
import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from emitter.errors import InputError

if TYPE_CHECKING:
    import inspect
    from collections.abc import Collection

    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a tool is called with: a copy that nobody else holds; ``parameters`` are the same as JSON and bytes."""

    positional: tuple[Any, ...] = field(repr=False)
    named: Mapping[str, Any] = field(repr=False)
    content: Mapping[str, Any] = field(repr=False)
    parameters: dict[str, Json] = field(repr=False)

    def into(self, tool: Callable[..., Any]) -> Any:
        """Call a tool with them."""
        return tool(*self.positional, **self.named)

    def again(self) -> dict[str, Json]:
        """Return the parameters as they are now: some values cannot be copied, as what a member of an Enum holds."""
        return _told(self.content)


def taken(
    signature: inspect.Signature, given: tuple[tuple[Any, ...], Mapping[str, Any]], exclude: Collection[str]
) -> Arguments:
    """Return a call's arguments, defaults among them; ``exclude`` names those that are no content, as a context.

    Raises ``TypeError`` as the tool itself would, and ``InputError`` for what has no form as JSON.
    """
    bound = signature.bind(*given[0], **given[1])
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        if name not in exclude:
            bound.arguments[name] = _copied(name, value)
    content = {name: value for name, value in bound.arguments.items() if name not in exclude}
    return Arguments(bound.args, dict(bound.kwargs), content, _told(content))


def _copied(name: str, value: object) -> object:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001  a copy is made by anybody's code
        raise _no_form(name) from None


def _told(content: Mapping[str, object]) -> dict[str, Json]:
    return {name: _plain(name, value) for name, value in content.items()}


def _plain(name: str, value: object) -> Json:
    try:
        return _Telling().value(value, 0)
    except Exception:  # noqa: BLE001  its members are read by anybody's code
        raise _no_form(name) from None


_LEAVES = (
    *(date, time, timedelta, Decimal, UUID, Path),
    *(ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network),
)
"""What has one text, which tells all of it."""
_DEEPEST: Final = 100
_MOST: Final = 100_000
"""Values of an argument: what is shared is told wherever it stands, and may come to more than anybody can read."""


@dataclass(slots=True)
class _Telling:
    """One way through an argument: as JSON in which bytes stand as they are, and which leaves nothing of it untold.

    What has its own idea of its JSON is not asked: a secret, or a member that a model leaves out, would be approved
    unseen. A set has no order, so it would be another text in another process; an iterator is spent by reading it.
    """

    count: int = 0

    def value(self, value: object, depth: int) -> Json:
        self.count += 1
        if self.count > _MOST or depth > _DEEPEST:
            raise _Untold
        match value:
            case Enum():
                return self.value(value.value, depth + 1)
            case None | bool():
                return value
            case str() | bytes() | bytearray() | int() | float():
                return _exact(value)
            case list() | tuple():
                return [self.value(each, depth + 1) for each in _entries(cast("list[object]", value))]
            case _ if isinstance(value, _LEAVES):
                return to_jsonable_python(value)
            case _:
                return self.members(_members(value), depth + 1)

    def members(self, pairs: Iterable[tuple[object, object]], depth: int) -> Json:
        found: dict[str, Json] = {}
        for key, value in pairs:
            if not isinstance(key, str) or (name := str.__str__(key)) in found:  # a name that stands twice hides one
                raise _Untold
            found[name] = self.value(value, depth)
        return found


_of_list = cast("Callable[[object], Iterable[object]]", list.__iter__)  # pyright: ignore[reportUnknownMemberType]
_of_tuple = cast("Callable[[object], Iterable[object]]", tuple.__iter__)  # pyright: ignore[reportUnknownMemberType]
_of_dict = cast("Callable[[object], Iterable[tuple[object, object]]]", dict.items)  # pyright: ignore[reportUnknownMemberType]
"""What one of them holds, whatever a class of its own shows."""


class _Untold(Exception):
    """There is no JSON that would tell all of it."""


def _exact(value: str | bytes | bytearray | float) -> Json:
    """Return a text, bytes or a number as it is, whatever a class of its own says that it is."""
    _check_bare(value)
    match value:
        case str():
            return str.__str__(value)
        case bytes() | bytearray():
            return memoryview(value).tobytes()
        case int():
            return int.__int__(value)
        case _:
            return float.__float__(value)


def _entries(value: list[object] | tuple[object, ...]) -> Iterable[object]:
    _check_bare(value)
    found = list(_of_list(value) if isinstance(value, list) else _of_tuple(value))
    _check_same(found, list(value))
    return found


def _members(value: object) -> Iterable[tuple[object, object]]:
    """Return all members of an object, a model or a dataclass."""
    match value:
        case BaseModel():  # not by its ``__iter__``: a model may have one of its own
            parts = (value.__dict__, value.__pydantic_extra__ or {}, value.__pydantic_private__ or {})
            return chain.from_iterable(each.items() for each in parts)
        case dict():
            return _items(cast("dict[object, object]", value))
        case Mapping():
            return cast("Mapping[object, object]", value).items()
        case _ if is_dataclass(value) and not isinstance(value, type):
            declared = {each.name: getattr(value, each.name) for each in fields(value)}
            return {**getattr(value, "__dict__", {}), **declared}.items()
        case _:
            raise _Untold


def _items(value: dict[object, object]) -> Iterable[tuple[object, object]]:
    _check_bare(value)
    found = list(_of_dict(value))
    _check_same(list(chain.from_iterable(found)), list(chain.from_iterable(value.items())))
    return found


def _check_bare(value: object) -> None:
    """Refuse a value with attributes of its own, as an amount with its currency: its JSON would not tell them."""
    if getattr(value, "__dict__", None):
        raise _Untold


def _check_same(held: list[object], shown: list[object]) -> None:
    """Refuse what holds more, or other things, than it shows to those who go through it."""
    if len(held) != len(shown) or any(one is not other for one, other in zip(held, shown, strict=True)):
        raise _Untold


def _no_form(name: str) -> InputError:
    return InputError(
        f"The argument {name} has no form as JSON, so nobody could approve it.",
        hint="Guard a tool that takes texts, numbers, lists, objects, dates, models and bytes, or name it in exclude=.",
    )
