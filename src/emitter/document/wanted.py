"""A document under a schema of the caller's, as something to ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic_core import PydanticSerializationError

from emitter import prompt
from emitter.arguments import listed
from emitter.document.checks import checked, reader
from emitter.document.reserved import refuse_reserved
from emitter.door.form import Enclosing, Wanted
from emitter.errors import InputError
from emitter.kinds import DOCUMENT, document
from emitter.schema.source import source
from emitter.wire import mapping

if TYPE_CHECKING:
    from typing import Any

    from emitter.judge import Contract
    from emitter.kinds import AIEnvelope
    from emitter.schema.source import Source
    from emitter.wire import Json


def wanted(schema: object, checks: object, examples: object, kind: str | None = None, *, told: bool = True) -> Wanted:
    """Return what to ask for, as an envelope of ``kind``; without ``told`` no words of validators reach the model.

    Raises ``Uncompilable`` for what is no schema, ``InputError`` for the rest.
    """
    named = source(schema)
    refuse_reserved(schema, kind, typed=named.typed)
    shown = listed("examples", examples, (str, bytes, Mapping), "the documents, or values of the type")
    return Wanted(
        kind=kind or DOCUMENT,
        node="emit",
        name=named.name,
        schema=schema,
        words=prompt.document,
        headed=False,
        read=reader(named, checked(checks), told=told),
        enclosing=_named(named.name) if kind is None else _bare(kind),
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


def _named(name: str) -> Enclosing:
    """Put the document beside its name, since nobody else knows which it is."""

    def disclose(contract: Contract, envelope: AIEnvelope) -> tuple[Any, Json] | None:
        kept = mapping(envelope.payload)
        return _read(contract, kept.get("document")) if kept.get("name") == name else None

    return Enclosing(lambda _, written: (DOCUMENT, document.payload(name, written)), disclose)


def _bare(kind: str) -> Enclosing:
    """Have the document be the payload of a kind of the caller's own."""

    def disclose(contract: Contract, envelope: AIEnvelope) -> tuple[Any, Json] | None:
        return _read(contract, envelope.payload) if envelope.type == kind else None

    return Enclosing(lambda _, written: (kind, written), disclose)


def _read(contract: Contract, written: Json) -> tuple[Any, Json] | None:
    reading = contract.accept(written)
    return None if reading.raised is not None or reading.violations else (reading.value, written)
