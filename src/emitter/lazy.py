"""Load the public names of a package on first use, so that importing the package is cheap."""

from __future__ import annotations

import importlib
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_exports(
    package: str, names_by_module: Mapping[str, str], hints: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``names_by_module`` maps modules of the package to the names they provide, separated by spaces. A dot before a
    module leads out of the package, as in a relative import. Assign the result under ``if not TYPE_CHECKING``: a type
    checker that saw ``__getattr__`` would accept every misspelt name. ``hints`` maps names that other libraries have
    to a sentence that says what to use instead.
    """
    modules = {name: module for module, names in names_by_module.items() for name in names.split()}

    def load(name: str) -> object:
        if name not in modules:
            hint = f". {hints[name]}" if name in hints else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        value = getattr(importlib.import_module(f".{modules[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return load, names, [*modules, *({"__version__"} & vars(sys.modules[package]).keys())]
