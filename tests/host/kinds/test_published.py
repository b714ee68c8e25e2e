"""The schemas that are published: OpenWOP's own, said in our words, and portable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.host.kinds import A2UI_KIND, EnvelopeKind, media_kinds
from emitter.host.registry import STANDARD
from emitter.schema import Tier1Mode, Validator, VariantEdition, compile_schema, lint_tier1, lint_variants
from tests.host.kinds.near import near, often
from tests.models.openwop import FOLDER, needs_schemas

ALL = STANDARD.with_kinds(*media_kinds(), A2UI_KIND)
THEIRS = [name for name in ALL if not name.startswith("vendor.")]
STRICT_FINDINGS = {
    "clarification.request": 11,
    "error": 6,
    "schema.request": 5,
    "schema.response": 2,
    "media.image": 6,
    "media.audio": 8,
    "media.file": 7,
    "ui.a2ui-surface": 11,
}
WORDS = {"title", "description", "$id", "$schema"}


def theirs(kind_id: str) -> dict[str, Any]:
    """Return OpenWOP's own schema."""
    found: dict[str, Any] = json.loads(FOLDER.joinpath("envelopes", f"{kind_id}.schema.json").read_text("utf-8"))
    return found


def rules_of(schema: Any, *, names: bool = False) -> Any:
    """Return a schema without its words; ``names`` says that the keys are names, such as those of properties."""
    if isinstance(schema, dict):
        kept = {key: each for key, each in schema.items() if names or key not in WORDS}
        return {key: rules_of(each, names=key in {"properties", "$defs"} and not names) for key, each in kept.items()}
    if isinstance(schema, list):
        whole = [rules_of(each) for each in schema]
        return sorted(whole) if all(isinstance(each, str) for each in whole) else whole
    return schema


def words_of(schema: Any) -> set[str]:
    """Return every description in a schema."""
    if isinstance(schema, dict):
        own = {schema["description"]} if isinstance(schema.get("description"), str) else set[str]()
        return own.union(*map(words_of, schema.values()))
    return set[str]().union(*map(words_of, schema)) if isinstance(schema, list) else set()


@needs_schemas
@pytest.mark.parametrize("kind_id", THEIRS)
def test_it_has_openwops_structure(kind_id: str) -> None:
    """The same properties, required ones, limits and closed objects; only the words are ours."""
    ours, published = dict(ALL[kind_id].schema), theirs(kind_id)

    assert rules_of(ours) == rules_of(published)
    assert words_of(ours)
    assert not words_of(ours) & words_of(published)


@needs_schemas
@pytest.mark.parametrize("kind_id", THEIRS)
def test_each_schema_accepts_and_refuses_what_openwops_does(kind_id: str) -> None:
    """For any payload, near to valid or far from it, both schemas give the same verdict.

    A host decides by the kind: it takes null for an absent ``reasoning``, and holds inline media to their size.
    """
    ours, published = Validator(ALL[kind_id].schema), Validator(theirs(kind_id))
    verdicts = set[bool]()

    @often
    @given(st.data())
    def same(data: st.DataObject) -> None:
        payload = data.draw(near(ALL[kind_id].schema))
        verdicts.add(not ours(payload))
        assert (not ours(payload)) == (not published(payload))

    same()
    assert verdicts == {True, False}


@pytest.mark.parametrize("kind", ALL.values(), ids=ALL.ids)
def test_it_is_inside_the_portable_floor(kind: EnvelopeKind) -> None:
    """No schema of ours fails on several vendors, and every variant says what it is (RFC 0030 §B, RFC 0031 §A)."""
    assert lint_tier1(kind.schema, Tier1Mode.LOAD_BEARING) == ()
    assert lint_variants(kind.schema, VariantEdition.V1) == ()


@pytest.mark.parametrize(("kind_id", "count"), STRICT_FINDINGS.items(), ids=STRICT_FINDINGS.keys())
def test_the_strict_lint_finds_what_it_finds_in_openwops_own(kind_id: str, count: int) -> None:
    """The strict subset is for what is sent to a vendor; the protocol's own schemas are outside it, so often."""
    assert len(lint_tier1(ALL[kind_id].schema, Tier1Mode.STRICT)) == count


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "google"])
@pytest.mark.parametrize("kind", ALL.values(), ids=ALL.ids)
def test_it_compiles_for_every_vendor(kind: EnvelopeKind, vendor: str) -> None:
    """A model of any vendor can be asked for any of these kinds."""
    assert compile_schema(dict(kind.schema), vendor).schema


@pytest.mark.parametrize("kind", ALL.values(), ids=ALL.ids)
def test_it_is_a_canonical_document(kind: EnvelopeKind) -> None:
    """Served by a host, it names itself by its canonical URL, with the dots of its id."""
    document = kind.build_document("https://host.example/")

    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == f"https://host.example/schemas/envelopes/{kind.id}.schema.json"
    assert {**document, "$id": ""} == {**kind.schema, "$id": ""}
    document["properties"].clear()
    assert kind.schema["properties"], "a document is a copy"


@pytest.mark.parametrize("kind", ALL.values(), ids=ALL.ids)
def test_it_refers_to_nothing_outside(kind: EnvelopeKind) -> None:
    """Every reference is into the document itself."""
    text = json.dumps(dict(kind.schema))

    assert text.count('"$ref": ') == text.count('"$ref": "#/$defs/')
