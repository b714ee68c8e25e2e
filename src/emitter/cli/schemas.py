"""Reading a JSON Schema from a file or standard input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from emitter.cli.source import read_text
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.wire import Json


def read_schema(name: str) -> Json:
    """Return the JSON in the file ``name``, or on standard input for ``-``."""
    text = read_text(name)
    try:
        schema: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{'standard input' if name == '-' else name} is not JSON ({error}).") from error
    if schema.__class__ not in (dict, bool):
        raise InputError(f"A JSON Schema is an object or a boolean; this is of type {type(schema).__name__}.")
    return schema
