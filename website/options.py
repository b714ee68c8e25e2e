"""Shows each option of a function that takes ``**options``, as ``help()`` does."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import TYPE_CHECKING, Any, is_typeddict

import griffe

if TYPE_CHECKING:
    from collections.abc import Mapping

_ARGUMENT = re.compile(r"^( +)(\w+):", re.MULTILINE)
_ARGUMENTS = re.compile(r"^Args:\n((?: +.*\n?|\n(?= ))*)", re.MULTILINE)
_UNPACKED = re.compile(r"\bUnpack\[(\w+)\]")


class DocumentedOptions(griffe.Extension):
    """Describes each option that a function takes, with its type."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Describe the options of a function, decorated with ``documented_options`` or not."""
        if _takes_options(func):
            runtime = _import(func.path)
            text = _annotate(inspect.getdoc(runtime) or "", _types(runtime, {each.name for each in func.parameters}))
            func.docstring = _docstring(text, func)
        elif func.docstring and (path := _find_typed_dict(func)):
            section = _ARGUMENTS.search(_describe_typed_dict(_import(path)))
            text = f"{func.docstring.value}\n\n{section[0] if section else ''}".rstrip()
            func.docstring = _docstring(text, func)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Describe the options of a ``TypedDict``, the members of an enum, and a private base's constructor."""
        if not cls.docstring:
            return
        bases = [str(base) for base in cls.bases]
        if "Enum" in bases:
            for member in cls.members.values():
                if member.is_attribute and not member.name.startswith("_") and not member.docstring:
                    member.docstring = _docstring(f"The value is ``{member.value}``.", cls)
            return
        local = [cls.module.members[base] for base in bases if base in cls.module.members]
        constructors = [base.members.get("__init__") for base in local if not base.is_alias]
        if "TypedDict" in bases:
            cls.docstring = _docstring(_describe_typed_dict(_import(cls.path)), cls)
        elif constructors and _takes_options(constructors[0]):
            constructor = _import(f"{cls.path}.__init__")
            _, _, arguments = (inspect.getdoc(constructor) or "").partition("\n\n")
            text = f"{cls.docstring.value}\n\n{_annotate(arguments, _types(constructor, set()))}"
            cls.docstring = _docstring(text, cls)


def _takes_options(func: Any) -> bool:
    return func is not None and any("documented_options" in str(each.value) for each in func.decorators)


def _types(function: Any, named: set[str]) -> dict[str, str]:
    """Return the type of each argument of a function that its source does not name."""
    parameters = inspect.signature(function).parameters
    return {name: each.annotation for name, each in parameters.items() if name not in named}


def _annotate(text: str, types: Mapping[str, str]) -> str:
    """Add the types to the arguments of a docstring."""
    return _ARGUMENT.sub(
        lambda found: f"{found[1]}{found[2]} ({types[found[2]]}):" if found[2] in types else found[0], text
    )


def _describe_typed_dict(options: Any) -> str:
    if not is_typeddict(options):
        return ""
    hints = {name: getattr(hint, "__forward_arg__", str(hint)) for name, hint in options.__annotations__.items()}
    return _annotate(inspect.getdoc(options) or "", hints)


def _find_typed_dict(func: griffe.Function) -> str:
    """Return the path of the ``TypedDict`` that a function or its overloads unpack, or nothing."""
    parameters = [each for variant in (func, *(func.overloads or ())) for each in variant.parameters]
    found = _UNPACKED.search(" ".join(str(each.annotation) for each in parameters))
    if found is None:
        return ""
    member = func.module.members[found[1]]
    return member.target_path if isinstance(member, griffe.Alias) else member.path


def _docstring(text: str, parent: griffe.Object) -> griffe.Docstring:
    options: Any = {"warn_unknown_params": False}
    return griffe.Docstring(text, parent=parent, parser="google", parser_options=options)


def _import(path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:  # a method of a class
        return getattr(_import(module), name)
