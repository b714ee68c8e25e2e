"""The classes of which an approval may consist: how a value is taken apart and rebuilt, exactly.

A value of another class has no place in a call: a subclass may hold more than its base class shows, and a foreign
mapping may show less than it holds. ``register_argument_class`` adds a class.
"""

from __future__ import annotations

import ipaddress
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, TypeAdapter
from pydantic_core import TzInfo, to_jsonable_python

from emitter.authority.guard.inspection import name_class
from emitter.decisions.canonical_json import MAX_INTEGER
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.messages import Json

T = TypeVar("T")
TakeApart = Callable[[Any], "tuple[object, list[Json] | None]"]
PutTogether = Callable[[Any, "list[Json]", Any], object]


class UnsupportedValue(Exception):
    """A value that nobody could approve whole. ``reason`` continues "The argument x ..."; ``hint`` says what to do."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, slots=True)
class ValueClass:
    """Converts the values of a class to JSON and back.

    ``take_apart`` returns a scalar, a list or a dict, and what the JSON does not express: the details of the class, or
    None if the JSON says everything. ``put_together`` gets the class, the details, and the scalar, list or dict with
    rebuilt members. ``show`` returns a text for the person. With ``is_nested``, the part is a value of any class.
    """

    take_apart: TakeApart
    put_together: PutTogether
    is_nested: bool = False
    show: Callable[[Any], str] | None = None


_registered: dict[type, ValueClass] = {}


def register_argument_class(
    cls: type[T],
    *,
    encode: Callable[[T], object],
    decode: Callable[[Any], T],
    show: Callable[[T], str] | None = None,
) -> None:
    """Let guarded tools take arguments of a class, in this process.

    Args:
        cls: The class. Its subclasses need entries of their own.
        encode: Returns all that a value holds, as JSON or as values of classes that a guarded tool takes.
        decode: Makes the value from what ``encode`` returned. The tool gets its result.
        show: Returns what a person reads before the encoded value. It never replaces it.

    Raises:
        InputError: The class needs no entry, such as ``str`` or ``Decimal``.
    """
    if not isinstance(cls, type) or cls in _EXACT:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("cls= must be a class of your own.", hint="Guarded tools take plain values without an entry.")
    if not all(map(callable, (encode, decode, show or encode))):
        raise InputError("encode=, decode= and show= must be functions.")
    _registered[cls] = ValueClass(
        lambda value: (encode(value), []), lambda _cls, _details, part: decode(part), is_nested=True, show=show
    )


def find_value_class(cls: type) -> ValueClass | None:
    """Return how values of exactly this class are encoded, or None if they are not."""
    known = _registered.get(cls) or _EXACT.get(cls)
    if known is not None:
        return known
    return next((structure for applies, structure in _STRUCTURES if applies(cls)), None)


def _plain(value: object) -> tuple[object, None]:
    return value, None


def _check_finite(value: float | Decimal) -> None:
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):  # isfinite() of an sNaN raises
        raise UnsupportedValue("is not a finite number", "Pass None or a text instead.")


def _take_float(value: float) -> tuple[object, list[Json] | None]:
    _check_finite(value)
    return value, [math.copysign(1, value) < 0] if value.is_integer() else None  # JSON writes 1.0 as 1, -0.0 as 0


def _make_float(_cls: type, details: list[Json], part: Any) -> float:
    return math.copysign(part, -1.0 if details[0] else 1.0)


def _take_integer(value: int) -> tuple[object, None]:
    if abs(value) > MAX_INTEGER:
        raise UnsupportedValue("is an integer beyond 2^53, which JSON readers round", "Send it as text: str(value).")
    return value, None


def _take_items(value: Iterable[object]) -> tuple[object, list[Json]]:
    return list(value), []


def _take_mapping(value: dict[object, object]) -> tuple[object, list[Json]]:
    if getattr(value, "__dict__", None):
        raise UnsupportedValue("has attributes besides its members", f"Pass dict(...) instead. {OTHER_STATE}")
    return dict(value), []


def _take_text(value: object) -> tuple[object, list[Json]]:
    cls: Any = type(value)
    text = str(value)
    if cls(text) != value:
        raise _not_exact(value)
    return text, []


def _take_duration(value: timedelta) -> tuple[object, list[Json]]:
    text = to_jsonable_python(value)
    if _DURATION.validate_python(text) != value:
        raise _not_exact(value)
    return text, []


def _take_decimal(value: Decimal) -> tuple[object, list[Json]]:
    _check_finite(value)
    return str(value), []


def _take_date(value: date) -> tuple[object, list[Json]]:
    return value.isoformat(), []


def _take_time(value: datetime | time) -> tuple[object, list[Json]]:
    zone = value.tzinfo
    if zone is not None and type(zone) not in _ZONES:
        raise UnsupportedValue(f"has the time zone class {_readable_name(type(zone))}", "Use zoneinfo.ZoneInfo or UTC.")
    text, details = to_jsonable_python(value), [value.fold, *_zone_details(zone)]
    if repr(_make_time(type(value), details, text)) != repr(value):
        raise _not_exact(value)
    return text, details


def _zone_details(zone: tzinfo | None) -> list[Json]:
    """Return the class and name of a time zone; the text of a time only has the offset."""
    return [] if zone is None else [name_class(type(zone)), None if type(zone) is TzInfo else str(zone)]


def _make_time(cls: type, details: list[Json], part: Any) -> object:
    parsed = cast("Any", cls).fromisoformat(part)
    fold, *zone = details
    return parsed.replace(fold=fold, tzinfo=_make_zone(zone, parsed.utcoffset()) if zone else None)


def _make_zone(details: list[Json], offset: timedelta | None) -> tzinfo:
    name, key = details
    cls = next(each for each in _ZONES if name_class(each) == name)
    if cls is ZoneInfo:
        return ZoneInfo(key)
    seconds = offset or timedelta(0)
    if cls is TzInfo:
        return TzInfo(seconds.total_seconds())
    zone = timezone(seconds)
    return zone if str(zone) == key else timezone(seconds, key)


def _not_exact(value: object) -> UnsupportedValue:
    return UnsupportedValue(
        f"is a {type(value).__name__} whose text does not say all of it", "Pass it as a text or a number of your own."
    )


def _call_class(cls: Callable[[Any], object], _details: list[Json], part: Any) -> object:
    return cls(part)


OTHER_STATE: Final = "Pass what else it holds as arguments of their own."
_ZONES: Final = (timezone, ZoneInfo, TzInfo)
_DURATION: Final = TypeAdapter(timedelta)
_PLAIN: Final = ValueClass(_plain, lambda _cls, _details, part: part)
_AS_TEXT: Final = ValueClass(_take_text, _call_class)
_MAPPING: Final = ValueClass(_take_mapping, _call_class)
_TIME: Final = ValueClass(_take_time, _make_time)
_EXACT: Final[Mapping[type, ValueClass]] = {
    **dict.fromkeys((type(None), bool, str, bytes, list, dict), _PLAIN),
    int: ValueClass(_take_integer, lambda _cls, _details, part: part),
    float: ValueClass(_take_float, _make_float),
    tuple: ValueClass(_take_items, _call_class),
    bytearray: ValueClass(lambda value: (bytes(value), []), _call_class),
    **dict.fromkeys((OrderedDict, Counter), _MAPPING),
    **dict.fromkeys((datetime, time), _TIME),
    date: ValueClass(_take_date, lambda _cls, _details, part: date.fromisoformat(part)),
    timedelta: ValueClass(_take_duration, lambda _cls, _details, part: _DURATION.validate_python(part)),
    Decimal: ValueClass(_take_decimal, _call_class),
    **dict.fromkeys((UUID, type(Path()), PurePosixPath, PureWindowsPath), _AS_TEXT),
    **dict.fromkeys((ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network), _AS_TEXT),
    **dict.fromkeys((ipaddress.IPv6Network, ipaddress.IPv4Interface, ipaddress.IPv6Interface), _AS_TEXT),
}
"""The classes that need no structure of their own. A subclass of one is another class."""


def _is_named_tuple(cls: type) -> bool:
    names: object = getattr(cls, "_fields", None)
    return cls.__base__ is tuple and isinstance(names, tuple) and not cls.__dictoffset__


def _take_named_tuple(value: tuple[object, ...]) -> tuple[object, list[Json]]:
    return list(_tuple_items(value)), []


def _make_named_tuple(cls: Any, _details: list[Json], part: list[object]) -> object:
    return cast("Any", tuple).__new__(cls, part)


def _is_enum(cls: type) -> bool:
    return issubclass(cls, Enum)


def _take_member(value: Enum) -> tuple[object, list[Json]]:
    constant = value._value_
    if value.value is not constant or type(value)(constant) is not value or not _is_constant(constant):
        raise UnsupportedValue("is an Enum member whose value can change", "Pass its name: member.name.")
    return constant, []


def _is_constant(value: object) -> bool:
    if type(value) is tuple:
        return all(map(_is_constant, cast("tuple[object, ...]", value)))
    return isinstance(value, Enum) or type(value) in _CONSTANTS


def _make_member(cls: Any, _details: list[Json], part: Any) -> object:
    return cls(part)


_CONSTANTS: Final = frozenset(_EXACT) - {list, dict, tuple, bytearray, OrderedDict, Counter}
_tuple_items = cast("Callable[[object], Iterable[object]]", tuple.__iter__)  # pyright: ignore[reportUnknownMemberType]
"""Reads the real items, even if a class overrides iteration."""
_MODEL_SLOTS: Final = ("__dict__", "__pydantic_extra__", "__pydantic_private__", "__pydantic_fields_set__")


def _is_model(cls: type) -> bool:
    return issubclass(cls, BaseModel)


def _take_model(value: BaseModel) -> tuple[object, list[Json]]:
    """Return all members of a model: fields, cached properties, extra and private members."""
    cls = type(value)
    parts = (_attributes(value), value.__pydantic_extra__ or {}, value.__pydantic_private__ or {})
    has_ambiguous = any(_model_part(cls, name) != index for index, part in enumerate(parts) for name in part)
    if has_ambiguous or _unknown_slots(cls, _MODEL_SLOTS):
        raise _hidden_state(cls)
    return {name: each for part in parts for name, each in part.items()}, sorted(value.__pydantic_fields_set__)


def _model_part(cls: type[BaseModel], name: str) -> int:
    """Return which of a model's parts has a member: 0 its dict, 1 its extra members, 2 the private ones."""
    if name in cls.__private_attributes__:
        return 2
    return 1 if cls.model_config.get("extra") == "allow" and name not in cls.model_fields else 0


