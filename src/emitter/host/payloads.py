"""The payloads of this library's own kinds, as pydantic models and as canonical schemas.

``kinds`` loads this module when a payload of such a kind is first checked, and each model is made when it is needed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, create_model

from emitter import models
from emitter.host.kind_schemas import make_portable, make_type_rule
from emitter.messages import as_list
from emitter.models.envelope import ClosedModel
from emitter.models.standard_kinds import AUTHORIZATION, BINDING_MOMENT, DELIBERATION, DOCUMENT, REASONING_SCHEMA
from emitter.schema.dialects import transform_schema
from emitter.schema.python_types import resolve_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.messages import Json
    from emitter.schema import Violation


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
