"""Schemas: the portable subset, variants, reasoning, and OpenWOP's own."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emitter.errors import InputError
from emitter.host import register_kind
from emitter.host.capabilities import CapabilitySettings, ReasoningDirective, build_capabilities
from emitter.host.kinds import OWN_KINDS, UNIVERSAL_KINDS
from emitter.host.registry import Posture
from emitter.schema import Tier1Mode, VariantEdition, lint_tier1, lint_variants
from tests.models.openwop import FOLDER, errors, needs_schemas
from tests.openwop.accepting import EVERYTHING
from tests.openwop.asking import UNIVERSAL, envelope

if TYPE_CHECKING:
    from tests.openwop.asking import Seam
VECTORS = Path(__file__).parents[2] / ".." / "shared" / "vectors" / "openwop_tier1_vectors.json"
needs_vectors = pytest.mark.skipif(not VECTORS.is_file(), reason="../shared/vectors is absent")
ENVELOPES = FOLDER / "envelopes"
SERVED = {name: dict(kind.schema) for name, kind in EVERYTHING.items()}
CORE = [name for name in SERVED if not name.startswith("vendor.")]
every_served = pytest.mark.parametrize("name", SERVED)


def _vectors() -> dict[str, Any]:
    return json.loads(VECTORS.read_text("utf-8")) if VECTORS.is_file() else {}


def _reported(schema: Any, mode: Tier1Mode) -> list[list[Any]]:
    return [[each.pointer, each.rule, each.detail] for each in lint_tier1(schema, mode)]


@needs_vectors
@needs_schemas
@pytest.mark.parametrize("mode", [Tier1Mode.LOAD_BEARING, Tier1Mode.STRICT], ids=["load-bearing", "strict"])
@pytest.mark.parametrize("name", _vectors())
def test_envelope_tier_one_subset_static__finds_what_the_suite_finds(name: str, mode: Tier1Mode) -> None:
    """On every vector: the same places, rules and details."""
    vector = _vectors()[name]
    file = vector.get("schema_file")
    schema = vector["schema"] if file is None else json.loads((FOLDER.parents[1] / _under(file)).read_text("utf-8"))
    found, wanted = _reported(schema, mode), vector["strict" if mode is Tier1Mode.STRICT else "load-bearing"]

    assert sorted(found, key=str) == sorted(wanted, key=str)


def _under(file: str) -> str:
    return file.replace("schemas/", "schemas/openwop/", 1)


@every_served
def test_envelope_tier_one_subset_static__every_served_schema_bears_the_load(name: str) -> None:
    """Those of OpenWOP, this library's own, and there are more than four."""
    assert lint_tier1(SERVED[name], Tier1Mode.LOAD_BEARING) == ()
    assert len(SERVED) >= 4


@needs_schemas
@pytest.mark.parametrize("name", CORE)
def test_envelope_tier_one_subset_static__the_core_schemas_are_openwops(name: str) -> None:
    """In strict mode they leave the subset exactly where OpenWOP's own do."""
    theirs = json.loads((ENVELOPES / f"{name}.schema.json").read_text("utf-8"))

    assert {tuple(each) for each in _reported(SERVED[name], Tier1Mode.STRICT)} == {
        tuple(each) for each in _reported(theirs, Tier1Mode.STRICT)
    }


def test_envelope_tier_one_subset_static__a_strict_host_takes_no_kind_outside_it() -> None:
    """A host's own schema is refused, and told what to mend."""
    outside = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}}, "required": []}
    inside = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}

    with pytest.raises(InputError, match="maxLength"):
        register_kind("vendor.acme.note", outside, posture=Posture.STRICT)
    register_kind("vendor.acme.note", {**inside, "additionalProperties": False}, posture=Posture.STRICT)


def test_envelope_tier_one_subset_static__the_universal_four_leave_it_and_it_is_said() -> None:
    """So no host that serves them advertises ``strict``, whatever it asks of its own kinds."""
    outside = [each.id for each in UNIVERSAL_KINDS if lint_tier1(dict(each.schema), Tier1Mode.STRICT)]
    reported = build_capabilities(CapabilitySettings(posture=Posture.STRICT))["envelopes"]["tierOneSubsetCompliance"]

    assert outside == list(UNIVERSAL)
    assert reported == "warn"


