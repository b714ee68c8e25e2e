"""Section 4: the envelope."""

from __future__ import annotations

from tests.draft.obligations.form import contract
from tests.traced.form import Level, Obligation, Passage, of

ENVELOPE = (
    Passage(
        Obligation(
            "4.1",
            Level.MUST,
            "The tool's structured result contains the envelope under `binding_moment`.",
            ("emitter.mcp.tools:attach_moment",),
            (
                *of("mcp/test_tool", "test_any_tool_hands_over_a_decision"),
                *of("mcp/test_attach", "test_each_of_the_two_places_holds_all_of_it"),
            ),
        ),
        (
            "5af1f324",
            "162be433",
        ),
    ),
    Passage(
        Obligation(
            "4.2",
            Level.MUST,
            (
                "An envelope has a synopsis, findings, recommendations, an offer and a question, and no "
                "member that the draft does not name."
            ),
            ("emitter.models.binding_moment:BindingMoment",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_well_formed_envelope_is_read",
                    "test_a_malformed_envelope_is_reported_by_place_and_reason",
                ),
            ),
        ),
        ("44e6e2dd",),
    ),
    Passage(
        Obligation(
            "4.3",
            Level.MAY,
            "`meta` and each of its two members are optional. An absent member is left out, never null.",
            ("emitter.models.binding_moment:Meta",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_well_formed_envelope_is_read",
                    "test_a_malformed_envelope_is_reported_by_place_and_reason",
                ),
                *of("mcp/test_attach", "test_an_absent_meta_is_absent"),
            ),
        ),
        (
            "b580351f",
            "40a54b70",
            "d49067cf",
        ),
    ),
    Passage(
        Obligation(
            "4.4",
            Level.MUST,
            "Every envelope is either well-formed or malformed.",
            ("emitter.decisions.envelope_parsing:parse_moment",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_malformed_envelope_is_reported_by_place_and_reason",
                ),
                *of("decisions/envelope_parsing/test_hostile", "test_anything_at_all_is_malformed_and_no_exception"),
            ),
        ),
        ("74f87193",),
    ),
    Passage(
        Obligation(
            "4.5",
            Level.MUST,
            (
                "A malformed envelope is never shown, neither in part nor repaired. The tool's own result is "
                "shown instead, with a diagnostic."
            ),
            ("emitter.render.delivery:read_structured_content",),
            (
                *contract("test_a_malformed_decision_falls_back"),
                *of(
                    "render/test_delivery",
                    "test_a_malformed_envelope_is_discarded",
                    "test_an_envelope_with_anything_in_it_is_whole_or_discarded",
                ),
                *of("cli/test_envelopes", "test_a_malformed_envelope_falls_back"),
            ),
        ),
        (
            "b1f57ab0",
            "61ff7548",
        ),
    ),
)