def _make_model(cls: type[BaseModel], details: list[Json], part: dict[str, object]) -> object:
    model = object.__new__(cls)
    stored, extra, private = (
        {name: value for name, value in part.items() if _model_part(cls, name) == index} for index in range(3)
    )
    BaseModel.__setstate__(
        model,
        {
            "__dict__": stored,
            "__pydantic_extra__": extra if cls.model_config.get("extra") == "allow" else None,
            "__pydantic_fields_set__": set(details),
            "__pydantic_private__": private if cls.__private_attributes__ else None,
        },
    )
    return model


def _is_data(cls: type) -> bool:
    return is_dataclass(cls)


def _take_data(value: Any) -> tuple[object, list[Json]]:
    """Return the fields of a dataclass and its other attributes."""
    cls: type[object] = type(cast("object", value))
    declared = {each.name: getattr(value, each.name) for each in fields(value)}
    if _unknown_slots(cls, declared.keys()):
        raise _hidden_state(cls)
    stored = {name: each for name, each in _attributes(value).items() if name != "__orig_class__"}
    return {**stored, **declared}, []


def _make_data(cls: type, _details: list[Json], part: dict[str, object]) -> object:
    value: Any = object.__new__(cast("Any", cls))
    for name, each in part.items():
        object.__setattr__(value, name, each)  # neither __init__ nor a frozen class has a say
    return value