@every_served
@pytest.mark.parametrize("edition", list(VariantEdition))
def test_envelope_variant_discriminator_static__every_served_schema_has_tags(
    name: str, edition: VariantEdition
) -> None:
    """No ``oneOf`` at any depth, and no branch without a tag."""
    assert lint_variants(SERVED[name], edition) == ()


_BRANCH = {"type": "object", "properties": {"kind": {"type": "string", "enum": ["a"]}}, "required": ["kind"]}
_OTHER = deepcopy(_BRANCH) | {"properties": {"kind": {"type": "string", "enum": ["b"]}}}
UNIONS: dict[str, tuple[Any, bool]] = {
    "tagged": ({"anyOf": [_BRANCH, _OTHER]}, True),
    "oneOf": ({"oneOf": [_BRANCH, _OTHER]}, False),
    "tag-not-required": ({"anyOf": [{**_BRANCH, "required": []}, _OTHER]}, False),
    "no-tag": ({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, _OTHER]}, False),
}


@pytest.mark.parametrize(("union", "taken"), UNIONS.values(), ids=UNIONS)
def test_envelope_variant_discriminator_static__a_kind_is_taken_only_with_tags(union: Any, taken: bool) -> None:
    """Of a host's own kinds, whatever its posture."""
    schema = {"type": "object", "properties": {"step": union}, "required": ["step"]}
    if taken:
        assert "vendor.acme.step" in register_kind("vendor.acme.step", schema)
    else:
        with pytest.raises(InputError, match=r"no single field distinguishes|oneOf"):
            register_kind("vendor.acme.step", schema)


@pytest.mark.parametrize("name", ["clarification.request", "schema.request", "error"])
def test_envelope_reasoning_shape__it_is_an_optional_text(seam: Seam, name: str) -> None:
    """The first property; taken and missing alike; a number is refused."""
    schema, given = SERVED[name], UNIVERSAL[name]

    assert next(iter(schema["properties"])) == "reasoning"
    assert schema["properties"]["reasoning"]["type"] == "string"
    assert "reasoning" not in schema["required"]
    assert seam.accept(envelope(name))["status"] == "accepted"
    assert seam.accept(envelope(name, payload={"reasoning": "Because.", **given}))["status"] == "accepted"
    assert seam.accept(envelope(name, payload={"reasoning": 42, **given}))["status"] == "invalid"


def test_envelope_reasoning_shape__an_acknowledgement_has_none(seam: Seam) -> None:
    """``schema.response`` is closed without it."""
    payload = {"reasoning": "Because.", **UNIVERSAL["schema.response"]}

    assert "reasoning" not in SERVED["schema.response"]["properties"]
    assert seam.accept(envelope("schema.response", payload=payload))["status"] == "invalid"


@pytest.mark.parametrize("directive", list(ReasoningDirective))
def test_envelope_reasoning_shape__what_is_advertised_is_of_the_vocabulary(directive: ReasoningDirective) -> None:
    """How firmly it is asked for, and the posture towards the subset."""
    reported = build_capabilities(CapabilitySettings(reasoning=directive))["envelopes"]

    assert reported["reasoning"] == {"supported": True, "promptDirective": directive.value}
    assert reported["reasoning"]["promptDirective"] in {"mandatory", "advisory", "off"}
    assert reported["tierOneSubsetCompliance"] in {"strict", "warn", "off"}


URL = "https://host.example/assets/3f9a"


@needs_schemas
@pytest.mark.parametrize("name", CORE)
def test_spec_corpus_validity__a_core_schema_judges_as_openwops(name: str) -> None:
    """Payloads that hold and payloads that do not, by both schemas."""
    surface = {"catalogVersion": "0.9.1", "surface": {"components": [{"component": "text", "text": "Hi."}]}}
    for payload in (*UNIVERSAL.values(), surface, {"url": URL, "bytes": 1}, {}, 1, {"reasoning": "x"}):
        theirs = errors(payload, f"envelopes/{name}.schema.json") == []
        assert (EVERYTHING[name]._validator(payload) == ()) is theirs


@pytest.mark.parametrize("kind", OWN_KINDS, ids=lambda each: each.id)
def test_spec_corpus_validity__our_own_kinds_are_namespaced(kind: Any) -> None:
    """As every kind of a domain must be."""
    assert kind.id.startswith("vendor.emitter.")
