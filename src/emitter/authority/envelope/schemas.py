"""The JSON Schemas (2020-12) of the envelope and of the workflow's declaration, made from the types themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from emitter.accept.catalogue import STANDARD
from emitter.accept.catalogue.kind import DIALECT
from emitter.accept.catalogue.schema import rebuilt
from emitter.accept.catalogue.typed import portable
from emitter.kinds import AUTHORIZATION
from emitter.kinds.authorization import WorkflowDeclaration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.wire import Json

_PAYLOAD: Final[Mapping[str, Any]] = STANDARD[AUTHORIZATION].schema


def _untitled(node: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in node.items() if name != "title"}


AUTHORIZATION_SCHEMA: Final[Mapping[str, Json]] = {
    "$schema": DIALECT,
    "title": "AuthorizationEnvelope",
    **_PAYLOAD["properties"]["authorization"],
    "$defs": _PAYLOAD["$defs"],
}
"""The union of the six kinds."""

WORKFLOW_SCHEMA: Final[Mapping[str, Json]] = {
    "$schema": DIALECT,
    "title": "WorkflowDeclaration",
    **rebuilt(portable(WorkflowDeclaration.model_json_schema()), _untitled),
}
"""A workflow's declaration."""
