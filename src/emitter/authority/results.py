"""What a tool returned: kept beside its receipt, as JSON, where it is some, and held to the receipt's digest.

It is nobody's record of what was done, so a value that cannot be kept costs no receipt.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Final, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from emitter.decide.canonical import Profile
from emitter.decide.digest import digest_of
from emitter.errors import NotCanonical, Tampered

if TYPE_CHECKING:
    from emitter.wire import Json

_MOST: Final = 1_000_000
"""Values within a value: what is shared stands in JSON wherever it is, and may come to more than any store holds."""


def retainable(value: object) -> Json:
    """Return what an act returned as JSON, in an object, or None where it is none."""
    try:
        if not is_writable(value):
            return None
        kept = {"value": to_jsonable_python(value)}
        digest_of(kept, Profile.WIRE)
    except Exception:  # noqa: BLE001  the act was done, and a value may run anybody's code
        return None
    return kept


def is_writable(value: object) -> bool:
    """Tell whether to write a value as JSON would come to an end, and would not use up an iterator within it."""
    left, rest = _MOST, [value]
    while rest and left:
        left -= 1
        each = rest.pop()
        if isinstance(each, Iterator):
            return False
        rest.extend(_within(each))
    return not rest


def check_kept(kept: Json, hashed: Json, place: str) -> None:
    """Raise ``Tampered`` where what is retained of an act is not what its receipt has the digest of, None for none."""
    try:
        found = None if kept is None else digest_of(kept, Profile.WIRE)
    except NotCanonical:
        found = ""
    if found != hashed:
        raise Tampered(f"{place}: what was retained of the act is not what it returned.", place=place)


def _within(value: object) -> Iterable[object]:
    match value:
        case Mapping():
            return cast("Mapping[object, object]", value).values()
        case list() | tuple() | AbstractSet() | deque():
            return cast("Iterable[object]", value)
        case BaseModel():
            return (*value.__dict__.values(), *(value.__pydantic_extra__ or {}).values())
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [getattr(value, each.name) for each in fields(value)]
        case _:
            return ()
