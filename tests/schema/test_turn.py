"""The form in which a model is asked, compiled for every vendor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import profiles as profile
from emitter.models import binding_moment
from emitter.schema import LossReason, compile_schema
from tests.scenarios.answers import BOUND, DELIBERATION

if TYPE_CHECKING:
    from collections.abc import Iterator

every_vendor = pytest.mark.parametrize("vendor", [each for each in profile.profile_names() if each != "plain"])
"""``plain`` holds a model to nothing, and sends the form as it is."""


def nodes(schema: Any, depth: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield every schema object with how deeply it is nested in objects and arrays."""
    yield schema, depth
    for each in schema.get("properties", {}).values():
        yield from nodes(each, depth + 1)
    for each in schema.get("anyOf", ()):
        yield from nodes(each, depth)
    if "items" in schema:
        yield from nodes(schema["items"], depth + 1)


@every_vendor
def test_what_is_sent_is_inside_the_vendors_subset(vendor: str) -> None:
    """Only the vendor's keywords, closed objects, and no more depth than it takes."""
    facts = profile.load_profile(vendor)
    compiled = compile_schema(binding_moment.TURN_SCHEMA, vendor).schema
    allowed = facts.subset.keywords | ({facts.subset.ordering} if facts.subset.ordering else set())

    for node, depth in nodes(compiled):
        assert set(node) <= allowed
        assert node.get("minItems", 0) <= (facts.subset.min_items_max or 9)
        if node.get("type") in ("object", "array"):
            assert depth < (facts.subset.limits.depth or 99)
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert facts.subset.optionals.value == "omit" or node["required"] == list(node["properties"])


@every_vendor
def test_reasoning_comes_first(vendor: str) -> None:
    """The model thinks before it commits: property order on every wire."""
    compiled = compile_schema(binding_moment.TURN_SCHEMA, vendor).schema

    assert next(iter(compiled["properties"])) == "reasoning"
    assert compiled["required"][0] == "reasoning"


@every_vendor
def test_what_cannot_be_enforced_is_reported_and_checked(vendor: str) -> None:
    """Every bound of the schema is on the wire, or is a loss that the description tells."""
    compiled = compile_schema(binding_moment.TURN_SCHEMA, vendor)
    described = [node.get("description", "") for node, _ in nodes(compiled.schema)]

    reported = [each for each in compiled.losses if each.why is LossReason.UNSUPPORTED]
    deep = {LossReason.OPEN, LossReason.DEGRADED} if vendor == "tier1" else set()  # five levels, and the form has six
    assert {each.why for each in compiled.losses} <= {LossReason.UNSUPPORTED, LossReason.INSIDE} | deep
    assert all(any(f"{each.keyword} {each.value}" in text for text in described) for each in reported)
    lost = {each.keyword for each in compiled.losses}
    sent = {key for node, _ in nodes(compiled.schema) for key in node}
    assert {"minItems", "maxItems", "minLength"} <= lost | sent


@every_vendor
@pytest.mark.parametrize("document", [BOUND, DELIBERATION], ids=["bound", "deliberation"])
def test_nulls_for_optionals_are_read_as_absent(vendor: str, document: dict[str, Any]) -> None:
    """A vendor that must write every property may write null for those that may be absent."""
    compiled = compile_schema(binding_moment.TURN_SCHEMA, vendor)
    padded = {**document, "turn": {**document["turn"], "calibration_note": None, "decision_class": None}}

    if document is BOUND:
        assert compiled.decode(padded) == document
    assert compiled.validate(compiled.decode(document)) == ()


def change(document: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Return the document with one place changed."""
    copy: Any = dict(document) if isinstance(document, dict) else list(document)
    head, *rest = path
    copy[head] = change(document[head], tuple(rest), value) if rest else value  # type: ignore[index]
    return copy


BROKEN: dict[str, tuple[tuple[str | int, ...], Any, str]] = {
    "no options": (("turn", "question", "options"), [], "/turn/question/options: a list of"),
    "five options": (
        ("turn", "question", "options"),
        [BOUND["turn"]["question"]["options"][0]] * 5,
        "/turn/question/options: a list of 2 to 4 items",
    ),
    "index as text": (
        ("turn", "question", "recommended_idx"),
        "SECRETWORD",
        "/turn/question/recommended_idx: one of 0, 1, 2, 3",
    ),
    "index as boolean": (
        ("turn", "question", "recommended_idx"),
        True,
        "/turn/question/recommended_idx: one of 0, 1, 2, 3",
    ),
    "empty synopsis": (("turn", "synopsis"), "", "/turn/synopsis: a text of at least"),
    "unknown member": (
        ("turn", "SECRETWORD"),
        "SECRETWORD",
        "/turn: only the properties ",
    ),
    "unknown kind": (
        ("turn", "kind"),
        "SECRETWORD",
        '/turn/kind: one of "vendor.emitter.binding-moment", "vendor.emitter.deliberation", "clarification.request",',
    ),
}


@pytest.mark.parametrize(("path", "value", "reported"), BROKEN.values(), ids=BROKEN.keys())
def test_a_violation_names_the_place_and_the_rule_only(path: tuple[str | int, ...], value: Any, reported: str) -> None:
    """Of a union the branch that was meant is reported, without a word of the answer."""
    found = [
        str(each) for each in compile_schema(binding_moment.TURN_SCHEMA, "openai").validate(change(BOUND, path, value))
    ]

    assert any(each.startswith(reported) for each in found)
    assert "SECRETWORD" not in "".join(found)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    )
)
def test_any_document_can_be_decoded_and_judged(document: Any) -> None:
    """No document makes the way back raise."""
    compiled = compile_schema(binding_moment.TURN_SCHEMA, "openai")

    assert isinstance(compiled.validate(compiled.decode(document)), tuple)


def test_a_compiled_schema_is_cached() -> None:
    """The same schema and profile give the same object."""
    assert compile_schema(binding_moment.TURN_SCHEMA, "openai") is compile_schema(
        dict(binding_moment.TURN_SCHEMA), "openai"
    )
    assert compile_schema(binding_moment.TURN_SCHEMA, "openai") is not compile_schema(
        binding_moment.TURN_SCHEMA, "google"
    )
