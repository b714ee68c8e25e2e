"""Identify a tool and capture the exact arguments of a call.

An approval binds the function by module, qualified name and, where these are ambiguous, code. Arguments are copied and
converted to JSON without losing anything the tool could act on; values that have no such form are rejected.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
import ipaddress
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum
from importlib.machinery import ModuleSpec
from itertools import chain
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from emitter.decisions.canonical_json import CanonicalProfile, digest_of
from emitter.errors import InputError, NotCanonical
from emitter.schema.json_data import escape_pointer_token

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from emitter.messages import Json

_LAMBDA_NAME: Final = "<lambda>"


def get_tool_name(tool: object) -> str:
    """Return a tool's name, or an empty string for a lambda, since all lambdas share one name."""
    name = getattr(tool, "__name__", "")
    return "" if name == _LAMBDA_NAME else name


def get_signature(tool: Callable[..., Any]) -> inspect.Signature:
    """Return a tool's signature, or raise ``InputError`` if it cannot be determined."""
    candidate: object = tool  # so that the type of tool is not narrowed
    if isinstance(candidate, functools.partial) and cast("functools.partial[Any]", candidate).args:
        raise InputError(
            "The tool is a partial() with positional arguments, which nobody could approve.",
            hint="Pass them to partial() by name; name those that are not content in exclude=.",
        )
    try:
        return inspect.signature(tool)
    except (TypeError, ValueError):
        raise InputError(
            "The tool has no signature, so nobody could approve its arguments.",
            hint="Guard your own function that calls it.",
        ) from None


@dataclass(frozen=True, eq=False)
class ToolFunction:
    """A guarded tool and the ``name`` an approval binds: its module and qualified name, such as ``bank:send``.

    A hash is appended for details that the name does not distinguish: a lambda's code, the function inside a decorator,
    the class of a method's object, and the strings, numbers and functions held by a closure or a partial. Other held
    objects count by class only. The code of a named function does not count.
    """

    name: str
    tool: Callable[..., Any]

    @classmethod
    def from_tool(cls, tool: Callable[..., Any]) -> ToolFunction:
        """Return a tool with its name."""
        name, details = _FunctionNamer().name(tool)
        if len(name) > _MAX_FUNCTION_NAME:
            name, details = name[:_MAX_FUNCTION_NAME], [details, name]
        return cls(name if not details else f"{name}#{_short_hash(details)}", tool)

    def is_same(self, other: ToolFunction, *, ignore_owner: bool = False) -> bool:
        """Return True if two tools with one name have the same code and hold the same objects.

        With ``ignore_owner`` a method's object does not count, because an account identifies it.
        """
        return self is other or _is_same_function(self.tool, other.tool, ignore_owner=ignore_owner)


def get_class_name(value: object) -> str:
    """Return the module and qualified name of a value's class."""
    kind = type(value)
    return f"{_module_name(kind.__module__)}:{kind.__qualname__}"


def _is_same_function(one: object, other: object, *, ignore_owner: bool = False) -> bool:
    if one is other:
        return True
    match one, other:
        case functools.partial(), functools.partial():
            inner, another = cast("functools.partial[Any]", one), cast("functools.partial[Any]", other)
            return _is_same_function(inner.func, another.func, ignore_owner=ignore_owner)
        case MethodType(), MethodType():
            has_same_owner = ignore_owner or one.__self__ is other.__self__
            return has_same_owner and _is_same_function(one.__func__, other.__func__, ignore_owner=ignore_owner)
        case FunctionType(), FunctionType():
            values, other_values = list(_closure_values(one).values()), list(_closure_values(other).values())
            has_same_code = one.__code__ == other.__code__ and len(values) == len(other_values)
            return has_same_code and all(map(_is_same_value, values, other_values))
        case BuiltinFunctionType(), BuiltinFunctionType():
            return one.__name__ == other.__name__ and (ignore_owner or one.__self__ is other.__self__)
        case _:
            return ignore_owner and type(one) is type(other)


def _is_same_value(one: object, other: object) -> bool:
    is_equal = type(one) is type(other) and isinstance(one, _PLAIN_TYPES) and one == other
    return is_equal or _is_same_function(one, other)


_MAX_FUNCTION_NAME: Final = 256
_PLAIN_TYPES = (type(None), bool, int, float, complex, str, bytes, Decimal, date, time, timedelta, UUID)
"""Immutable types whose values have one textual form."""