def _attributes(value: object) -> dict[str, object]:
    """Return an object's real attributes, even if its class defines ``__dict__`` itself."""
    reader = next((vars(each)["__dict__"] for each in type(value).__mro__ if "__dict__" in vars(each)), None)
    if reader is None:
        return {}
    if not isinstance(reader, GetSetDescriptorType):
        raise _hidden_state(type(value))
    return cast("dict[str, object]", reader.__get__(value))


def _unknown_slots(cls: type, known: Iterable[str]) -> bool:
    """Return True if a class holds state outside its ``__dict__`` and its known slots."""
    try:
        object.__new__(cls)  # refuses a class with the state of a built-in one, such as str
    except TypeError:
        return True
    members = (item for base in cls.__mro__ for item in vars(base).items())
    return not {name for name, each in members if isinstance(each, MemberDescriptorType)} <= set(known)


def _hidden_state(cls: type) -> UnsupportedValue:
    return UnsupportedValue(f"is a {_readable_name(cls)}, which holds more than its fields", OTHER_STATE)


_STRUCTURES: Final = (
    (_is_enum, ValueClass(_take_member, _make_member, is_nested=True)),
    (_is_model, ValueClass(_take_model, _make_model)),
    (_is_data, ValueClass(_take_data, _make_data)),
    (_is_named_tuple, ValueClass(_take_named_tuple, _make_named_tuple)),
)


def explain_unsupported(value: object) -> UnsupportedValue:
    """Return why a value of an unknown class cannot be approved, and how to convert it."""
    cls = type(value)
    base = next((each for each in cls.__mro__ if each in _EXACT and each is not object), None)
    named = f"is of the class {_readable_name(cls)}"
    if base is not None and not issubclass(base, Mapping):
        plain = base.__name__
        return UnsupportedValue(
            f"{named}, which may hold more than a {plain}", f"Convert it: {plain}(value). {OTHER_STATE}"
        )
    return UnsupportedValue(named, _find_conversion(cls))


def _readable_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _find_conversion(cls: type) -> str:
    if hasattr(cls, "get_secret_value"):
        return "Pass value.get_secret_value(), and name the parameter in digested=."
    known = next((hint for kind, hint in _CONVERSIONS.items() if issubclass(cls, kind)), None)
    if any(hasattr(cls, name) for name in _OF_SEVERAL_VALUES):
        return "Convert it to a list of pairs with all values of each name, such as list(value.multi_items())."
    if hasattr(cls, "tolist"):
        return "Convert it: value.tolist()."
    return (
        known
        or "Convert it to plain values, a dataclass or a pydantic model, or teach it with register_argument_class()."
    )


_OF_SEVERAL_VALUES: Final = ("multi_items", "getlist", "get_list", "getall", "get_all")
"""Methods of mappings in which a name can stand more than once."""
_CONVERSIONS: Final[Mapping[type, str]] = {
    Mapping: "Convert it: dict(value).",
    set: "Convert it: sorted(value).",
    frozenset: "Convert it: sorted(value).",
    memoryview: "Convert it: bytes(value).",
    PurePath: "Convert it: Path(value).",
    Iterable: "Convert it: list(value).",
}
