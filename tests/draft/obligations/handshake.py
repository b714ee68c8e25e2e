"""Section 6: the handshake of two vetoes."""

from __future__ import annotations

from tests.draft.obligations.form import contract
from tests.traced.form import Level, Obligation, Passage, of

HANDSHAKE = (
    Passage(
        Obligation(
            "6.1",
            Level.MUST,
            "An agent that cannot commit emits no binding moment.",
            ("emitter.client.result:Withheld",),
            (
                *of("forms/binding_moment/test_emission", "test_a_veto_is_a_success"),
                *of("forms/binding_moment/test_after", "test_deliberation_after_a_veto_is_a_success"),
                *of("forms/binding_moment/test_content", "test_a_decision_may_be_withheld_on_a_correction"),
            ),
        ),
        ("2f6ffc2f",),
    ),
    Passage(
        Obligation(
            "6.2",
            Level.SHOULD,
            "It returns its state, and asks for permission to go on.",
            ("emitter.models.binding_moment:Deliberation",),
            (
                *of("forms/binding_moment/test_emission", "test_a_veto_is_a_success"),
                *of("test_prompts", "test_what_no_rule_can_find_is_asked_of_the_model"),
            ),
        ),
        (
            "98690103",
            "ae7b6673",
        ),
    ),
    Passage(
        Obligation(
            "6.3",
            Level.MUST,
            (
                "After a veto on the question, the agent neither asks the same question again nor offers a choice that "
                "ignores the objection."
            ),
            (
                "emitter.decisions.reopening:check_reopened",
                "emitter.forms.binding_moment:check_content",
            ),
            (
                *of(
                    "forms/binding_moment/test_after",
                    "test_the_same_question_is_refused",
                    "test_the_same_question_to_the_end_is_no_envelope",
                    "test_another_question_is_accepted_whatever_its_words",
                    "test_all_vetoes_hold",
                    "test_what_the_principal_said_is_in_the_prompt",
                ),
                *of(
                    "checks/handshake/test_reopening",
                    "test_a_question_is_compared_with_the_refused_one",
                    "test_the_veto_is_not_taken_away",
                    "test_precision_and_recall",
                ),
            ),
            note=(
                "The same wording, and a closed dialogue hatch, are refused. The same words in another order are sent "
                "back once. Similar questions are reported. The model reads the objection with the whole proposal, and "
                "is asked to take it up; no rule checks that it did, because its words would tell too little."
            ),
        ),
        ("033e9fb7",),
    ),
    Passage(
        Obligation(
            "6.4",
            Level.MUST,
            "The resolution states which of the three kinds it is.",
            (
                "emitter.decisions.resolution:resolution_from_json",
                "emitter.decisions.resolution:continue_after",
            ),
            (
                *of("decisions/resolution/test_wire", "test_the_forms", "test_what_was_built_comes_back"),
                *of("decisions/test_continuation", "test_each_resolution_means_one_thing"),
                *contract(
                    "test_a_selection_is_read",
                    "test_a_free_text_answer_is_read_if_its_hatch_is_open",
                    "test_an_objection_is_read_if_its_hatch_is_open",
                ),
                *of("mcp/test_next_call", "test_the_three_can_be_told_apart_and_from_none"),
            ),
        ),
        ("ed218204",),
    ),
)
