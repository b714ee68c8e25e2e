"""What a tool is: its name, the function that an approval binds, what it takes, and whether it is awaited."""

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

    from emitter.wire import Json

_LAMBDA: Final = "<lambda>"


def name_of(tool: object) -> str:
    """Return what a tool is called; a lambda has no name of its own, and two of them would pass for each other."""
    named = getattr(tool, "__name__", "")
    return "" if named == _LAMBDA else named


def signature_of(tool: Callable[..., Any]) -> inspect.Signature:
    """Return what a tool takes; raises ``InputError`` for what is no tool, or does not say."""
    if _given_by_place(tool):
        raise InputError(
            "The tool has arguments that no call tells, so nobody could approve them.",
            hint="Give them to partial() by their names; what is no content goes into exclude=.",
        )
    try:
        return inspect.signature(tool)
    except (TypeError, ValueError):
        raise InputError(
            "The tool does not say what it takes, so nobody could approve its arguments.",
            hint="Guard a function of yours that calls it.",
        ) from None


def _given_by_place(tool: object) -> bool:
    return isinstance(tool, functools.partial) and bool(cast("functools.partial[Any]", tool).args)


def is_async(tool: object) -> bool:
    """Tell whether a tool is awaited: a coroutine function, or an object whose call is one."""
    return any(map(inspect.iscoroutinefunction, (tool, getattr(tool, "__call__", None))))  # noqa: B004  its own code is asked for


@dataclass(frozen=True, eq=False)
class Function:
    """A guarded tool, and the ``name`` by which an approval binds it: its module and qualified name, ``bank:send``.

    What these two do not tell apart is hashed and appended: the code of a lambda, the function inside a decorator, the
    class of a method's object, and the texts, numbers and functions that a closure or a partial holds. Other objects
    that a tool holds count by their class alone, and changes to the code of a named function do not count.
    """

    name: str
    tool: Callable[..., Any]

    @classmethod
    def of(cls, tool: Callable[..., Any]) -> Function:
        """Return a tool with its name."""
        named, rest = _Naming().name(tool)
        if len(named) > _LONGEST:
            named, rest = named[:_LONGEST], [rest, named]
        return cls(named if not rest else f"{named}#{_hash(rest)}", tool)

    def is_same(self, other: Function, *, owned: bool = False) -> bool:
        """Tell whether two tools of one name do the same: the same code, on the same objects.

        A method's object does not count where both are ``owned``: an account tells whose they are.
        """
        return self is other or _is_same(self.tool, other.tool, owned=owned)


def class_of(value: object) -> str:
    """Return the module and the qualified name of a value's class."""
    kind = type(value)
    return f"{_module(kind.__module__)}:{kind.__qualname__}"


def _is_same(one: object, other: object, *, owned: bool = False) -> bool:
    if one is other:
        return True
    match one, other:
        case functools.partial(), functools.partial():
            inner, another = cast("functools.partial[Any]", one), cast("functools.partial[Any]", other)
            return _is_same(inner.func, another.func, owned=owned)
        case MethodType(), MethodType():
            is_owner = owned or one.__self__ is other.__self__
            return is_owner and _is_same(one.__func__, other.__func__, owned=owned)
        case FunctionType(), FunctionType():
            held, others = list(_closure_of(one).values()), list(_closure_of(other).values())
            is_code = one.__code__ == other.__code__ and len(held) == len(others)
            return is_code and all(map(_is_same_value, held, others))
        case BuiltinFunctionType(), BuiltinFunctionType():
            return one.__name__ == other.__name__ and (owned or one.__self__ is other.__self__)
        case _:
            return owned and type(one) is type(other)


def _is_same_value(one: object, other: object) -> bool:
    is_equal = type(one) is type(other) and isinstance(one, _PLAIN) and one == other
    return is_equal or _is_same(one, other)


