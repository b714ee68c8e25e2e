"""This library's own kinds, and the catalogue that a host starts from."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from emitter.accept.catalogue.kind import Kind, Rule, canonical
from emitter.accept.catalogue.rules import option_in_range
from emitter.accept.catalogue.schema import rebuilt
from emitter.accept.catalogue.table import Catalogue
from emitter.accept.catalogue.typed import portable, readable
from emitter.kinds import (
    AUTHORIZATION,
    BINDING_MOMENT,
    DELIBERATION,
    DOCUMENT,
    AuthorizationEnvelope,
    BindingMoment,
    Deliberation,
)
from emitter.kinds.binding_moment import Slot
from emitter.kinds.universal import REASONING
from emitter.schema.source import source
from emitter.wire import sequence


class _Reasoned(Slot):
    """What every payload of ours may begin with."""

    reasoning: Annotated[str, Field(description=REASONING["description"])] = ""


class _BindingMoment(_Reasoned):
    """A decision, ready for its principal."""

    binding_moment: BindingMoment


class _Deliberation(Deliberation, _Reasoned):
    """The agent cannot commit yet: where it stands, what is missing, what it asks leave to do."""


class _Document(Slot):
    """A document, and the name of the schema that it holds to, which is its caller's own."""

    name: str
    document: Any


class _Authorization(_Reasoned):
    """What may be shown as established, with what it rests on, or why nothing is."""

    authorization: Annotated[AuthorizationEnvelope, Field(discriminator="kind")]


def _ours(kind_id: str, payload: type[Slot], *rules: Rule) -> Kind:
    schema = rebuilt(portable(payload.model_json_schema()), _published)
    return Kind(kind_id, 1, canonical(kind_id, schema), rules)


def _published(node: dict[str, Any]) -> dict[str, Any]:
    """Leave out what only pydantic says: titles, defaults, and the null that an absent property of ours never is."""
    kept = {name: each for name, each in node.items() if name not in {"title", "default"}}
    forms = [each for each in sequence(kept.get("anyOf")) if each != {"type": "null"}]
    return {**{name: each for name, each in kept.items() if name != "anyOf"}, **forms[0]} if len(forms) == 1 else kept


OWN_KINDS: Final = (
    _ours(BINDING_MOMENT, _BindingMoment, option_in_range),
    _ours(DELIBERATION, _Deliberation),
    _ours(DOCUMENT, _Document),
    _ours(AUTHORIZATION, _Authorization, readable(source(_Authorization).read)),
)
"""``vendor.emitter.`` ``binding-moment``, ``deliberation``, ``document`` and ``authorization``."""

STANDARD: Final = Catalogue(OWN_KINDS)
"""The universal four and this library's own: what its emissions can be, and no more."""