class _FunctionNamer:
    """Names one tool; a function that refers to itself is visited once."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen = set[int]()

    def name(self, tool: object) -> tuple[str, list[Json]]:
        """Return a tool's module and qualified name, and the details these do not distinguish."""
        if id(tool) in self._seen:
            return "", []
        self._seen.add(id(tool))
        match tool:
            case functools.partial():
                partial_tool = cast("functools.partial[Any]", tool)
                name, details = self.name(partial_tool.func)
                bound: list[Json] = [
                    self._value_identity(partial_tool.args),
                    self._value_identity(tuple(partial_tool.keywords.items())),
                ]
                return name, ["partial", details, *bound]
            case MethodType():
                name, details = self.name(tool.__func__)
                return name, ["method", details, self._owner_name(tool.__self__)]
            case _:
                name = _qualified_name(tool)
                return name, self._distinguishing_parts(tool, name)

    def _distinguishing_parts(self, tool: object, name: str) -> list[Json]:
        match tool:
            case FunctionType():
                return self._function_parts(tool, name)
            case BuiltinFunctionType():
                owner: object = tool.__self__
                return [] if owner is None or inspect.ismodule(owner) else ["method", self._owner_name(owner)]
            case type():
                return []
            case _:
                inner = getattr(tool, "__wrapped__", None)
                return [get_class_name(tool), *([] if inner is None else self.name(inner))]

    def _function_parts(self, tool: FunctionType, full_name: str) -> list[Json]:
        parts: list[Json] = []
        defined = f"{_module_name(str(tool.__globals__.get('__name__')))}:{tool.__code__.co_qualname}"
        if defined != full_name:  # a decorator copied the name of the decorated function
            parts.append(["defined", defined])
        if tool.__code__.co_name == _LAMBDA_NAME:
            parts.append(["code", _code_parts(tool.__code__)])
        parts += [[name, self._value_identity(value)] for name, value in _closure_values(tool).items()]
        return parts

    def _owner_name(self, owner: object) -> Json:
        return self.name(owner)[0] if isinstance(owner, type) else get_class_name(owner)

    def _value_identity(self, value: object) -> Json:
        if isinstance(value, tuple):
            return ["tuple", *map(self._value_identity, cast("tuple[object, ...]", value))]
        if type(value) in _PLAIN_TYPES:
            return [get_class_name(value), repr(value)]
        if isinstance(value, Enum):
            return [get_class_name(value), value.name]
        if inspect.ismodule(value):
            return ["module", _module_name(value.__name__)]
        if isinstance(value, type) or inspect.isroutine(value) or isinstance(value, functools.partial):
            return ["function", *self.name(cast("object", value))]
        return get_class_name(value)


