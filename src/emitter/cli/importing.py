"""Import what ``MODULE:NAME`` names, from the current folder first."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emitter.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator


def import_object(name: str, *, label: str, hint: str) -> Any:
    """Return the object that ``MODULE:NAME`` names.

    Args:
        name: The module and the name.
        label: What it is called in an error, such as ``--type invoices:Invoice``.
        hint: What to write instead.

    Raises:
        InputError: There is no such object.
    """
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise InputError(f"{label} is not of the form MODULE:NAME.", hint=hint)
    try:
        with _importable_folder():
            module = importlib.import_module(module_name)
    except Exception as error:  # the module is the caller's, and may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"The module {module_name} cannot be imported ({reason}).", hint=hint) from error
    try:
        return reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        path = getattr(module, "__file__", None) or "built in"
        raise InputError(f"The module {module_name} ({path}) has no {attribute}.", hint=hint) from error


@contextmanager
def _importable_folder() -> Generator[None]:
    """Import modules of the current folder first within the block, and after all others later.

    A module that a type imports only when it is used must still be found after the block.
    """
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
