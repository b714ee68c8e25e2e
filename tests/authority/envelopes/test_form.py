"""The form in which a model proposes: only what the terms allow is in it, and every vendor takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter import profiles as profile
from emitter import prompts as prompt
from emitter.authority.envelopes import AuthorizationConstraints, OracleReading
from emitter.authority.envelopes.drafts import build_draft_schema, list_offered_kinds, parse_draft
from emitter.schema import Tier1Mode, Validator, compile_schema, lint_tier1, lint_variants
from emitter.schema.tier1 import VariantEdition
from emitter.visible_text import is_blank
from tests.authority.envelopes.parts import (
    ASYNC,
    DOCUMENTS,
    DRAFTS,
    HEARSAY,
    INLINE,
    LAB,
    LOOSE,
    OTHER_SODIUM,
    POTASSIUM,
    READINGS,
    RUMOUR,
    SODIUM,
    STATUS,
    STRICT,
    TERMS,
    WITHOUT,
    document,
    workflow,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

ALWAYS = ("narrative", "refusal")
OFFERED: dict[str, tuple[AuthorizationConstraints, tuple[str, ...]]] = {
    "all": (TERMS, ("measurement", "classification", "action", *ALWAYS, "dispute_summary")),
    "async": (AuthorizationConstraints.from_arguments(ASYNC, [POTASSIUM]), ("measurement", "action", *ALWAYS)),
    "without authority": (AuthorizationConstraints.from_arguments(WITHOUT, READINGS), (*ALWAYS, "dispute_summary")),
    "without authority, inline": (
        AuthorizationConstraints.from_arguments(workflow("non_authoritative"), [POTASSIUM]),
        ALWAYS,
    ),
    "no readings": (AuthorizationConstraints.from_arguments(INLINE), ALWAYS),
    "no action": (AuthorizationConstraints.from_arguments(INLINE, [POTASSIUM], LOOSE, []), ("measurement", *ALWAYS)),
    "any action": (AuthorizationConstraints.from_arguments(INLINE, [STATUS]), ("classification", "action", *ALWAYS)),
    "disputed only": (
        AuthorizationConstraints.from_arguments(INLINE, [SODIUM, OTHER_SODIUM]),
        (*ALWAYS, "dispute_summary"),
    ),
    "unverified only": (AuthorizationConstraints.from_arguments(INLINE, [RUMOUR]), ALWAYS),
    "neither number nor text": (
        AuthorizationConstraints.from_arguments(INLINE, [OracleReading(LAB, "a", None)]),
        ("action", *ALWAYS),
    ),
}
every_terms = pytest.mark.parametrize(("terms", "kinds"), OFFERED.values(), ids=OFFERED.keys())


def forms(terms: AuthorizationConstraints) -> dict[str, dict[str, Any]]:
    """Return the properties of each form, by its tag."""
    found = build_draft_schema(terms)["properties"]["proposal"]["anyOf"]
    return {each["properties"]["proposes"]["enum"][0]: each["properties"] for each in found}


@every_terms
def test_only_what_the_terms_allow_can_be_proposed(terms: AuthorizationConstraints, kinds: tuple[str, ...]) -> None:
    """Without readings, or in a workflow without authority, the model is not even shown a kind that has any."""
    assert list_offered_kinds(terms) == kinds
    assert tuple(forms(terms)) == kinds


@every_terms
def test_the_prompt_speaks_of_what_is_offered(terms: AuthorizationConstraints, kinds: tuple[str, ...]) -> None:
    """A form that is not there is not explained."""
    reported = prompt.authorization_prompt(prompt.load(), list_offered_kinds(terms), terms.narrative)

    for kind in DOCUMENTS:
        assert (f"# `{kind}`:" in reported) is (kind in kinds)


def test_the_prompt_tells_the_policy() -> None:
    """The mode, how specific it may be, and each marker."""
    reported = prompt.authorization_prompt(prompt.load(), ALWAYS, STRICT)

    assert "in the `attributive` mode" in reported
    assert "It is `contextualized`." in reported
    assert reported.count("- miracle\n") == 1


def test_the_readings_bound_what_can_be_written() -> None:
    """Axes, oracles and actions are those that there are; a disputed axis is none, and neither is hearsay."""
    found = forms(TERMS)

    assert found["measurement"]["axis"]["enum"] == ["potassium"]
    assert found["measurement"]["cites"]["items"]["enum"] == ["lab-7"]
    assert found["classification"]["axis"]["enum"] == ["status"]
    assert found["action"]["action"]["enum"] == ["notify", "escalate"]
    assert found["action"]["axes"]["items"]["enum"] == ["potassium", "status"]
    assert found["action"]["cites"]["items"]["enum"] == ["lab-7", "ehr-2"]
    assert found["dispute_summary"]["axes"]["items"]["enum"] == ["sodium"]


def test_an_axis_that_a_better_oracle_speaks_about_is_there() -> None:
    """Hearsay that agrees with a laboratory may be cited beside it."""
    terms = AuthorizationConstraints.from_arguments(INLINE, [POTASSIUM, OracleReading(HEARSAY, "potassium", 4.2)])

    assert forms(terms)["measurement"]["cites"]["items"]["enum"] == ["lab-7", "forum-9"]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_document_is_read_as_its_draft(kind: str) -> None:
    """What the form takes, and nothing else: no member of an envelope has a place in it."""
    valid = Validator(build_draft_schema(TERMS))

    assert valid(document(kind)) == ()
    assert parse_draft(document(kind)) == DRAFTS[kind]
    for odd in ("kind", "provenance", "oracle_records", "envelope_id", "policy", "audit_id", "generated_at"):
        assert valid(document(kind, **{odd: "x"})) != ()


@pytest.mark.parametrize("vendor", profile.profile_names())
@every_terms
def test_every_vendor_takes_the_form(vendor: str, terms: AuthorizationConstraints, kinds: Sequence[str]) -> None:
    """It compiles, reasoning comes first, and what is written goes there and back."""
    compiled = compile_schema(build_draft_schema(terms), vendor)
    if compiled.enforced:
        assert next(iter(compiled.schema["properties"])) == "reasoning"
    for kind in kinds:
        if terms is TERMS:
            assert compiled.decode(compiled.encode(document(kind))) == document(kind)
            assert compiled.validate(document(kind)) == ()


@every_terms
def test_the_form_is_portable(terms: AuthorizationConstraints, kinds: tuple[str, ...]) -> None:
    """OpenWOP's linter finds nothing in it, nor in what the portable profile makes of it."""
    assert len(kinds) > 1
    assert lint_tier1(build_draft_schema(terms), Tier1Mode.LOAD_BEARING) == ()
    assert lint_variants(build_draft_schema(terms), VariantEdition.V2) == ()
    assert lint_tier1(compile_schema(build_draft_schema(terms), "tier1").schema, Tier1Mode.STRICT) == ()


READING = st.builds(
    OracleReading,
    st.sampled_from([LAB, HEARSAY]),
    st.text(min_size=1, max_size=6).filter(lambda axis: axis.isprintable() and not is_blank(axis)),
    st.none() | st.integers(-9, 9) | st.text(max_size=3).filter(str.isprintable),
)


@given(st.lists(READING, max_size=5), st.none() | st.lists(st.text("ab", min_size=1, max_size=3), max_size=3))
def test_any_readings_make_a_form(readings: list[OracleReading], actions: list[str] | None) -> None:
    """Whatever axes, values and actions there are, the form compiles for the strictest vendors."""
    terms = AuthorizationConstraints.from_arguments(INLINE, readings, LOOSE, actions)

    for vendor in ("openai", "google", "tier1"):
        assert compile_schema(build_draft_schema(terms), vendor).enforced