def _qualified_name(tool: object) -> str:
    module, qualname = getattr(tool, "__module__", None), getattr(tool, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(qualname, str):
        return get_class_name(tool)
    return f"{_module_name(module)}:{qualname}"


def _closure_values(tool: FunctionType) -> dict[str, object]:
    """Return the values a closure holds, by name, without variables that are not yet assigned."""
    cells = dict(zip(tool.__code__.co_freevars, tool.__closure__ or (), strict=True))
    values: dict[str, object] = {}
    for name, cell in cells.items():
        with suppress(ValueError):
            values[name] = cell.cell_contents
    return values


def _code_parts(code: CodeType) -> list[Json]:
    """Return a function's code without its position in the file."""
    consts = [
        _code_parts(const) if isinstance(const, CodeType) else [get_class_name(const), repr(const)]
        for const in code.co_consts
    ]
    return [code.co_code.hex(), list(code.co_names), list(code.co_varnames), list(code.co_freevars), consts]


def _module_name(name: str) -> str:
    """Return a module's name; for ``__main__`` the name of the module or script being run."""
    if name not in {"__main__", "__mp_main__"}:  # the latter in a spawned process
        return name
    main = sys.modules.get("__main__")
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if isinstance(spec, ModuleSpec):  # run with ``python -m``
        return spec.name
    if not isinstance(file, str):
        return "__main__"
    return f"__main__({PurePath(file).name}#{_short_hash(str(Path(file).resolve()))})"


def _short_hash(value: Json) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A private copy of a call's arguments, and the same as JSON ``parameters`` (with bytes).

    ``class_digest`` is a digest of the value classes that JSON cannot express, or None.
    """

    args: tuple[Any, ...] = field(repr=False)
    kwargs: Mapping[str, Any] = field(repr=False)
    content_values: Mapping[str, Any] = field(repr=False)
    parameters: dict[str, Json] = field(repr=False)
    class_digest: str | None = None

    def apply_to(self, tool: Callable[..., Any]) -> Any:
        """Call a tool with the arguments."""
        return tool(*self.args, **self.kwargs)

    def reconvert(self) -> tuple[dict[str, Json], str | None]:
        """Convert the arguments again, because some values are shared rather than copied, such as Enum members."""
        return _to_parameters(self.content_values)


def bind_arguments(
    signature: inspect.Signature,
    call: tuple[tuple[Any, ...], Mapping[str, Any]],
    exclude: Collection[str],
    parameters: Collection[str] | None = None,
) -> CallArguments:
    """Bind a call's arguments with their defaults, or raise ``InputError``.

    ``exclude`` names the arguments that are not content, and ``parameters`` those of a tool with ``**arguments``.
    """
    bound = signature.bind(*call[0], **call[1])
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        if name not in exclude:
            bound.arguments[name] = _copy_value(name, value)
    content = {name: value for name, value in bound.arguments.items() if name not in exclude}
    if parameters is not None:
        _check_names(call[1], parameters)
        content = bound.kwargs
    return CallArguments(bound.args, dict(bound.kwargs), content, *_to_parameters(content))


def _check_names(arguments: Mapping[str, Any], parameters: Collection[str]) -> None:
    unknown = sorted(arguments.keys() - set(parameters))
    if unknown:
        raise InputError(f"The tool has no parameter {unknown[0]!r}.", hint=f"It has {', '.join(sorted(parameters))}.")


def _copy_value(name: str, value: object) -> object:
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001  copying runs user code
        raise _no_json_form(name) from None


def _to_parameters(content: Mapping[str, object]) -> tuple[dict[str, Json], str | None]:
    parameters: dict[str, Json] = {}
    classes: dict[str, Json] = {}
    for name, value in content.items():
        converter = _JsonConverter()
        try:
            parameters[name] = converter.convert(value, (name,))
        except Exception:  # noqa: BLE001  reading members runs user code
            raise _no_json_form(name) from None
        classes |= converter.class_hints
    try:
        return parameters, digest_of(classes, CanonicalProfile.WIRE) if classes else None
    except NotCanonical:
        raise _no_json_form(next(iter(content))) from None


_TEXT_TYPES = (
    *(date, time, timedelta, Decimal, UUID, Path),
    *(ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network),
)
"""Types whose text is unambiguous and complete."""
_MAX_DEPTH: Final = 100
_MAX_VALUES: Final = 100_000
"""Limit on values within an argument; shared values count each time, as they do in JSON."""


@dataclass(slots=True)
class _JsonConverter:
    """Converts one argument to JSON with bytes, completely or not at all.

    Custom serialization is ignored, because it could hide a secret or a member from approval. Sets are rejected for
    their unstable order, and iterators because reading consumes them. ``class_hints`` maps JSON pointers to class
    details that JSON cannot express, since two values with the same JSON may still differ to the tool.
    """

    count: int = 0
    class_hints: dict[str, Json] = field(default_factory=dict[str, "Json"])

    def convert(self, value: object, path: tuple[str, ...]) -> Json:
        self.count += 1
        if self.count > _MAX_VALUES or len(path) > _MAX_DEPTH + 1:
            raise _NotConvertible
        hints = _class_hints(value)
        if hints:
            self.class_hints[_json_pointer(path)] = hints
        match value:
            case Enum():
                return self.convert(value.value, (*path, "value"))
            case None | bool():
                return value
            case str() | bytes() | bytearray() | int() | float():
                return _exact_scalar(value)
            case list() | tuple():
                entries = enumerate(_exact_items(cast("list[object]", value)))
                return [self.convert(entry, (*path, f"{index}")) for index, entry in entries]
            case _ if isinstance(value, _TEXT_TYPES):
                return to_jsonable_python(value)
            case _:
                return self.convert_members(_object_members(value), path)

    def convert_members(self, pairs: Iterable[tuple[object, object]], path: tuple[str, ...]) -> Json:
        members: dict[str, Json] = {}
        for key, value in pairs:
            # A duplicate name would hide a member, as with two keys that are equal as strings.
            if not isinstance(key, str) or (name := str.__str__(key)) in members:
                raise _NotConvertible
            if type(key) is not str:
                self.class_hints[_json_pointer((*path, name, "key"))] = [get_class_name(key)]
            members[name] = self.convert(value, (*path, name))
        return members


_JSON_TYPES: Final = (type(None), bool, int, str, bytes, list, dict)
"""Types that JSON, or the digest object of bytes, expresses."""


def _class_hints(value: object) -> list[Json]:
    """Return what the JSON of a value does not express: its class and details of some classes."""
    match value:
        case _ if type(value) in _JSON_TYPES:
            return []
        case float():
            if type(value) is float and not value.is_integer():
                return []
            return [get_class_name(value), math.copysign(1, value) < 0]  # JSON writes 1.0 as 1 and -0.0 as 0
        case datetime() | time():
            return [get_class_name(value), value.fold, *_zone_hints(value.tzinfo)]
        case BaseModel():
            return [get_class_name(value), *sorted(value.model_fields_set)]
        case _:
            return [get_class_name(value)]


def _json_pointer(path: tuple[str, ...]) -> str:
    # Not child_pointer(), which cuts long names: two members with one pointer would share a hint.
    return "".join(f"/{escape_pointer_token(step)}" for step in path)


def _zone_hints(zone: tzinfo | None) -> list[Json]:
    """Return the class and name of a time zone; the text of a time only has the offset."""
    return [] if zone is None else [get_class_name(zone), str(zone) if isinstance(zone, ZoneInfo | timezone) else None]


_list_items = cast("Callable[[object], Iterable[object]]", list.__iter__)  # pyright: ignore[reportUnknownMemberType]
_tuple_items = cast("Callable[[object], Iterable[object]]", tuple.__iter__)  # pyright: ignore[reportUnknownMemberType]
_dict_items = cast("Callable[[object], Iterable[tuple[object, object]]]", dict.items)  # pyright: ignore[reportUnknownMemberType]
"""These read the real items, even if a subclass overrides iteration."""


class _NotConvertible(Exception):
    """The value has no complete JSON form."""


def _exact_scalar(value: str | bytes | bytearray | float) -> Json:
    """Return the real string, bytes or number, even if a subclass overrides its conversion."""
    _check_no_attributes(value)
    match value:
        case str():
            return str.__str__(value)
        case bytes() | bytearray():
            return memoryview(value).tobytes()
        case int():
            return int.__int__(value)
        case _:
            return float.__float__(value)


def _exact_items(value: list[object] | tuple[object, ...]) -> Iterable[object]:
    _check_no_attributes(value)
    items = list(_list_items(value) if isinstance(value, list) else _tuple_items(value))
    _check_same_items(items, list(value))
    return items


def _object_members(value: object) -> Iterable[tuple[object, object]]:
    """Return all members of a mapping, a model or a dataclass."""
    match value:
        case BaseModel():  # a model may override __iter__
            mappings = (value.__dict__, value.__pydantic_extra__ or {}, value.__pydantic_private__ or {})
            return chain.from_iterable(mapping.items() for mapping in mappings)
        case dict():
            return _exact_dict_items(cast("dict[object, object]", value))
        case Mapping():
            return cast("Mapping[object, object]", value).items()
        case _ if is_dataclass(value) and not isinstance(value, type):
            declared = {member.name: getattr(value, member.name) for member in fields(value)}
            return {**getattr(value, "__dict__", {}), **declared}.items()
        case _:
            raise _NotConvertible


def _exact_dict_items(value: dict[object, object]) -> Iterable[tuple[object, object]]:
    _check_no_attributes(value)
    items = list(_dict_items(value))
    _check_same_items(list(chain.from_iterable(items)), list(chain.from_iterable(value.items())))
    return items


def _check_no_attributes(value: object) -> None:
    """Reject a value with extra attributes, such as an amount with a currency, that JSON would omit."""
    if getattr(value, "__dict__", None):
        raise _NotConvertible


def _check_same_items(stored: list[object], iterated: list[object]) -> None:
    """Reject a container whose iteration yields other items than it stores."""
    if len(stored) != len(iterated) or any(one is not other for one, other in zip(stored, iterated, strict=True)):
        raise _NotConvertible


def _no_json_form(name: str) -> InputError:
    return InputError(
        f"The argument {name} has no complete JSON form, so nobody could approve it.",
        hint="Use strings, numbers, lists, dicts, dates, models or bytes, or name it in exclude=.",
    )
