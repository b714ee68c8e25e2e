"""Section 5: what each slot is to say."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

SLOTS = (
    Passage(
        Obligation(
            "5.0",
            Level.MUST,
            "What the slots are to say is held, as far as rules can find it.",
            ("emitter.checks:lint",),
            (
                *of("checks/lint/test_discipline", "test_a_broken_rule", "test_nothing_else_is_an_error"),
                *of(
                    "forms/binding_moment/test_discipline",
                    "test_a_broken_rule_is_corrected_without_a_word_of_the_answer",
                    "test_a_warning_names_slot_rule_and_section",
                ),
            ),
            beyond="Rules read English. What a text means, and whether a finding is true, no rule finds.",
        ),
        ("81a7facb",),
    ),
    Passage(
        Obligation(
            "5.1",
            Level.MUST,
            "The synopsis is one sentence and commits to a position.",
            ("emitter.checks:lint",),
            (
                *of("checks/lint/test_labelled", "test_committed_synopses_are_let_pass", "test_precision_and_recall"),
                *of("checks/lint/test_synopsis", "test_a_synopsis_that_defers", "test_a_synopsis_that_commits"),
                *of("checks/lint/test_sentences", "test_count"),
            ),
        ),
        ("a18125df",),
    ),
    Passage(
        Obligation(
            "5.2",
            Level.SHOULD,
            "There are three to six findings.",
            ("emitter.checks:lint",),
            (
                *of("checks/lint/test_discipline", "test_counts_at_the_bounds"),
                *of("forms/binding_moment/test_discipline", "test_a_warning_names_slot_rule_and_section"),
            ),
        ),
        ("96d6ea9a",),
    ),
    Passage(
        Obligation(
            "5.3",
            Level.MUST,
            "A finding adds what the synopsis does not say.",
            ("emitter.checks:lint",),
            (*of("checks/lint/test_slots", "test_a_text_that_restates_another"),),
            beyond=(
                "Found by the overlap of words. That a finding repeats what the principal said is asked of the "
                "model and not looked for."
            ),
        ),
        ("3e69d64b",),
    ),
    Passage(
        Obligation(
            "5.4",
            Level.SHOULD,
            "There are two to four recommendations, each a move.",
            ("emitter.checks:lint",),
            (
                *of("checks/lint/test_slots", "test_a_consideration_is_no_move"),
                *of("checks/lint/test_discipline", "test_counts_at_the_bounds"),
            ),
        ),
        ("7abb8865",),
    ),
    Passage(
        Obligation(
            "5.5",
            Level.MUST,
            "The stem does not lead.",
            ("emitter.checks:lint",),
            (
                *of(
                    "checks/lint/test_slots",
                    "test_a_stem_that_leads",
                    "test_naming_the_other_option_embeds_no_recommendation",
                ),
                *of("checks/lint/test_labelled", "test_committed_synopses_are_let_pass", "test_precision_and_recall"),
            ),
        ),
        ("48b3b731",),
    ),
    Passage(
        Obligation(
            "5.6",
            Level.MUST,
            "Two to four options, each with a label and its reasoning.",
            ("emitter.models.binding_moment:Option",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_malformed_envelope_is_told_by_place_and_reason",
                ),
                *of("checks/lint/test_slots", "test_a_hatch_in_disguise", "test_options_that_read_alike"),
            ),
        ),
        (
            "df2d72db",
            "f37f9e49",
        ),
    ),
    Passage(
        Obligation(
            "5.7",
            Level.MUST,
            "Exactly one option is marked, by an index that exists.",
            ("emitter.models.binding_moment:Question",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_malformed_envelope_is_told_by_place_and_reason",
                ),
                *of("forms/binding_moment/test_door", "test_a_recommended_option_that_is_none_is_corrected"),
            ),
        ),
        ("1bbb9e60",),
    ),
    Passage(
        Obligation(
            "5.8",
            Level.MUST,
            "Where two options tie, one is marked all the same: that which costs least if it is wrong.",
            ("emitter.prompts:binding_moment_prompt",),
            (
                *of("test_prompts", "test_what_no_rule_can_find_is_asked_of_the_model"),
                *of("checks/lint/test_synopsis", "test_a_synopsis_that_commits"),
            ),
            beyond="Asked of the model; that the mark falls on the cheaper one, no rule can find.",
        ),
        ("e3d28f92",),
    ),
    Passage(
        Obligation(
            "5.9",
            Level.MUST,
            "Both hatches are there, and open unless they are closed on purpose.",
            ("emitter.models.binding_moment:OPEN_HATCHES",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_malformed_envelope_is_told_by_place_and_reason",
                ),
                *of("models/test_binding_moment", "test_hatches_are_open_unless_given"),
            ),
            note=(
                "The draft wants them on the wire and lets them default: a builder fills them in, a reader wants them."
            ),
        ),
        (
            "f5a187ef",
            "53fc0adf",
        ),
    ),
    Passage(
        Obligation(
            "5.10",
            Level.MUST,
            "A hatch is closed only where its revision is inapplicable.",
            (
                "emitter.forms.binding_moment:check_content",
                "emitter.decisions.ledger:Ledger",
            ),
            (
                *of("forms/binding_moment/test_discipline", "test_a_suppressed_hatch_is_always_told"),
                *of("decisions/ledger/test_privacy", "test_a_closed_hatch_is_always_an_event"),
            ),
            beyond=(
                "Whether it is, the caller knows: the model is not asked for hatches. That one is closed is "
                "always told."
            ),
        ),
        (
            "029bfebb",
            "d5d639bc",
        ),
    ),
    Passage(
        Obligation(
            "5.11",
            Level.MAY,
            "`meta` may name the class of the decision, and hold a note of calibration.",
            ("emitter.models.binding_moment:Meta",),
            (
                *of("decisions/envelope_parsing/test_wellformed", "test_a_well_formed_envelope_is_read"),
                *of("forms/binding_moment/test_door", "test_the_envelope_is_what_was_asked_for"),
            ),
        ),
        ("d70376c2",),
    ),
    Passage(
        Obligation(
            "5.12",
            Level.MUST,
            "A note of calibration is no ritual, and how often there is one is watched.",
            (
                "emitter.checks:lint",
                "emitter.decisions.decision_rates:DecisionRates",
            ),
            (
                *of("checks/lint/test_slots", "test_a_note_for_its_own_sake"),
                *of("decisions/ledger/test_rates", "test_a_rate_that_comes_to_its_threshold_is_told"),
            ),
        ),
        ("28d1277d",),
    ),
)
