"""Variants: a payload that may be one of several things says which, in one field (RFC 0031 §A).

The conformance suite takes a branch that is a reference for granted. Here references are followed, and the
branches must differ in the value of one and the same field, or no single comparison could choose among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emitter.accept.catalogue.schema import named, places
from emitter.schema import Edition, Finding, lint_variants
from emitter.wire import mapping, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emitter.wire import Json

_FIX = (
    'Give every branch one and the same required property, such as kind, with "type": "string" and an enum of one'
    " value that no other branch has; in Python, kind: Literal['a'] without a default, or Field(discriminator='kind')."
)


def untold(schema: dict[str, Any]) -> tuple[Finding, ...]:
    """Return where variants are written with ``oneOf``, or are not told apart by the value of one field."""
    return lint_variants(schema, Edition.V2) or tuple(
        Finding(f"{pointer}/anyOf", "anyOf-branches-not-told-apart", None, _FIX)
        for pointer, node in places(schema)
        if "anyOf" in node and not _told_apart([each for each in _forms(schema, node) if _is_object(each)])
    )


def _forms(schema: Json, node: Json) -> Iterator[dict[str, Any]]:
    """Yield the single forms of a union, references and unions inside it looked through, each once."""
    waiting, met = list(sequence(mapping(node).get("anyOf"))), set[int]()
    while waiting:
        form, forms = _merged(schema, waiting.pop(0), met)
        waiting.extend(forms)
        if form:
            yield form


def _merged(schema: Json, branch: Json, met: set[int]) -> tuple[dict[str, Any], list[Json]]:
    """Return what a branch says, together with what it refers to, and the branches that it is itself a union of."""
    form: dict[str, Any] = {}
    required: list[Any] = []
    while (said := mapping(branch)) and id(said) not in met:
        met.add(id(said))
        required += sequence(said.get("required"))
        form = {**said, **form}
        branch = named(schema, said.get("$ref"))
    return {**form, "required": required} if form else form, sequence(form.get("anyOf"))


def _is_object(form: dict[str, Any]) -> bool:
    kind = form.get("type")
    if kind is None:
        return not form.keys().isdisjoint({"properties"}) or bool(form["required"])
    return kind == "object" or "object" in sequence(kind)


def _told_apart(forms: list[dict[str, Any]]) -> bool:
    if len(forms) < 2:  # noqa: PLR2004  one form needs no telling
        return True
    tags = [_tags(each) for each in forms]
    shared = set(tags[0]).intersection(*tags)
    return any(len({each[name] for each in tags}) == len(tags) for name in shared)


def _tags(form: dict[str, Any]) -> dict[str, str]:
    """Return the fields that a form requires with one fixed text, and that text."""
    properties = mapping(form.get("properties"))
    told = {name: mapping(properties.get(name)) for name in form["required"] if isinstance(name, str)}
    fixed = {name: sequence(each.get("enum")) for name, each in told.items() if each.get("type") == "string"}
    return {name: each[0] for name, each in fixed.items() if len(each) == 1 and isinstance(each[0], str)}
