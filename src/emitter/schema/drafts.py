"""The drafts of JSON Schema as values: which keywords each has, and where they differ in meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jsonschema_rs
from referencing import jsonschema as specifications

from emitter.wire import mapping

if TYPE_CHECKING:
    from referencing import Specification

    from emitter.wire import Json

MAPS_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value holds schemas under names of the schema's author."""
DATA = frozenset({"const", "enum", "default", "examples", "example"})
"""Keywords whose value is data: no schema stands in it."""

_DRAFT4 = frozenset(
    {"$ref", "type", "enum", "allOf", "anyOf", "oneOf", "not", "definitions", "format"}
    | {"properties", "required", "additionalProperties", "patternProperties", "dependencies"}
    | {"minProperties", "maxProperties", "items", "additionalItems", "minItems", "maxItems", "uniqueItems"}
    | {"minLength", "maxLength", "pattern"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
_DRAFT6 = _DRAFT4 | {"const", "contains", "propertyNames"}
_DRAFT7 = _DRAFT6 | {"if", "then", "else"}
_DRAFT2019 = (_DRAFT7 - {"dependencies"}) | {
    *("$defs", "$recursiveRef", "dependentRequired", "dependentSchemas", "minContains", "maxContains"),
    *("unevaluatedProperties", "unevaluatedItems"),
}
_DRAFT2020 = (_DRAFT2019 - {"additionalItems", "$recursiveRef"}) | {"prefixItems", "$dynamicRef"}


@dataclass(frozen=True)
class Draft:
    """One draft: ``ref_alone`` means that what stands beside a reference has no meaning."""

    name: str
    specification: Specification[Any]
    validator: Any
    keywords: frozenset[str]
    ref_alone: bool = False
    identifier: str = "$id"
    tuple_keyword: str = "items"
    rest_keyword: str = "additionalItems"


DRAFT4 = Draft(
    "draft4",
    specifications.DRAFT4,
    jsonschema_rs.Draft4Validator,
    _DRAFT4,
    ref_alone=True,
    identifier="id",
)
DRAFT6 = Draft("draft6", specifications.DRAFT6, jsonschema_rs.Draft6Validator, _DRAFT6, ref_alone=True)
DRAFT7 = Draft("draft7", specifications.DRAFT7, jsonschema_rs.Draft7Validator, _DRAFT7, ref_alone=True)
DRAFT201909 = Draft(
    "draft2019-09", specifications.DRAFT201909, jsonschema_rs.Draft201909Validator, _DRAFT2019 | {"dependencies"}
)
DRAFT202012 = Draft(
    "draft2020-12",
    specifications.DRAFT202012,
    jsonschema_rs.Draft202012Validator,
    _DRAFT2020 | {"dependencies"},
    tuple_keyword="prefixItems",
    rest_keyword="items",
)

_BY_URI = {
    "http://json-schema.org/draft-04/schema": DRAFT4,
    "http://json-schema.org/draft-06/schema": DRAFT6,
    "http://json-schema.org/draft-07/schema": DRAFT7,
    "https://json-schema.org/draft/2019-09/schema": DRAFT201909,
    "https://json-schema.org/draft/2020-12/schema": DRAFT202012,
}


def draft_of(schema: Json) -> Draft:
    """Return the draft that ``$schema`` names; the latest where it names none that is known."""
    named = mapping(schema).get("$schema")
    return _BY_URI.get(str(named).rstrip("#"), DRAFT202012)