_LONGEST: Final = 256
_PLAIN = (type(None), bool, int, float, complex, str, bytes, Decimal, date, time, timedelta, UUID)
"""Values that have one text and cannot be changed."""


class _Naming:
    """One way through what a tool is made of; a function that holds itself is named once."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen = set[int]()

    def name(self, tool: object) -> tuple[str, list[Json]]:
        """Return a tool's module and qualified name, and what they do not tell."""
        if id(tool) in self._seen:
            return "", []
        self._seen.add(id(tool))
        match tool:
            case functools.partial():
                whole = cast("functools.partial[Any]", tool)
                named, rest = self.name(whole.func)
                given: list[Json] = [self._content(whole.args), self._content(tuple(whole.keywords.items()))]
                return named, ["partial", rest, *given]
            case MethodType():
                named, rest = self.name(tool.__func__)
                return named, ["method", rest, self._owner(tool.__self__)]
            case _:
                named = _qualified(tool)
                return named, self._rest(tool, named)

    def _rest(self, tool: object, named: str) -> list[Json]:
        match tool:
            case FunctionType():
                return self._function(tool, named)
            case BuiltinFunctionType():
                owner: object = tool.__self__
                return [] if owner is None or inspect.ismodule(owner) else ["method", self._owner(owner)]
            case type():
                return []
            case _:
                inner = getattr(tool, "__wrapped__", None)
                return [class_of(tool), *([] if inner is None else self.name(inner))]

    def _function(self, tool: FunctionType, named: str) -> list[Json]:
        rest: list[Json] = []
        defined = f"{_module(str(tool.__globals__.get('__name__')))}:{tool.__code__.co_qualname}"
        if defined != named:  # a decorator took the name of what it decorates
            rest.append(["defined", defined])
        if tool.__code__.co_name == _LAMBDA:
            rest.append(["code", _code(tool.__code__)])
        rest += [[name, self._content(each)] for name, each in _closure_of(tool).items()]
        return rest

    def _owner(self, owner: object) -> Json:
        return self.name(owner)[0] if isinstance(owner, type) else class_of(owner)

    def _content(self, value: object) -> Json:
        if isinstance(value, tuple):
            return ["tuple", *map(self._content, cast("tuple[object, ...]", value))]
        if type(value) in _PLAIN:
            return [class_of(value), repr(value)]
        if isinstance(value, Enum):
            return [class_of(value), value.name]
        if inspect.ismodule(value):
            return ["module", _module(value.__name__)]
        if isinstance(value, type) or inspect.isroutine(value) or isinstance(value, functools.partial):
            return ["function", *self.name(cast("object", value))]
        return class_of(value)


def _qualified(tool: object) -> str:
    module, qualname = getattr(tool, "__module__", None), getattr(tool, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(qualname, str):
        return class_of(tool)
    return f"{_module(module)}:{qualname}"


def _closure_of(tool: FunctionType) -> dict[str, object]:
    """Return what a closure holds, by name; a variable that has no value yet is left out."""
    cells = dict(zip(tool.__code__.co_freevars, tool.__closure__ or (), strict=True))
    found: dict[str, object] = {}
    for name, cell in cells.items():
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _code(code: CodeType) -> list[Json]:
    """Return what a function does, without where it stands in its file."""
    consts = [_code(each) if isinstance(each, CodeType) else [class_of(each), repr(each)] for each in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), list(code.co_varnames), list(code.co_freevars), consts]


def _module(name: str) -> str:
    """Return a module's name; that of a script tells which script, since each of them is ``__main__``."""
    if name not in {"__main__", "__mp_main__"}:  # the second is what it is called in a spawned process
        return name
    main = sys.modules.get("__main__")
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if isinstance(spec, ModuleSpec):  # it was run by ``python -m``
        return spec.name
    if not isinstance(file, str):
        return "__main__"
    return f"__main__({PurePath(file).name}#{_hash(str(Path(file).resolve()))})"


def _hash(told: Json) -> str:
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
