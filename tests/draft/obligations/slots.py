"""Section 5: what each slot is to say."""

from __future__ import annotations

from tests.traced.form import Level, Obligation, Passage, of

SLOTS = (
    Passage(
        Obligation(
            "5.0",
            Level.MUST,
            "The content of the slots is checked, and a broken rule is corrected or reported.",
            ("emitter.checks:StructuralChecks", "emitter.checks:EnglishLexicon"),
            (
                *of("checks/content/test_structural", "test_a_broken_rule_is_found"),
                *of("checks/content/test_lexicon", "test_an_example_of_the_lexicon_holds"),
                *of(
                    "forms/binding_moment/test_content",
                    "test_a_finding_is_corrected_without_a_word_of_the_answer",
                    "test_a_guess_that_stands_is_delivered_as_a_warning",
                    "test_a_warning_names_slot_rule_and_section",
                ),
            ),
            beyond=(
                "Rules that are certain refuse an envelope. Phrases can be wrong, so a finding asks the model "
                "for one correction and is then reported. The phrases are English. The truth of a finding is "
                "not checked."
            ),
        ),
        ("81a7facb",),
    ),
    Passage(
        Obligation(
            "5.1",
            Level.MUST,
            "The synopsis is one sentence and commits to a position.",
            ("emitter.checks:StructuralChecks", "emitter.checks:EnglishLexicon"),
            (
                *of("checks/content/test_labelled", "test_no_text_in_order_is_refused", "test_precision_and_recall"),
                *of("checks/content/test_fresh", "test_a_good_decision_is_not_refused"),
                *of("checks/content/test_sentences", "test_count"),
            ),
            beyond="A second sentence is refused. A synopsis that seems to defer is sent back once and then reported.",
        ),
        ("a18125df",),
    ),
    Passage(
        Obligation(
            "5.2",
            Level.SHOULD,
            "There are three to six findings.",
            ("emitter.checks:StructuralChecks",),
            (
                *of("checks/content/test_structural", "test_counts_at_the_bounds"),
                *of("forms/binding_moment/test_content", "test_a_warning_names_slot_rule_and_section"),
            ),
        ),
        ("96d6ea9a",),
    ),
    Passage(
        Obligation(
            "5.3",
            Level.MUST,
            "A finding adds an observation to the synopsis.",
            ("emitter.checks:StructuralChecks",),
            (*of("checks/content/test_structural", "test_a_broken_rule_is_found"),),
            beyond=(
                "Only a finding with the same wording as the synopsis or as another finding is reported. The prompt "
                "asks the model not to repeat the synopsis or the principal."
            ),
        ),
        ("3e69d64b",),
    ),
    Passage(
        Obligation(
            "5.4",
            Level.SHOULD,
            "There are two to four recommendations, each of them an action.",
            ("emitter.checks:StructuralChecks", "emitter.checks:EnglishLexicon"),
            (
                *of("checks/content/test_labelled", "test_precision_and_recall"),
                *of("checks/content/test_structural", "test_counts_at_the_bounds"),
            ),
        ),
        ("7abb8865",),
    ),
    Passage(
        Obligation(
            "5.5",
            Level.MUST,
            "The stem does not lead.",
            ("emitter.checks:EnglishLexicon", "emitter.checks:StructuralChecks"),
            (
                *of("checks/content/test_structural", "test_a_stem_embeds_the_recommended_label_only"),
                *of("checks/content/test_labelled", "test_no_text_in_order_is_refused", "test_precision_and_recall"),
            ),
            beyond="A stem with a leading phrase is sent back once. One with the recommended label is reported.",
        ),
        ("48b3b731",),
    ),
    Passage(
        Obligation(
            "5.6",
            Level.MUST,
            "There are two to four options, each with a label and its reasoning.",
            ("emitter.models.binding_moment:Option",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_malformed_envelope_is_reported_by_place_and_reason",
                ),
                *of(
                    "checks/content/test_structural",
                    "test_a_broken_rule_is_found",
                    "test_options_that_differ_are_no_twins_and_no_hatches",
                ),
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
            "Exactly one option is recommended, by an index that exists.",
            ("emitter.models.binding_moment:Question",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_malformed_envelope_is_reported_by_place_and_reason",
                ),
                *of("forms/binding_moment/test_emission", "test_a_recommended_option_that_is_none_is_corrected"),
            ),
        ),
        ("1bbb9e60",),
    ),
    Passage(
        Obligation(
            "5.8",
            Level.MUST,
            "If two options tie, the one that costs least if it is wrong is recommended.",
            ("emitter.prompts:binding_moment_prompt",),
            (
                *of("test_prompts", "test_what_no_rule_can_find_is_asked_of_the_model"),
                *of("checks/content/test_fresh", "test_a_good_decision_is_not_refused"),
            ),
            beyond="The prompt asks for it. No check can tell which option costs least if it is wrong.",
        ),
        ("e3d28f92",),
    ),
    Passage(
        Obligation(
            "5.9",
            Level.MUST,
            "Both hatches are present, and open unless they are closed on purpose.",
            ("emitter.models.binding_moment:OPEN_HATCHES",),
            (
                *of(
                    "decisions/envelope_parsing/test_wellformed",
                    "test_a_malformed_envelope_is_reported_by_place_and_reason",
                ),
                *of("models/test_binding_moment", "test_hatches_are_open_unless_given"),
            ),
            note=(
                "The draft both requires them on the wire and gives them defaults: `BindingMoment` fills them "
                "in, and a reader requires them."
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
                *of("forms/binding_moment/test_content", "test_a_suppressed_hatch_is_always_told"),
                *of("decisions/ledger/test_privacy", "test_a_closed_hatch_is_always_an_event"),
            ),
            beyond=("The caller decides that; the model does not write hatches. A closed hatch is always reported."),
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
                *of("forms/binding_moment/test_emission", "test_the_envelope_is_what_was_asked_for"),
            ),
        ),
        ("d70376c2",),
    ),
    Passage(
        Obligation(
            "5.12",
            Level.MUST,
            "A calibration note is not emitted ritually, and the rate of notes is monitored.",
            (
                "emitter.checks:EnglishLexicon",
                "emitter.decisions.decision_rates:DecisionRates",
            ),
            (
                *of("checks/content/test_lexicon", "test_an_example_of_the_lexicon_holds"),
                *of("decisions/ledger/test_rates", "test_a_rate_that_comes_to_its_threshold_is_reported"),
            ),
        ),
        ("28d1277d",),
    ),
)
