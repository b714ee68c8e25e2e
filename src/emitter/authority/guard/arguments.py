"""A call's real arguments: as a tool takes them, and as its proposal tells them."""

from __future__ import annotations

import copy
import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

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
    parameters: dict[str, Json] = field(repr=False)

    def into(self, tool: Callable[..., Any]) -> Any:
        """Call a tool with them."""
        return tool(*self.positional, **self.named)


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
    parameters = {name: _plain(name, value) for name, value in bound.arguments.items() if name not in exclude}
    return Arguments(bound.args, dict(bound.kwargs), parameters)


def _copied(name: str, value: object) -> object:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001  a copy is made by anybody's code
        raise _no_form(name) from None


_LEAVES = (
    *(date, time, timedelta, Decimal, UUID, Path),
    *(ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network),
)
"""What has one text, which tells all of it."""
_DEEPEST = 100


def _plain(name: str, value: object, depth: int = 0) -> Json:
    """Return a value as JSON in which bytes stand as they are, and which leaves nothing of it untold.

    What has its own idea of its JSON is not asked: a secret, or a member that a model leaves out, would be approved
    unseen. A set has no order, so it would be another text in another process; an iterator is spent by reading it.
    """
    match value:
        case Enum():
            return _plain(name, value.value, depth)
        case None | bool() | int() | float() | str() | bytes():
            return cast("Json", value)
        case bytearray():
            return bytes(value)
        case list() | tuple() if depth < _DEEPEST:
            return [_plain(name, each, depth + 1) for each in cast("Sequence[object]", value)]
        case _ if isinstance(value, _LEAVES) or depth == _DEEPEST:
            return _dumped(name, value)
        case _:
            return {_key(name, key): _plain(name, each, depth + 1) for key, each in _members(name, value).items()}


def _members(name: str, value: object) -> Mapping[object, object]:
    """Return all members of an object, a model (one that lets nobody list them, too) or a dataclass."""
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value)
    if isinstance(value, BaseModel):
        return {**dict(BaseModel.__iter__(value)), **(value.__pydantic_private__ or {})}  # type: ignore[dict-item]  # names are texts
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    raise _no_form(name)


def _key(name: str, key: object) -> str:
    if not isinstance(key, str):
        raise _no_form(name)
    return key


def _dumped(name: str, value: object) -> Json:
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        raise _no_form(name) from None


def _no_form(name: str) -> InputError:
    return InputError(
        f"The argument {name} has no form as JSON, so nobody could approve it.",
        hint="Guard a tool that takes texts, numbers, lists, objects, dates, models and bytes, or name it in exclude=.",
    )
