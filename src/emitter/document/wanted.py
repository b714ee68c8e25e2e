"""A document under a schema of the caller's, as something to ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic_core import PydanticSerializationError

from emitter import prompt
from emitter.document.checks import checked, reader
from emitter.door.plan import Wanted
from emitter.door.settings import listed
from emitter.errors import InputError
from emitter.kinds import DOCUMENT
from emitter.schema.source import source

if TYPE_CHECKING:
    from typing import Any

    from emitter.schema.source import Source
    from emitter.wire import Json


def wanted(schema: object, checks: object, examples: object) -> Wanted:
    """Return what to ask for; raises ``Uncompilable`` for what is no schema, ``InputError`` for the rest."""
    named = source(schema)
    shown = listed("examples", examples, (str, bytes, Mapping), "the documents, or values of the type")
    return Wanted(
        kind=DOCUMENT,
        node="emit",
        name=named.name,
        schema=schema,
        words=prompt.document,
        read=reader(named, checked(checks)),
        examples=tuple(_document(named, index, each) for index, each in enumerate(shown)),
    )


def _document(named: Source[Any], index: int, example: object) -> Json:
    """Return an example as a document: a value of the type as JSON, JSON as it is."""
    try:
        given = named.dump(example)
    except PydanticSerializationError:  # no value of the type, so it must be a document already
        given = example
    try:
        return json.loads(json.dumps(given, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"examples[{index}] is neither JSON nor a value of the schema's type.") from error
