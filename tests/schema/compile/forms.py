"""Short words for the schemas and wire forms that the tables of these tests are written in."""

from __future__ import annotations

import json
from typing import Any

Form = dict[str, Any]

TEXT: Form = {"type": "string"}
WHOLE: Form = {"type": "integer"}
NUMBER: Form = {"type": "number"}
TRUTH: Form = {"type": "boolean"}
NULL: Form = {"type": "null"}
ANYTHING = 'JSON text of any value, such as 3, [true] or "blue" (a string keeps its quotes).'
ANY: Form = {"type": "string", "description": ANYTHING}

LISTED = "A map as a list of entries, each key once, in the words you were given."
RULED = "A map as a list of entries, each key once."
PLACED = "The items of an array in their order: item_0 is the first."
FURTHER = "JSON text of an object with further properties, {} for none."

DRAFT4, DRAFT7, DRAFT2019 = (
    {"$schema": "http://json-schema.org/draft-04/schema#"},
    {"$schema": "http://json-schema.org/draft-07/schema#"},
    {"$schema": "https://json-schema.org/draft/2019-09/schema"},
)
"""The beginnings of schemas of an older draft."""


def closed(**properties: Any) -> Form:
    """Return an object with these properties, all required and no others."""
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def loose(*required: str, **properties: Any) -> Form:
    """Return an object with these properties and no others, of which only these are required."""
    return {**closed(**properties), "required": list(required)}


def array(items: Any, **more: Any) -> Form:
    """Return an array of these items."""
    return {"type": "array", "items": items, **more}


def either(*branches: Any, **more: Any) -> Form:
    """Return a union."""
    return {"anyOf": list(branches), **more}


def refer(name: str) -> Form:
    """Return a reference to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def entries(value: Any, key: Any = TEXT) -> Form:
    """Return an open map as a list of entries."""
    return array(closed(key=key, value=value), description=LISTED if key == TEXT else RULED)


def variant(name: str, value: Any) -> Form:
    """Return a branch with the tag that the compiler puts in."""
    return closed(variant={"type": "string", "enum": [name]}, value=value)


def reported(wire: Form, *sentences: str) -> Form:
    """Return a form with this description."""
    return {**wire, "description": " ".join(sentences)}


def text_of(schema: Any, **definitions: Any) -> Form:
    """Return the form of a value that goes as JSON text, with its schema reported, and what it refers to."""
    named = next((refer(name) for name, each in definitions.items() if each == schema), schema)
    schema = {**named, "$defs": definitions} if definitions else schema
    said = "JSON text of a value that must be valid against this JSON Schema:"
    return reported(TEXT, f"{said} {json.dumps(schema)}")
