"""Variants that no field tells apart are refused; the ones that pydantic writes for a tagged union are not."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Discriminator, Field, Tag

from emitter.errors import InputError
from emitter.host.registry import Posture
from tests.host.kinds.shapes import (
    OBJECT,
    A,
    B,
    Design,
    Loose,
    OtherTag,
    SameTag,
    Untagged,
    model,
    of,
    registered,
)

C = of(kind={"type": "string", "enum": ["c"]})


def union(*branches: Any, **defs: Any) -> dict[str, Any]:
    """Return a schema with a union in it."""
    return {**of(it={"anyOf": list(branches)}), "$defs": defs}


VARIANTS: dict[str, tuple[Any, str]] = {
    "oneOf": (of(it={"oneOf": [A, B]}), "#/properties/it: oneOf-forbidden"),
    "oneOf deep inside": (of(a=of(b={"type": "array", "items": {"oneOf": [A]}})), "oneOf-forbidden"),
    "oneOf in a definition": ({**OBJECT, "$defs": {"x": {"oneOf": [A, B]}}}, r"#/\$defs/x: oneOf-forbidden"),
    "no discriminator": (union(of(a={"type": "string"}), B), "#/properties/it/anyOf/0: anyOf-branch-missing"),
    "a constant for one": (union(of(kind={"const": "a"}), B), "anyOf/0: anyOf-branch-missing-discriminator"),
    "an integer for one": (union(of(kind={"type": "integer", "enum": [1]}), B), "anyOf/0: anyOf-branch-missing"),
    "an optional one": (union({**A, "required": []}, B), "anyOf/0: anyOf-branch-missing-discriminator"),
    "one of two values": (union(of(kind={"type": "string", "enum": ["a", "c"]}), B), "anyOf/0: anyOf-branch-missing"),
    "none behind a reference": (union({"$ref": "#/$defs/x"}, B, x=OBJECT), "anyOf: anyOf-branches-not-told-apart"),
    "none behind two": (union({"$ref": "#/$defs/x"}, B, x={"$ref": "#/$defs/y"}, y=OBJECT), "not-told-apart"),
    "none in a union inside": (
        union({"$ref": "#/$defs/x"}, B, x={"anyOf": [OBJECT, A]}),
        r"#/\$defs/x/anyOf/0: anyOf-branch-missing",
    ),
    "one of another value in a union inside": (union({"$ref": "#/$defs/x"}, B, x={"anyOf": [C, B]}), "not-told-apart"),
    "the same value": (union(A, dict(A)), "anyOf-branches-not-told-apart"),
    "a value that is no text": (union(of(kind={"type": "string", "enum": [["a"]]}), B), "not-told-apart"),
    "different names": (union(A, of(type={"type": "string", "enum": ["b"]})), "anyOf-branches-not-told-apart"),
    "a type's variants without one": (model(Untagged | Design), "not-told-apart.*kind: Literal"),
    "a type's variants of two values": (
        model(Annotated[Design | Loose, Field(discriminator="kind")]),
        "not-told-apart",
    ),
    "a type's variants of other names": (model(Design | OtherTag), "not-told-apart"),
    "a type's variants of one value": (model(Design | SameTag), "not-told-apart"),
    "a type's variants that code tells apart": (
        model(
            Annotated[
                Annotated[Untagged, Tag("u")] | Annotated[Design, Tag("d")],
                Discriminator(lambda given: "d" if "kind" in given else "u"),
            ]
        ),
        "not-told-apart",
    ),
}


@pytest.mark.parametrize("posture", Posture, ids=lambda each: each.value)
@pytest.mark.parametrize(("model", "reported"), VARIANTS.values(), ids=VARIANTS.keys())
def test_variants_that_no_field_tells_apart_are_refused(model: Any, reported: str, posture: Posture) -> None:
    """Whatever the posture: a host could not route them (RFC 0031 §A)."""
    with pytest.raises(InputError, match=f"no single field distinguishes: .*{reported}"):
        registered(model, posture=posture)
