"""Identify a tool: an approval binds a function by module, qualified name and, where these are ambiguous, code."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from importlib.machinery import ModuleSpec
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    return name_class(type(value))


def name_class(cls: type) -> str:
    """Return the module and qualified name of a class."""
    return f"{_module_name(cls.__module__)}:{cls.__qualname__}"


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
