"""Build the payload schemas of the library's own kinds, in OpenWOP's portable form.

The pydantic model of a payload is created when its schema is first needed, because most runs need none or one.

Source: ai-envelope.md, "Schema discipline" and "Variant payload discrimination" (RFC 0031 §A).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, create_model

from emitter import models
from emitter.findings import Violation
from emitter.messages import as_list, as_mapping
from emitter.models.envelope import ClosedModel
from emitter.models.standard_kinds import AUTHORIZATION, BINDING_MOMENT, DELIBERATION, DOCUMENT, REASONING_SCHEMA
from emitter.schema.dialects import transform_schema
from emitter.schema.json_data import resolve_reference
from emitter.schema.python_types import resolve_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emitter.host.kinds import PayloadRule
    from emitter.messages import Json
    from emitter.schema.results import ParseResult

_VALIDATOR_RAISED: Final = Violation("", "validator", "a payload that the kind's own validators can read")


def make_portable(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return pydantic's schema with its literals and tagged unions in OpenWOP's form."""
    portable: dict[str, Json] = transform_schema(
        dict(schema), lambda node, _: _rewrite_union(_rewrite_literal(node), schema)
    )
    target = as_mapping(resolve_reference(portable, portable.get("$ref")))
    if target.get("type") != "object":
        return portable
    return {**target, **{name: value for name, value in portable.items() if name != "$ref"}}


def make_type_rule(read: Callable[[Json], ParseResult[Any]]) -> PayloadRule:
    """Return a rule that parses the payload as the type, because its validators may check more than the schema."""

    def rule(payload: Json) -> tuple[Violation, ...]:
        try:
            return read(payload).violations
        except Exception:  # noqa: BLE001  the caller's code may raise anything, and no envelope may raise
            return (_VALIDATOR_RAISED,)

    return rule


def _rewrite_literal(node: dict[str, Any]) -> dict[str, Any]:
    if "const" not in node:
        return node
    return {"enum" if name == "const" else name: [value] if name == "const" else value for name, value in node.items()}


def _rewrite_union(node: dict[str, Any], schema: Mapping[str, Json]) -> dict[str, Any]:
    if "oneOf" not in node:
        return node
    tag = as_mapping(node.get("discriminator")).get("propertyName")
    branches = [_require_tag(branch, tag, schema) for branch in node["oneOf"]]
    keywords = {name: value for name, value in node.items() if name not in {"oneOf", "discriminator"}}
    return {**keywords, "anyOf": branches}


def _require_tag(branch: Json, tag: object, schema: Mapping[str, Json]) -> Json:
    """Return a branch that requires its tag, as pydantic does even if the field has a default."""
    node = as_mapping(branch)
    target = as_mapping(resolve_reference(schema, node.get("$ref"))) if "$ref" in node else node
    if tag not in as_mapping(target.get("properties")) or tag in as_list(target.get("required")):
        return branch
    return {**node, "required": [*as_list(node.get("required")), tag]}


class _Reasoned(ClosedModel):
    """The optional first property of the library's own payloads."""

    reasoning: Annotated[str, Field(description=REASONING_SCHEMA["description"])] = ""


class _Document(ClosedModel):
    """A document, and the caller's name for its schema."""

    name: str
    document: Any


def _binding_moment() -> type[ClosedModel]:
    return create_model(
        "_BindingMoment",
        __base__=_Reasoned,
        __doc__="A decision, ready for its principal.",
        binding_moment=(models.BindingMoment, ...),
    )


def _deliberation() -> type[ClosedModel]:
    return create_model(
        "_Deliberation",
        __base__=(models.Deliberation, _Reasoned),
        __doc__="The agent cannot commit yet: its state, what is missing, and the permission it asks for.",
    )


@cache
def _authorization() -> type[ClosedModel]:
    envelope: Any = Annotated[models.AuthorizationEnvelope, Field(discriminator="kind")]
    return create_model(
        "_Authorization",
        __base__=_Reasoned,
        __doc__="What may be shown as established and its grounds, or the reason why nothing is.",
        authorization=(envelope, ...),
    )


_PAYLOADS: dict[str, Callable[[], type[ClosedModel]]] = {
    BINDING_MOMENT: _binding_moment,
    DELIBERATION: _deliberation,
    DOCUMENT: lambda: _Document,
    AUTHORIZATION: _authorization,
}


def payload_schema(kind_id: str) -> dict[str, Json]:
    """Return the schema of a payload in OpenWOP's portable form."""
    schema: dict[str, Json] = transform_schema(
        make_portable(_PAYLOADS[kind_id]().model_json_schema()), _strip_pydantic_keywords
    )
    return schema


def check_authorization(payload: Json) -> Iterable[Violation]:
    """Apply the validators of the authorization envelope."""
    return make_type_rule(resolve_schema(_authorization()).parse)(payload)


def _strip_pydantic_keywords(node: dict[str, Any], _pointer: str) -> dict[str, Any]:
    """Remove titles, defaults, and the null that an absent property never is."""
    keywords = {name: value for name, value in node.items() if name not in {"title", "default"}}
    branches = [branch for branch in as_list(keywords.get("anyOf")) if branch != {"type": "null"}]
    if len(branches) != 1:
        return keywords
    del keywords["anyOf"]
    return {**keywords, **branches[0]}
