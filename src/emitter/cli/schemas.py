"""Reading a JSON Schema from a file or standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.cli.source import read_json
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.wire import Json


def read_schema(name: str) -> Json:
    """Return the JSON in the file ``name``, or on standard input for ``-``."""
    schema = read_json(name)
    if schema.__class__ not in (dict, bool):
        raise InputError(f"A JSON Schema is an object or a boolean; this is of type {type(schema).__name__}.")
    return schema
