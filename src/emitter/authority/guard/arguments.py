"""A call's real arguments: as a tool takes them, and as its proposal tells them."""

from __future__ import annotations

import copy
import ipaddress
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from emitter.authority.guard.tools import class_of
from emitter.decide.canonical import Profile
from emitter.decide.digest import digest_of
from emitter.errors import InputError, NotCanonical
from emitter.schema.pointer import escaped

if TYPE_CHECKING:
    import inspect
    from collections.abc import Collection

    from emitter.wire import Json


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a tool is called with: a copy that nobody else holds; ``parameters`` are the same as JSON and bytes.

    ``classes`` is a digest of what the parameters do not tell of the values' classes; None where there is nothing.
    """

    positional: tuple[Any, ...] = field(repr=False)
    named: Mapping[str, Any] = field(repr=False)
    content: Mapping[str, Any] = field(repr=False)
    parameters: dict[str, Json] = field(repr=False)
    classes: str | None = None

    def into(self, tool: Callable[..., Any]) -> Any:
        """Call a tool with them."""
        return tool(*self.positional, **self.named)

    def again(self) -> tuple[dict[str, Json], str | None]:
        """Return parameters and classes as they are now: some values cannot be copied, such as an Enum member's."""
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
    return Arguments(bound.args, dict(bound.kwargs), content, *_told(content))


def _copied(name: str, value: object) -> object:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001  a copy is made by anybody's code
        raise _no_form(name) from None


def _told(content: Mapping[str, object]) -> tuple[dict[str, Json], str | None]:
    parameters: dict[str, Json] = {}
    classes: dict[str, Json] = {}
    for name, value in content.items():
        telling = _Telling()
        try:
            parameters[name] = telling.value(value, (name,))
        except Exception:  # noqa: BLE001  its members are read by anybody's code
            raise _no_form(name) from None
        classes |= telling.classes
    try:
        return parameters, digest_of(classes, Profile.WIRE) if classes else None
    except NotCanonical:
        raise _no_form(next(iter(content))) from None


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
    ``classes`` has, by JSON pointer, what the JSON does not tell of a value's class: two values with the same JSON may
    still be two values to the tool.
    """

    count: int = 0
    classes: dict[str, Json] = field(default_factory=dict[str, "Json"])

    def value(self, value: object, at: tuple[str, ...]) -> Json:
        self.count += 1
        if self.count > _MOST or len(at) > _DEEPEST + 1:
            raise _Untold
        untold = _beyond_json(value)
        if untold:
            self.classes[_pointer(at)] = untold
        match value:
            case Enum():
                return self.value(value.value, (*at, "value"))
            case None | bool():
                return value
            case str() | bytes() | bytearray() | int() | float():
                return _exact(value)
            case list() | tuple():
                entries = enumerate(_entries(cast("list[object]", value)))
                return [self.value(each, (*at, f"{index}")) for index, each in entries]
            case _ if isinstance(value, _LEAVES):
                return to_jsonable_python(value)
            case _:
                return self.members(_members(value), at)

    def members(self, pairs: Iterable[tuple[object, object]], at: tuple[str, ...]) -> Json:
        found: dict[str, Json] = {}
        for key, value in pairs:
            if not isinstance(key, str) or (name := str.__str__(key)) in found:  # a name that stands twice hides one
                raise _Untold
            if type(key) is not str:
                self.classes[_pointer((*at, name, "key"))] = [class_of(key)]
            found[name] = self.value(value, (*at, name))
        return found


_JSON: Final = (type(None), bool, int, str, bytes, list, dict)
"""Classes that the JSON of a value tells, and so does the digest object of bytes."""


def _beyond_json(value: object) -> list[Json]:
    """Return what the JSON of a value does not tell: its class, and what some classes have beside their text."""
    match value:
        case _ if type(value) in _JSON:
            return []
        case float():
            if type(value) is float and not value.is_integer():
                return []
            return [class_of(value), math.copysign(1, value) < 0]  # 1.0 is written as 1 is, and -0.0 as 0 is
        case datetime() | time():
            return [class_of(value), value.fold, *_zone(value.tzinfo)]
        case BaseModel():
            return [class_of(value), *sorted(value.model_fields_set)]
        case _:
            return [class_of(value)]


def _pointer(at: tuple[str, ...]) -> str:
    return "".join(f"/{escaped(each)}" for each in at)


def _zone(zone: tzinfo | None) -> list[Json]:
    """Return the class of a time zone, and its name where it has one; the text of a time has the offset alone."""
    return [] if zone is None else [class_of(zone), str(zone) if isinstance(zone, ZoneInfo | timezone) else None]


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
