"""What all wires share in reading a request: counting what goes in, and the schemas with their rules."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from emitter.profile import load
from emitter.testing.counting import tokens
from emitter.testing.draft import Failure, Trouble
from emitter.testing.rules import anthropic, azure_openai, clauses, google, google_openapi, openai
from emitter.testing.rules.dialect import Dialect
from emitter.testing.wires.writing import dumped
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from emitter.profile.model import ModelLimits
    from emitter.testing.rules.reading import Breach
    from emitter.wire import Json

AROUND_MESSAGE = 4
"""Tokens that frame a message."""
NO_SUCH_MODEL = "no-such-model"
"""The one model that no vendor has."""

DIALECTS: Mapping[str, Dialect] = {
    "openai": openai.DIALECT,
    "azure-openai": azure_openai.DIALECT,
    "anthropic": anthropic.FORMAT,
    "anthropic-tool": anthropic.TOOL,
    "anthropic-loose-tool": Dialect(reads=frozenset({"type"}), everywhere=(clauses.an_object, anthropic.tool_root)),
    "google": google.DIALECT,
    "google-openapi": google_openapi.DIALECT,
}
_CHECKED = 512


@dataclass(frozen=True, slots=True)
class Surface:
    """A schema in a request, the dialect that it is held to, and where it stands in the vendor's own words.

    ``name`` is the format's or the function's, ``at`` the path in the body, ``tool`` whether it is a function's.
    """

    schema: Json
    dialect: str
    name: str
    at: str
    tool: bool = False

    def breach(self) -> Breach | None:
        """Return the first rule that the schema breaks."""
        return _first_breach(self.dialect, dumped(self.schema))


@lru_cache(maxsize=_CHECKED)
def _first_breach(dialect: str, schema: str) -> Breach | None:
    return next(iter(DIALECTS[dialect].broken(json.loads(schema))), None)


def kind_at(schema: Json, pointer: str) -> str:
    """Return the type that a schema names at a place; an object where it names none."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        schema = sequence(schema)[int(name)] if isinstance(schema, list) else mapping(schema).get(name)
    kind = mapping(schema).get("type")
    return kind if isinstance(kind, str) else "object"


def limits(profile: str, model: str) -> ModelLimits:
    """Return the limits of a vendor's model."""
    return load(profile).limits(model)


def spoken(*values: Json) -> int:
    """Return the tokens of every text in some values, without keys and roles."""
    return sum(tokens(each) for each in _texts(list(values)))


def _texts(waiting: list[Json]) -> Iterator[str]:
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            table = cast("dict[str, Json]", value)
            waiting.extend(each for key, each in table.items() if key not in ("role", "type"))
        elif isinstance(value, list):
            waiting.extend(cast("list[Json]", value))


def written(*values: Json) -> int:
    """Return the tokens of schemas and tools, which vendors put into the prompt as text."""
    return sum(tokens(dumped(each)) for each in values if each)


def positive(value: Json) -> int | None:
    """Return a budget, or None where none is named."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def missing(param: str, message: str) -> Failure:
    """Return the error of a required parameter that is not there."""
    return Failure(Trouble.BAD_REQUEST, message, param=param, code="missing_required_parameter")
