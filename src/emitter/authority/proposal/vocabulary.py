"""The vocabularies that operations are named in, and how each spells one.

Source: draft-hardt-aauth-r3-02, sections 4.3.1 to 4.3.7. A third party may have a vocabulary of its own, whose
operations are objects that this library does not look into.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from emitter.decide.canonical import Profile, canonical
from emitter.errors import InputError

if TYPE_CHECKING:
    from emitter.wire import Json

VOCABULARY_MCP: Final = "urn:aauth:vocabulary:mcp"

_NAME: Final[Mapping[str, Json]] = MappingProxyType({"type": "string", "minLength": 1})


def _nothing() -> Mapping[str, Json]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How a vocabulary spells an operation: the member that names it, what else it needs, and what it may have.

    ``required`` and ``optional`` map a member to its JSON Schema.
    """

    naming: str
    required: Mapping[str, Json] = field(default_factory=_nothing)
    optional: Mapping[str, Json] = field(default_factory=_nothing)

    def schema(self) -> dict[str, Json]:
        """Return the JSON Schema of an operation; members that no draft knows yet are let pass."""
        required = {self.naming: dict(_NAME), **self.required}
        return {"properties": {**required, **self.optional}, "required": list(required)}


VOCABULARIES: Final[Mapping[str, Vocabulary]] = MappingProxyType(
    {
        VOCABULARY_MCP: Vocabulary("tool"),
        "urn:aauth:vocabulary:openapi": Vocabulary("operationId"),
        "urn:aauth:vocabulary:grpc": Vocabulary("method"),
        "urn:aauth:vocabulary:graphql": Vocabulary(
            "operation", required={"type": {"type": "string", "enum": ["query", "mutation", "subscription"]}}
        ),
        "urn:aauth:vocabulary:asyncapi": Vocabulary(
            "operationId", optional={"action": {"type": "string", "enum": ["send", "receive"]}}
        ),
        "urn:aauth:vocabulary:wsdl": Vocabulary("operation", optional={"service": {"type": "string"}}),
        "urn:aauth:vocabulary:odata": Vocabulary(
            "operation", optional={"methods": {"type": "array", "items": {"type": "string"}}}
        ),
    }
)
"""The seven standard vocabularies."""


def operation_of(operation: object, vocabulary: str) -> Mapping[str, Json]:
    """Return an operation as its vocabulary spells it; a text is short for the member that names it.

    Raises ``InputError`` for a text where the name alone is no operation, and for what is neither text nor object.
    """
    if isinstance(operation, Mapping):
        return dict(cast("Mapping[str, Json]", operation))
    spelling = VOCABULARIES.get(vocabulary)
    if not isinstance(operation, str) or spelling is None or spelling.required:
        raise InputError(
            "An operation is an object of the vocabulary.",
            hint='Give one such as {"tool": "send_email"}; a name alone does where the vocabulary needs nothing else.',
        )
    return {spelling.naming: operation}


def name_of(operation: Mapping[str, Json], vocabulary: str) -> str:
    """Return the name of an operation that holds, or all of it where nothing says which member names it."""
    spelling = VOCABULARIES.get(vocabulary)
    if spelling is None:
        return canonical(dict(operation), Profile.WIRE).decode()
    return str.__str__(operation[spelling.naming])


def besides_name(operation: Mapping[str, Json], vocabulary: str) -> Mapping[str, Json]:
    """Return what an operation says beside its name."""
    spelling = VOCABULARIES.get(vocabulary)
    return {} if spelling is None else {name: each for name, each in operation.items() if name != spelling.naming}
