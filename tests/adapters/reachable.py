"""Find all texts that a value leads to, as something that logs or pickles it would."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, MethodType, ModuleType


def texts_in(*values: object) -> str:
    """Return the texts of values, of their attributes and members, and of the causes of exceptions, one per line."""
    pending, visited, texts = list(values), dict[int, object](), list[str]()
    while pending:
        value = pending.pop()
        if id(value) in visited or isinstance(value, type | FunctionType | ModuleType | MethodType):
            continue
        visited[id(value)] = value
        if isinstance(value, str | bytes):
            texts.append(value if isinstance(value, str) else value.decode("latin-1"))
        elif isinstance(value, Mapping):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            pending += value
        if isinstance(value, BaseException):
            pending += [*value.args, value.__cause__, value.__context__]
        slots = [name for each in type(value).__mro__ for name in getattr(each, "__slots__", ()) if name != "__dict__"]
        pending += [getattr(value, name, None) for name in slots]
        pending += getattr(value, "__dict__", {}).values()
    return "\n".join(texts)
